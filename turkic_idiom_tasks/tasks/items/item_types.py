"""Items: one question to a language model with its options, made from the lexicon by code.

Every item is derived from entries of a lexicon, chosen by a stable hash and never by a random generator, so the same
lexicon always gives the same items. A larger one changes the items whose entries or traps change, and by balancing (see
`placing`) at most a few others.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = MEANING, EQUIVALENT, USAGE, CLOZE = ("meaning", "equivalent", "usage", "cloze")
TRAPS = NEAR, LEXICAL, RANDOM = ("near", "lexical", "random")
FIGURATIVE, LITERAL = "figurative", "literal"
LETTERS = "ABCD"
N_OPTIONS = 4


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose from."""

    text: str  # what the model is shown
    concept: str = ""  # that the text belongs to; empty in `usage`, whose options are the two senses
    trap: str | None = None  # why it looks right, one of `TRAPS`; None for the right answer, and in `usage`


@dataclass(frozen=True, slots=True)
class Item:
    """One question."""

    id: str  # name of the set, concept and, for `usage`, sense: ``usage_tr/<concept>/literal``
    kind: str  # one of `KINDS`
    language: str  # code of the language of the idiom and of the text
    target: str  # code of the language of the options; the same as `language` except for `equivalent`
    concept: str  # the unit that is resampled; both sentences of a pair share it
    idiom: str  # citation form; in `cloze` what is to be found
    text: str  # what the question is about: the idiom, or the sentence (in `cloze` with a blank for the idiom)
    options: tuple[Option, ...]  # four, or the two senses in `usage`
    gold: int  # position of the right answer in `options`
    shares_stem: bool | None = None  # whether the idiom and the right option share a word stem; only in `equivalent`


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items that are asked and scored together: a kind in one language, or in one direction."""

    kind: str  # one of `KINDS`
    language: str  # code of the language of the idiom
    target: str  # code of the language of the options
    n_items: int = 0  # test items in a dataset

    @property
    def name(self) -> str:
        """Name of the set in tasks, results and configs: ``meaning_tr`` or ``equivalent_tr_uz``."""
        return "_".join((self.kind, *self.languages))

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the language of the idiom and, if it is another one, of the options."""
        both = (self.language, self.target)
        return both if self.kind == EQUIVALENT else both[:1]
