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
    """One answer to choose from.

    Attributes:
        text: what the model is shown.
        concept: the concept that the text belongs to; empty in `usage`, whose options are the two senses.
        trap: why it looks right, one of `TRAPS`; None for the right answer, and in `usage`.
    """

    text: str
    concept: str = ""
    trap: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One question.

    Attributes:
        id: name of the set, concept and, for `usage`, sense: ``usage_tr/<concept>/literal``.
        kind: one of `KINDS`.
        language: code of the language of the idiom and of the text.
        target: code of the language of the options; the same as `language` except for `equivalent`.
        concept: the unit that is resampled; both sentences of a pair share it.
        idiom: citation form; in `cloze` what is to be found.
        text: what the question is about: the idiom, or the sentence (in `cloze` with the idiom replaced by a blank).
        options: answers to choose from: four, or two senses in `usage`.
        gold: position of the right answer in `options`.
        shares_stem: whether the idiom and the right option share a word stem; only in `equivalent`, elsewhere None.
    """

    id: str
    kind: str
    language: str
    target: str
    concept: str
    idiom: str
    text: str
    options: tuple[Option, ...]
    gold: int
    shares_stem: bool | None = None


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items that are asked and scored together: a kind in one language, or in one direction.

    Attributes:
        kind: one of `KINDS`.
        language: code of the language of the idiom.
        target: code of the language of the options.
        n_items: number of test items.
    """

    kind: str
    language: str
    target: str
    n_items: int

    @property
    def name(self) -> str:
        """Name of the set in tasks, results and configs: ``meaning_tr`` or ``equivalent_tr_uz``."""
        if self.kind == EQUIVALENT:
            return f"{self.kind}_{self.language}_{self.target}"
        return f"{self.kind}_{self.language}"
