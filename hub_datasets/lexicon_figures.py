"""Figures of a lexicon: sizes, spans, similarity of the languages' idioms, and attestation.

Attestation is the share of the idioms of a language that an outside dictionary lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from turkic_idiom_tasks.dataset.retrieval import Pool, build_retrieval
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.support import needs_support, supported
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.orthography import fold, share_stem
from turkic_idiom_tasks.splits import TEST, span_split

NOT_READ = "not read"  # the status of an entry without one
UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class LanguageFigures:
    """One language of a lexicon.

    Attributes:
        entries, meanings, examples, spans: how many there are.
        literal_triples: entries with literal_example, paraphrase and literal_paraphrase.
        discontinuous: examples in which other words interrupt the idiom.
        not_citation_form: examples in which the idiom differs from its citation form.
        attested: entries whose form is known from a public source.
        supported: entries that are attested or have the same image in a related language (`lexicon.support`); None
            in a language that needs no support.
        collocations: entries marked as ordinary collocations.
        reviewed_by_native_speakers: share of the entries that a native speaker who knows the idiom judged, in [0, 1],
            whatever the verdicts; those whose idiom was changed since do not count.
        test_queries: queries of T2.
        test_queries_with_unsupported: how many they would be if entries without support were queries; None in a
            language that needs no support.
        with_interchangeable: those of them that a meaning of another concept answers too.
        floor: nDCG of a random ranking in T2, in [0, 1]; None without queries.
        strict_floor: the same if the meaning of the own concept alone is relevant.
        test_sentences: annotated examples of the span tasks' test split.
        paired: entries whose concept the pivot language has too; None for the pivot itself.
        without_shared_stem: share of those pairs that have no content word in common, in [0, 1]; None without pairs.
        status: status that the readers gave -> number of entries.
    """

    entries: int
    meanings: int
    examples: int
    spans: int
    literal_triples: int
    discontinuous: int
    not_citation_form: int
    attested: int
    supported: int | None
    collocations: int
    reviewed_by_native_speakers: float
    test_queries: int
    test_queries_with_unsupported: int | None
    with_interchangeable: int
    floor: float | None
    strict_floor: float | None
    test_sentences: int
    paired: int | None
    without_shared_stem: float | None
    status: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Attestation:
    """Idioms of one language that an outside dictionary lists.

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
    def total(self) -> int:
        """Return the number of idioms that were looked up."""
        return len(self.listed) + len(self.inflected) + len(self.absent)

    @property
    def share(self) -> float:
        """Return the share of the idioms that are listed in citation form, in [0, 1]."""
        return len(self.listed) / self.total

    @property
    def share_with_inflected(self) -> float:
        """Return the share of the idioms that are listed in citation form or in another inflection, in [0, 1]."""
        return (len(self.listed) + len(self.inflected)) / self.total


def language_figures(lexicon: Lexicon) -> dict[str, LanguageFigures]:
    """Return code -> figures of every language that the lexicon has."""
    return {code: _figures(lexicon, code) for code in LANGUAGES if lexicon.of(code)}


def to_json(lexicon: Lexicon) -> dict[str, Any]:
    """Return every figure as one JSON object."""
    languages = {code: asdict(figures) for code, figures in language_figures(lexicon).items()}
    return {"revision": lexicon.revision, "concepts": len(lexicon.concepts), "languages": languages}


def figures_table(lexicon: Lexicon) -> list[list[str]]:
    """Return the figures as rows of texts: the head, then a row for each figure that begins with its name."""
    by_language = language_figures(lexicon)
    figures = [asdict(record) for record in by_language.values()]
    table = [[f"{len(lexicon.concepts)} concepts", *by_language]]
    for name in LanguageFigures.__dataclass_fields__:
        if name != "status":
            table.append([name.replace("_", " "), *(_shown(record[name]) for record in figures)])
    statuses = set()
    for record in figures:
        statuses.update(record["status"])
    for status in sorted(statuses):
        counts = [str(record["status"].get(status, 0)) for record in figures]
        table.append([f"status: {printable(status)}", *counts])
    return table


