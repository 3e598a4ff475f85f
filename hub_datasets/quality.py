"""Quality rules of `turkic-idiom dataset check` for the content of a lexicon, one function for each rule.

The rules only look at spelling and counts, so they can miss a fault and, rarely, report one that is none. Only readers
can judge whether an idiom exists and means what its entry says.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from hub_datasets.cleaning import without_infinitive
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.io.reading import Fault, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import lexicon_files
from turkic_idiom_tasks.orthography import content_stems, fold, skeleton

EXAMPLE_WORDS = (5, 20)
MEANING_WORDS = (1, 25)
IDIOM_WORDS = (1, 9)
TEMPLATE_USES = 5  # most examples that may be the same around their idiom
NAME_SHARE = 0.03  # highest share of a language's examples that may name the same person
NAME_USES = 3  # a name may always have this many uses
COPIED_WORDS = 0.6  # lowest share of equal words from which an example counts as a translation of another
COPIED_ENTRIES = 0.4  # highest share of a concept's entries that may be such translations
_CIRCULAR_LETTERS = 5  # equal first letters that make a word of a meaning and one of the idiom the same word
_STEM_LETTERS = 2  # first letters of an idiom's word that no inflection changes (alın, alnına; ara-, arıyor)
_EXAMPLE_LETTERS = 3  # first letters of a word of an example that are compared across languages
_WORD = re.compile(r"[\wʻʼ'’]+")

Breaches = Iterator[tuple[str, str]]  # concept, what is wrong


def content_problems(lexicon: Lexicon, directory: Path) -> list[Fault]:
    """Return every breach of a rule by a lexicon that was read from a directory, sorted by file and line."""
    breaches: dict[str, list[tuple[str, str]]] = defaultdict(list)  # language code -> concept, what is wrong
    for code, language in LANGUAGES.items():
        for rule in RULES:
            breaches[code] += rule(list(lexicon.of(code).values()), language)
    for concept, message in copied_examples(lexicon):
        breaches[next(code for code in LANGUAGES if concept in lexicon.of(code))].append((concept, message))
    problems = []
    for code, path in lexicon_files(directory).items():
        line_of = {row["concept"]: number for number, row, _ in read_json_lines(path)}  # none of them is malformed
        problems += [Fault(path, f"{concept}: {text}", line_of[concept]) for concept, text in breaches[code]]
    return sorted(problems, key=lambda problem: (str(problem.path), problem.line))


def lengths(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield idioms, meanings and examples that are too short or too long."""
    limits = {"idiom": IDIOM_WORDS, "meaning": MEANING_WORDS, "example": EXAMPLE_WORDS}
    for entry in entries:
        for name, (fewest, most) in limits.items():
            text = getattr(entry, name)
            if text is not None and not fewest <= len(text.split()) <= most:
                yield entry.concept, f"{name} has {len(text.split())} words, not {fewest} to {most}: {text!r}"


