"""Task class of mteb for the idiomatic similarity of Turkic sentences, and the list of all similarity tasks."""

import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us

from turkic_idiom_tasks.dataset import BUNDLED_PATH
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.harnesses.hook import extend_late
from turkic_idiom_tasks.harnesses.mteb_data import IdiomSTS, sts_metadata
from turkic_idiom_tasks.harnesses.siblings.mteb_siblings import AStitchIdiomSTS, ChengyuSTS, SemEvalIdiomSTS
from turkic_idiom_tasks.languages import LANGUAGES, names
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision

__all__ = ["SIMILARITY_CLASSES", "IdiomSTS", "TurkicIdiomSTS"]


class TurkicIdiomSTS(IdiomSTS):
    """Sentences with Turkic idioms, and the same sentences reworded, from the lexicon."""

    short = STS
    metadata = sts_metadata(
        "TurkicIdiomSTS",
        f"Idiomatic semantic textual similarity in {names(SIMILARITY_TASKS[STS].languages.values(), 'and')}: a "
        "sentence with an idiom should be as similar to its paraphrase as can be, and to a literal rewording as the "
        "paraphrase is.",
        main_score="sense_accuracy",  # Spearman over all pairs is high for every model that tells sentences apart
        reference="https://aclanthology.org/2021.findings-emnlp.294",
        dataset={"path": BUNDLED_PATH, "revision": content_revision(BUNDLED)},
        eval_langs={subset: [LANGUAGES[code].script_code] for subset, code in SIMILARITY_TASKS[STS].languages.items()},
        date=("2026-01-01", "2026-12-31"),
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        sample_creation="LM-generated and verified",
    )


SIMILARITY_CLASSES: dict[str, type[IdiomSTS]] = {
    task.__name__: task for task in (TurkicIdiomSTS, AStitchIdiomSTS, ChengyuSTS, SemEvalIdiomSTS)
}

extend_late()  # registers if this module was imported before mteb; does nothing while the hook is running
