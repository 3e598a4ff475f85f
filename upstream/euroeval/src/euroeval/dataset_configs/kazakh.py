"""All Kazakh dataset configurations used in EuroEval."""

from ..data_models import DatasetConfig
from ..languages import KAZAKH
from ..tasks import KNOW

# Unofficial datasets ###

TURKIC_IDIOM_MEANING_KK_CONFIG = DatasetConfig(
    name="turkic-idiom-meaning-kk",
    pretty_name="Turkic Idiom Meaning Kazakh",
    source="ORG/turkic-idiom-items::kk_meaning",
    task=KNOW,
    languages=[KAZAKH],
    val_split=None,
    input_column="question_native",
    target_column="answer",
    choices_column="options_native",
    unofficial=True,
)
