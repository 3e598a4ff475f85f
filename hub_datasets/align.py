"""Alignment of a further language: which entry of a dictionary means the same as which concept of the lexicon.

As in the paper, the meanings of a concept in the aligned languages are put together and compared with the definitions
of the new language by the cosine of their vectors. The pairs are one-to-one: those that make the sum of the cosines
above a floor as large as possible (`scipy.sparse.csgraph.min_weight_full_bipartite_matching`). Only the nearest
neighbours of a concept take part, so that 10,000 concepts and 10,000 definitions need neither the memory nor the time
of a full table.

The vectors are arguments, because this package loads no model. What is right is known where an idiom of the dictionary
is that of an entry of the lexicon: precision and recall are over these pairs, and the threshold is chosen on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry of the dictionary with its English gloss, which is empty if it has none."""

    entry: Entry
    gloss: str = ""

    @property
    def variants(self) -> tuple[str, ...]:
        """All its citation forms."""
        return (self.entry.idiom, *self.entry.variants)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be aligned, and what is known of it.

    Attributes:
        language: code of the new language.
        concepts: ids of the rows.
        concept_texts: for each the meanings in the aligned languages, and the English gloss.
        candidates: the columns.
        candidate_texts: for each its definition, and the English gloss.
        right: for each concept the columns that are known to be right; empty where nothing is known.
        taken: columns whose idiom is known to belong to some concept.
    """

    language: str
    concepts: Sequence[str]
    concept_texts: Sequence[Texts]
    candidates: Sequence[Candidate]
    candidate_texts: Sequence[Texts]
    right: Sequence[frozenset[int]]
    taken: frozenset[int]


@dataclass(frozen=True, slots=True)
class Match:
    """A concept and a candidate, as row and column, with the cosine of their vectors.

    `is_right` is None where nothing is known of either.
    """

    row: int
    column: int
    cosine: float
    is_right: bool | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision and recall of the matches from a threshold on.

    Attributes:
        threshold: lowest cosine of the matches.
        precision: share of the known matches that are right, in [0, 1].
        recall: share of the concepts with a known right candidate that got it, in [0, 1].
        n_known: known matches from this threshold on.
    """

    threshold: float
    precision: float
    recall: float
    n_known: int


def read_candidates(path: Path, language: str, *, format_name: str) -> list[Candidate]:
    """Return the entries of a dictionary that have a definition, from a lexicon directory or a file to import.

    Raises:
        InputError: it cannot be read, or has no definition in the language.
    """
    if path.is_dir():
        lexicon = load_lexicon(path)
        entries: Sequence[Entry] = list(lexicon.of(language).values())
        glosses = {name: concept.gloss for name, concept in lexicon.concepts.items()}
    else:
        imported = import_source(format_name, path)
        entries = imported.entries.get(language, [])
        glosses = {concept.id: concept.gloss for concept in imported.concepts}
    candidates = []
    for entry in entries:
        if entry.meaning is not None:
            candidates.append(Candidate(entry, glosses.get(entry.concept, "")))
    if not candidates:
        raise InputError(f"{path}: has no definition in {language}; check --format and --language")
    return candidates


def own_candidates(lexicon: Lexicon, language: str) -> list[Candidate]:
    """Return the entries of the lexicon itself in a language whose alignment is known, without English glosses."""
    candidates = []
    for _, entry in sorted(lexicon.of(language).items()):
        if entry.meaning is not None:
            candidates.append(Candidate(entry))
    return candidates


