"""Sentence pairs of the similarity tasks, and those that a lexicon gives."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.errors import InputError, refuse_faults
from turkic_idiom_tasks.io.reading import is_blank
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.splits import TEST, retrieval_split

NOWHERE = -1  # in place of the position of a pair
CORRECT, INCORRECT, REFERENCE, GENERAL = "correct", "incorrect", "reference", "general"


@dataclass(frozen=True, slots=True)
class SimilarityTask:
    """A task on sentence pairs."""

    name: str  # class and task name in mteb
    short: str  # name on the command line and in results
    own_languages: Mapping[str, str] | None = None  # of a sibling task

    @property
    def languages(self) -> Mapping[str, str]:
        """Return subset -> code of its language."""
        if self.own_languages is not None:
            return self.own_languages
        return {language.subset: code for code, language in LANGUAGES.items() if language.literal_sentences}


STS, ASTITCH_STS, CHENGYU_STS, SEMEVAL_STS = "STS", "AStitchSTS", "ChengyuSTS", "SemEvalSTS"
SIMILARITY_TASKS: dict[str, SimilarityTask] = {
    STS: SimilarityTask("TurkicIdiomSTS", STS),
    ASTITCH_STS: SimilarityTask("AStitchIdiomSTS", ASTITCH_STS, {"eng": "eng", "por": "por"}),
    CHENGYU_STS: SimilarityTask("ChengyuSTS", CHENGYU_STS, {"cmn": "cmn"}),
    SEMEVAL_STS: SimilarityTask("SemEvalIdiomSTS", SEMEVAL_STS, {"eng": "eng", "por": "por", "glg": "glg"}),
}


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences whose similarity a model states."""

    id: str  # distinct within the data
    sentence1: str  # in an idiom pair the one with the idiom
    sentence2: str
    # ``correct`` (E, E_c), ``incorrect`` (E, E_i), ``reference`` (not scored itself; its similarity is the gold score
    # of others), or ``general`` (no idiom pair).
    kind: str
    gold: float | None  # in [0, 1]; None where the model's own similarity of the pair `other` counts
    other: str | None  # id of that pair
    concept: str  # pairs of one concept are resampled together; a general pair may have a name of its own
    idiom: str = ""  # as it reads in the first sentence or in its citation form; empty if there is none


