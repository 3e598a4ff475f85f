"""What a good lexicon keeps besides its format: the rules of `turkic-idiom dataset check`, one function each.

They judge by spelling and counting alone, so they can miss a fault and, rarely, see one that is none; whether an idiom
exists and means what its entry says is for readers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import Problem, line_numbers
from turkic_idiom_tasks.orthography import content_stems, fold, skeleton
from turkic_idiom_tasks.span_detection.words import words

EXAMPLE_WORDS = (5, 20)
MEANING_WORDS = (1, 25)
IDIOM_WORDS = (1, 9)
TEMPLATE_USES = 5  # how often examples may be the same around their idiom
NAME_SHARE = 0.03  # of a language's examples may name the same person
NAME_USES = 3  # below this no share is counted
COPIED_WORDS = 0.6  # of the words of two examples alike, from which one is a translation of the other
COPIED_ENTRIES = 0.4  # of a concept's entries may be such translations
_CIRCULAR_LETTERS = 5  # of a stem of a meaning and of the idiom that make them the same word
_STEM_LETTERS = 2  # of an idiom's word that stand in the example however it is inflected (alın, alnına; ara-, arıyor)
_EXAMPLE_LETTERS = 3  # of a word of an example by which it is known in another language
_WORD = re.compile(r"[\wʻʼ'’]+")

Found = Iterator[tuple[str, str]]  # concept, what is wrong


def content_problems(lexicon: Lexicon, directory: Path) -> list[Problem]:
    """Every breach of a rule, by file and line.

    Args:
        lexicon: its entries, all in the right format.
        directory: where they were read.
    """
    lines = line_numbers(directory)
    problems = []
    for code in (code for code in LANGUAGES if lexicon.of(code)):
        entries, language = list(lexicon.of(code).values()), LANGUAGES[code]
        found = [item for rule in RULES for item in rule(entries, language)]
        path = directory / f"{code}.jsonl"
        problems += [Problem(path, lines[code][concept], f"{concept}: {message}") for concept, message in found]
    first = next(code for code in LANGUAGES if lexicon.of(code))
    for concept, message in copied_examples(lexicon):
        code = first if concept in lexicon.of(first) else next(c for c in LANGUAGES if concept in lexicon.of(c))
        problems.append(Problem(directory / f"{code}.jsonl", lines[code][concept], f"{concept}: {message}"))
    return sorted(problems, key=lambda problem: (str(problem.path), problem.line))


def lengths(entries: list[Entry], language: Language) -> Found:
    """Idiom, meaning and example are neither fragments nor essays."""
    for entry in entries:
        parts = (("idiom", entry.idiom, IDIOM_WORDS), ("meaning", entry.meaning, MEANING_WORDS))
        for name, text, (least, most) in (*parts, ("example", entry.example, EXAMPLE_WORDS)):
            if text is not None and not least <= len(text.split()) <= most:
                yield entry.concept, f"{name} has {len(text.split())} words, not {least} to {most}: {text!r}"


def idiom_in_example(entries: list[Entry], language: Language) -> Found:
    """Every word of the idiom, or of one of its variants, stands in the spans, inflected as may be."""
    for entry in entries:
        if entry.example is None or entry.spans is None:
            continue
        marked = " ".join(span.of(entry.example) for span in entry.spans)
        missing = [_missing_words(form, marked, language) for form in (entry.idiom, *entry.variants)]
        if all(missing):
            yield entry.concept, f"spans {marked!r} lack {', '.join(missing[0])} of the idiom {entry.idiom!r}"


def whole_words(entries: list[Entry], language: Language) -> Found:
    """A span begins and ends with a word."""
    for entry in entries:
        example = entry.example or ""
        places = words(example)
        starts, ends = {place.start for place in places}, {place.end for place in places}
        for span in entry.spans or ():
            if span.start not in starts or span.end not in ends:
                yield entry.concept, f"span [{span.start}, {span.end}] cuts a word: {span.of(example)!r} in {example!r}"


def circular_meaning(entries: list[Entry], language: Language) -> Found:
    """The meaning is said without the idiom's own content words."""
    for entry in entries:
        own = _content_words(entry.idiom, language)
        for word in _content_words(entry.meaning or "", language):
            same = next((other for other in own if _same_word(word, other)), None)
            if same:
                yield entry.concept, f"meaning {entry.meaning!r} uses a word of the idiom {entry.idiom!r}: {same}"
                break


def duplicates(entries: list[Entry], language: Language) -> Found:
    """No idiom, meaning or example twice."""
    for name in ("idiom", "meaning", "example"):
        first: dict[str, str] = {}
        for entry in entries:
            text = getattr(entry, name)
            if text is None:
                continue
            known = first.setdefault(fold(text, language), entry.concept)
            if known != entry.concept:
                yield entry.concept, f"the same {name} as {known}: {text!r}"


