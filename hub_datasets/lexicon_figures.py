"""Figures of a lexicon: sizes, spans, similarity of the languages' idioms, and attestation by outside dictionaries."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hub_datasets.cleaning import without_infinitive
from turkic_idiom_tasks.dataset.retrieval import Pool, build_retrieval
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language
from turkic_idiom_tasks.lexicon.entries import Entry, FurtherExample, Lexicon
from turkic_idiom_tasks.lexicon.support import needs_support, supported
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.orthography import fold, share_stem
from turkic_idiom_tasks.splits import TEST, span_split

NOT_READ = "not read"  # the status of an entry without one
UNDEFINED = "–"
STATUS = "status"
_COUNTED = ("meanings", "examples", "spans", "literal_triples", "discontinuous", "not_citation_form", "attested")


def language_figures(lexicon: Lexicon) -> dict[str, dict[str, Any]]:
    """Return code -> name -> figure of every language that the lexicon has; None stands for an undefined figure."""
    return {code: _figures(lexicon, code) for code in LANGUAGES if lexicon.of(code)}


def _figures(lexicon: Lexicon, code: str) -> dict[str, Any]:
    rows, pivot, language = lexicon.of(code), lexicon.of(PIVOT), LANGUAGES[code]
    counts: Counter[str] = Counter()
    status: Counter[str] = Counter()
    for concept, row in rows.items():
        marked = " ".join(span.of(row.example or "") for span in row.spans or ())
        counts["meanings"] += row.meaning is not None
        counts["examples"] += row.example is not None
        counts["spans"] += row.spans is not None
        counts["literal_triples"] += None not in (row.literal_example, row.paraphrase, row.literal_paraphrase)
        counts["discontinuous"] += len(row.spans or ()) > 1  # other words interrupt the idiom
        counts["not_citation_form"] += marked != "" and fold(marked, language) != fold(row.idiom, language)
        counts["attested"] += row.attested is not None
        counts["collocations"] += row.collocation
        counts["test sentences"] += row.spans is not None and span_split(concept) == TEST
        status[str(row.status) if row.status else NOT_READ] += 1
        if concept in pivot:
            counts["paired"] += 1
            counts["unlike"] += not share_stem(pivot[concept].idiom, LANGUAGES[PIVOT], row.idiom, language)
    # The pools of the task itself, so that the figures cannot differ from what is scored.
    data = build_retrieval(lexicon, "T2", language.subset)
    all_data = build_retrieval(lexicon, "T2", language.subset, with_unsupported=True)
    pool = Pool("T2", language.subset, data) if data else None
    is_doubtful = needs_support(lexicon, code)
    with_interchangeable = 0
    if pool:
        relevant_and_own = zip(pool.relevant, pool.strictly_relevant, strict=True)
        with_interchangeable = sum(len(relevant) > len(own) for relevant, own in relevant_and_own)
    return {
        "entries": len(rows),
        **{name: counts[name] for name in _COUNTED},
        "supported": len(supported(lexicon, code)) if is_doubtful else None,  # as in `lexicon.support`
        "collocations": counts["collocations"],
        # Share of the entries that a speaker who knows the idiom judged as it reads now, whatever the verdicts.
        "reviewed_by_native_speakers": len(lexicon.reviewed(code)) / len(rows),
        "test_queries": len(pool.queries) if pool else 0,  # of T2
        "test_queries_with_unsupported": len(all_data.queries if all_data else ()) if is_doubtful else None,
        "with_interchangeable": with_interchangeable,  # those that a meaning of another concept answers too
        "floor": _floor(pool, pool.relevant) if pool else None,
        "strict_floor": _floor(pool, pool.strictly_relevant) if pool else None,  # only the own concept is relevant
        "test_sentences": counts["test sentences"],  # of the span tasks
        "paired": None if code == PIVOT else counts["paired"],  # entries whose concept the pivot language has too
        "without_shared_stem": None if code == PIVOT or not counts["paired"] else counts["unlike"] / counts["paired"],
        **_variety(rows.values()),
        STATUS: dict(status),  # that the readers gave -> number of entries
    }


def _variety(entries: Iterable[Entry]) -> dict[str, float | int | None]:
    """Return how many sentences have an idiom and how many none, and shares of the former by form, length and topic."""
    sentences: list[FurtherExample] = []
    for entry in entries:
        sentences += entry.examples
        if entry.example is not None and entry.spans is not None:
            sentences.append(FurtherExample(entry.example, entry.spans, entry.topic))
    with_idiom = [row for row in sentences if row.spans]
    texts = [row.text for row in with_idiom]
    lengths = [len(text.split()) for text in texts]
    cases = {
        "dialogues": [text.startswith("–") for text in texts],
        "questions_or_exclamations": ["?" in text or "!" in text for text in texts],
        "up_to_7_words": [length <= 7 for length in lengths],
        "8_to_16_words": [7 < length <= 16 for length in lengths],
        "over_16_words": [length > 16 for length in lengths],
        "idiom_before_the_end": [any(map(str.isalpha, row.text[row.spans[-1].end :])) for row in with_idiom],
        "modern_topics": [row.topic is not None for row in with_idiom],
    }
    shares = {name: sum(of_name) / len(with_idiom) if with_idiom else None for name, of_name in cases.items()}
    shares["modern_topics"] = shares["modern_topics"] or None  # None: not labelled
    n_without = len(sentences) - len(with_idiom)
    return {"sentences_with_an_idiom": len(with_idiom), "sentences_without_an_idiom": n_without, **shares}


def _floor(pool: Pool, relevant: Sequence[Sequence[int]]) -> float:
    """Return the nDCG of a random ranking, as a mean over queries."""
    floors = [random_ndcg(len(pool.documents), len(columns)) for columns in relevant]
    return sum(floors) / len(floors)


def figures_table(lexicon: Lexicon) -> list[list[str]]:
    """Return the figures as rows of texts: the head, then a row for each figure that begins with its name."""
    by_language = language_figures(lexicon)
    figures = list(by_language.values())
    table = [[f"{len(lexicon.concepts)} concepts", *by_language]]
    for name in figures[0] if figures else ():
        if name == STATUS:
            continue
        cells = [name.replace("_", " ")]
        for row in figures:
            shown = f"{row[name]:.1%}" if isinstance(row[name], float) else str(row[name])
            cells.append(UNDEFINED if row[name] is None else shown)
        table.append(cells)
    for status in sorted(set().union(*(row[STATUS] for row in figures))):
        table.append([f"status: {printable(status)}", *(str(row[STATUS].get(status, 0)) for row in figures)])
    return table


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, the head first; the columns after the first one are numbers, aligned on the right."""
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |\n" for row in rows]
    return f"{lines[0]}|---|{'---:|' * (lines[0].count('|') - 2)}\n{''.join(lines[1:])}"


