"""The Dodiom corpus: how its table is read, what the annotator scores on it, and the lexicon that it becomes."""

import csv
import unicodedata

import pytest

from hub_datasets.import_report import CHANGED, DROPPED
from hub_datasets.importing import write_import
from hub_datasets.siblings.dodiom import COMPOSED, import_dodiom, read_dodiom
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.load import read_lexicon

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


@pytest.mark.parametrize(
    ("category", "indices", "words", "message"),
    [
        ("idiom", "[0, 7]", "['A', 'b']", r"dataset_tr.csv:2: idiom_indices '\[0, 7\]' are not numbers of its 2 words"),
        ("idiom", "[0, -1]", "['A', 'b']", r"idiom_indices '\[0, -1\]' are not numbers of its 2 words"),
        ("idiom", "[]", "['A', 'b']", r"idiom_indices '\[\]' are not numbers of its 2 words"),
        ("idiom", "[0]", "A b", "dataset_tr.csv:2: words 'A b' is not a list of texts"),
        ("idiom", "['0']", "['A', 'b']", "idiom_indices .* is not a list of whole numbers"),
        ("nonidiom", "[0, 1]", "['A', 'b']", "no row of the category"),
    ],
)
def test_another_table_is_refused(tmp_path, category, indices, words, message):
    with pytest.raises(InputError, match=message):
        read_dodiom(table(tmp_path, ("a b", "A b.", category, indices, words)))


def test_the_annotator_marks_the_gold_words_of_the_whole_corpus(outside_data):
    rows = read_dodiom(outside_data / "tr-dodiom" / "dataset_tr.csv")
    assert len(rows) == 3183  # as the corpus says of itself
    n_exact = n_alarms = 0
    for row, other in zip(rows, [*rows[-100:], *rows[:-100]], strict=True):
        spans = annotate(row.idiom, row.sentence, LANGUAGES["tr"])[0]
        marked = set()
        for number, place in enumerate(row.places):
            if place is not None and any(span.start < place.end and place.start < span.end for span in spans):
                marked.add(number)
        n_exact += marked == row.gold
        if row.idiom != other.idiom:
            n_alarms += bool(annotate(other.idiom, row.sentence, LANGUAGES["tr"])[0])
    assert n_exact / len(rows) >= 0.975
    assert n_alarms / len(rows) <= 0.01


SENTENCES = [
    ("adım atmak", "Bu işe  adım bile atmadı.", "idiom", "[2, 4]", "['Bu', 'işe', 'adım', 'bile', 'atmadı', '.']"),
    ("adım atmak", "İște adım attı.", "idiom", "[1, 2]", "['İște', 'adım', 'attı', '.']"),
    ("adım atmak", "Beş adım attı.", "nonidiom", "[]", "['Beş', 'adım', 'attı', '.']"),
    ("göz yummak", "Hatama göz yumdu.", "idiom", "[1, 2]", "['Hatama', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Hatama göz yumdu.", "idiom", "[1, 2]", "['Hatama', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Xavier göz yumdu.", "idiom", "[1, 2]", "['Xavier', 'göz', 'yumdu', '.']"),
    ("göz yummaq", "Ona göz yumdu.", "idiom", "[1, 2]", "['Ona', 'göz', 'yumdu', '.']"),
    ("göz yummak", "Ona\u202e göz yumdu.", "idiom", "[1, 2]", "['Ona\u202e', 'göz', 'yumdu', '.']"),
    ("ses etmek", "Bağırdı.", "idiom", "[0, 1]", "['Bağır', 'dı!', '.']"),
]


def test_gold_words_become_spans_of_the_cleaned_sentence_in_nfd_too(tmp_path, dataset):
    path = table(tmp_path, *SENTENCES)
    imported = import_dodiom(path)
    entries = {entry.concept: entry for entry in imported.entries["tr"]}
    assert list(entries) == ["adim-atmak", "adim-atmak--2", "goz-yummak"]
    first, second = entries["adim-atmak"], entries["adim-atmak--2"]
    assert first.example == "Bu işe adım bile atmadı."  # one blank
    assert [span.of(first.example) for span in first.spans] == ["adım", "atmadı"]
    assert second.example == "İşte adım attı."  # the letter of Turkish for the Romanian one
    assert [span.of(second.example) for span in second.spans] == ["adım attı"]
    assert imported.counts(DROPPED) == {
        "characters that cannot be seen": 1,
        "gold words are not in the sentence": 1,
        "idiom: letters outside the Turkish alphabet": 1,
        "letters outside the Turkish alphabet": 1,
        "sentence is there already": 1,
    }
    assert imported.counts(CHANGED) == {}
    write_import(imported, tmp_path / "lexicon")
    assert read_lexicon(tmp_path / "lexicon")[1] == []
    table(tmp_path, *(tuple(unicodedata.normalize("NFD", cell) for cell in row) for row in SENTENCES))
    decomposed = import_dodiom(path)
    assert (decomposed.concepts, decomposed.entries) == (imported.concepts, imported.entries)
    assert decomposed.counts(CHANGED) == {COMPOSED: 8}
    assert COMPOSED in dataset("import", "--format", "dodiom", path, "--out", tmp_path / "decomposed")[1]