def idiom_in_example(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield examples whose spans lack a word of the idiom and of every variant, in whatever inflection."""
    for entry in entries:
        if entry.example is None or entry.spans is None:
            continue
        marked = " ".join(span.of(entry.example) for span in entry.spans)
        missing = [_missing_words(form, marked, language) for form in (entry.idiom, *entry.variants)]
        # One form that is there as a whole is enough.
        if all(missing):
            yield entry.concept, f"spans {marked!r} lack {', '.join(missing[0])} of the idiom {entry.idiom!r}"


def whole_words(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield spans that begin or end within a word."""
    for entry in entries:
        example = entry.example or ""
        places = words(example)
        starts = {place.start for place in places}
        ends = {place.end for place in places}
        for span in entry.spans or ():
            if span.start not in starts or span.end not in ends:
                yield entry.concept, f"span [{span.start}, {span.end}] cuts a word: {span.of(example)!r} in {example!r}"


def circular_meaning(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield meanings that use every content word of their own idiom; a single one may be the right word."""
    for entry in entries:
        meaning_words = _words_of(entry.meaning or "", language, content_only=True)
        idiom_words = _words_of(entry.idiom, language, content_only=True)
        shared_words = [own for own in idiom_words if any(_same_word(word, own) for word in meaning_words)]
        if idiom_words and shared_words == idiom_words:
            again = " ".join(idiom_words)
            yield entry.concept, f"meaning {entry.meaning!r} says the idiom {entry.idiom!r} again: {again}"


def idiom_in_meaning(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield meanings that hold the idiom of another entry word for word, its last word in whatever inflection."""
    idioms: dict[str, list[tuple[list[str], Entry]]] = defaultdict(list)  # by the first word
    for entry in entries:
        idiom_words = _words_of(entry.idiom, language, content_only=False)
        # Ordinary collocations are no idioms, so a meaning may use them
        if len(idiom_words) > 1 and not entry.collocation:
            idioms[idiom_words[0]].append((idiom_words, entry))
    for entry in entries:
        meaning_words = _words_of(entry.meaning or "", language, content_only=False)
        for start, word in enumerate(meaning_words):
            for idiom_words, other in idioms[word]:
                window = meaning_words[start : start + len(idiom_words)]
                is_same = window[:-1] == idiom_words[:-1] and _same_word(window[-1], idiom_words[-1])
                if other.concept != entry.concept and len(window) == len(idiom_words) and is_same:
                    yield entry.concept, f"meaning {entry.meaning!r} holds the idiom {other.idiom!r} of {other.concept}"


def duplicates(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield idioms, meanings and examples that are there twice."""
    for name in ("idiom", "meaning", "example"):
        first: dict[str, str] = {}
        for entry in entries:
            text = getattr(entry, name)
            if text is None:
                continue
            known = first.setdefault(fold(text, language), entry.concept)
            if known != entry.concept:
                yield entry.concept, f"the same {name} as {known}: {text!r}"


def templates(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield examples that repeat one sentence with another idiom in it."""
    users = defaultdict(list)
    for entry in entries:
        if entry.example is not None and entry.spans:
            rest = f"{entry.example[: entry.spans[0].start]}…{entry.example[entry.spans[-1].end :]}"
            users[fold(rest, language)].append(entry.concept)
    for rest, concepts in users.items():
        for concept in concepts[TEMPLATE_USES:]:
            yield concept, f"example is {rest!r} once more ({len(concepts)} times, at most {TEMPLATE_USES})"


def names(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield names that too many examples use; a word with a capital in the middle of a sentence counts as a name."""
    words_by_concept = {entry.concept: _WORD.findall(entry.example) for entry in entries if entry.example}
    capitals: set[str] = set()
    uses: Counter[str] = Counter()
    for tokens in words_by_concept.values():
        # Every sentence begins with a capital: the first word is no name, nor is a function word within an example
        capitals |= {word for word in tokens[1:] if word[0].isupper() and len(word) > 1}
        uses.update(set(tokens))
    n_examples = len(words_by_concept)
    for word in sorted(word for word in capitals if word.lower() not in language.function_words):
        if uses[word] > max(NAME_USES, NAME_SHARE * n_examples):
            concept = next(concept for concept, tokens in words_by_concept.items() if word in tokens)
            yield concept, f"the name {word!r} is in {uses[word]} of {n_examples} examples, more than {NAME_SHARE:.0%}"


def optional_texts(entries: Sequence[Entry], language: Language) -> Breaches:
    """Yield literal and paraphrased examples that are incomplete, repeat the example, or lack the idiom."""
    for entry in entries:
        texts = (entry.literal_example, entry.paraphrase, entry.literal_paraphrase)
        if any(texts) and not all(texts):
            yield entry.concept, "literal_example, paraphrase and literal_paraphrase must come together"
        if entry.paraphrased_example is not None:
            if entry.paraphrase is None:
                yield entry.concept, "paraphrased_example without its paraphrase"
            if not annotate(entry.idiom, entry.paraphrased_example, language, variants=entry.variants).spans:
                yield entry.concept, f"paraphrased_example {entry.paraphrased_example!r} lacks the idiom"
        for name in ("paraphrase", "literal_paraphrase"):
            text = getattr(entry, name)
            if text is not None and text == entry.original:
                yield entry.concept, f"{name} is the sentence itself: {text!r}"
        if entry.literal_example is not None:
            missing = ", ".join(_missing_words(entry.idiom, entry.literal_example, language))
            if missing:
                yield entry.concept, f"literal_example {entry.literal_example!r} lacks {missing} of the idiom"


RULES = (
    *(lengths, idiom_in_example, whole_words, circular_meaning, idiom_in_meaning),
    *(duplicates, templates, names, optional_texts),
)


def copied_examples(lexicon: Lexicon) -> Breaches:
    """Yield concepts whose examples are translations of one sentence in several languages."""
    for concept in sorted(lexicon.concepts):
        examples: dict[str, Counter[str]] = {}  # language code -> beginnings of the words
        copies = []
        for code in LANGUAGES:
            entry = lexicon.of(code).get(concept)
            if entry is None or not entry.example:
                continue
            text = entry.example
            # Without the idioms, because cognate idioms share their words anyway; from the end, so that offsets stay
            # right
            for span in reversed(entry.spans or ()):
                text = text[: span.start] + text[span.end :]
            stems = Counter(word[:_EXAMPLE_LETTERS] for word in skeleton(text, LANGUAGES[code]).split())
            # Beginnings of words, because the languages differ mostly in their suffixes.
            for other in examples.values():
                shorter, longer = sorted((stems.total(), other.total()))
                # Two words may be alike by chance.
                if shorter > 2 and (stems & other).total() >= COPIED_WORDS * longer:
                    copies.append(code)
                    break
            examples[code] = stems
        if len(examples) > 1 and len(copies) > COPIED_ENTRIES * len(examples):
            languages = ", ".join(copies)
            yield concept, f"{len(copies)} of {len(examples)} examples translate another word for word: {languages}"


def _missing_words(idiom: str, text: str, language: Language) -> list[str]:
    """Return the content words of an idiom with whose first letters no word of a text begins."""
    text_words = skeleton(text, language).split()
    missing = []
    for stem in content_stems(idiom, language):
        n_letters = _STEM_LETTERS if len(stem) > _STEM_LETTERS + 1 else 1
        beginnings = {word[:n_letters] for word in text_words}
        if stem[:n_letters] not in beginnings:
            missing.append(stem)
    return missing


def _words_of(text: str, language: Language, *, content_only: bool) -> list[str]:
    """Return the words of a text as they are spelt: all, or those that are no function words.

    Infinitives are without their endings: of content words each, otherwise the last word alone.
    """
    spelt: list[str] = _WORD.findall(fold(text, language))
    if content_only:
        return [without_infinitive(word, language) for word in spelt if word not in language.function_words]
    return [*spelt[:-1], *(without_infinitive(word, language) for word in spelt[-1:])]


def _same_word(first: str, second: str) -> bool:
    """Return whether two words are forms of the same word.

    They are if their first five letters are equal, or if the shorter word begins the longer one and a suffix follows.
    """
    n_letters = min(len(first), len(second), _CIRCULAR_LETTERS)
    n_more = abs(len(first) - len(second))
    # After three letters (göz) only a short suffix may follow, or göz would be a form of gözlemci.
    longest_suffix = 3 if n_letters == 3 else _CIRCULAR_LETTERS
    return n_letters > 2 and first[:n_letters] == second[:n_letters] and n_more <= longest_suffix
