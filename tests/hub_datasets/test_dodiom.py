"""The Dodiom corpus: how its table is read, what the annotator scores on it, and the lexicon that it becomes."""

import csv
import json
import unicodedata

import pytest

from hub_datasets.import_report import CHANGED, DROPPED
from hub_datasets.importing import write_import
from hub_datasets.siblings.dodiom import COMPOSED, evaluate, import_dodiom, random_pairs, read_dodiom
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.load import read_lexicon
from turkic_idiom_tasks.spans import Span

HEADER = ("idiom", "submission", "category", "rating", "likes", "dislikes", "reports", "idiom_indices", "idiom_words")
HEADER += ("lemmas", "words")


def table(tmp_path, *rows):
    """Rows of (idiom, sentence, category, indices, words) as Dodiom's table."""
    path = tmp_path / "dataset_tr.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for idiom, sentence, category, indices, words in rows:
            writer.writerow([idiom, sentence, category, 1.0, 3, 0, 0, indices, "[]", "[]", words])
    return path


GOOD = [
    ("göz yummak", "Ona göz yumdu.", "idiom", "[1, 2]", "['Ona', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Gözünü yumdu.", "nonidiom", "[0, 1]", "['Gözünü', 'yumdu', '.']"),
    ("el açmak", "Bize elini açtı bugün.", "idiom", "[1, 3]", "['Bize', 'elini', 'açtı', 'bugün', '.']"),
    ("yol açmak", "Kar, yol açtı.", "idiom", "[2, 3]", "['Kar', ',', 'yol', 'açtı', '.']"),
    ("ses etmek", "Bağırdı.", "idiom", "[0]", "['Bağır', 'dı!', '.']"),
]


def test_scores_by_hand(tmp_path):
    """Gold words: {1, 2}, {1, 3}, {2, 3}, {0}: 7. Marked: {1, 2}, {1, 2}, {1, 2, 3}, nothing: 7, right 2 + 1 + 2.

    Exact: the first row of four. F1 = 2 * 5 / (7 + 7). Coverage: three of four.
    """
    marks = {
        "Ona göz yumdu.": (Span(4, 13),),
        "Bize elini açtı bugün.": (Span(5, 15),),
        "Kar, yol açtı.": (Span(3, 13),),
    }
    rows = read_dodiom(table(tmp_path, *GOOD))
    idiom_of = {row.sentence: row.idiom for row in rows}

    def annotator(idiom, sentence):
        """Marks the idiom's own sentences, and of other idioms only el açmak, wherever it is offered."""
        own = marks.get(sentence, ()) if idiom == idiom_of[sentence] else ()
        return (Span(0, 1),) if idiom == "el açmak" and idiom != idiom_of[sentence] else own

    assert random_pairs(rows, 200) == random_pairs(rows, 200)
    scores = evaluate(rows, annotator, pairs=3000)
    assert scores["rows"] == 4
    assert scores["exact"] == 1 / 4
    assert scores["token_f1"] == pytest.approx(10 / 14, abs=0.00005)
    assert scores["coverage"] == 3 / 4
    # el açmak is one of the three other idioms of three sentences in four: 1/4 of all pairs; 4 standard errors of 3,000
    assert scores["false_alarm"] == pytest.approx(1 / 4, abs=0.032)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            ("a b", "A b.", "idiom", "[0, 7]", "['A', 'b']"),
            r"dataset_tr.csv:2: idiom_indices '\[0, 7\]' are not numbers",
        ),
        (("a b", "A b.", "idiom", "[0]", "A b"), "dataset_tr.csv:2: words 'A b' is not a list of str"),
        (("a b", "A b.", "nonidiom", "[0, 1]", "['A', 'b']"), "fewer than two idioms"),
    ],
)
def test_another_table_is_refused(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_dodiom(table(tmp_path, row))


def test_the_annotator_on_the_whole_corpus(outside_data, dataset):
    code, out, err = dataset("annotate", "--evaluate", "dodiom", outside_data / "tr-dodiom" / "dataset_tr.csv")
    assert (code, err) == (0, "")
    scores = json.loads(out)
    assert scores["rows"] == 3183  # issue 3 counted them
    assert scores["random_pairs"] == 5000
    assert scores["exact"] >= 0.975
    assert scores["token_f1"] >= 0.985
    assert scores["coverage"] >= 0.99
    assert scores["false_alarm"] <= 0.01
    assert scores["sentences_per_minute"] >= 20_000


SENTENCES = [
    ("adım atmak", "Bu işe  adım bile atmadı.", "idiom", "[2, 4]", "['Bu', 'işe', 'adım', 'bile', 'atmadı', '.']"),
    ("adım atmak", "İște adım attı.", "idiom", "[1, 2]", "['İște', 'adım', 'attı', '.']"),
    ("adım atmak", "Beş adım attı.", "nonidiom", "[]", "['Beş', 'adım', 'attı', '.']"),
    ("göz yummak", "Hatama göz yumdu.", "idiom", "[1, 2]", "['Hatama', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Hatama göz yumdu.", "idiom", "[1, 2]", "['Hatama', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Xavier göz yumdu.", "idiom", "[1, 2]", "['Xavier', 'göz', 'yumdu', '.']"),
    ("göz yummaq", "Ona göz yumdu.", "idiom", "[1, 2]", "['Ona', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Ona\u202e göz yumdu.", "idiom", "[1, 2]", "['Ona\u202e', 'göz', 'yumdu', '.']"),
]


def test_gold_words_become_spans_of_the_cleaned_sentence(tmp_path):
    imported = import_dodiom(table(tmp_path, *SENTENCES))
    entries = {entry.concept: entry for entry in imported.entries["tr"]}
    assert list(entries) == ["adim-atmak", "adim-atmak--2", "goz-yummak"]
    first, second = entries["adim-atmak"], entries["adim-atmak--2"]
    assert first.example == "Bu işe adım bile atmadı."  # one blank
    assert [span.of(first.example) for span in first.spans] == ["adım", "atmadı"]
    assert second.example == "İşte adım attı."  # the letter of Turkish for the Romanian one
    assert [span.of(second.example) for span in second.spans] == ["adım attı"]
    assert imported.report.counts(DROPPED) == {
        "characters that cannot be seen": 1,
        "idiom: letters outside the Turkish alphabet": 1,
        "letters outside the Turkish alphabet": 1,
        "sentence is there already": 1,
    }
    write_import(imported, tmp_path / "lexicon")
    assert read_lexicon(tmp_path / "lexicon")[1] == []


def test_a_table_in_nfd_gives_the_same_lexicon_and_says_so(tmp_path, dataset):
    decomposed = [tuple(unicodedata.normalize("NFD", cell) for cell in row) for row in GOOD]
    path = table(tmp_path, *GOOD)
    expected = import_dodiom(path)
    assert expected.report.counts(CHANGED) == {}
    table(tmp_path, *decomposed)
    imported = import_dodiom(path)
    assert (imported.concepts, imported.entries) == (expected.concepts, expected.entries)
    assert imported.report.counts(CHANGED) == {COMPOSED: 4}
    code, _, err = dataset("import", "--format", "dodiom", path, "--out", tmp_path / "lexicon")
    assert (code, COMPOSED in err) == (0, True)
    code, out, err = dataset("annotate", "--evaluate", "dodiom", path)
    assert (code, json.loads(out)["rows"]) == (0, 4)
    assert err == "4 of 4 rows were not in NFC and have been composed\n"