def build_problem(
    lexicon: Lexicon, language: str, candidates: Sequence[Candidate], *, hide_half: bool = False
) -> Problem:
    """Return what is to be aligned: every concept that has a meaning in another language, and the candidates.

    Args:
        lexicon: with the concepts.
        language: code of the language that counts as new: its own entries are used to know what is right, and their
            meanings are not shown.
        candidates: the dictionary.
        hide_half: whether half of the concepts are left out, chosen by a hash, so that half of the candidates have no
            right concept, as in a dictionary that has much more than the lexicon.

    Raises:
        InputError: no concept has a meaning in another language.
    """
    concepts, concept_texts = [], []
    for name, concept in sorted(lexicon.concepts.items()):
        texts = {}
        for code in lexicon.entries:
            entry = lexicon.of(code).get(name)
            if code != language and entry is not None and entry.meaning is not None:
                texts[code] = entry.meaning
        if texts and not (hide_half and hashlib.sha256(name.encode()).digest()[0] % 2):
            concepts.append(name)
            concept_texts.append(texts | ({ENGLISH: concept.gloss} if concept.gloss else {}))
    if not concepts:
        raise InputError(
            f"{lexicon.source}: no concept has a meaning in another language than {language}, so nothing can be "
            "compared; run dataset enrich first"
        )
    candidate_texts = []
    for candidate in candidates:
        texts = {language: candidate.entry.meaning or ""}
        candidate_texts.append(texts | ({ENGLISH: candidate.gloss} if candidate.gloss else {}))
    right, taken = _known(lexicon, language, concepts, candidates)
    return Problem(language, concepts, concept_texts, candidates, candidate_texts, right, taken)


def assign(problem: Problem, concept_vectors: Vectors, candidate_vectors: Vectors, *, floor: float) -> list[Match]:
    """Return the one-to-one pairs that make the sum of cosines above a floor largest, by falling cosine.

    Args:
        problem: what the vectors belong to.
        concept_vectors: (number of concepts, dimension); each row has the L2 norm 1, or 0.
        candidate_vectors: (number of candidates, dimension), likewise.
        floor: lowest cosine of a pair, in (-1, 1).

    Raises:
        ValueError: the vectors do not fit the problem.
    """
    n_rows, n_columns = len(problem.concepts), len(problem.candidates)
    if len(concept_vectors) != n_rows or len(candidate_vectors) != n_columns:
        raise ValueError(f"{len(concept_vectors)} and {len(candidate_vectors)} vectors for {n_rows} and {n_columns}")
    rows, columns, cosines = _neighbours(concept_vectors, candidate_vectors, floor)
    # Each concept may also stay alone, at the price of the floor. All costs are positive, because 0 is no edge.
    alone = np.arange(n_rows)
    costs = np.concatenate([2 - cosines, np.full(n_rows, 2 - floor)])
    all_rows = np.concatenate([rows, alone])
    all_columns = np.concatenate([columns, n_columns + alone])
    graph = csr_array((costs, (all_rows, all_columns)), shape=(n_rows, n_columns + n_rows))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph)
    cosine_of = dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), cosines.tolist(), strict=True))
    matches = []
    for row, column in zip(matched_rows.tolist(), matched_columns.tolist(), strict=True):
        if column < n_columns:
            matches.append(Match(row, column, cosine_of[row, column], _is_right(problem, row, column)))
    return sorted(matches, key=lambda match: (-match.cosine, match.row))


def precision_recall(problem: Problem, matches: Sequence[Match]) -> list[CurvePoint]:
    """Return precision and recall at every threshold, the highest first; empty if nothing is known."""
    n_right = sum(bool(columns) for columns in problem.right)
    points: list[CurvePoint] = []
    known = right = 0
    for match in matches:
        if match.is_right is None:
            continue
        known += 1
        right += match.is_right
        point = CurvePoint(match.cosine, right / known, right / n_right if n_right else 0.0, known)
        if points and points[-1].threshold == match.cosine:
            points[-1] = point
        else:
            points.append(point)
    return points


def choose_threshold(points: Sequence[CurvePoint], precision: float) -> CurvePoint:
    """Return the point with the lowest threshold whose precision is at least the one that is asked for.

    Raises:
        InputError: too little is known, or no threshold has this precision.
    """
    n_known = points[-1].n_known if points else 0
    if n_known < FEWEST_KNOWN:
        raise InputError(
            f"the alignment of only {n_known} pairs is known, and a threshold needs {FEWEST_KNOWN}; choose it on "
            "another language of the lexicon with --calibrate-on, or give --thresholds"
        )
    enough = [point for point in points if point.n_known >= FEWEST_KNOWN]
    good = [point for point in enough if point.precision >= precision]
    if not good:
        best = max(enough, key=lambda point: point.precision)
        raise InputError(
            f"no threshold has a precision of {precision:.2f} on the known pairs; the best is {best.precision:.3f} "
            f"from a cosine of {best.threshold:.3f} on; take a better encoder, or a lower --precision"
        )
    return good[-1]


