"""Planted errors: wrong texts of known kinds, which a verifier or a judge must catch before its verdicts count.

- ``other``: the meaning of another idiom, chosen by a hash;
- ``shifted``: the meaning of the idiom whose own meaning shares the largest part of its words;
- ``literal``: what the words of the idiom literally say, where the entry has a literal paraphrase;
- ``other example``: an example of another idiom;
- ``literal example``: the entry's own sentence in which the words are used literally.
"""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import NEAR, SAME, Entry, Lexicon
from turkic_idiom_tasks.orthography import content_stems, fold

OTHER, SHIFTED, LITERAL = MEANING_KINDS = ("other", "shifted", "literal")
OTHER_EXAMPLE, LITERAL_EXAMPLE = EXAMPLE_KINDS = ("other example", "literal example")
SEED = 1


def plant(
    lexicon: Lexicon, language: str, concepts: Sequence[str], *, share: float, kinds: Sequence[str] = MEANING_KINDS
) -> list[tuple[str, Entry]]:
    """Return kind of error and copy with it, of a share of the entries; the kinds take turns.

    The concepts have meanings. The share, in (0, 1], is of their entries, at least one.
    """
    entries = lexicon.of(language)
    equivalents = lexicon.judged(SAME, NEAR)
    meanings = {name: entry.meaning or "" for name, entry in entries.items()}
    stems = {name: frozenset(content_stems(meaning, LANGUAGES[language])) for name, meaning in meanings.items()}
    # Hashes instead of a generator: what is planted in an entry does not depend on which others there are.
    order = sorted(concepts, key=lambda concept: _hash(f"{SEED}/plant/{language}/{concept}"))
    planted: list[tuple[str, Entry]] = []
    for concept in order[: math.ceil(share * len(order))]:
        # A text of a concept that is judged the same or near would be no error
        similar = equivalents.get(concept, set()) | {concept}
        # Where an error of one kind cannot be made of an entry, the next kind is tried
        for turn in range(len(kinds)):
            kind = kinds[(len(planted) + turn) % len(kinds)]
            entry = entries[concept]
            text = _wrong_text(kind, entry, entries, LANGUAGES[language], similar=similar, stems=stems)
            if text is not None:
                is_meaning = kind in MEANING_KINDS
                wrong = replace(entry, meaning=text) if is_meaning else replace(entry, example=text, spans=None)
                planted.append((kind, wrong))
                break
    return planted


def _wrong_text(
    kind: str,
    entry: Entry,
    entries: Mapping[str, Entry],
    language: Language,
    *,
    similar: Collection[str],
    stems: Mapping[str, frozenset[str]],
) -> str | None:
    """Return a wrong meaning or example of a kind, of no concept in `similar`, as its text would be right, or None."""
    if kind == LITERAL_EXAMPLE:
        return entry.literal_example or None
    if kind == LITERAL:
        if entry.original is None or entry.literal_paraphrase is None:
            return None
        spans, _ = annotate(entry.idiom, entry.original, language, variants=entry.variants)
        if not spans:
            return None
        # What stands in place of the idiom, if the paraphrase left the rest of the sentence as it is.
        before, after = entry.original[: spans[0].start], entry.original[spans[-1].end :]
        paraphrase = entry.literal_paraphrase
        if not paraphrase.startswith(before) or not paraphrase.endswith(after):
            return None
        literal = paraphrase[len(before) : len(paraphrase) - len(after)].strip()
        return literal if literal and literal != entry.meaning else None
    idiom = fold(entry.idiom, language)
    # Other texts of the same lexicon, so that nothing but the meaning gives them away
    texts: dict[str, str] = {}  # concept -> its text, which would be wrong in this entry
    for concept, other in sorted(entries.items()):
        text = other.meaning if kind in MEANING_KINDS else other.example
        if text is None or text in (entry.meaning, entry.example) or concept in similar:
            continue
        # Another sense of the same idiom may be right, too
        if fold(other.idiom, language) != idiom:
            texts[concept] = text
    if kind != SHIFTED:
        chosen = min(texts, key=lambda concept: _hash(f"{SEED}/{entry.concept}/{concept}"), default=None)
        return texts[chosen] if chosen is not None else None
    own = stems[entry.concept]
    closest, best = None, 0.0
    for concept, text in texts.items():
        shared = len(own & stems[concept])
        closeness = shared / len(own | stems[concept]) if shared else 0.0
        # At a closeness of 1 the same words say the same thing
        if best < closeness < 1:
            closest, best = text, closeness
    return closest


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
