"""Tables of the leaderboard, with a row for each submission and its scores as a page shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.board import Board
from leaderboard.items import SubsetItems
from leaderboard.ranking import Standing, Standings
from leaderboard.scores import RETRIEVAL_TASKS, OtherEdition, ScoredSubmission
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Interval
from turkic_idiom_tasks.results.predictions import SPANS

TASK_TITLES = {
    "T1": "Cross-lingual idiom retrieval",
    "T2": "Idiom to meaning, one language",
    "T3": "Idiom to meaning, across languages",
    "T4": "Sentence to paraphrase",
    STS: "Similarity of sentences with idioms",
    SPANS: "Idiom span detection",
}
TASK_LABELS = {"T1": "T1", "T2": "T2", "T3": "T3", "T4": "T4", STS: "STS", SPANS: "Spans"}
TASK_FORMS = {
    "T1": "idiom → idiom",
    "T2": "idiom → meaning",
    "T3": "idiom → foreign meaning",
    "T4": "sentence → paraphrase",
    STS: "sentence pairs",
    SPANS: "idiom in a sentence",
}
TASK_LEADS = {
    "T1": "Given a Turkish idiom, find an idiom with the same meaning among all idioms of another language.",
    "T2": "Given an idiom, find its meaning among all meanings in the same language.",
    "T3": "Given a Turkish idiom, find its meaning among all meanings in another language.",
    "T4": "Given a sentence with an idiom, find its paraphrase among paraphrases and literal traps.",
    STS: "How similar is a sentence with an idiom to its paraphrase, to a literal rewording, and to other sentences?",
    SPANS: "Given a sentence, mark the words of the idiom in it.",
}
SIZE_CLASSES = (
    ("under 100M", 0, 100_000_000),
    ("100M to 500M", 100_000_000, 500_000_000),
    ("500M to 2B", 500_000_000, 2_000_000_000),
    ("2B and more", 2_000_000_000, math.inf),
)
UNKNOWN_SIZE = "not known"
RECOMPUTED, REPRODUCED = "recomputed", "reproduced"

_N_SIMILAR = 2  # similar names that are shown, at most
_REVISION_LENGTH = 8  # characters of a revision that are shown
_SEPARATORS = str.maketrans("", "", "._-/")
_LOOK_ALIKES = (("0", "o"), ("1", "l"), ("i", "l"), ("rn", "m"), ("vv", "w"))


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A score as a page shows it.

    Attributes:
        value: at most 1; negative below chance; NaN if there is no score.
        interval: its 95% interval, or None.
    """

    value: float
    interval: Interval | None = None

    @property
    def missing(self) -> bool:
        """Return whether there is no score."""
        return math.isnan(self.value)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of scores; the first one of a table decides the ranks.

    Attributes:
        key: name in addresses.
        title: head.
        about: explanation of the head.
        form: smaller line below the title, or "".
        n: number of queries or sentences that the head states; None states none.
        small: whether some score of the column is that of fewer than `SMALL_N` queries or sentences.
        floor: score of a random system.
    """

    key: str
    title: str
    about: str
    form: str = ""
    n: int | None = None
    small: bool = False
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One submission in a table.

    Attributes:
        submission: the submission.
        standing: None if it has no rank.
        lacks: names of the tasks or languages that were not submitted.
        scores: one score for each column.
        badges: how the scores were checked.
        distinction: note that tells the submission from others that look the same, or "".
        tie: place among the rows that share its rank: ``first``, ``middle`` or ``last``; "" if no other does.
    """

    submission: ScoredSubmission
    standing: Standing | None
    lacks: tuple[str, ...]
    scores: tuple[ShownScore, ...]
    badges: tuple[str, ...]
    distinction: str
    tie: str = ""

    @property
    def size(self) -> str:
        """Return the name of the model's size class."""
        return size_class(self.submission.metadata.n_parameters)


def variant(submission: ScoredSubmission | OtherEdition) -> str:
    """Return a description of how a model was run, such as ``mean pooling, pretrained, 10 examples``."""
    about = submission.metadata
    parts = [about.regime]
    if about.pooling:
        parts.insert(0, f"{about.pooling} pooling")
    if about.few_shot is not None:
        parts.append(f"{about.few_shot} examples")
    return ", ".join(parts)


def size_class(n_parameters: int | None) -> str:
    """Return the name of the size class of a number of parameters."""
    for name, least, below in SIZE_CLASSES:
        if n_parameters is not None and least <= n_parameters < below:
            return name
    return UNKNOWN_SIZE


def badges(submission: ScoredSubmission, board: Board) -> tuple[str, ...]:
    """Return the badges that say how the scores of a submission were checked."""
    return (RECOMPUTED, REPRODUCED) if submission.id in board.reproduced else (RECOMPUTED,)


def distinctions(submissions: Sequence[ScoredSubmission]) -> dict[str, str]:
    """Return id -> a note that tells a submission from others that look the same on a page, where it needs one.

    Names are similar if they differ only in case, separators or letters that look alike. Submissions with the same name
    and variant are told apart by their revisions.
    """
    by_look: dict[str, list[ScoredSubmission]] = {}
    for submission in submissions:
        by_look.setdefault(_look(submission.metadata.name), []).append(submission)
    notes = {}
    for alike in by_look.values():
        for submission in alike:
            note = _distinction(submission, alike)
            if note:
                notes[submission.id] = note
    return notes


