"""Alignment of a further language: which entry of a dictionary means the same as which concept of the lexicon.

As in the paper, the meanings of a concept in the aligned languages are put together and compared with the definitions
of the new language by the cosine of their vectors. The pairs are one-to-one: those that make the sum of the cosines
above a floor as large as possible (`scipy.sparse.csgraph.min_weight_full_bipartite_matching`). The vectors are
arguments, because this package loads no model. Precision, recall and the threshold are over the known pairs.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from hub_datasets.cleaning import compared
from hub_datasets.enrich import joined_status
from hub_datasets.importing import import_source
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import load_lexicon

Vectors = npt.NDArray[np.float32]
Texts = Mapping[str, str]  # language code -> text; ENGLISH for a gloss

ENGLISH = "en"
NEIGHBOURS = 50  # of a concept that take part in the assignment
FEWEST_KNOWN = 20  # pairs on which a threshold may be chosen
_ROWS = 1024  # concepts whose cosines are in memory at a time


class Candidate(NamedTuple):
    """An entry of the dictionary, and what is compared of it: its definition, and the English gloss if it has one."""

    entry: Entry
    texts: Texts


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be aligned, and what is known of it."""

    language: str  # code of the new language
    concepts: Sequence[str]  # ids of the rows
    concept_texts: Sequence[Texts]  # for each the meanings in the aligned languages, and the English gloss
    candidates: Sequence[Candidate]  # the columns
    right: Sequence[frozenset[int]]  # for each concept the columns that are known to be right; empty if none is
    taken: frozenset[int]  # columns whose idiom is known to belong to some concept


class Match(NamedTuple):
    """A concept and a candidate, as row and column, with the cosine of their vectors."""

    row: int
    column: int
    cosine: float
    is_right: bool | None  # None where nothing is known of either


class CurvePoint(NamedTuple):
    """Precision and recall of the matches from a threshold on."""

    threshold: float  # lowest cosine of the matches
    precision: float  # share of the known matches that are right, in [0, 1]
    recall: float  # share of the concepts with a known right candidate that got it, in [0, 1]
    n_known: int  # known matches from this threshold on


def read_candidates(path: Path, language: str, *, format_name: str) -> list[Candidate]:
    """Return the entries of a dictionary that have a definition, from a lexicon directory or a file to import."""
    if path.is_dir():
        lexicon = load_lexicon(path)
        entries, concepts = list(lexicon.of(language).values()), list(lexicon.concepts.values())
    else:
        imported = import_source(format_name, path)
        entries, concepts = imported.entries.get(language, []), imported.concepts
    glosses = {concept.id: {ENGLISH: concept.gloss} for concept in concepts if concept.gloss}
    defined = [(entry, entry.meaning) for entry in entries if entry.meaning is not None]
    candidates = [Candidate(entry, {language: text} | glosses.get(entry.concept, {})) for entry, text in defined]
    if not candidates:
        raise InputError(f"{path}: has no definition in {language}; check --format and --language")
    return candidates


def own_candidates(lexicon: Lexicon, language: str) -> list[Candidate]:
    """Return the entries of the lexicon itself in a language whose alignment is known, without English glosses."""
    entries = [entry for _, entry in sorted(lexicon.of(language).items())]
    return [Candidate(entry, {language: entry.meaning}) for entry in entries if entry.meaning is not None]


