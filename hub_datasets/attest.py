"""Which idioms of a lexicon an outside dictionary lists, and which it does not."""

from __future__ import annotations

from dataclasses import dataclass

from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import fold


@dataclass(frozen=True, slots=True)
class Attestation:
    """What of one language the dictionary lists.

    Attributes:
        language: code.
        listed: concepts whose idiom, or one of its variants, is among the dictionary's headwords or variants.
        inflected: further concepts of which the dictionary lists another inflection of the verb alone, the rest word
            for word (`tarvuzi qoʻltigʻidan tushdi` for `tarvuzi qoʻltigʻidan tushmoq`).
        absent: the others.
    """

    language: str
    listed: tuple[str, ...]
    inflected: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of the idioms that are listed in citation form, in [0, 1]."""
        return len(self.listed) / self.total

    @property
    def share_with_inflected(self) -> float:
        """The same with the listed inflections, in [0, 1]."""
        return (len(self.listed) + len(self.inflected)) / self.total

    @property
    def total(self) -> int:
        """How many idioms were looked up."""
        return len(self.listed) + len(self.inflected) + len(self.absent)


def attest(lexicon: Lexicon, dictionary: Lexicon | dict[str, list[Entry]], language: str) -> Attestation:
    """Looks up every idiom of a language.

    Args:
        lexicon: ours.
        dictionary: entries of the outside dictionary, by language code.
        language: code; both must have it.
    """
    theirs = dictionary[language] if isinstance(dictionary, dict) else list(dictionary.of(language).values())
    record = LANGUAGES[language]
    forms = {_form(form, record) for entry in theirs for form in (entry.idiom, *entry.variants)}
    verbs: dict[str, list[str]] = {}
    for form in forms:
        head, _, last = form.rpartition(" ")
        verbs.setdefault(head, []).append(last)
    listed, inflected, absent = [], [], []
    for concept, entry in sorted(lexicon.of(language).items()):
        ours = {_form(form, record) for form in (entry.idiom, *entry.variants)}
        if ours & forms:
            listed.append(concept)
        elif any(_is_inflected(form, verbs, record) for form in ours):
            inflected.append(concept)
        else:
            absent.append(concept)
    return Attestation(language, tuple(listed), tuple(inflected), tuple(absent))


def _form(text: str, language: Language) -> str:
    """A citation form, folded, hyphens and blanks alike."""
    return " ".join(fold(text, language).replace("-", " ").split())


def _is_inflected(form: str, verbs: dict[str, list[str]], language: Language) -> bool:
    """Whether a form in the infinitive is listed with other endings of its last word, the rest of it word for word."""
    head, _, last = form.rpartition(" ")
    ending = next((e for e in language.infinitives if last.endswith(e) and len(last) > len(e) + 1), "")
    stem = last.removesuffix(ending)
    return bool(head and ending) and any(word.startswith(stem) for word in verbs.get(head, ()))
