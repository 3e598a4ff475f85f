"""What `turkic-idiom doctor --publishing` checks before the bundled data is published on the Hub."""

from huggingface_hub import DatasetCard, get_token

from hub_datasets.hub_export import hub_layout
from hub_datasets.quality import content_problems
from turkic_idiom_tasks.dataset.hub_layout import README
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.doctor import Diagnosis
from turkic_idiom_tasks.io.hub_upload import DATASET, Target, make_plan
from turkic_idiom_tasks.lexicon.load import BUNDLED, read_lexicon
from turkic_idiom_tasks.version import __version__

_FIELDS = ("license", "language", "pretty_name", "size_categories", "task_categories", "configs")  # that a card needs


def diagnose_publishing(repository: str) -> Diagnosis:
    """Look at the token, the data, its card, and the tag of this version in a dataset repository; send nothing."""
    target = Target(repository, DATASET)
    diagnosis = Diagnosis(verdict=f"{target}: nothing keeps version {__version__} from being published")
    log_in = "log in with `hf auth login`, or set HF_TOKEN"
    diagnosis.check("token of the Hub", bool(get_token()), log_in, good="there", bad="MISSING")
    lexicon, problems = read_lexicon(BUNDLED)
    problems = problems or content_problems(lexicon, BUNDLED)
    count = f"{len(problems)} mistakes"
    diagnosis.check("data", not problems, "correct what `turkic-idiom dataset check` lists", good=count, bad=count)
    layout = hub_layout(lexicon)
    card = DatasetCard(layout.contents[README].decode("utf-8"))
    missing = [name for name in _FIELDS if not getattr(card.data, name, None)]
    lacks = f"lacks {', '.join(missing)}"
    diagnosis.check("card", not missing, "complete hub_datasets/cards.py", good="complete", bad=lacks)
    tag, advice = f"v{__version__}", "raise __version__, or unset HF_HUB_OFFLINE and try again"
    try:
        plan = make_plan(layout.contents, target, tag=tag)
    except InputError as error:
        # Without the Hub, or with other content under this tag
        diagnosis.fault(str(error), advice)
    else:
        diagnosis.check(f"tag {tag}", not plan.tag_is_set, advice, good="free", bad="is set already, with this content")
    return diagnosis
