"""What the annotator costs and yields beside a simple prefix matcher, measured in turn in one run on this machine.

    python benchmarks/annotate.py [--dodiom dataset_tr.csv] [--repeat 5] [--json]

One core, one process. Sentences: the examples of the bundled lexicon with their idioms, all five languages; with
--dodiom the idiomatic rows of that corpus. Prints a table, with --json one JSON object:

- sentences_per_minute: `annotate` on an idiom and its sentence; median of the repeats, of which the first analyses
  the citation forms and words that the others find in the caches.
- first_pass_per_minute: that first pass, with empty caches.
- other_idiom_per_minute: `annotate` on a sentence and an idiom that is not in it: every way of finding it is tried.
- prefix_per_minute: the prefix matcher below on the same pairs; ratio: annotator over prefix matcher.
- exact, prefix_exact: share of the sentences whose words are exactly the gold ones, in [0, 1].
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import parser, seconds, show

from hub_datasets.siblings.dodiom import read_dodiom
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.spans import Span

Matcher = Callable[[str, str, Language], tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """An idiom, a sentence that has it, and the places of its words."""

    idiom: str
    sentence: str
    language: Language
    gold: frozenset[Span]


def prefix_match(idiom: str, sentence: str, language: Language) -> tuple[Span, ...]:
    """Return for each word of the idiom the first free word that begins like it; nothing unless all are there."""
    places = words(sentence)
    forms = [fold(place.of(sentence), language) for place in places]
    chosen: list[int] = []
    for word in fold(idiom, language).split():
        stem = next((word[: -len(end)] for end in language.infinitives if word.endswith(end)), word)
        length = len(stem) if stem != word else max(2, len(stem) - 2)
        free = (n for n, form in enumerate(forms) if n not in chosen and form.startswith(stem[:length]))
        number = next(free, None)
        if number is None:
            return ()
        chosen.append(number)
    return tuple(places[number] for number in sorted(chosen))


def lexicon_cases() -> list[Case]:
    """Return the examples of the bundled lexicon that have spans."""
    lexicon = load_lexicon()
    cases = []
    for code, language in LANGUAGES.items():
        for entry in lexicon.of(code).values():
            if entry.example and entry.spans:
                cases.append(Case(entry.idiom, entry.example, language, words_in(entry.example, entry.spans)))
    return cases


def dodiom_cases(path: Path) -> list[Case]:
    """Return the idiomatic rows of Dodiom whose gold words stand in the sentence as the corpus spells them."""
    cases = []
    for row in read_dodiom(path):
        gold = [place for number, place in enumerate(row.places) if number in row.gold and place is not None]
        cases.append(Case(row.idiom, row.sentence, LANGUAGES["tr"], words_in(row.sentence, gold)))
    return cases


def words_in(sentence: str, spans: Sequence[Span]) -> frozenset[Span]:
    """Return the places of the words (not signs) that spans touch."""
    touched = set()
    for place in words(sentence):
        for span in spans:
            if sentence[place.start].isalnum() and place.start < span.end and span.start < place.end:
                touched.add(place)
    return frozenset(touched)


def per_minute(matcher: Matcher, cases: Sequence[Case]) -> float:
    """Return sentences per minute of one pass."""
    return 60 * len(cases) / seconds(lambda: [matcher(case.idiom, case.sentence, case.language) for case in cases])


def share_exact(matcher: Matcher, cases: Sequence[Case]) -> float:
    """Return the share of the cases in which exactly the gold words are marked, in [0, 1]."""
    n_exact = 0
    for case in cases:
        spans = matcher(case.idiom, case.sentence, case.language)
        n_exact += words_in(case.sentence, spans) == case.gold
    return n_exact / len(cases)


def measure(cases: Sequence[Case], repeat: int) -> dict[str, float]:
    """Return every figure; the two matchers run in turn, so that a change of the machine's load meets both."""

    def our_match(idiom: str, sentence: str, language: Language) -> tuple[Span, ...]:
        return annotate(idiom, sentence, language).spans

    others = []  # each idiom with the sentence of another one of the same language
    shift = len(cases) // 10
    for case, other in zip(cases, [*cases[shift:], *cases[:shift]], strict=True):
        if case.language is other.language and case.idiom != other.idiom:
            others.append(Case(case.idiom, other.sentence, case.language, frozenset()))
    ours, prefix, on_others = [], [], []
    for _ in range(repeat):
        ours.append(per_minute(our_match, cases))
        prefix.append(per_minute(prefix_match, cases))
        on_others.append(per_minute(our_match, others))
    ratios = [our / their for our, their in zip(ours, prefix, strict=True)]
    return {
        "sentences": len(cases),
        "sentences_per_minute": round(statistics.median(ours)),
        "first_pass_per_minute": round(ours[0]),
        "other_idiom_per_minute": round(statistics.median(on_others)),
        "prefix_per_minute": round(statistics.median(prefix)),
        "ratio": round(statistics.median(ratios), 3),
        "exact": round(share_exact(our_match, cases), 4),
        "prefix_exact": round(share_exact(prefix_match, cases), 4),
    }


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__, repeat=5)
    arguments.add_argument("--dodiom", type=Path, metavar="FILE", help="dataset_tr.csv instead of the bundled lexicon")
    options = arguments.parse_args()
    cases = dodiom_cases(options.dodiom) if options.dodiom else lexicon_cases()
    show(measure(cases, options.repeat), as_json=options.json)


if __name__ == "__main__":
    main()
