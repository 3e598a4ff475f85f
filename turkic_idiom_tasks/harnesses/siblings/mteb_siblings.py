"""Task classes of mteb for idiomatic similarity in English, Portuguese, Galician and Chinese."""

from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS, CHENGYU_STS, SEMEVAL_STS
from turkic_idiom_tasks.harnesses.mteb_data import UNREADABLE, IdiomSTS, sts_metadata
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_SOURCE, astitch_dataset
from turkic_idiom_tasks.tasks.siblings.chengyu import CHENGYU_SUBSET, chengyu_dataset
from turkic_idiom_tasks.tasks.siblings.semeval import SEMEVAL_SOURCE, semeval_dataset


class AStitchIdiomSTS(IdiomSTS):
    """English and Portuguese sentences with idiomatic noun compounds, from AStitchInLanguageModels."""

    short = ASTITCH_STS
    metadata = sts_metadata(
        "AStitchIdiomSTS",
        "Idiomatic semantic textual similarity of AStitchInLanguageModels, Task 2, mixed with general pairs.",
        reference="https://aclanthology.org/2021.findings-emnlp.294",
        dataset={"path": ASTITCH_SOURCE, "revision": UNREADABLE},
        eval_langs={"eng": ["eng-Latn"], "por": ["por-Latn"]},
        date=("2020-01-01", "2021-12-31"),
        license="gpl-3.0",
        annotations_creators="human-annotated",
    )
    open_data = staticmethod(astitch_dataset)


class ChengyuSTS(IdiomSTS):
    """Chinese sentences with four-character idioms."""

    short = CHENGYU_STS
    metadata = sts_metadata(
        "ChengyuSTS",
        "Idiomatic semantic textual similarity of Chinese sentences with chengyu, mixed with general pairs.",
        reference=None,
        dataset={"path": "ChengyuSTS", "revision": UNREADABLE},
        eval_langs={CHENGYU_SUBSET: ["cmn-Hans"]},
        date=("2024-01-01", "2025-12-31"),
        license="not specified",
        annotations_creators="LM-generated and reviewed",
    )
    open_data = staticmethod(chengyu_dataset)


class SemEvalIdiomSTS(IdiomSTS):
    """English, Portuguese and Galician sentences with noun compounds, from SemEval-2022 Task 2, subtask B."""

    short = SEMEVAL_STS
    metadata = sts_metadata(
        "SemEvalIdiomSTS",
        "Idiomatic semantic textual similarity of SemEval-2022 Task 2, subtask B, mixed with general pairs.",
        reference="https://aclanthology.org/2022.semeval-1.13",
        dataset={"path": SEMEVAL_SOURCE, "revision": UNREADABLE},
        eval_langs={"eng": ["eng-Latn"], "por": ["por-Latn"], "glg": ["glg-Latn"]},
        date=("2020-01-01", "2021-12-31"),
        license="not specified",
        annotations_creators="human-annotated",
    )
    open_data = staticmethod(semeval_dataset)
