"""The pages and files of the site, as bytes: the same board gives the same ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from leaderboard.data import Data
from leaderboard.details import comparison_json, hardest, item_values, items_json
from leaderboard.figures import (
    bars_by_language,
    bars_by_task,
    few_shot_curves,
    few_shot_delta,
    score_by_size,
)
from leaderboard.overview import Board
from leaderboard.published_block import published_block
from leaderboard.records import SPANS, TASKS, Record, SubsetScore
from leaderboard.rendering import environment
from leaderboard.tables import (
    SIZES,
    TASK_NAMES,
    TASK_TITLES,
    UNKNOWN_SIZE,
    Cell,
    badges,
    column_titles,
    overview_rows,
    record_json,
    task_rows,
    to_csv,
    to_json,
)
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.sources import BUNDLED_PATH
from turkic_idiom_tasks.metrics.statistics import SMALL_N

if TYPE_CHECKING:
    from turkic_idiom_tasks.charts import Chart

SITE_NAME = "Turkic Idiom Benchmark"

_SIZE_NAMES = (*(name for name, _, _ in SIZES), UNKNOWN_SIZE)
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_LEADS = {
    "T1": "A Turkish idiom is given; an idiom of the same meaning is to be found among all of another language.",
    "T2": "An idiom is given; its meaning is to be found among all meanings in the same language.",
    "T3": "A Turkish idiom is given; its meaning is to be found among all meanings in another language.",
    SPANS: "A sentence is given; the words of the idiom in it are to be marked.",
}
_RETRIEVAL_COLUMNS = {
    "ndcg_floor": "floor",
    "ndcg_corrected": "corrected",
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


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A page in the navigation."""

    file: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart on a page: its SVG, trusted, and the file of its specification."""

    title: str
    description: str
    svg: Any
    spec_file: str


@dataclass(frozen=True, slots=True, eq=False)
class LanguageRow:
    """One subset on the page of a model; `cut` as in `SubsetScore`, `floor` of the main score."""

    title: str
    n: int
    cut: int | None
    floor: float
    main: Cell
    others: tuple[float, ...]


class Pages:
    """The files of a site."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.data: Data = board.data
        self.environment = environment()
        self.specs: dict[str, Chart] = {}
        tasks = [Link(_task_file(task), TASK_NAMES[task]) for task in self.data.tasks]
        self.links = (
            Link("index.html", "Overview"),
            *tasks,
            Link("compare.html", "Compare"),
            Link("data.html", "Data"),
            Link("how-to-read.html", "How to read this"),
        )

    def all(self) -> Iterator[tuple[str, bytes]]:
        """(path below the site, content) of every file."""
        yield "index.html", self._overview()
        for task in self.data.tasks:
            yield _task_file(task), self._task(task)
        for record in self.board.records:
            yield f"models/{record.id}.html", self._model(record)
            values = item_values(record)
            told = record_json(record, self.board) | {"items": "../items.json", "values": values}
            yield f"scores/{record.id}.json", _json(told)
            compact = json.dumps(values, separators=(",", ":"))
            yield f"scores/{record.id}.js", f"turkicIdiomScores({json.dumps(record.id)},{compact});\n".encode()
        yield "compare.html", self._compare()
        yield "data.html", self._page("data.html", title="The data", bundled=self.data.path == BUNDLED_PATH)
        yield "how-to-read.html", self._page("how-to-read.html", title="How to read this")
        yield "leaderboard.csv", to_csv(self.board).encode()
        yield "leaderboard.json", _json(to_json(self.board))
        yield "items.json", _json(items_json(self.data))
        for name, chart in self.specs.items():
            yield f"figures/{name}.vl.json", _json(dict(chart.spec))
        for path in sorted(files("leaderboard").joinpath("static").iterdir(), key=lambda path: path.name):
            yield f"static/{path.name}", path.read_bytes()

    def _page(self, template: str, *, title: str, file: str | None = None, root: str = "", **values: Any) -> bytes:
        drawn = self.environment.get_template(template).render(
            site_name=SITE_NAME,
            version=version("turkic-idiom-tasks"),
            title=title,
            file=file or template,
            root=root,
            links=self.links,
            data=self.data,
            languages=self.data.languages,
            **values,
        )
        return drawn.encode()

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
            n_items=sum(subset.n for subset in self.data.subsets),
            charts=self._figures(charts),
            published=published_block(self._figures),
        )

    def _task(self, task: str) -> bytes:
        return self._page(
            "task.html",
            file=_task_file(task),
            title=f"{TASK_NAMES[task]}: {TASK_TITLES[task]}" if task != SPANS else TASK_TITLES[task],
            lead=_LEADS[task],
            task=task,
            subsets=self.data.of_task(task),
            columns=column_titles(self.board, task),
            rows=task_rows(self.board, task),
            sizes=_SIZE_NAMES,
            charts=self._figures({f"{task.lower()}-languages": bars_by_language(self.board, task)}),
        )

    def _model(self, record: Record) -> bytes:
        about = record.metadata
        by_task = self.board.by_task
        return self._page(
            "model.html",
            file=f"models/{record.id}.html",
            root="../",
            title=about.name,
            record=record,
            about=about,
            hub_link=_HUB_ID.fullmatch(about.name) is not None and about.revision is not None,
            badges=badges(record, self.board),
            standing=self.board.overall.get(record.id),
            retrieval=self.board.retrieval.get(record.id),
            n_ranked=len(self.board.overall),
            places=[(task, by_task[task][record.id]) for task in self.data.tasks if record.id in by_task[task]],
            titles=TASK_TITLES,
            parts=[_part(record, self.data, task) for task in TASKS if record.of_task(task)],
        )

    def _compare(self) -> bytes:
        records = self.board.records
        items = comparison_json(records, self.data)
        return self._page("compare.html", title="Compare two models", records=records, items=items)

    def _figures(self, charts: dict[str, Chart | None]) -> list[Figure]:
        from markupsafe import Markup

        found = []
        for name, chart in charts.items():
            if chart is not None:
                self.specs[name] = chart
                svg = Markup(chart.svg())  # noqa: S704  (vl-convert escapes what it writes)
                found.append(Figure(chart.title, chart.description, svg, f"figures/{name}.vl.json"))
        return found


def _part(record: Record, data: Data, task: str) -> dict[str, Any]:
    """One task on the page of a model."""
    columns = _SPAN_COLUMNS if task == SPANS else _RETRIEVAL_COLUMNS
    return {
        "task": task,
        "columns": ("span F1" if task == SPANS else "nDCG", *columns.values()),
        "rows": [_language_row(score, tuple(columns)) for score in record.of_task(task)],
        "hardest": hardest(record, data, task),
    }


def _language_row(score: SubsetScore, names: tuple[str, ...]) -> LanguageRow:
    main = Cell(score.main, score.low, score.high, small=score.n < SMALL_N)
    title = LANGUAGES[score.language].name
    floor = 0.0 if score.task == SPANS else score.scores["ndcg_floor"]
    others = tuple(score.scores.get(name, float("nan")) for name in names)
    return LanguageRow(f"Turkish → {title}" if "-" in score.subset else title, score.n, score.cut, floor, main, others)


def _task_file(task: str) -> str:
    return f"{task.lower()}.html"


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()
