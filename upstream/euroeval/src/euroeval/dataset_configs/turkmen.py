"""All Turkmen dataset configurations used in EuroEval."""

from ..data_models import DatasetConfig
from ..languages import TURKMEN
from ..tasks import KNOW

# Unofficial datasets ###

TURKIC_IDIOM_MEANING_TK_CONFIG = DatasetConfig(
    name="turkic-idiom-meaning-tk",
    pretty_name="Turkic Idiom Meaning Turkmen",
    source="ORG/turkic-idiom-items::tk_meaning",
    task=KNOW,
    languages=[TURKMEN],
    val_split=None,
    input_column="question_native",
    target_column="answer",
    choices_column="options_native",
    unofficial=True,
)
