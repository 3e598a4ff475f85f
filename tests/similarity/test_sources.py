"""Reading of AStitchInLanguageModels and ChengyuSTS."""

import csv

import pytest

from tests.similarity.conftest import CORRECT, INCORRECT, OTHER, OTHER_CORRECT, SENTENCE, write_csv
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.tasks.siblings.astitch import AStitchData
from turkic_idiom_tasks.tasks.siblings.chengyu import read_chengyu


def test_an_incorrect_pair_has_the_gold_score_of_the_reworded_pair(astitch):
    pairs = AStitchData(astitch).pairs("eng")
    assert [(row.kind, row.sentence1, row.sentence2, row.gold) for row in pairs.rows] == [
        ("correct", SENTENCE, CORRECT, 1),
        ("reference", CORRECT, INCORRECT, 0),
        ("incorrect", SENTENCE, INCORRECT, None),
        ("correct", OTHER, OTHER_CORRECT, 1),
        ("general", "A dog runs.", "A cat runs.", 0.5),
        ("general", "A dog runs.", "One dog runs.", 0.9),
    ]
    assert (pairs.other[2], pairs.correct.tolist()) == (1, [-1, -1, 0, -1, -1, -1])
    assert pairs.concepts[:4] == (*["gold mine"] * 3, "night owl")
    with pytest.raises(InputError, match="Task2"):
        AStitchData(astitch / "elsewhere")


def test_the_real_data_is_read_whole(outside_data):
    """Counted with grep in the files: rows whose sim is 1 or None, and 400 general pairs in each."""
    data = AStitchData(outside_data / "astitch")
    counts = {}
    for subset in ("eng", "por"):
        pairs = data.pairs(subset)
        incorrect = sum(row.kind == "incorrect" for row in pairs.rows)
        counts[subset] = (int(pairs.is_idiom.sum()), incorrect, int((pairs.is_scored & ~pairs.is_idiom).sum()))
        assert (pairs.correct >= 0).sum() == incorrect
    assert counts == {"eng": (590, 190, 400), "por": (458, 224, 400)}
    assert (len(data.triplets("eng")), len(data.triplets("por"))) == (1957, 806)
    rows = data.labelled("eng", subtask="A", part="train_zero_shot", context=True)
    assert (len(rows), {row.label for row in rows}) == (3327, {0, 1})


def test_braces_mark_the_idiom_of_a_chinese_row(chengyu):
    rows = read_chengyu(chengyu / "test.csv").rows
    assert [(row.kind, row.sentence1, row.sentence2, row.gold) for row in rows] == [
        ("incorrect", "他付之一笑走了", "他大笑不止走了", None),
        ("reference", "他一笑了之走了", "他大笑不止走了", 0),
        ("correct", "他付之一笑走了", "他一笑了之走了", 1),
        ("general", "白马有粉红色皮肤", "粉红马有白色皮肤", 0),
    ]
    assert {row.concept for row in rows[:3]} == {"付之一笑"}


@pytest.mark.parametrize(
    ("row", "part"),
    [
        (("他{付之一笑}", "他笑", "", ""), "both A_c and A_i"),
        (("他{付之一笑}", "", "", "1"), "A_c or A_i"),
        (("他{付之一笑}", "他笑", "", "7"), "between 0 and 1"),
        (("他{付之一笑}", "他笑", "", "١"), "'١' is not a number"),
    ],
)
def test_a_row_without_a_part_is_named(tmp_path, row, part):
    path = write_csv(tmp_path / "test.csv", [("S", "A_c", "A_i", "sim"), row])
    with pytest.raises(InputError, match=f"{path}:2.*{part}"):
        read_chengyu(path)


def test_a_pair_without_its_rewordings_is_named(astitch):
    path = astitch / "Dataset/Task2/CreateEvaluationData/EN/NoResults/evalData/test_rawSimData.csv"
    text = path.read_text(encoding="utf-8").replace(f"{CORRECT},{INCORRECT}", f"{CORRECT},None")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"{path}:3.*needs a correct and an incorrect sentence"):
        AStitchData(astitch).pairs("eng")


def test_a_repeated_row_of_chengyu_counts_once_or_is_named_with_both_lines(chengyu):
    path = chengyu / "test.csv"
    expected = read_chengyu(path).rows
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    write_csv(path, [*rows, rows[1], [*rows[2][:3], "1"], rows[3]])  # 1 is the number that 1.0 is
    assert read_chengyu(path).rows == expected
    for number, similarity in ((1, "0.5"), (2, ""), (2, "0.9"), (3, "1")):
        write_csv(path, [*rows, [*rows[number][:3], similarity]])
        with pytest.raises(InputError, match=f"^{path}:5.*{path}:{number + 1} .*another similarity"):
            read_chengyu(path)
