"""Tables of the leaderboard: a column for each score, a row for each submission, and the tabs that rank them.

Every table of the site is made of the same columns and rows: those of a tab, of a task, and of the language models.
The overview and the page of each language have tabs: rankings by retrieval, by spans, by both, and by similarity. A tab
ranks the submissions that have all of its tasks, so a model that does one thing well has a rank.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from leaderboard.board import EXTRA_TASKS, RETRIEVAL_TASKS, Board, ScoredSubmission
from leaderboard.ranking import NO_SCORE, Place, Score, Standings
from leaderboard.submission import Metadata
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, mean
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS
from turkic_idiom_tasks.results.people import n_people
from turkic_idiom_tasks.results.predictions import SPANS, SubsetKey
from turkic_idiom_tasks.tasks.items import open_tasks
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS

TASK_TITLES = {
    "T1": "Cross-lingual idiom retrieval",
    "T2": "Idiom to meaning, one language",
    "T3": "Idiom to meaning, across languages",
    "T4": "Sentence to paraphrase",
    STS: "Similarity of sentences with idioms",
    SPANS: "Idiom span detection",
    "meaning": "Meaning of an idiom",
    "equivalent": "Equivalent in another language",
    "usage": "Figurative or literal use",
    "cloze": "Idiom for a blank",
    "meaning_rivals": "Meaning of an idiom, ten near options",
    "equivalent_rivals": "Equivalent in another language, ten near options",
    "situation": "Idiom for a situation",
}
TASK_TITLES |= {name: f"{task.title}, without options" for name, task in OPEN_TASKS.items()}
TASK_TITLES |= {name: f"{TASK_TITLES[whole]}, hard items" for name, whole in HARD_TASKS.items()}
TASK_LABELS = {task: task.capitalize().replace("_", " ") for task in TASK_TITLES}
TASK_LABELS |= {STS: "STS", open_tasks.CLOZE_OPEN: "Open cloze", open_tasks.SITUATION_OPEN: "Open situation"}
TASK_LABELS |= {open_tasks.RECALL_EN: "Recall, English", open_tasks.RECALL_THREE: "Recall, three"}
TASK_LABELS |= {name: f"{TASK_LABELS[whole]}, hard" for name, whole in HARD_TASKS.items()}
TASK_FORMS = {  # of the tasks of encoders and taggers
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
SIZES = ("50M", "100M", "200M", "500M", "1B", "2B", "4B", "8B", "16B", "32B", "80B")  # to choose models of at most one
AXIS_SLACK = -0.02  # a score above it would stand at 0 anyway
REVISION_LENGTH = 8  # characters of a revision that are shown
RETRIEVAL_TAB, SPANS_TAB, SIMILARITY_TAB, ALL_TAB = "retrieval", "spans", "similarity", "all"

# A submitter cannot pass for another model: names that could be mistaken for each other are marked in every table
_N_NAMED = 2  # similar or equal submissions that a row names, at most
_SEPARATORS = str.maketrans("", "", "._-/")
_LOOK_ALIKES = (("0", "o"), ("1", "l"), ("i", "l"), ("rn", "m"), ("vv", "w"))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of scores; the first one of a table decides the ranks."""

    key: str  # name in addresses
    title: str
    about: str  # explanation of the title
    scores: Mapping[str, Score]  # id of a submission -> its score
    form: str = ""  # smaller line below the title
    n: int | None = None  # number of items that the title states; None states none
    small: bool = False  # whether some score of the column is that of fewer than `SMALL_N` items
    floor: float = 0.0  # score of a random system
    lack: str = ""  # what the row of a submission without a score says that it lacks
    view: str = ""  # "tasks" or "languages" if the switch "Languages" decides whether it is seen
    subsets: tuple[SubsetKey, ...] = ()  # of the items that language models and people answer


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One submission in a table."""

    submission: ScoredSubmission
    place: Place | None  # None if it has no rank
    lacks: tuple[str, ...]  # tasks or languages that were not submitted
    scores: tuple[Score, ...]  # one for each column
    is_reproduced: bool  # whether the maintainers ran it again
    distinction: str  # note that tells the submission from others that look the same, or ""
    tie: str  # place among the rows that share its rank: first, middle or last; "" if no other does
    at_chance: bool  # whether the interval of the ranked score reaches chance


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of submissions, the ranked ones first."""

    columns: list[Column]
    axes: list[float]  # for each column where the axis of its scores begins
    rows: list[Row]
    standings: Standings
    n_people: int  # who answered items of the columns; they stand above the models, without a rank
    people: list[tuple[Score, str]]  # for each column the mean of the people, and a note


