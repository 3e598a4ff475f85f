import json
from dataclasses import replace

import pytest

from hub_datasets.browse import show
from hub_datasets.cards import READINGS, lexicon_card
from hub_datasets.lexicon_figures import attest, figures_table, language_figures, markdown_table
from tests.hub_datasets.conftest import two_concepts, write_entries
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Entry, FurtherExample
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split


@pytest.fixture
def lexicon(tmp_path):
    write_lexicon(tmp_path / "lexicon", *two_concepts())
    return load_lexicon(tmp_path / "lexicon")


def test_figures_of_a_small_lexicon(lexicon):
    turkish, uzbek = language_figures(lexicon).values()
    assert turkish["test_queries"] == sum(retrieval_split(concept) == "test" for concept in lexicon.of("tr"))
    expected = {"entries": 2, "examples": 2, "literal_triples": 1, "discontinuous": 1, "not_citation_form": 2}
    expected |= {"paired": None, "modern_topics": None, "status": {"accepted": 1, "not read": 1}}
    assert turkish | expected == turkish
    assert (uzbek["paired"], uzbek["without_shared_stem"]) == (2, 0.5)  # göz and koʻz are one word
    assert "| without shared stem | – | 50.0% |" in markdown_table(figures_table(lexicon))


def test_shares_of_sentences_by_form_and_length(lexicon):
    long = "Komşu dün akşam evine dönerken o kadar yorgundu ki [göz yumdu] ve bize hiçbir şey demeden geçip gitti."
    examples = []
    for text in ("– Gördün mü? – [Göz yumdum].", "[Göz yum]!", long, "Gözüm ağrıyor."):
        before, _, rest = text.partition("[")
        idiom, _, after = rest.partition("]")
        spans = (Span(len(before), len(before + idiom)),) if idiom else ()
        examples.append(FurtherExample(before + idiom + after, spans, "work" if text == long else None))
    own = replace(lexicon.of("tr")["cross"], example=None, spans=None, examples=tuple(examples))
    figures = language_figures(replace(lexicon, entries={"tr": {"cross": own}}))["tr"]
    assert (figures["sentences_with_an_idiom"], figures["sentences_without_an_idiom"]) == (3, 1)
    names = ("dialogues", "questions_or_exclamations", "up_to_7_words", "8_to_16_words", "over_16_words")
    assert [3 * figures[name] for name in names] == [1, 2, 2, 0, 1]
    assert 3 * figures["idiom_before_the_end"] == 3 * figures["modern_topics"] == 1


def test_attested_forms_variants_and_inflections(lexicon):
    dictionary = {"uz": [Entry("x", "koʻzini yummoq", "m"), Entry("y", "tepa sochi tikka boʻldi", "m")]}
    assert attest(lexicon, dictionary, "uz") == {"listed": ["turn-a-blind-eye"], "inflected": ["cross"], "absent": []}
    other = {"uz": [Entry("x", "bosh egmoq", "m")]}
    assert attest(lexicon, other, "uz")["absent"] == ["cross", "turn-a-blind-eye"]


def test_show_marks_the_idiom_and_names_near_concepts(lexicon):
    text = show(lexicon, "cross")
    assert "example: [Küplere] o gün [bindi]." in text
    assert "Uzbek (uz): tepa sochi tikka boʻlmoq" in text
    for name, hint in (
        ("turn-blind-eye", "near it: turn-a-blind-eye$"),
        ("tepa sochi tikka boʻlmoq", "near it: cross$"),
        ("x", ".dataset show --out"),
    ):
        with pytest.raises(InputError, match=f"no concept '{name}'; {hint}"):
            show(lexicon, name)


def test_the_card_beside_the_bundled_lexicon_is_up_to_date(bundled):
    committed = (BUNDLED / "README.md").read_text("utf-8")
    assert committed == lexicon_card(bundled), "run: turkic-idiom dataset stats --format card > lexicon/data/README.md"


def test_the_readings_account_for_the_entries_of_the_bundled_lexicon(bundled):
    for code, row in json.loads((BUNDLED / READINGS).read_text("utf-8"))["by_language"].items():
        entries = bundled.of(code).values()
        read = row["entries read"] - row["merged or dropped"]
        read += row.get("kept: the form certain and the sense right", 0)
        assert sum(entry.status == "read" for entry in entries) == read, code
        assert sum(entry.literal_paraphrase is not None for entry in entries) == row["literal triples kept"], code


def test_a_damaged_account_of_the_readings_is_named(lexicon, tmp_path):
    for text, message in [
        ("{", "malformed JSON"),
        ('{"by_language": {"tr": {"written": "1"}}}', "field 'by_language.tr.written'"),
        ('{"note": ["a"]}', "field 'note'"),
    ]:
        (tmp_path / "lexicon" / READINGS).write_text(text)
        with pytest.raises(InputError, match=rf"readings\.json: .*{message}"):
            lexicon_card(lexicon)


def test_strange_statuses_and_glosses_are_shown_escaped(tmp_path):
    status = {"verdict|": [1, {"why": "göz\u202e"}], "x" * 300: None}
    lexicon = load_lexicon(write_entries(tmp_path / "lexicon", tr=[Entry("a", "göz", "m", status=status)]))
    for text in (show(lexicon, "a"), markdown_table(figures_table(lexicon)), lexicon_card(lexicon)):
        assert "\u202e" not in text
    assert all(line.count("|") == 3 for line in markdown_table(figures_table(lexicon)).splitlines())
    assert json.dumps(language_figures(lexicon))
