"""Lookup of the idioms that a language model names in the sentence of the question."""

import re
from collections.abc import Sequence

from turkic_idiom_tasks.dataset.sentences import locate, words
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import fold, skeleton
from turkic_idiom_tasks.spans import Span, iob2_tags

EDGE_SIGNS = " \t\n\"'“”„«»‘’`*.,;:!?()[]"  # signs that models put around an idiom


class SearchableSentence:
    """A sentence with its words in the forms that are used to look up idioms."""

    def __init__(self, text: str, tokens: Sequence[str], language: Language) -> None:
        self.text = text  # NFC
        self.language = language  # decides how letters are compared
        self.tokens = locate(tokens, text)  # spans, which get the tags
        self.words = words(text)  # spans, which may differ from those of the tokens
        self.folded = fold(text, language)  # as long as the text, without differences of case and apostrophes
        self._stems = _stems_of_words(text, language)
        self._starts = {unit.start for unit in (*self.words, *self.tokens)}  # where an idiom may begin
        self._ends = {unit.end for unit in (*self.words, *self.tokens)}

    def tags(self, spans: Sequence[Span]) -> tuple[str, ...]:
        """Return the tag of each token for spans that do not overlap."""
        return tuple(iob2_tags(sorted(spans), self.tokens))

    def is_copied_by(self, text: str) -> bool:
        """Return whether a text has all words of the sentence in their order, with any endings and signs."""
        if text.strip() == self.text.strip():
            return True
        if len(text) > 2 * len(self.text):  # too long for a copy, so its stems need not be made
            return False
        stems = [stem for _, stem, is_word in _stems_of_words(text, self.language) if is_word]
        own_stems = [stem for _, stem, is_word in self._stems if is_word]
        return bool(stems) and len(stems) == len(own_stems) and all(map(_same_stem, stems, own_stems))

    def find(self, idiom: str, taken: Sequence[Span], *, strict: bool) -> Span | None:
        """Return the first place of an idiom that is not taken: word for word, otherwise by the stems of its words.

        Stems match the citation form of an idiom that is inflected in the sentence: `göz yummak` in `göz yumdu`. With
        `strict` a place has the same letters as the idiom, with any white space.
        """
        if strict:
            return self._find_text(idiom, self.text, taken)
        text = fold(idiom.strip(EDGE_SIGNS), self.language)
        if len(text) > 2 * len(self.text):  # too long to stand in the sentence, so its stems need not be made
            return None
        units = _stems_of_words(text, self.language)
        word_positions = [position for position, (_, _, is_word) in enumerate(units) if is_word]
        if not word_positions:  # a punctuation mark or an emoji is never an idiom by itself
            return None
        place = self._find_text(text, self.folded, taken)
        if place is not None:
            return place
        stems = [stem for _, stem, _ in units[word_positions[0] : word_positions[-1] + 1]]  # no signs at the edges
        for start in range(len(self._stems) - len(stems) + 1):
            run = self._stems[start : start + len(stems)]
            place = Span(run[0][0].start, run[-1][0].end)
            if all(map(_same_stem, stems, [stem for _, stem, _ in run])) and _is_free(place, taken):
                return place
        return None

    def _find_text(self, idiom: str, text: str, taken: Sequence[Span]) -> Span | None:
        parts = idiom.split()
        if not parts or len(idiom) > 2 * len(self.text):
            return None
        words_of_idiom = r"\s+".join(map(re.escape, parts))
        for match in re.finditer(f"(?=({words_of_idiom}))", text):  # at every letter, because matches may overlap
            place = Span(*match.span(1))
            if place.start in self._starts and place.end in self._ends and _is_free(place, taken):
                return place
        return None


def _stems_of_words(text: str, language: Language) -> list[tuple[Span, str, bool]]:
    """Return the place and the stem of every word and sign, and whether it is a word."""
    stems = []
    for place in words(text):
        # A sign has no skeleton, and is its own stem, so that it matches only itself
        stem = skeleton(place.of(text), language)
        stems.append((place, stem or place.of(text), bool(stem)))
    return stems


def _is_free(place: Span, taken: Sequence[Span]) -> bool:
    return not any(other.start < place.end and place.start < other.end for other in taken)


def _same_stem(first: str, second: str) -> bool:
    """Return whether two skeletons have the same beginning: at least half of the shorter one and two letters."""
    needed = max(2, (min(len(first), len(second)) + 1) // 2)
    return first[:needed] == second[:needed]  # a text of one letter is only like itself
