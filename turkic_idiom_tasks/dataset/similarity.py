"""Sentence pairs of the similarity tasks, and those that a lexicon gives.

A lexicon entry with a sentence E, its paraphrase E_c and its literal paraphrase E_i gives two pairs: (E, E_c), whose
gold score is 1, and (E, E_i), whose gold score is the model's own similarity of (E_c, E_i). Two control pairs of each
entry have the gold score 0, so that a model that finds all sentences alike loses: its sentence E with that, and
with the paraphrase, of another idiom.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.splits import TEST, retrieval_split

NOWHERE = -1  # in place of the position of a pair
CORRECT, INCORRECT, REFERENCE, GENERAL = "correct", "incorrect", "reference", "general"
SIMILARITY_LANGUAGES = ("tr", "az", "uz", "tk")  # the lexicon's literal paraphrases are in these languages


@dataclass(frozen=True, slots=True)
class SimilarityTask:
    """A task on sentence pairs.

    Attributes:
        name: class and task name in mteb.
        short: name on the command line and in results.
        languages: subset -> code of its language.
    """

    name: str
    short: str
    languages: Mapping[str, str]


STS, ASTITCH_STS, CHENGYU_STS = "STS", "AStitchSTS", "ChengyuSTS"
SIMILARITY_TASKS: dict[str, SimilarityTask] = {
    STS: SimilarityTask("TurkicIdiomSTS", STS, {LANGUAGES[code].subset: code for code in SIMILARITY_LANGUAGES}),
    ASTITCH_STS: SimilarityTask("AStitchIdiomSTS", ASTITCH_STS, {"eng": "eng", "por": "por"}),
    CHENGYU_STS: SimilarityTask("ChengyuSTS", CHENGYU_STS, {"cmn": "cmn"}),
}


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences whose similarity a model states.

    Attributes:
        id: distinct within the data.
        sentence1: the first sentence; in an idiom pair the one with the idiom.
        sentence2: the second sentence.
        kind: ``correct`` (E, E_c), ``incorrect`` (E, E_i), ``reference`` (not scored itself; its similarity is the gold
            score of others), or ``general`` (no idiom pair).
        gold: score in [0, 1]; None where the model's own similarity of the pair `other` counts.
        other: id of that pair, or None.
        concept: the idiom; pairs of one idiom are resampled together. A general pair may have a name of its own.
        idiom: the idiom as it reads in the first sentence or in its citation form; empty if there is none.
    """

    id: str
    sentence1: str
    sentence2: str
    kind: str
    gold: float | None
    other: str | None
    concept: str
    idiom: str = ""


