"""Miniatures of the data sets, in the form in which their authors publish them, with sentences of our own."""

import csv
from itertools import product
from pathlib import Path

import pytest

from tests.encoders.untrained_models import WORDS
from tests.lm_eval_runs import manager  # noqa: F401
from tests.training.toy_task import IDIOM, MEANING

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
        write_csv(data / folder / "NoResults" / "evalData" / "test_rawSimData.csv", rows)
        write_csv(data / "EvalSTSData" / f"{folder.lower()}_test_Eval_STS_Data.csv", general)
    return root.parent


def write_task1(folder, language, part, rows):
    """Write the files of Task 1 A and B from rows of label (0 is idiomatic), sentence, expression, and candidates
    for the meaning with their labels."""
    idiomatic, meant = [("label", "sentence1", "sentence2")], [("label", "sentence1", "sentence2")]
    for label, sentence, idiom, meanings in rows:
        idiomatic.append((label, sentence, idiom))
        meant += [(is_meant, sentence, meaning) for meaning, is_meant in meanings.items()]
    for variant, n_columns in (("IdiomIncluded", 3), ("IdiomExcluded", 2)):
        path = folder / "Task1" / "SubTaskA" / language / f"ContextExcluded_{variant}" / f"{part}.csv"
        write_csv(path, [row[:n_columns] for row in idiomatic])
    write_csv(folder / "Task1" / "SubTaskB" / language / "ContextExcluded" / f"{part}.csv", meant)


TEST_SENTENCES = (
    (0, "Data is a gold mine.", "gold mine", {"source of riches": 1, "ore pit": 0, "Proper Noun": 0}),
    (1, "The gold mine was flooded.", "gold mine", {"source of riches": 0, "ore pit": 1, "Proper Noun": 0}),
    (1, "We ate at the Gold Mine.", "gold mine", {"source of riches": 0, "ore pit": 0, "Proper Noun": 1}),
    (0, "I am a night owl.", "night owl", {"late sleeper": 1, "bird": 0}),
)
EXAMPLES = ((1, "A night owl sat in the tree.", "night owl", {"late sleeper": 0, "bird": 1}),)


@pytest.fixture
def labelled_astitch(tmp_path, monkeypatch):
    """Folder in the layout of AStitchInLanguageModels, Task 1: four test sentences and one example in each language."""
    root = tmp_path / "astitch" / "Dataset"
    (root / "Task2").mkdir(parents=True)
    for language in ("EN", "PT"):
        write_task1(root, language, "test", TEST_SENTENCES)
        write_task1(root, language, "train_few_shot", EXAMPLES)
    monkeypatch.setenv("ASTITCH_DATA", str(root.parent))
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


def write_toy_chengyu(folder, before=""):
    """Write a ChengyuSTS that a tiny model can learn: idioms of two words, whose meaning is words that stand for them.

    Every sixth idiom is tested. All sentences begin with the text `before`.
    """
    for name, is_test in (("train", False), ("test", True)):
        rows = [("S", "A_c", "A_i", "sim")]
        for a, b in product(range(7), repeat=2):
            if ((7 * a + b) % 6 == 3) != is_test:
                continue
            sentence = f"{before}{{{IDIOM[a]} {IDIOM[b]}}}"
            correct = f"{before}{MEANING[a]} {MEANING[b]}"
            incorrect = f"{before}{MEANING[(a + 3) % 7]} {MEANING[(b + 3) % 7]}"
            rows += [(sentence, correct, incorrect, ""), (sentence, correct, "", "1.0")]
        rows += [(WORDS[0], "", WORDS[8], "0.0"), (WORDS[1], WORDS[1], "", "1.0")] if is_test else []
        write_csv(folder / f"{name}.csv", rows)
    return folder


SEMEVAL_PAIRS = ("ID", "Language", "MWE1", "MWE2", "sentence1", "sentence2")
SEMEVAL_GOLD = ("ID", "DataID", "Language", "sim", "otherID")


def semeval_rows(language, first_id):
    """Rows of a table of pairs and of its gold file in one language, with a repeated pair as the real ones have it."""
    ids = [str(first_id + number) for number in range(7)]
    texts = [
        ("gold mine", SENTENCE, CORRECT),
        ("gold mine", SENTENCE, INCORRECT),
        ("None", CORRECT, INCORRECT),
        ("night owl", OTHER, OTHER_CORRECT),
        ("night owl", OTHER, OTHER_CORRECT),
        ("None", "A dog runs.", "A cat runs."),
        ("None", "A dog runs.", "One dog runs."),
    ]
    pairs = [(name, language, idiom, "None", *both) for name, (idiom, *both) in zip(ids, texts, strict=True)]
    gold = [
        (ids[0], f"dev.{language}.1.1", language, "1", ""),
        (ids[1], f"dev.{language}.1.2", language, "", ids[2]),
        (ids[3], f"dev.{language}.2.1", language, "1", ""),
        (ids[4], f"dev.{language}.2.2", language, "1", ""),
        (ids[5], f"dev.{language}.sts.1", language, "0.5", ""),
        (ids[6], f"dev.{language}.sts.2", language, "0.4", ""),
    ]
    return pairs, gold


@pytest.fixture
def semeval(tmp_path, monkeypatch):
    """Folder in the layout of the repository: ``dev`` with gold in two languages, ``test`` without in three."""
    english, portuguese, galician = (semeval_rows(*row) for row in (("EN", 100), ("PT", 200), ("GL", 300)))
    dev, test = tmp_path / "clone/SubTaskB/EvaluationData", tmp_path / "clone/SubTaskB/TestData"
    write_csv(dev / "dev.csv", [SEMEVAL_PAIRS, *english[0], *portuguese[0]])
    write_csv(dev / "dev.gold.csv", [SEMEVAL_GOLD, *english[1], *portuguese[1]])
    write_csv(test / "test.csv", [SEMEVAL_PAIRS, *english[0], *portuguese[0], *galician[0]])
    write_csv(tmp_path / "test.gold.csv", [SEMEVAL_GOLD, *english[1], *portuguese[1], *galician[1]])
    monkeypatch.setenv("SEMEVAL_IDIOM_DATA", str(tmp_path / "clone"))
    return tmp_path / "clone"
