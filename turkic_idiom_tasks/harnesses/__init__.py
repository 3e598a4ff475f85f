"""Integration with mteb and lm-eval: registration of our tasks and models, and all use of their private names."""

from pathlib import Path

TASK_FOLDER = Path(__file__).parent / "lm_eval_tasks"  # what `--include_path` of lm-eval takes
DATA_VARIABLE = "TURKIC_IDIOM_DATA"  # names the data, because the command of a harness cannot pass an argument
FOUND_VARIABLE = "TURKIC_IDIOM_FOUND"  # names the dataset of found text, in which sentences belong to others