def markdown(lexicon: Lexicon) -> str:
    """Return the figures as a Markdown table."""
    head, *rows = figures_table(lexicon)
    return markdown_table(head, rows)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the columns after the first one are numbers, aligned on the right."""
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |")
    return "\n".join(lines) + "\n"


def attest(lexicon: Lexicon, dictionary: Mapping[str, Sequence[Entry]], language: str) -> Attestation:
    """Look up every idiom of a language in an outside dictionary.

    Args:
        lexicon: the lexicon with the idioms.
        dictionary: language code -> entries of the outside dictionary.
        language: code of a language that both have.
    """
    record = LANGUAGES[language]
    headwords = set()
    for entry in dictionary[language]:
        headwords.update(_folded_forms(entry, record))
    last_words: dict[str, list[str]] = {}  # rest of a headword -> its last words
    for headword in headwords:
        rest, _, last = headword.rpartition(" ")
        last_words.setdefault(rest, []).append(last)
    listed, inflected, absent = [], [], []
    for concept, entry in sorted(lexicon.of(language).items()):
        forms = _folded_forms(entry, record)
        if forms & headwords:
            listed.append(concept)
        elif any(_is_inflected(form, last_words, record) for form in forms):
            inflected.append(concept)
        else:
            absent.append(concept)
    return Attestation(language, tuple(listed), tuple(inflected), tuple(absent))


def _figures(lexicon: Lexicon, code: str) -> LanguageFigures:
    rows = lexicon.of(code)
    counts: Counter[str] = Counter()
    status: Counter[str] = Counter()
    for concept, row in rows.items():
        has_sentence = row.example is not None and row.spans is not None
        counts["meanings"] += row.meaning is not None
        counts["examples"] += row.example is not None
        counts["spans"] += row.spans is not None
        counts["triples"] += None not in (row.literal_example, row.paraphrase, row.literal_paraphrase)
        counts["discontinuous"] += len(row.spans or ()) > 1
        counts["not citation form"] += _differs_from_citation(row, code)
        counts["attested"] += row.attested is not None
        counts["collocations"] += row.collocation
        counts["test sentences"] += has_sentence and span_split(concept) == TEST
        status[str(row.status) if row.status else NOT_READ] += 1
    queries = build_retrieval(lexicon, "T2", LANGUAGES[code].subset)
    pool = Pool("T2", LANGUAGES[code].subset, queries) if queries else None
    n_pairs, n_unlike = _pairs(lexicon, code)
    is_doubtful = needs_support(lexicon, code)
    return LanguageFigures(
        entries=len(rows),
        meanings=counts["meanings"],
        examples=counts["examples"],
        spans=counts["spans"],
        literal_triples=counts["triples"],
        discontinuous=counts["discontinuous"],
        not_citation_form=counts["not citation form"],
        attested=counts["attested"],
        supported=len(supported(lexicon, code)) if is_doubtful else None,
        collocations=counts["collocations"],
        reviewed_by_native_speakers=len(lexicon.reviewed(code)) / len(rows),
        test_queries=len(pool.queries) if pool else 0,
        test_queries_with_unsupported=_n_queries_of_all(lexicon, code) if is_doubtful else None,
        with_interchangeable=_n_with_interchangeable(pool) if pool else 0,
        floor=_floor(pool, pool.relevant) if pool else None,
        strict_floor=_floor(pool, pool.strictly_relevant) if pool else None,
        test_sentences=counts["test sentences"],
        paired=None if code == PIVOT else n_pairs,
        without_shared_stem=None if code == PIVOT or not n_pairs else n_unlike / n_pairs,
        status=dict(status),
    )


def _n_queries_of_all(lexicon: Lexicon, code: str) -> int:
    """Return the number of test queries of T2 if entries without support were queries too."""
    data = build_retrieval(lexicon, "T2", LANGUAGES[code].subset, with_unsupported=True)
    return len(data.queries) if data else 0


def _n_with_interchangeable(pool: Pool) -> int:
    pairs = zip(pool.relevant, pool.strictly_relevant, strict=True)
    return sum(len(relevant) > len(own) for relevant, own in pairs)


def _floor(pool: Pool, relevant: Sequence[Sequence[int]]) -> float:
    """Return the mean over queries of the nDCG of a random ranking."""
    floors = [random_ndcg(len(pool.documents), len(columns)) for columns in relevant]
    return sum(floors) / len(floors)


def _pairs(lexicon: Lexicon, code: str) -> tuple[int, int]:
    """Return the number of concepts that the pivot has too, and how many of them have idioms without a shared word."""
    rows, pivot = lexicon.of(code), lexicon.of(PIVOT)
    n_pairs = n_unlike = 0
    for concept, row in rows.items():
        if concept in pivot:
            n_pairs += 1
            n_unlike += not share_stem(pivot[concept].idiom, LANGUAGES[PIVOT], row.idiom, LANGUAGES[code])
    return n_pairs, n_unlike


def _differs_from_citation(entry: Entry, code: str) -> bool:
    if entry.example is None or not entry.spans:
        return False
    marked = " ".join(span.of(entry.example) for span in entry.spans)
    return fold(marked, LANGUAGES[code]) != fold(entry.idiom, LANGUAGES[code])


def _shown(value: Any) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.1%}" if isinstance(value, float) else str(value)


def _folded_forms(entry: Entry, language: Language) -> set[str]:
    """Return the citation forms of an entry, folded, with blanks in place of hyphens."""
    forms = set()
    for form in (entry.idiom, *entry.variants):
        forms.add(" ".join(fold(form, language).replace("-", " ").split()))
    return forms


def _is_inflected(form: str, last_words: Mapping[str, Sequence[str]], language: Language) -> bool:
    """Return whether a form in the infinitive is listed with another ending of its last word and the same rest."""
    rest, _, last = form.rpartition(" ")
    for ending in language.infinitives:
        if rest and last.endswith(ending) and len(last) > len(ending) + 1:
            stem = last.removesuffix(ending)
            return any(word.startswith(stem) for word in last_words.get(rest, ()))
    return False