def attest(lexicon: Lexicon, dictionary: Mapping[str, Sequence[Entry]], language: str) -> dict[str, list[str]]:
    """Return the concepts of a language by whether an outside dictionary (language -> entries) has their idioms.

    ``listed``: the idiom or a variant is among the dictionary's headwords and variants; ``inflected``: another form of
    the verb is, the rest word for word (`tarvuzi qoʻltigʻidan tushdi` for `tarvuzi qoʻltigʻidan tushmoq`); ``absent``:
    the others.
    """
    record = LANGUAGES[language]
    headwords = set().union(*(_folded_forms(entry, record) for entry in dictionary[language]))
    last_words: dict[str, list[str]] = defaultdict(list)  # rest of a headword -> its last words
    for headword in headwords:
        rest, _, last = headword.rpartition(" ")
        last_words[rest].append(last)
    concepts: dict[str, list[str]] = {"listed": [], "inflected": [], "absent": []}
    for concept, entry in sorted(lexicon.of(language).items()):
        forms = _folded_forms(entry, record)
        is_inflected = False
        for form in forms:
            rest, _, last = form.rpartition(" ")
            stem = without_infinitive(last, record)
            if rest and stem != last:
                is_inflected |= any(word.startswith(stem) for word in last_words[rest])
        outcome = "listed" if forms & headwords else "inflected" if is_inflected else "absent"
        concepts[outcome].append(concept)
    return concepts


def _folded_forms(entry: Entry, language: Language) -> set[str]:
    """Return the citation forms of an entry, folded, with blanks in place of hyphens."""
    return {" ".join(fold(form, language).replace("-", " ").split()) for form in (entry.idiom, *entry.variants)}