def _look(name: str) -> str:
    """Return a text that is the same for names that look alike."""
    look = name.lower().translate(_SEPARATORS)
    for letter, alike in _LOOK_ALIKES:
        look = look.replace(letter, alike)
    return look


def _distinction(submission: ScoredSubmission, alike: Sequence[ScoredSubmission]) -> str:
    metadata = submission.metadata
    similar_names: dict[str, None] = {}
    other_revisions = []  # of submissions with the same name, type and variant
    for other in alike:
        is_same_kind = other.metadata.type == metadata.type and variant(other) == variant(submission)
        if other.metadata.name != metadata.name:
            similar_names[other.metadata.name] = None
        elif is_same_kind and other.id != submission.id:
            other_revisions.append(other.metadata.revision or "")
    notes = []
    if other_revisions and metadata.revision:
        prefix = metadata.revision[:_REVISION_LENGTH]
        is_unique = not any(revision.startswith(prefix) for revision in other_revisions)
        notes.append(f"revision {prefix if is_unique else metadata.revision}")
    elif other_revisions:
        notes.append("no revision stated")
    if similar_names:
        n_more = len(similar_names) - _N_SIMILAR
        more = f" and {n_more} more" if n_more > 0 else ""
        notes.append(f"similar name: {', '.join(list(similar_names)[:_N_SIMILAR])}{more}")
    return ", ".join(notes)


def task_rows(board: Board, task: str) -> list[Row]:
    """Return a row for every submission of a task: the corrected mean and each subset; ranked submissions first."""
    notes = distinctions(board.submissions)
    standings = board.by_task[task]
    ties = tie_places(standings)
    by_id = board.by_id
    rows = []
    for name in dict.fromkeys([*standings, *by_id]):
        submission = by_id[name]
        scores = submission.of_task(task)
        if not scores:
            continue
        subsets = {score.subset for score in scores}
        shown = [standing_score(standings.get(name))]
        lacks = []
        for subset in board.data.of_task(task):
            shown.append(_subset_score(board, submission, subset))
            if subset.name not in subsets:
                lacks.append(LANGUAGES[subset.language].name)
        row = Row(
            submission=submission,
            standing=standings.get(name),
            lacks=tuple(lacks),
            scores=tuple(shown),
            badges=badges(submission, board),
            distinction=notes.get(name, ""),
            tie=ties.get(name, ""),
        )
        rows.append(row)
    return rows


def by_rank(board: Board) -> list[tuple[ScoredSubmission, Standing | None]]:
    """Return all submissions with their standing over all tasks, best first."""
    by_id = board.by_id
    names: dict[str, None] = {}
    for order in (board.overall, board.retrieval, *board.by_task.values(), by_id):
        names |= dict.fromkeys(order)
    return [(by_id[name], board.overall.get(name)) for name in names]


def tie_places(standings: Standings) -> dict[str, str]:
    """Return id -> ``first``, ``middle`` or ``last`` among the submissions that share its rank, if there are others."""
    by_group: dict[int, list[str]] = {}
    for name, standing in standings.items():
        by_group.setdefault(standing.group, []).append(name)
    places: dict[str, str] = {}
    for names in by_group.values():
        if len(names) > 1:
            places |= dict.fromkeys(names, "middle") | {names[0]: "first", names[-1]: "last"}
    return places


def task_columns(board: Board, task: str) -> list[Column]:
    """Return the columns of `task_rows`: the mean, and the language of each subset, ``→ Uzbek`` if the task crosses."""
    is_corrected = task not in (SPANS, STS)
    columns = [
        Column(
            key="mean",
            title="Mean",
            about=f"Mean over the languages{', chance-corrected' if is_corrected else ''}; it decides the rank",
            form="chance-corrected" if is_corrected else "",
        )
    ]
    arrow = "→ " if task in RETRIEVAL_TASKS and task != "T2" else ""
    for subset in board.data.of_task(task):
        column = Column(
            key=subset.language,
            title=f"{arrow}{LANGUAGES[subset.language].name}",
            about=TASK_LEADS[task],
            n=subset.n,
            small=subset.n < SMALL_N,
            floor=subset.floor,
        )
        columns.append(column)
    return columns


def shown_score(value: float) -> str:
    """Return a score as ``.531``, ``−.012`` or ``1.000``; a dash for an undefined score."""
    if math.isnan(value):
        return "–"
    shown = f"{value:.3f}".replace("-0.000", "0.000")
    return re.sub(r"^(-?)0\.", r"\1.", shown).replace("-", "−")


def shown_parameters(number: int | None) -> str:
    """Return ``278M`` or ``1.3B``; a dash if the number is not known."""
    if number is None:
        return "–"
    for unit, divisor in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= divisor:
            return f"{number / divisor:.3g}{unit}"
    return str(number)


def shown_rate(rate: float) -> str:
    """Return ``1,340``, ``81`` or ``0.52``."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def standing_score(standing: Standing | None) -> ShownScore:
    """Return the score and interval of a standing as a page shows them; a missing one for None."""
    return ShownScore(math.nan) if standing is None else ShownScore(standing.score, standing.interval)


def _subset_score(board: Board, submission: ScoredSubmission, subset: SubsetItems) -> ShownScore:
    for score in submission.of_task(subset.task):
        if score.subset == subset.name:
            return ShownScore(score.main, board.interval(submission, score))
    return ShownScore(math.nan)