@dataclass(frozen=True, slots=True, eq=False)
class Tab:
    """One ranking of a board."""

    name: str
    board: Board
    tasks: tuple[str, ...]  # those whose mean is ranked
    shown: tuple[str, ...]  # those that have a column, the ranked ones first
    standings: Standings  # of the submissions that have all ranked tasks


def tabs_of(board: Board) -> list[Tab]:
    """Return the tabs in which a submission is ranked, and those without which a submission would be listed in none."""
    submitted = {score.task for submission in board.by_id.values() for score in submission.subsets}
    retrieval = tuple(task for task in board.data.tasks if task in RETRIEVAL_TASKS)
    ranked_elsewhere = (*RETRIEVAL_TASKS, SPANS, STS)
    # A task that is in no ranking has a column beside those of retrieval
    others = tuple(task for task in board.data.tasks if task not in ranked_elsewhere and task in submitted)
    has_spans = SPANS in board.data.tasks
    tabs = []
    if retrieval:
        tabs.append(Tab(RETRIEVAL_TAB, board, retrieval, (*retrieval, *others), board.retrieval))
    elif others:
        tabs.append(Tab(RETRIEVAL_TAB, board, others[:1], others, board.by_task[others[0]]))
    if has_spans:
        tabs.append(Tab(SPANS_TAB, board, (SPANS,), (SPANS,), board.by_task[SPANS]))
    if STS in submitted and STS in board.by_task:
        tabs.append(Tab(SIMILARITY_TAB, board, (STS,), (STS,), board.by_task[STS]))
    if retrieval and has_spans:
        tabs.append(Tab(ALL_TAB, board, (*retrieval, SPANS), (*retrieval, *others, SPANS), board.overall))
    # If no submission is ranked at all, the last tab lists the most of them
    kept = [tab for tab in tabs if len(tab.standings)] or tabs[-1:]
    # A tab that ranks nobody stays if it alone lists a submission: nobody's scores may be nowhere
    listed = {name for tab in kept for name in _listed(tab)}
    for tab in tabs:
        names = set(_listed(tab))
        if not names <= listed:
            kept.append(tab)
            listed |= names
    return [tab for tab in tabs if tab in kept]


def tab_table(tab: Tab, tabs_by_language: Mapping[str, Sequence[Tab]] | None = None) -> Table:
    """Return the table of a tab: the mean of the ranked tasks if there are several, each task, and each language."""
    data, by_task = tab.board.data, tab.board.by_task
    columns = []
    is_mean = len(tab.tasks) > 1
    if is_mean:
        names = ", ".join(TASK_LABELS[task] for task in tab.tasks)
        about, form = f"Mean of {names}; it decides the rank", f"of {len(tab.tasks)} tasks"
        columns.append(Column("mean", "Mean", about, tab.standings, form))
    for task in tab.shown:
        subsets = data.of_task(task)
        label, n = TASK_LABELS[task], subsets[0].n if len(subsets) == 1 else None
        column = Column(
            key=task,
            title=label,
            about=TASK_LEADS[task],
            scores=by_task[task],
            form=TASK_FORMS[task],
            n=n,
            small=n is not None and n < SMALL_N,
            lack=label if task in tab.tasks else "",
            view="tasks" if is_mean and len(data.languages) > 1 else "",
        )
        columns.append(column)
    for code in data.languages if len(data.languages) > 1 else ():
        of_code = [subset for subset in data.subsets if subset.language == code and subset.task in tab.tasks]
        if not of_code:
            continue
        name, tasks = LANGUAGES[code].name, tuple(dict.fromkeys(subset.task for subset in of_code))
        # Of the language's own board, so that a model has one score of a language on the whole site. Cells stay empty
        # if that board ranks other tasks, because nobody submitted one of them.
        standings: Mapping[str, Score] = {}
        for of_language in (tabs_by_language or {}).get(code, ()):
            if of_language.tasks == tasks:
                standings = of_language.standings
        about = f"Mean over these tasks in {name}" if is_mean else f"{TASK_LABELS[tab.tasks[0]]} in {name}"
        column = Column(
            key=code,
            title=name,
            about=f"{about}; provisional, no mean counts it" if LANGUAGES[code].provisional else about,
            scores=standings,
            form="all tasks" if is_mean else "",
            n=None if is_mean else of_code[0].n,
            small=min(subset.n for subset in of_code) < SMALL_N,
            view="languages",
        )
        columns.append(column)
    return _table(tab.board, columns, tab.standings, _listed(tab))


