"""Scores of answers to items: real words in the open cloze."""

import pytest

from tests.items.conftest import small_lexicon
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.tasks.items.item_types import Item, Option
from turkic_idiom_tasks.tasks.items.scoring import score_open_cloze

SENTENCE = "Kovulmayı göze alıp müdüre her şeyi anlattım."
TURKISH = {
    "accept-the-risk": Entry("accept-the-risk", "göze almak", None, SENTENCE, (Span(10, 19),), ("göze aldırmak",)),
    "stake-all": Entry("stake-all", "canını dişine takmak"),
    "other": Entry("other", "diz çökmek"),
}
LEXICON = Lexicon(
    {name: Concept(name, "") for name in TURKISH},
    {"tr": TURKISH},
    revision="0" * 40,
    equivalents={("accept-the-risk", "stake-all"): "same", ("accept-the-risk", "other"): "near"},
)
ITEM = Item(
    "cloze_tr/accept-the-risk",
    "cloze",
    "tr",
    "tr",
    "accept-the-risk",
    "göze almak",
    "Kovulmayı _____ müdüre her şeyi anlattım.",
    (Option("göze almak", "accept-the-risk"), Option("diz çökmek", "other", "random")),
    0,
)


@pytest.mark.parametrize(
    ("answer", "exact", "lemma", "accepted"),
    [
        ("göze alıp", 1, 1, 1),
        ("GÖZE ALIP", 1, 1, 1),  # I is the capital of ı
        ("göze aldım,", 0, 1, 1),
        ("göze almak", 0, 1, 1),
        ("canımı dişime takıp", 0, 0, 1),  # judged to mean the same
        ("diz çöküp", 0, 0, 0),  # judged near only
        ("göze", 0, 0, 0),
        ("göze alıp müdüre her şeyi anlattım", 0, 0, 0),  # more than the blank
        ("", 0, 0, 0),
        (None, 0, 0, 0),  # could not be read
    ],
)
def test_answers_to_the_open_cloze(answer, exact, lemma, accepted):
    scores = score_open_cloze([ITEM], [answer], LEXICON)
    assert (scores["exact"], scores["lemma"], scores["accepted"]) == (exact, lemma, accepted)
    assert scores["unreadable"] == (answer is None)


def test_the_open_cloze_needs_the_lexicon_of_its_items():
    with pytest.raises(InputError, match="cloze_tr/accept-the-risk"):
        score_open_cloze([ITEM], ["göze alıp"], small_lexicon(6))
    with pytest.raises(ValueError, match="longer"):
        score_open_cloze([ITEM], ["a", "b"], LEXICON)
