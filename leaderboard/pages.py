"""Pages and files of the site as bytes; the same board always gives the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from leaderboard.board import Board, Standing
from leaderboard.comparison import comparison_files, comparison_json
from leaderboard.exports import submission_json, to_csv, to_json
from leaderboard.figures import (
    bars_by_language,
    bars_by_task,
    few_shot_curves,
    few_shot_delta,
    reported,
    reported_few_shot_delta,
    score_by_size,
)
from leaderboard.items import BoardData, hardest, item_values, items_json
from leaderboard.language_models import KIND_LABELS, KIND_TITLES, LanguageModelBoard
from leaderboard.scores import ScoredSubmission
from leaderboard.tables import (
    SIZE_CLASSES,
    TASK_LABELS,
    TASK_TITLES,
    UNKNOWN_SIZE,
    ShownScore,
    badges,
    column_titles,
    distinctions,
    overview_rows,
    shown_score,
    task_rows,
    variant,
)
from turkic_idiom_tasks.dataset import BUNDLED_PATH
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.charts import Chart
from turkic_idiom_tasks.language_models.items import TRAPS
from turkic_idiom_tasks.language_models.prompts import CLOZE_OPEN
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.editions import edition_of
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, UNRELIABLE_NOTE
from turkic_idiom_tasks.results.predictions import ALL_TASK_NAMES, SPANS
from turkic_idiom_tasks.results.scored import ScoredSubset

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as error:
    raise InputError(
        f"the site needs the package {error.name}: pip install 'turkic-idiom-tasks[leaderboard]'"
    ) from error

SITE_NAME = "Turkic Idiom Benchmark"

_SIZE_NAMES = (*(name for name, _, _ in SIZE_CLASSES), UNKNOWN_SIZE)
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_LEADS = {
    "T1": "Given a Turkish idiom, find an idiom with the same meaning among all idioms of another language.",
    "T2": "Given an idiom, find its meaning among all meanings in the same language.",
    "T3": "Given a Turkish idiom, find its meaning among all meanings in another language.",
    SPANS: "Given a sentence, mark the words of the idiom in it.",
}
_RETRIEVAL_COLUMNS = {
    "ndcg_floor": "floor",
    "ndcg_corrected": "corrected",
    "ndcg_strict": "strict",
    "ndcg_at_10": "nDCG@10",
    "mrr": "MRR",
    "recall_at_1": "recall@1",
    "recall_at_5": "recall@5",
    "recall_at_10": "recall@10",
}
_SPAN_COLUMNS = {
    "span_precision": "precision",
    "span_recall": "recall",
    "token_f1": "token F1",
    "token_accuracy": "token accuracy",
}
_CHOICE_COLUMNS = {
    "accuracy_corrected": "corrected",
    "near_share": "near traps",
    "lexical_share": "lexical traps",
    "random_share": "random traps",
    "unreadable": "unreadable",
}
_ITEM_COLUMNS = {
    "usage": {
        "accuracy_corrected": "corrected",
        "pair_accuracy": "both right",
        "recall_figurative": "recall, figurative",
        "recall_literal": "recall, literal",
        "unreadable": "unreadable",
    },
    CLOZE_OPEN: {"exact": "exact form", "lemma": "lemma", "unreadable": "unreadable"},
}
_LANGUAGE_MODELS = "language-models.html"


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A link of the navigation: the file of a page, and its name."""

    file: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart on a page: its SVG, which is not escaped, and the file of its specification."""

    title: str
    description: str
    svg: Markup
    spec_file: str


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a submission stands: the ranking, its page, the standing, and the number of ranked models if it matters."""

    title: str
    file: str
    standing: Standing | None
    n_ranked: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SubsetRow:
    """One subset on the page of a submission; `floor` is that of the main score, and `cut` is as in `ScoredSubset`."""

    title: str
    n: int
    cut: int | None
    floor: float
    main: ShownScore
    others: tuple[float, ...]