def build_problem(
    lexicon: Lexicon, language: str, candidates: Sequence[Candidate], *, hide_half: bool = False
) -> Problem:
    """Return what is to be aligned: every concept that has a meaning in another language, and the candidates.

    The entries of the language that counts as new say what is right; their meanings are not shown. With `hide_half`
    half of the concepts are left out.
    """
    concepts, concept_texts = [], []
    for name, concept in sorted(lexicon.concepts.items()):
        texts = {}
        for code in lexicon.entries:
            entry = lexicon.of(code).get(name)
            if code != language and entry is not None and entry.meaning is not None:
                texts[code] = entry.meaning
        # By a hash; half of the candidates then have no right concept, as in a dictionary with much more than the
        # lexicon
        if texts and not (hide_half and hashlib.sha256(name.encode()).digest()[0] % 2):
            concepts.append(name)
            concept_texts.append(texts | ({ENGLISH: concept.gloss} if concept.gloss else {}))
    if not concepts:
        raise InputError(f"{lexicon.source}: no concept has a meaning except in {language}; run dataset enrich first")
    record = LANGUAGES[language]
    columns_by_form: dict[str, set[int]] = defaultdict(set)
    for column, (entry, _) in enumerate(candidates):
        for form in (entry.idiom, *entry.variants):
            columns_by_form[compared(form, record)].add(column)
    columns: dict[str, set[int]] = defaultdict(set)  # of a concept: the candidates with a form of its idiom
    for name, entry in lexicon.of(language).items():
        for form in (entry.idiom, *entry.variants):
            columns[name] |= columns_by_form[compared(form, record)]
    same = lexicon.judged(SAME)
    # What is right is known where an idiom of the dictionary is that of an entry of the lexicon
    right = []
    for name in concepts:
        partners = (name, *same.get(name, ()))
        right.append(frozenset().union(*(columns[partner] for partner in partners)))
    taken = frozenset().union(*columns.values())
    return Problem(language, concepts, concept_texts, candidates, right, taken)


def assign(problem: Problem, concept_vectors: Vectors, candidate_vectors: Vectors, *, floor: float) -> list[Match]:
    """Return the one-to-one pairs that make the sum of cosines above a floor largest, by falling cosine.

    The vectors are (number of concepts or candidates, dimension); each row has the L2 norm 1, or 0. The floor is the
    lowest cosine of a pair, above -1 and below 1.
    """
    n_rows, n_columns = len(problem.concepts), len(problem.candidates)
    cosines: dict[tuple[int, int], float] = {}  # of the nearest candidates of each concept that reach the floor
    # Only the nearest neighbours, so that 10,000 concepts and 10,000 definitions need neither the memory nor the time
    # of a full table
    n_kept = min(NEIGHBOURS, n_columns)
    for start in range(0, n_rows, _ROWS):
        block = concept_vectors[start : start + _ROWS] @ candidate_vectors.T
        # not sorted, because the assignment needs the set of neighbours and not their order
        nearest = np.argpartition(-block, n_kept - 1, axis=1)[:, :n_kept]
        # Rounding in float32 takes cosines beyond 1
        values = np.clip(np.take_along_axis(block, nearest, axis=1).astype(np.float64), -1, 1)
        for row, place in np.argwhere(values >= floor).tolist():
            cosines[start + row, int(nearest[row, place])] = float(values[row, place])
    # Each concept may also stay alone, at the price of the floor. All costs are positive, because 0 is no edge.
    costs = {pair: 2 - cosine for pair, cosine in cosines.items()}
    costs |= {(row, n_columns + row): 2 - floor for row in range(n_rows)}
    rows, columns = zip(*costs, strict=True)
    graph = csr_array((list(costs.values()), (rows, columns)), shape=(n_rows, n_columns + n_rows))
    matches = []
    for row, column in np.transpose(min_weight_full_bipartite_matching(graph)).tolist():
        if column >= n_columns:
            continue  # the concept stays alone
        is_known = bool(problem.right[row]) or column in problem.taken
        is_right = column in problem.right[row] if is_known else None
        matches.append(Match(row, column, cosines[row, column], is_right))
    return sorted(matches, key=lambda match: (-match.cosine, match.row))


