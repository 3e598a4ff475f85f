"""Miniatures of the data sets, in the form in which their authors publish them, with sentences of our own."""

import csv
from pathlib import Path

import pytest

PAIR_COLUMNS = ("sent_idiom", "sent_idiom_tokenised", "sent_other", "sim", "idiom", "correct", "incorrect")
SENTENCE = "Her new job was a gold mine ."
CORRECT = "Her new job was a source of riches ."
INCORRECT = "Her new job was an ore pit ."
OTHER = "He is a night owl ."
OTHER_CORRECT = "He is a late sleeper ."


def write_csv(path: Path, rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def astitch(tmp_path):
    """Folder in the layout of AStitchInLanguageModels: three idiom pairs and two general pairs in each language."""
    root = tmp_path / "astitch" / "Dataset"
    rows = [
        PAIR_COLUMNS,
        (SENTENCE, "", CORRECT, "1", "gold mine", CORRECT, "None"),
        (SENTENCE, "", INCORRECT, "None", "gold mine", CORRECT, INCORRECT),
        (OTHER, "", OTHER_CORRECT, "1", "night owl", OTHER_CORRECT, "None"),
        (OTHER, "", OTHER_CORRECT, "1", "night owl", OTHER_CORRECT, "None"),  # a repeated row
    ]
    general = [("0.5", "A dog runs.", "A cat runs."), ("0.9", "A dog runs.", "One dog runs.")]
    data = root / "Task2" / "CreateEvaluationData"
    for folder in ("EN", "PT"):
        for split in ("dev", "test"):
            write_csv(data / folder / "NoResults" / "evalData" / f"{split}_rawSimData.csv", rows)
            write_csv(data / "EvalSTSData" / f"{folder.lower()}_{split}_Eval_STS_Data.csv", general)
    return root.parent


@pytest.fixture
def chengyu(tmp_path):
    """Folder of a miniature ChengyuSTS: two idiom pairs and one general pair."""
    rows = [
        ("S", "A_c", "A_i", "sim"),
        ("他{付之一笑}走了", "他{一笑了之}走了", "他{大笑不止}走了", ""),
        ("他{付之一笑}走了", "他{一笑了之}走了", "", "1.0"),
        ("白马有粉红色皮肤", "", "粉红马有白色皮肤", "0.0"),
    ]
    write_csv(tmp_path / "chengyu" / "test.csv", rows)
    return tmp_path / "chengyu"
