"""All Azerbaijani dataset configurations used in EuroEval."""

from ..data_models import DatasetConfig
from ..languages import AZERBAIJANI
from ..tasks import KNOW

# Unofficial datasets ###

TURKIC_IDIOM_MEANING_AZ_CONFIG = DatasetConfig(
    name="turkic-idiom-meaning-az",
    pretty_name="Turkic Idiom Meaning Azerbaijani",
    source="ORG/turkic-idiom-items::az_meaning",
    task=KNOW,
    languages=[AZERBAIJANI],
    val_split=None,
    input_column="question_native",
    target_column="answer",
    choices_column="options_native",
    unofficial=True,
)
