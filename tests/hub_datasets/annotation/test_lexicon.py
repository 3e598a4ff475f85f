import pytest

from hub_datasets.annotation.lexicon import annotate_lexicon
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span


def test_spans_are_filled_in_and_those_that_are_there_stay(tmp_path):
    entries = [
        Entry("a", "göz yummak", None, "Bu hataya göz yumdu."),
        Entry("b", "kulak asmak", None, "Sözüme kulak asmadı.", (Span(0, 6),)),
        Entry("c", "diş bilemek", None, "Burada hiçbiri yok."),
        Entry("d", "el atmak", "karışmak"),
    ]
    write_lexicon(tmp_path / "in", [Concept(key, "") for key in "abcd"], {"tr": entries})
    outcomes = annotate_lexicon(tmp_path / "in", tmp_path / "out")
    found = load_lexicon(tmp_path / "out").of("tr")
    assert [span.of(found["a"].example) for span in found["a"].spans] == ["göz yumdu"]
    assert found["b"].spans == (Span(0, 6),)
    assert found["c"].spans is None
    assert outcomes["tr"]["annotated"] == outcomes["tr"]["had spans"] == outcomes["tr"]["the entry has no example"] == 1
    assert outcomes["tr"].total() == 4


def test_the_lexicon_that_is_read_is_never_written(tmp_path):
    write_lexicon(tmp_path / "in", [Concept("a", "")], {"tr": [Entry("a", "göz yummak")]})
    with pytest.raises(InputError, match="is the lexicon that is read; choose another --out"):
        annotate_lexicon(tmp_path / "in", tmp_path / "in", overwrite=True)