def task_table(board: Board, task: str) -> Table:
    """Return the table of a task: the mean headline over its subsets, and the main score of each subset."""
    standings = board.by_task[task]
    about = "Mean headline over the languages; it decides the rank"
    columns = [Column("mean", "Headline", about, standings, "mean" if task == SPANS else "0 is chance")]
    submitted: set[str] = set()
    for subset in board.data.of_task(task):
        scores = {name: board.main_scores[name][task, subset.name] for name in board.of_subset(subset)}
        submitted.update(scores)
        language = LANGUAGES[subset.language].name
        title = f"→ {language}" if task in ("T1", "T3") else language
        column = Column(
            key=subset.language,
            title=subset_title(subset.name) if task in ITEM_TASKS else title,
            about=TASK_LEADS.get(task, ""),
            scores=scores,
            n=subset.n,
            small=subset.n < SMALL_N,
            floor=subset.floor,
            lack=language,
            subsets=((task, subset.name),),
        )
        columns.append(column)
    names = [name for name in dict.fromkeys([*standings, *board.by_id]) if name in submitted]
    return _table(board, columns, standings, names)


def item_table(board: Board) -> Table:
    """Return the table of all language models: the mean of the kinds of items, and each kind, chance-corrected."""
    about = "Mean of the kinds with options, the open cloze and recall; it decides the rank"
    columns = [Column("all", "All kinds", about, board.overall)]
    for task in board.data.tasks:
        # Hard tasks have tables of their own; here they would make as many columns again
        if task in HARD_TASKS or (task in EXTRA_TASKS and not board.by_task[task]):
            continue
        label = TASK_LABELS[task]
        subsets = tuple((task, subset.name) for subset in board.data.of_task(task))
        columns.append(Column(task, label, TASK_TITLES[task], board.by_task[task], lack=label, subsets=subsets))
    return _table(board, columns, board.overall, dict.fromkeys([*board.overall, *board.by_id]))


def _table(board: Board, columns: list[Column], standings: Standings, names: Iterable[str]) -> Table:
    notes = row_notes(board.by_id.values())
    ties: dict[str, str] = {}
    for _, of_group in groupby(standings, key=lambda name: standings.places[name].group):
        group = list(of_group)
        if len(group) > 1:
            ties |= dict.fromkeys(group, "middle") | {group[0]: "first", group[-1]: "last"}
    rows = []
    for name in names:
        ranked = standings.get(name)
        row = Row(
            submission=board.by_id[name],
            place=standings.places.get(name),
            lacks=tuple(column.lack for column in columns if column.lack and name not in column.scores),
            scores=tuple(column.scores.get(name, NO_SCORE) for column in columns),
            is_reproduced=name in board.reproduced,
            distinction=notes.get(name, ""),
            tie=ties.get(name, ""),
            at_chance=ranked is not None and not ranked.interval.low > 0,
        )
        rows.append(row)
    keys = {key for column in columns for key in column.subsets}
    n = n_people(score for key, score in board.people.items() if key in keys)
    axes = [axis_of(column.scores.values()) for column in columns]
    return Table(columns, axes, rows, standings, n, [_people(board, column) for column in columns])


def _people(board: Board, column: Column) -> tuple[Score, str]:
    """Return the mean of the people in a column, corrected for chance as the column is, and of which items it is."""
    answered = [board.people[key] for key in column.subsets if key in board.people]
    if not answered:
        return NO_SCORE, ""
    floors = [0.0 if column.floor else subset.floor for subset in answered]
    resampled = mean([subset.resampled.corrected(floor) for subset, floor in zip(answered, floors, strict=True)])
    note = f"{sum(subset.n_items for subset in answered)} items"
    if len(column.subsets) == 1:
        note += f", best {shown_score((answered[0].best - floors[0]) / (1 - floors[0]))}"
    elif len(answered) < len(column.subsets):
        note += f", {len(answered)} of {len(column.subsets)} sets"
    return Score(resampled.score, resampled.interval()), note


def _listed(tab: Tab) -> list[str]:
    """Return the submissions of a tab: the ranked ones, those with all retrieval tasks, the others task by task."""
    board = tab.board
    names: dict[str, None] = dict.fromkeys(tab.standings)
    if tab.name == ALL_TAB:
        names |= dict.fromkeys(board.retrieval)
    for task in tab.shown:
        names |= dict.fromkeys(board.by_task[task])
    for submission in board.by_id.values():
        for score in submission.subsets:
            if score.task in tab.shown and score.headline and not math.isnan(score.headline.score):
                names[submission.id] = None
    return list(names)


def variant(metadata: Metadata) -> str:
    """Return a description of how a model was run, such as ``mean pooling, pretrained, 10 examples``."""
    parts = [f"{metadata.pooling} pooling"] if metadata.pooling else []
    parts.append(metadata.regime)
    if metadata.few_shot is not None:
        parts.append(f"{metadata.few_shot} examples")
    return ", ".join(parts)