class Pages:
    """Files of a site.

    Attributes:
        board: the leaderboard of encoders that they show.
        language_models: the board of submissions that answer items; None if there are none, and no page of them.
    """

    def __init__(self, board: Board, language_models: LanguageModelBoard | None = None) -> None:
        self.board = board
        self.language_models = language_models
        self._data: BoardData = board.data
        self._environment = _environment()
        self._charts: dict[str, Chart] = {}
        self._distinctions = distinctions(board.submissions)
        tasks = [Link(_task_file(task), TASK_LABELS[task]) for task in self._data.tasks]
        if language_models:
            self._distinctions |= distinctions(language_models.board.submissions)
            tasks.append(Link(_LANGUAGE_MODELS, "Language models"))
        self._links = (
            Link("index.html", "Overview"),
            *tasks,
            Link("compare.html", "Compare"),
            Link("data.html", "Data"),
            Link("how-to-read.html", "How to read this"),
        )

    def all(self) -> Iterator[tuple[str, bytes]]:
        """Yield (path within the site, content) of every file."""
        yield "index.html", self._overview()
        for task in self._data.tasks:
            yield _task_file(task), self._task(task)
        for name in dict.fromkeys(name for board in self._boards for name in board.by_id):
            yield f"models/{name}.html", self._model(name)
        if self.language_models:
            yield from self._language_model_files(self.language_models)
        for submission in self.board.submissions:
            values = {"items": "../items.json", "values": item_values(submission.subsets)}
            yield f"scores/{submission.id}.json", _json(submission_json(submission, self.board) | values)
        yield "compare.html", self._compare()
        yield from comparison_files(self.board)
        yield "data.html", self._page("data.html", title="The data", bundled=self._data.path == BUNDLED_PATH)
        yield "how-to-read.html", self._page("how-to-read.html", title="How to read this")
        yield "leaderboard.csv", to_csv(self.board).encode()
        yield "leaderboard.json", _json(to_json(self.board))
        yield "items.json", _json(items_json(self._data))
        for name, chart in self._charts.items():
            yield f"figures/{name}.vl.json", _json(dict(chart.spec))
        for path in sorted(files("leaderboard").joinpath("static").iterdir(), key=lambda path: path.name):
            yield f"static/{path.name}", path.read_bytes()

    def _page(self, template: str, *, title: str, file: str | None = None, root: str = "", **values: Any) -> bytes:
        text = self._environment.get_template(template).render(
            site_name=SITE_NAME,
            version=version("turkic-idiom-tasks"),
            title=title,
            file=file or template,
            root=root,
            links=self._links,
            data=self._data,
            languages=self._data.languages,
            unreliable_note=UNRELIABLE_NOTE,
            **values,
        )
        return text.encode()

    def _overview(self) -> bytes:
        charts = {
            "tasks": bars_by_task(self.board),
            "size": score_by_size(self.board),
            "few-shot": few_shot_curves(self.board),
            "few-shot-delta": few_shot_delta(self.board),
        }
        return self._page(
            "index.html",
            title="Overview",
            rows=overview_rows(self.board),
            sizes=_SIZE_NAMES,
            n_items=sum(subset.n for subset in self._data.subsets),
            charts=self._figures(charts),
            published=reported(),
            edition=edition_of(self._data.revision),
            other_editions=self.board.other_editions,
            published_charts=self._figures({"published-few-shot-delta": reported_few_shot_delta()}),
        )

    def _task(self, task: str) -> bytes:
        return self._page(
            "task.html",
            file=_task_file(task),
            title=f"{TASK_LABELS[task]}: {TASK_TITLES[task]}" if task != SPANS else TASK_TITLES[task],
            lead=_LEADS[task],
            task=task,
            subsets=self._data.of_task(task),
            columns=column_titles(self.board, task),
            rows=task_rows(self.board, task),
            sizes=_SIZE_NAMES,
            charts=self._figures({f"{task.lower()}-languages": bars_by_language(self.board, task)}),
        )

    @property
    def _boards(self) -> list[Board]:
        return [self.board, *([self.language_models.board] if self.language_models else [])]

    def _model(self, name: str) -> bytes:
        """Return the page of a submission, with its tasks of both boards."""
        boards = [board for board in self._boards if name in board.by_id]
        submission = boards[0].by_id[name]
        metadata = submission.metadata
        parts = []
        for board in boards:
            of_board = board.by_id[name]
            parts += [_part(of_board, board, task) for task in ALL_TASK_NAMES if of_board.of_task(task)]
        places: list[Place] = []
        for board in boards:
            places += self._places(name, board)
        return self._page(
            "model.html",
            file=f"models/{name}.html",
            root="../",
            title=metadata.name,
            submission=submission,
            about=metadata,
            distinction=self._distinctions.get(name, ""),
            hub_link=_HUB_ID.fullmatch(metadata.name) is not None and metadata.revision is not None,
            badges=badges(submission, boards[0]),
            places=places,
            is_compared=self.board in boards,
            titles=TASK_TITLES | KIND_TITLES,
            parts=parts,
        )

    def _places(self, name: str, board: Board) -> list[Place]:
        if board is not self.board:
            kinds = [Place("all items", _LANGUAGE_MODELS, board.overall.get(name), len(board.overall))]
            for task in board.data.tasks:
                if name in board.by_task[task]:
                    kinds.append(Place(KIND_LABELS[task], _LANGUAGE_MODELS, board.by_task[task][name]))
            return kinds
        places = [Place("all tasks", "index.html", board.overall.get(name), len(board.overall))]
        if name in board.retrieval:
            places.append(Place("T1–T3", "index.html", board.retrieval[name]))
        for task in board.data.tasks:
            if name in board.by_task[task]:
                places.append(Place(TASK_LABELS[task], _task_file(task), board.by_task[task][name]))
        return places

    def _language_model_files(self, models: LanguageModelBoard) -> Iterator[tuple[str, bytes]]:
        yield (
            _LANGUAGE_MODELS,
            self._page(
                _LANGUAGE_MODELS,
                title="Language models",
                models=models,
                rows=models.overview(),
                labels=KIND_LABELS,
                kind_titles=KIND_TITLES,
                traps=TRAPS,
                sizes=_SIZE_NAMES,
                titles_of={task: _subset_titles(models.board.data, task) for task in models.board.data.tasks},
            ),
        )
        yield "language-models.csv", to_csv(models.board).encode()
        yield "language-models.json", _json(to_json(models.board))

    def _compare(self) -> bytes:
        return self._page(
            "compare.html",
            title="Compare two models",
            submissions=self.board.submissions,
            distinctions=self._distinctions,
            items=comparison_json(self.board),
        )

    def _figures(self, charts: Mapping[str, Chart | None]) -> list[Figure]:
        figures = []
        for name, chart in charts.items():
            if chart is not None:
                self._charts[name] = chart
                svg = Markup(chart.svg())  # noqa: S704  (vl-convert escapes what it writes)
                figures.append(Figure(chart.title, chart.description, svg, f"figures/{name}.vl.json"))
        return figures


