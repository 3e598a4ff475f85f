"""All Turkish dataset configurations used in EuroEval."""

from ..data_models import DatasetConfig
from ..languages import TURKISH
from ..tasks import KNOW

# Unofficial datasets ###

TURKIC_IDIOM_MEANING_TR_CONFIG = DatasetConfig(
    name="turkic-idiom-meaning-tr",
    pretty_name="Turkic Idiom Meaning Turkish",
    source="ORG/turkic-idiom-items::tr_meaning",
    task=KNOW,
    languages=[TURKISH],
    val_split=None,
    input_column="question_native",
    target_column="answer",
    choices_column="options_native",
    unofficial=True,
)