def subset_title(subset: str) -> str:
    """Return the language or direction of a subset, such as ``Turkish → Uzbek``."""
    return " → ".join(get_language(code).name for code in subset.split("-"))


def distinctions(submissions: Iterable[ScoredSubmission]) -> dict[str, str]:
    """Return id -> a note that tells a submission from others that look the same on a page, where it needs one."""
    by_look: dict[str, list[ScoredSubmission]] = {}
    for submission in submissions:
        # Readers overlook case, separators and letters that look alike
        look = submission.metadata.name.lower().translate(_SEPARATORS)
        for letter, alike in _LOOK_ALIKES:
            look = look.replace(letter, alike)
        by_look.setdefault(look, []).append(submission)
    notes_by_id = {}
    for same_look in by_look.values():
        for submission in same_look:
            metadata = submission.metadata
            others = [other.metadata for other in same_look if other is not submission]
            similar_names = dict.fromkeys(other.name for other in others if other.name != metadata.name)
            other_revisions = []  # of submissions with the same name, type and variant
            for other in others:
                if (other.name, other.type, variant(other)) == (metadata.name, metadata.type, variant(metadata)):
                    other_revisions.append(other.revision or "")
            notes = []
            if other_revisions and metadata.revision:
                prefix = metadata.revision[:REVISION_LENGTH]
                is_unique = not any(revision.startswith(prefix) for revision in other_revisions)
                notes.append(f"revision {prefix if is_unique else metadata.revision}")
            elif other_revisions:
                notes.append("no revision stated")
            if similar_names:
                notes.append(f"similar name: {_some(list(similar_names))}")
            if notes:
                notes_by_id[submission.id] = ", ".join(notes)
    return notes_by_id


def equal_scores(submissions: Iterable[ScoredSubmission]) -> dict[str, str]:
    """Return id -> a note which others have the same score on every item of a task, where some have."""
    # They may be one system under two names, or tie honestly, as a baseline that two people ran or taggers that mark
    # nothing. No prediction tells which, so all are named and none is left out.
    equal: dict[tuple[str, str], list[ScoredSubmission]] = {}
    for submission in submissions:
        for task in dict.fromkeys(score.task for score in submission.subsets):
            digest = hashlib.sha256()
            for score in submission.of_task(task):
                # The part of each item; a correlation has no parts, but many scores
                parts = score.sums.tobytes() or str(sorted(score.scores.items())).encode()
                digest.update(score.subset.encode() + parts)
            equal.setdefault((task, digest.hexdigest()), []).append(submission)
    tasks_by_id: dict[str, dict[str, list[str]]] = {}  # id -> names of the others -> tasks
    for (task, _), group in equal.items():
        for submission in group if len(group) > 1 else ():
            others = _some([other.metadata.name for other in group if other is not submission])
            tasks_by_id.setdefault(submission.id, {}).setdefault(others, []).append(TASK_LABELS[task])
    notes = {}
    for name, by_others in tasks_by_id.items():
        told = [f"same score as {others} on every item of {', '.join(tasks)}" for others, tasks in by_others.items()]
        notes[name] = "; ".join(told)
    return notes


def row_notes(submissions: Collection[ScoredSubmission]) -> dict[str, str]:
    """Return id -> what its row and page say of submissions that could be mistaken for it, or be the same."""
    notes = distinctions(submissions)
    for name, note in equal_scores(submissions).items():
        notes[name] = f"{notes[name]}, {note}" if name in notes else note
    return notes


def _some(names: Sequence[str]) -> str:
    """Return the first of some names and the number of the others."""
    # However many similar names somebody registers, the row of another model stays short
    n_more = len(names) - _N_NAMED
    return ", ".join(names[:_N_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")


def axis_of(scores: Iterable[Score]) -> float:
    """Return where an axis that ends at 1 begins: at 0, or at -1 if a score is so far below 0 that it is seen."""
    return -1.0 if any(score.score < AXIS_SLACK for score in scores) else 0.0


def shown_score(value: float) -> str:
    """Return a score as ``.531``, ``−.012`` or ``1.000``; a dash for an undefined score."""
    if math.isnan(value):
        return "–"
    digits = f"{abs(value):.3f}".removeprefix("0")
    return f"−{digits}" if value < 0 and digits != ".000" else digits  # a rounded 0 has no sign


def shown_parameters(number: int | None) -> str:
    """Return ``278M`` or ``1.3B``, ``none`` for 0; a dash if the number is not known."""
    if not number:
        return "–" if number is None else "none"
    for unit, divisor in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= divisor:
            return f"{number / divisor:.3g}{unit}"
    return str(number)


def shown_rate(rate: float) -> str:
    """Return ``1,340``, ``81`` or ``0.52``."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
