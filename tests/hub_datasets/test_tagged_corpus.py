import pytest

from hub_datasets.tagged_corpus import import_dodiom
from turkic_idiom_tasks.lexicon.load import read_lexicon, write_lexicon
from turkic_idiom_tasks.span_detection.sentences import open_spans

HEADER = "idiom,submission,category,rating,likes,dislikes,reports,idiom_indices,idiom_words,lemmas,words"


def line(idiom, sentence, indices, words, category="idiom"):
    return f'{idiom},"{sentence}",{category},1,1,0,0,"{indices}","[]","[]","{words}"'


@pytest.fixture
def table(tmp_path):
    rows = [
        HEADER,
        line("adım atmak", "Bu işe  adım bile atmadı.", [2, 4], ["Bu", "işe", "adım", "bile", "atmadı", "."]),
        line("adım atmak", "İște adım attı.", [1, 2], ["İște", "adım", "attı", "."]),
        line("adım atmak", "Beş adım attı.", [], ["Beş", "adım", "attı", "."], category="nonidiom"),
        line("göz yummak", "Hatama göz yumdu.", [1, 2], ["Hatama", "göz", "yumdu", "."]),
        line("göz yummak", "Hatama göz yumdu.", [1, 2], ["Hatama", "göz", "yumdu", "."]),
        line("göz yummak", "Xavier göz yumdu.", [1, 2], ["Xavier", "göz", "yumdu", "."]),
    ]
    path = tmp_path / "dataset_tr.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_gold_words_become_spans_of_the_cleaned_sentence(table, tmp_path):
    imported = import_dodiom(table)
    entries = {entry.concept: entry for entry in imported.entries["tr"]}
    assert list(entries) == ["adim-atmak", "adim-atmak--2", "goz-yummak"]
    first, second = entries["adim-atmak"], entries["adim-atmak--2"]
    assert first.example == "Bu işe adım bile atmadı."  # one blank
    assert [span.of(first.example) for span in first.spans] == ["adım", "atmadı"]
    assert second.example == "İşte adım attı."  # the letter of Turkish for the Romanian one
    assert [span.of(second.example) for span in second.spans] == ["adım attı"]
    assert imported.report.dropped.counts() == {"letters that Turkish has not": 1, "sentence is there already": 1}
    write_lexicon(tmp_path / "lexicon", imported.concepts, imported.entries)
    assert read_lexicon(tmp_path / "lexicon")[1] == []


def test_the_real_corpus_is_split_by_idiom(outside_data, tmp_path):
    imported = import_dodiom(outside_data / "tr-dodiom" / "dataset_tr.csv")
    assert imported.report.rows == 3183  # as the corpus says of itself
    write_lexicon(tmp_path / "lexicon", imported.concepts, imported.entries)
    splits = open_spans(str(tmp_path / "lexicon")).load("tr")
    idioms = [{row.idiom for row in rows} for rows in splits.values()]
    assert sum(map(len, idioms)) == len(set().union(*idioms)) == 36