def solve(problems: Sequence[Problem], encode: Callable[[Sequence[Texts]], Vectors]) -> list[list[Match]]:
    """Return the matches of each problem above a cosine of 0, all texts encoded in one pass."""
    texts: list[Texts] = []
    for problem in problems:
        texts += [*problem.concept_texts, *(candidate.texts for candidate in problem.candidates)]
    vectors = encode(texts)
    matches, start = [], 0
    for problem in problems:
        middle = start + len(problem.concepts)
        end = middle + len(problem.candidates)
        matches.append(assign(problem, vectors[start:middle], vectors[middle:end], floor=0.0))
        start = end
    return matches


def precision_recall(problem: Problem, matches: Sequence[Match]) -> list[CurvePoint]:
    """Return precision and recall at every threshold, the highest first; empty if nothing is known."""
    n_right = sum(map(bool, problem.right))
    points: dict[float, CurvePoint] = {}  # by threshold: of equal cosines the last one counts
    n_known = n_hits = 0
    for match in matches:
        if match.is_right is not None:
            n_known += 1
            n_hits += match.is_right
            recall = n_hits / n_right if n_right else 0.0
            points[match.cosine] = CurvePoint(match.cosine, n_hits / n_known, recall, n_known)
    return list(points.values())


def choose_threshold(points: Sequence[CurvePoint], precision: float) -> CurvePoint:
    """Return the point with the lowest threshold whose precision is at least the one that is asked for."""
    # On fewer pairs a threshold would be chance.
    enough = [point for point in points if point.n_known >= FEWEST_KNOWN]
    if not enough:
        n_known = points[-1].n_known if points else 0
        raise InputError(f"only {n_known} pairs are known, and a threshold needs {FEWEST_KNOWN}; pass --calibrate-on")
    good = [point for point in enough if point.precision >= precision]
    if not good:
        best = max(enough, key=lambda point: point.precision)
        raise InputError(
            f"no threshold has a precision of {precision:.2f} on the known pairs; the best is {best.precision:.3f} "
            f"(cosine {best.threshold:.3f}); take a better encoder, or a lower --precision"
        )
    return good[-1]


def new_matches(problem: Problem, lexicon: Lexicon, matches: Sequence[Match]) -> list[Match]:
    """Return the matches that would add something: the concept has no entry in the language, nor has the idiom."""
    known = {row for row, concept in enumerate(problem.concepts) if concept in lexicon.of(problem.language)}
    return [match for match in matches if match.row not in known and match.column not in problem.taken]


def with_matches(lexicon: Lexicon, problem: Problem, matches: Sequence[Match], *, source: str, note: str) -> Lexicon:
    """Return a lexicon with the entries of matches, and the spans of their examples.

    The name of the dictionary is the `source` of the entries; `note`, in their status, is encoder, threshold and date.
    """
    language = LANGUAGES[problem.language]
    entries = dict(lexicon.of(problem.language))
    for match in matches:
        entry = problem.candidates[match.column].entry
        spans = entry.spans
        if entry.example is not None and spans is None:
            spans = annotate(entry.idiom, entry.example, language, variants=entry.variants).spans or None
        status = joined_status(entry.status, f"aligned by {note}")
        concept = problem.concepts[match.row]
        entries[concept] = replace(entry, concept=concept, spans=spans, source=entry.source or source, status=status)
    return replace(lexicon, entries={**lexicon.entries, problem.language: entries})


def review_rows(problem: Problem, lexicon: Lexicon, matches: Sequence[Match]) -> list[dict[str, str]]:
    """Return matches as rows of a table for people who decide: the concept with its idioms, and the candidate."""
    rows = []
    for match in matches:
        concept = problem.concepts[match.row]
        entry = problem.candidates[match.column].entry
        row = {"concept": concept, "cosine": f"{match.cosine:.4f}", "gloss": lexicon.concepts[concept].gloss}
        for code in lexicon.entries:
            if code != problem.language:
                other = lexicon.of(code).get(concept)
                row[code] = other.idiom if other is not None else ""
        rows.append(row | {"candidate": entry.idiom, "definition": entry.meaning or "", "accept": ""})
    return rows
