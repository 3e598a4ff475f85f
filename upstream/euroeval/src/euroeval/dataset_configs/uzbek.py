"""All Uzbek dataset configurations used in EuroEval."""

from ..data_models import DatasetConfig
from ..languages import UZBEK
from ..tasks import KNOW

# Unofficial datasets ###

TURKIC_IDIOM_MEANING_UZ_CONFIG = DatasetConfig(
    name="turkic-idiom-meaning-uz",
    pretty_name="Turkic Idiom Meaning Uzbek",
    source="ORG/turkic-idiom-items::uz_meaning",
    task=KNOW,
    languages=[UZBEK],
    val_split=None,
    input_column="question_native",
    target_column="answer",
    choices_column="options_native",
    unofficial=True,
)