class SentencePairs:
    """P pairs of one subset in a fixed order, so that a position stands for a pair; they must fit together."""

    def __init__(self, subset: str, rows: Sequence[SentencePair]) -> None:
        self.subset = subset  # ``tur``
        self.rows = tuple(rows)
        self.row = {row.id: position for position, row in enumerate(self.rows)}
        problems = [] if any(row.kind != REFERENCE for row in self.rows) else ["no pair to score"]
        for position, row in enumerate(self.rows):
            problem = ""
            if is_blank(row.sentence1) or is_blank(row.sentence2):
                problem = "lacks a sentence; leave the pair out"
            elif (row.gold is None) == (row.other is None):
                problem = "needs either a gold score or the pair whose similarity counts, not both"
            elif row.gold is not None and not 0 <= row.gold <= 1:
                problem = f"has the gold score {row.gold}; scores go from 0 to 1"
            elif row.other is not None and row.other not in self.row:
                problem = f"names the pair {row.other!r}, which is not there"
            elif self.row[row.id] != position:
                problem = "appears twice; give each pair an id of its own"
            if problem:
                problems.append(f"the pair {row.id!r} {problem}")
        refuse_faults(problems, place=f"{subset}: ")
        correct_of = {row.sentence1: position for position, row in enumerate(self.rows) if row.kind == CORRECT}
        correct = [correct_of.get(row.sentence1, NOWHERE) if row.kind == INCORRECT else NOWHERE for row in self.rows]
        other = [NOWHERE if row.other is None else self.row[row.other] for row in self.rows]
        # NaN where the model's own similarity of another pair counts, which stands at the position `other`.
        self.gold = np.array([np.nan if row.gold is None else row.gold for row in self.rows], dtype=np.float64)
        self.other = np.array(other, dtype=np.int64)
        self.correct = np.array(correct, dtype=np.int64)  # for an incorrect pair: the correct one of the same sentence
        self.is_idiom: npt.NDArray[np.bool_] = np.array([row.kind in (CORRECT, INCORRECT) for row in self.rows], bool)
        self.is_scored: npt.NDArray[np.bool_] = np.array([row.kind != REFERENCE for row in self.rows], bool)
        self.concepts = tuple(row.concept for row in self.rows)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Every distinct sentence, in the order of the pairs."""
        return tuple(dict.fromkeys(text for row in self.rows for text in (row.sentence1, row.sentence2)))


@dataclass(frozen=True, slots=True)
class Triplet:
    """A sentence with an idiom, and the two sentences that training compares it with; None if there is none."""

    original: str
    correct: str | None  # the same with the idiom replaced by what it means
    incorrect: str | None  # the same with the idiom replaced by what it does not mean
    idiom: str  # citation form; empty for a sentence without an idiom


def lexicon_pairs(lexicon: Lexicon, language: str) -> SentencePairs | None:
    """Return the pairs of a language, or None if no entry of the test split has all sentences.

    A sentence E with the paraphrase E_c and the literal paraphrase E_i gives the pairs (E, E_c), whose gold score is 1,
    and (E, E_i), whose gold score is the model's own similarity of (E_c, E_i).
    """
    entries = complete_entries(lexicon, language)
    if not entries:
        return None
    rows: list[SentencePair] = []
    for concept, entry in sorted(entries.items()):
        original, paraphrase, literal = entry.original or "", entry.paraphrase or "", entry.literal_paraphrase or ""
        reference = f"{concept}/{REFERENCE}"
        pairs: list[tuple[str, str, str, str, float | None, str | None]] = [
            (f"{concept}/{CORRECT}", original, paraphrase, CORRECT, 1.0, None),
            (f"{concept}/{INCORRECT}", original, literal, INCORRECT, None, reference),
            (reference, paraphrase, literal, REFERENCE, 0.0, None),
        ]
        # With gold scores of 0 a model that finds all sentences alike loses. The control is another idiom that was not
        # judged to mean the same or nearly the same. It is chosen by a hash of both names, so that adding an entry to
        # the lexicon changes few of the other pairs.
        ranks = []
        for candidate in entries:
            judged_pair = (min(concept, candidate), max(concept, candidate))
            if candidate != concept and judged_pair not in lexicon.equivalents:
                ranks.append((hashlib.sha256(f"control\n{concept}\n{candidate}".encode()).digest(), candidate))
        if ranks:
            control = entries[min(ranks)[1]]
            pairs.append((f"{concept}/other-original", original, control.original or "", GENERAL, 0.0, None))
            pairs.append((f"{concept}/other-paraphrase", original, control.paraphrase or "", GENERAL, 0.0, None))
        rows += [SentencePair(*pair, concept, entry.idiom) for pair in pairs]
    return SentencePairs(LANGUAGES[language].subset, rows)


def parse_score(place: str, text: str) -> float:
    """Return the gold score that a cell states; the place, file and line, begins the message of an InputError."""
    try:
        # Python also reads 0_1 as 1, and digits of every script.
        score = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        score = math.nan
    if not 0 <= score <= 1:  # NaN is not either
        raise InputError(f"{place}: the similarity {text!r} is not a number between 0 and 1")
    return score


def repeats_row(
    place: str, texts: tuple[str | None, ...], gold: object, earlier: dict[tuple[str | None, ...], tuple[str, object]]
) -> bool:
    """Return whether an earlier row of a table has the same texts and gold score; add the row to the earlier ones."""
    first_place, first_gold = earlier.setdefault(texts, (place, gold))
    if gold != first_gold:
        raise InputError(f"{place}: has the sentences of {first_place} with another similarity; remove one of the rows")
    return place != first_place


def content_digest(records: Iterable[Sequence[object]]) -> str:
    """Return 40 hexadecimal digits that are the same for the same records in the same order."""
    digest = hashlib.sha256()
    for fields in records:
        digest.update(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:40]


def complete_entries(lexicon: Lexicon, language: str, *, split: str = TEST) -> dict[str, Entry]:
    """Return concept -> entry of the split for the entries with a sentence, a paraphrase and a literal paraphrase."""
    complete = {}
    for concept, entry in lexicon.of(language).items():
        has_all = entry.original and entry.paraphrase and entry.literal_paraphrase
        if has_all and retrieval_split(concept) == split:
            complete[concept] = entry
    return complete