def _part(submission: ScoredSubmission, board: Board, task: str) -> dict[str, Any]:
    """Return one task on the page of a submission."""
    main, columns, words = _columns(task)
    scores = submission.of_task(task)
    rows = []
    for score in scores:
        row = SubsetRow(
            title=_subset_title(score.task, score.subset, score.language),
            n=score.n,
            cut=score.cut,
            floor=score.floor,
            main=ShownScore(score.main, board.interval(submission, score), small=score.n < SMALL_N),
            others=tuple(score.scores.get(name, float("nan")) for name in columns),
        )
        rows.append(row)
    return {
        "task": task,
        "columns": (main, *columns.values()),
        "rows": rows,
        "asked": _how_asked(scores),
        "words": words,
        "hardest": hardest(scores, board.data),
    }


def _columns(task: str) -> tuple[str, dict[str, str], tuple[str, str, str]]:
    """Return the main score of a task, the other scores with their titles, and words for item, text and answer."""
    if task == SPANS:
        return "span F1", _SPAN_COLUMNS, ("sentences", "Sentence", "Idiom in it")
    if task in KIND_TITLES:
        main = "accepted" if task == CLOZE_OPEN else "accuracy"
        return main, _ITEM_COLUMNS.get(task, _CHOICE_COLUMNS), ("items", "Item", "Right answer")
    return "nDCG", _RETRIEVAL_COLUMNS, ("queries", "Idiom", "Right answer")


def _how_asked(scores: Sequence[ScoredSubset]) -> str:
    """Return the prompts and methods of the answers to items, such as ``prompt en1, generation``; empty for others."""
    ways: dict[str, None] = {}
    for score in scores:
        if score.answers is not None:
            ways[f"prompt {score.answers.prompt}, {score.answers.method}"] = None
    return "; ".join(ways)


def _subset_title(task: str, subset: str, language: str) -> str:
    source, _, target = subset.partition("-")
    if not target:
        return LANGUAGES[language].name
    asked = LANGUAGES[source].name if task in KIND_TITLES else LANGUAGES[PIVOT].name
    return f"{asked} → {LANGUAGES[language].name}"


def _subset_titles(data: BoardData, task: str) -> list[str]:
    return [_subset_title(task, subset.name, subset.language) for subset in data.of_task(task)]


def _task_file(task: str) -> str:
    return f"{task.lower()}.html"


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _environment() -> Environment:
    """Return the environment of the templates, in which every value is escaped."""
    environment = Environment(
        loader=PackageLoader("leaderboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "score": shown_score,
        "parameters": _shown_parameters,
        "task_name": (TASK_LABELS | KIND_LABELS).__getitem__,
        "language": lambda code: LANGUAGES[code].name,
        "reported": _shown_figure,
        "sentence": _enumeration,
        "variant": variant,
    }
    return environment


def _shown_figure(value: float | str | None) -> str:
    """Return a figure of the paper with the same two or three digits as in the paper."""
    if value is None or isinstance(value, str):
        return value or "–"
    digits = 2 if round(value, 2) == value else 3
    return f"{value:.{digits}f}".replace("-", "−")


def _shown_parameters(number: int | None) -> str:
    """Return ``278M`` or ``1.3B``; a dash if the number is not known."""
    if number is None:
        return "–"
    for unit, divisor in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= divisor:
            return f"{number / divisor:.3g}{unit}"
    return str(number)


def _enumeration(names: Sequence[str]) -> str:
    """Return ``Turkish, Azerbaijani and Uzbek``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