def templates(entries: list[Entry], language: Language) -> Found:
    """Examples are not one sentence with the idiom changed."""
    users = defaultdict(list)
    for entry in entries:
        if entry.example is not None and entry.spans:
            rest = f"{entry.example[: entry.spans[0].start]}…{entry.example[entry.spans[-1].end :]}"
            users[fold(rest, language)].append(entry.concept)
    for rest, concepts in users.items():
        for concept in concepts[TEMPLATE_USES:]:
            yield concept, f"example is {rest!r} once more ({len(concepts)} times, at most {TEMPLATE_USES})"


def names(entries: list[Entry], language: Language) -> Found:
    """No person turns up all the time; taken for a name is what has a capital in the middle of a sentence."""
    examples = [(entry.concept, entry.example) for entry in entries if entry.example is not None]
    tokens = [(concept, _WORD.findall(example)) for concept, example in examples]
    capitals = {word for _, found in tokens for word in found[1:] if word[0].isupper() and len(word) > 1}
    uses = Counter(word for _, found in tokens for word in set(found) & capitals)
    for word, count in sorted(uses.items()):
        if count > max(NAME_USES, NAME_SHARE * len(examples)):
            concept = next(concept for concept, found in tokens if word in found)
            yield concept, f"the name {word!r} is in {count} of {len(examples)} examples, more than {NAME_SHARE:.0%}"


def optional_texts(entries: list[Entry], language: Language) -> Found:
    """The literal and paraphrased examples come together, differ from the example, and do what they are for."""
    for entry in entries:
        texts = (entry.literal_example, entry.paraphrase, entry.literal_paraphrase)
        if any(texts) and not all(texts):
            yield entry.concept, "literal_example, paraphrase and literal_paraphrase must come together"
        for name, text in zip(("paraphrase", "literal_paraphrase"), texts[1:], strict=True):
            if text is not None and text == entry.example:
                yield entry.concept, f"{name} is the example itself: {text!r}"
        if entry.literal_example is not None:
            missing = _missing_words(entry.idiom, entry.literal_example, language)
            if missing:
                yield (
                    entry.concept,
                    f"literal_example {entry.literal_example!r} lacks {', '.join(missing)} of the idiom",
                )


RULES: tuple[Callable[[list[Entry], Language], Found], ...] = (
    lengths,
    idiom_in_example,
    whole_words,
    circular_meaning,
    duplicates,
    templates,
    names,
    optional_texts,
)


def copied_examples(lexicon: Lexicon) -> Found:
    """The examples of a concept are sentences of their own, not one sentence in five languages."""
    for concept in sorted(lexicon.concepts):
        entries = {code: lexicon.of(code).get(concept) for code in LANGUAGES}
        examples = {code: _example_stems(entry, code) for code, entry in entries.items() if entry and entry.example}
        copies: list[str] = []
        for position, code in enumerate(examples):
            others = list(examples)[:position]
            if any(_alike(examples[code], examples[other]) for other in others):
                copies.append(code)
        if len(examples) > 1 and len(copies) > COPIED_ENTRIES * len(examples):
            yield (
                concept,
                f"{len(copies)} of {len(examples)} examples translate another word for word: {', '.join(copies)}",
            )


def _example_stems(entry: Entry, code: str) -> list[str]:
    """The stems of an example outside its idiom, which cognate idioms share anyway."""
    text = entry.example or ""
    for span in reversed(entry.spans or ()):
        text = text[: span.start] + text[span.end :]
    return [word[:_EXAMPLE_LETTERS] for word in skeleton(text, LANGUAGES[code]).split()]


def _alike(first: list[str], second: list[str]) -> bool:
    shared = sum((Counter(first) & Counter(second)).values())
    return min(len(first), len(second)) > 2 and shared >= COPIED_WORDS * max(len(first), len(second))


def _missing_words(idiom: str, text: str, language: Language) -> list[str]:
    """The content words of an idiom that no word of a text begins like."""
    present = skeleton(text, language).split()
    return [stem for stem in content_stems(idiom, language) if not any(_begins_like(word, stem) for word in present)]


def _begins_like(word: str, stem: str) -> bool:
    letters = _STEM_LETTERS if len(stem) > _STEM_LETTERS + 1 else 1
    return word[:letters] == stem[:letters]


def _content_words(text: str, language: Language) -> list[str]:
    """The words of a text as they are spelt, without infinitive endings and without function words."""
    found = []
    for word in _WORD.findall(fold(text, language)):
        ending = next((e for e in language.infinitives if word.endswith(e) and len(word) > len(e) + 1), "")
        if word not in language.function_words:
            found.append(word.removesuffix(ending))
    return found


def _same_word(first: str, second: str) -> bool:
    """Whether two words share so many letters that they are forms of one: five, or all of the shorter and a suffix."""
    letters = min(len(first), len(second), _CIRCULAR_LETTERS)
    suffix = abs(len(first) - len(second))
    return letters > 2 and first[:letters] == second[:letters] and suffix <= (3 if letters == 3 else _CIRCULAR_LETTERS)