class SentencePairs:
    """Pairs of one subset in a fixed order, so that a position stands for a pair.

    Attributes:
        subset: name of the subset, ``tur``.
        rows: (P,) pairs.
        gold: (P,) float64, NaN where the model's own similarity of another pair counts.
        other: (P,) int64, position of that pair, or `NOWHERE`.
        correct: (P,) int64, for an incorrect pair the position of the correct one of the same sentence, or `NOWHERE`.
        is_idiom: (P,) bool, whether it is a correct or an incorrect pair.
        is_scored: (P,) bool, False for reference pairs.
        concepts: (P,) names.
        row: id -> position.
    """

    def __init__(self, subset: str, rows: Sequence[SentencePair]) -> None:
        """Check that the pairs fit together.

        Raises:
            InputError: an id occurs twice, a pair names another that is not there, a gold score is missing or not
                in [0, 1], a sentence is empty, or there is no pair to score.
        """
        self.subset = subset
        self.rows = tuple(rows)
        positions: dict[str, int] = {}
        for position, row in enumerate(self.rows):
            _check_pair(subset, row)
            if row.id in positions:
                raise InputError(f"{subset}: the pair {row.id!r} appears twice; give each pair an id of its own")
            positions[row.id] = position
        for row in self.rows:
            if row.other is not None and row.other not in positions:
                raise InputError(f"{subset}: the pair {row.id!r} names the pair {row.other!r}, which is not there")
        self.row = positions
        correct_of = {row.sentence1: position for position, row in enumerate(self.rows) if row.kind == CORRECT}
        self.gold = np.array([np.nan if row.gold is None else row.gold for row in self.rows], dtype=np.float64)
        self.other = np.array([NOWHERE if row.other is None else positions[row.other] for row in self.rows], np.int64)
        self.correct = np.full(len(self.rows), NOWHERE, dtype=np.int64)
        for position, row in enumerate(self.rows):
            if row.kind == INCORRECT:
                self.correct[position] = correct_of.get(row.sentence1, NOWHERE)
        self.is_idiom: npt.NDArray[np.bool_] = np.array([row.kind in (CORRECT, INCORRECT) for row in self.rows], bool)
        self.is_scored: npt.NDArray[np.bool_] = np.array([row.kind != REFERENCE for row in self.rows], bool)
        self.concepts = tuple(row.concept for row in self.rows)
        if not self.is_scored.any():
            raise InputError(f"{subset}: no pair to score")

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Every distinct sentence, in the order of the pairs."""
        sentences: dict[str, None] = {}
        for row in self.rows:
            sentences[row.sentence1] = None
            sentences[row.sentence2] = None
        return tuple(sentences)


@dataclass(frozen=True, slots=True)
class Triplet:
    """A sentence with an idiom, and the two sentences that training compares it with.

    Attributes:
        original: sentence with the idiom.
        correct: the same with the idiom replaced by what it means; None if there is none.
        incorrect: the same with the idiom replaced by what it does not mean; None if there is none.
        idiom: citation form; empty for a sentence without an idiom.
    """

    original: str
    correct: str | None
    incorrect: str | None
    idiom: str


def lexicon_pairs(lexicon: Lexicon, language: str, *, split: str = TEST) -> SentencePairs | None:
    """Return the pairs of a language, or None if no entry of the split has all three sentences.

    Args:
        lexicon: the entries.
        language: code.
        split: ``train``, ``development`` or ``test``, as of the retrieval tasks.

    Raises:
        InputError: a sentence of an entry is empty.
    """
    entries = complete_entries(lexicon, language, split=split)
    if not entries:
        return None
    rows: list[SentencePair] = []
    for concept, entry in sorted(entries.items()):
        rows += _idiom_pairs(concept, entry)
        partner = _control_partner(concept, entries, lexicon.equivalents)
        if partner is not None:
            rows += _control_pairs(concept, entry, entries[partner])
    return SentencePairs(LANGUAGES[language].subset, rows)


def parse_score(place: str, text: str) -> float:
    """Return the gold score that a cell states.

    Args:
        place: file and line, for the message.
        text: the cell.

    Raises:
        InputError: it is no number, or not between 0 and 1.
    """
    try:
        score = float(text)
    except ValueError as error:
        raise InputError(f"{place}: the similarity {text!r} is not a number") from error
    if not 0 <= score <= 1:
        raise InputError(f"{place}: the similarity {score} is not between 0 and 1")
    return score


def content_digest(records: Iterable[Sequence[object]]) -> str:
    """Return 40 hexadecimal digits that are the same for the same records in the same order."""
    digest = hashlib.sha256()
    for fields in records:
        digest.update(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:40]


def revision_of_pairs(pairs_by_subset: Mapping[str, SentencePairs]) -> str:
    """Return 40 hexadecimal digits that are the same for the same pairs."""
    records: list[list[object]] = []
    for subset in sorted(pairs_by_subset):
        for row in pairs_by_subset[subset].rows:
            fields = [row.id, row.sentence1, row.sentence2, row.kind, row.gold, row.other, row.concept]
            records.append([subset, *fields])
    return content_digest(records)


def complete_entries(lexicon: Lexicon, language: str, *, split: str = TEST) -> dict[str, Entry]:
    """Return concept -> entry of the split for the entries with a sentence, a paraphrase and a literal paraphrase."""
    complete = {}
    for concept, entry in lexicon.of(language).items():
        has_all = entry.original and entry.paraphrase and entry.literal_paraphrase
        if has_all and retrieval_split(concept) == split:
            complete[concept] = entry
    return complete


def _idiom_pairs(concept: str, entry: Entry) -> list[SentencePair]:
    original, paraphrase, literal = entry.original or "", entry.paraphrase or "", entry.literal_paraphrase or ""
    reference = f"{concept}/{REFERENCE}"
    return [
        SentencePair(f"{concept}/{CORRECT}", original, paraphrase, CORRECT, 1.0, None, concept, entry.idiom),
        SentencePair(f"{concept}/{INCORRECT}", original, literal, INCORRECT, None, reference, concept, entry.idiom),
        SentencePair(reference, paraphrase, literal, REFERENCE, 0.0, None, concept, entry.idiom),
    ]


def _control_pairs(concept: str, entry: Entry, partner: Entry) -> list[SentencePair]:
    original = entry.original or ""
    sentences = {"other-original": partner.original or "", "other-paraphrase": partner.paraphrase or ""}
    rows = []
    for name, sentence in sentences.items():
        rows.append(SentencePair(f"{concept}/{name}", original, sentence, GENERAL, 0.0, None, concept, entry.idiom))
    return rows


def _control_partner(
    concept: str, entries: Mapping[str, Entry], equivalents: Mapping[tuple[str, str], str]
) -> str | None:
    """Return another concept that was not judged to mean the same or nearly the same, chosen by a stable hash."""
    best: tuple[bytes, str] | None = None
    for candidate in entries:
        pair = (min(concept, candidate), max(concept, candidate))
        if candidate == concept or pair in equivalents:
            continue
        rank = (hashlib.sha256(f"control\n{concept}\n{candidate}".encode()).digest(), candidate)
        if best is None or rank < best:
            best = rank
    return None if best is None else best[1]


def _check_pair(subset: str, row: SentencePair) -> None:
    place = f"{subset}: the pair {row.id!r}"
    if not row.sentence1.strip() or not row.sentence2.strip():
        raise InputError(f"{place} lacks a sentence; leave the pair out")
    if (row.gold is None) == (row.other is None):
        raise InputError(f"{place} needs either a gold score or the pair whose similarity counts, not both")
    if row.gold is not None and not 0 <= row.gold <= 1:
        raise InputError(f"{place} has the gold score {row.gold}; scores go from 0 to 1")
