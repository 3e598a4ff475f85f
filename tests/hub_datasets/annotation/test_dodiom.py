import argparse
import csv
import json

import pytest

from hub_datasets import cli
from hub_datasets.annotation.annotate import Annotation, annotate
from hub_datasets.annotation.dodiom import covered, evaluate, random_pairs, read_dodiom
from hub_datasets.importing import FORMATS, import_source
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
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


def test_rows_and_where_their_words_stand(tmp_path):
    rows = read_dodiom(table(tmp_path, *GOOD))
    assert [row.idiom for row in rows] == ["göz yummak", "el açmak", "yol açmak", "ses etmek"]
    assert rows[0].places == (Span(0, 3), Span(4, 7), Span(8, 13), Span(13, 14))
    assert rows[0].gold == {1, 2}
    assert rows[3].places == (Span(0, 5), None, Span(7, 8))  # "dı!" is not in the sentence
    assert covered(rows[0], [Span(4, 13)]) == {1, 2}
    assert covered(rows[0], [Span(6, 7)]) == {1}


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
        return Annotation((Span(0, 1),) if idiom == "el açmak" and idiom != idiom_of[sentence] else own)

    scores = evaluate(rows, annotator, pairs=3000)
    assert scores.rows == 4
    assert scores.exact == 1 / 4
    assert scores.token_f1 == pytest.approx(10 / 14)
    assert scores.coverage == 3 / 4
    # el açmak is one of the three other idioms of three sentences in four: 1/4 of all pairs; 4 standard errors of 3,000
    assert scores.false_alarm == pytest.approx(1 / 4, abs=0.032)
    assert scores.to_json()["token_f1"] == 0.7143


def test_pairs_are_seeded_and_never_of_a_sentence_and_its_own_idiom(tmp_path):
    rows = read_dodiom(table(tmp_path, *GOOD))
    own = {row.sentence: row.idiom for row in rows}
    pairs = random_pairs(rows, 200)
    assert pairs == random_pairs(rows, 200)
    assert all(own[sentence] != idiom for idiom, sentence in pairs)
    assert len(set(pairs)) == 12  # four sentences, three other idioms each


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            ("a b", "A b.", "idiom", "[0, 7]", "['A', 'b']"),
            r"dataset_tr.csv:2: idiom_indices '\[0, 7\]' are not numbers",
        ),
        (("a b", "A b.", "idiom", "[]", "['A', 'b']"), "dataset_tr.csv:2: idiom_indices"),
        (("a b", "A b.", "idiom", "[0]", "A b"), "dataset_tr.csv:2: words 'A b' is not a list of str"),
        (("a b", "A b.", "idiom", "['x']", "['A', 'b']"), "is not a list of int"),
        (("a b", "A b.", "idiom", "[0, 1]", "['A', 'b']"), "fewer than two idioms"),
        (("a b", "A b.", "nonidiom", "[0, 1]", "['A', 'b']"), "fewer than two idioms"),
    ],
)
def test_another_table_is_refused(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_dodiom(table(tmp_path, row))


def test_missing_columns_are_named(tmp_path):
    path = tmp_path / "dataset_tr.csv"
    path.write_text("idiom,sentence\na,b\n")
    with pytest.raises(InputError, match="submission, category, idiom_indices, words are missing"):
        read_dodiom(path)


def test_the_annotator_on_the_whole_corpus(outside_data, capsys):
    parser = argparse.ArgumentParser()
    cli.add_parser(parser.add_subparsers(required=True))
    path = outside_data / "tr-dodiom" / "dataset_tr.csv"
    options = parser.parse_args(["dataset", "annotate", "--evaluate", "dodiom", str(path)])
    assert options.handler(options) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["rows"] == 3183  # issue 3 counted them
    assert scores["random_pairs"] == 5000
    assert scores["exact"] >= 0.975
    assert scores["token_f1"] >= 0.985
    assert scores["coverage"] >= 0.99
    assert scores["false_alarm"] <= 0.01
    assert scores["sentences_per_minute"] >= 20_000


def test_most_examples_of_the_uzbek_dictionary_are_annotated(outside_data):
    imported = import_source(FORMATS["uz-idioms"], outside_data / "uz-idioms" / "uzbek_idioms.csv")
    entries = [entry for entry in imported.entries["uz"] if entry.example][::4]
    uzbek = LANGUAGES["uz"]
    found = [annotate(entry.idiom, entry.example, uzbek, variants=entry.variants).spans for entry in entries]
    assert sum(map(bool, found)) / len(entries) >= 0.95
    others = zip(entries, entries[500:] + entries[:500], strict=True)  # neighbours in the alphabet share words
    alarms = [annotate(one.idiom, other.example, uzbek, variants=one.variants).spans for one, other in others]
    assert sum(map(bool, alarms)) / len(entries) <= 0.01