def new_matches(problem: Problem, lexicon: Lexicon, matches: Sequence[Match]) -> list[Match]:
    """Return the matches that would add something: the concept has no entry in the language, nor has the idiom."""
    entries = lexicon.of(problem.language)
    fresh = []
    for match in matches:
        if problem.concepts[match.row] not in entries and match.column not in problem.taken:
            fresh.append(match)
    return fresh


def aligned_entries(problem: Problem, matches: Sequence[Match], *, source: str, note: str) -> list[Entry]:
    """Return the entries that matches add to the lexicon, with the spans of their examples.

    Args:
        problem: what was aligned.
        matches: those to add.
        source: name of the dictionary.
        note: what the status of an entry says: encoder, threshold and date.
    """
    language = LANGUAGES[problem.language]
    entries = []
    for match in matches:
        entry = problem.candidates[match.column].entry
        spans = entry.spans
        if entry.example is not None and spans is None:
            annotation = annotate(entry.idiom, entry.example, language, variants=entry.variants)
            spans = annotation.spans or None
        status = joined_status(entry.status, f"aligned by {note}")
        concept = problem.concepts[match.row]
        entries.append(replace(entry, concept=concept, spans=spans, source=entry.source or source, status=status))
    return entries


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


def _neighbours(
    concept_vectors: Vectors, candidate_vectors: Vectors, floor: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return rows, columns and cosines of the nearest candidates of each concept that reach the floor."""
    rows, columns, cosines = [], [], []
    n_kept = min(NEIGHBOURS, len(candidate_vectors))
    for start in range(0, len(concept_vectors), _ROWS):
        block = concept_vectors[start : start + _ROWS] @ candidate_vectors.T
        nearest = np.argpartition(-block, n_kept - 1, axis=1)[:, :n_kept]
        values = np.take_along_axis(block, nearest, axis=1).astype(np.float64)
        is_kept = values >= floor
        positions = np.broadcast_to(np.arange(start, start + len(block))[:, None], nearest.shape)
        rows.append(positions[is_kept])
        columns.append(nearest[is_kept])
        cosines.append(np.clip(values[is_kept], -1, 1))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(cosines)


def _known(
    lexicon: Lexicon, language: str, concepts: Sequence[str], candidates: Sequence[Candidate]
) -> tuple[list[frozenset[int]], frozenset[int]]:
    """Return the right columns of each concept, and all columns whose idiom the lexicon has in the language.

    The idiom of a concept that is judged `same` is right too.
    """
    record = LANGUAGES[language]
    columns_by_form: dict[str, set[int]] = {}
    for column, candidate in enumerate(candidates):
        for form in candidate.variants:
            columns_by_form.setdefault(compared(form, record), set()).add(column)
    columns_of: dict[str, set[int]] = {}
    for concept, entry in lexicon.of(language).items():
        for form in (entry.idiom, *entry.variants):
            columns_of.setdefault(concept, set()).update(columns_by_form.get(compared(form, record), ()))
    same = lexicon.judged(SAME)
    right = []
    for concept in concepts:
        columns = set(columns_of.get(concept, ()))
        for partner in same.get(concept, ()):
            columns |= columns_of.get(partner, set())
        right.append(frozenset(columns))
    taken: set[int] = set()
    for columns in columns_of.values():
        taken |= columns
    return right, frozenset(taken)


def _is_right(problem: Problem, row: int, column: int) -> bool | None:
    """Return whether a pair is right; None if neither the concept nor the idiom is known."""
    if column in problem.right[row]:
        return True
    return False if problem.right[row] or column in problem.taken else None
