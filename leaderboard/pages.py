"""Pages and files of the site as bytes; the same board always gives the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from leaderboard.board import Board
from leaderboard.check_rules import check_rules
from leaderboard.comparison import choice_labels, comparison_files, comparison_json
from leaderboard.concepts import CONCEPTS_FILE, concepts_script
from leaderboard.every_eval_ever import every_eval_ever_files
from leaderboard.exports import items_file, leaderboard_file, scores_file, to_csv
from leaderboard.figures import (
    few_shot_curves,
    few_shot_delta,
    forest_by_language,
    forest_by_task,
    forest_of_model,
    reported,
    reported_few_shot_delta,
    score_by_size,
    score_by_throughput,
)
from leaderboard.formats import json_schemas
from leaderboard.items import BoardData
from leaderboard.language_boards import LanguageBoard, language_boards, standings_by_language
from leaderboard.language_models import KIND_LABELS, KIND_TITLES, LanguageModelBoard
from leaderboard.model_parts import subset_titles, task_part
from leaderboard.ranking import Standing
from leaderboard.scores import OtherEdition
from leaderboard.spelling import spelling_splits
from leaderboard.submission import Metadata
from leaderboard.submit_page import NOTHING_KNOWN, STEPS, About, bibtex, count_texts
from leaderboard.tables import (
    SIZE_CLASSES,
    TASK_FORMS,
    TASK_LABELS,
    TASK_LEADS,
    TASK_TITLES,
    UNKNOWN_SIZE,
    badges,
    distinctions,
    task_columns,
    task_rows,
)
from leaderboard.tabs import Tab, default_tab, tab_columns, tab_rows, tabs_of
from leaderboard.templating import Markup, environment
from turkic_idiom_tasks.concept_browser.parts import markup, script, style
from turkic_idiom_tasks.dataset import BUNDLED_PATH
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.editions import edition_of
from turkic_idiom_tasks.metrics.bootstrap import UNRELIABLE_NOTE
from turkic_idiom_tasks.report.charts import Chart
from turkic_idiom_tasks.results.predictions import ALL_TASK_NAMES, SPANS
from turkic_idiom_tasks.tasks.items.item_types import TRAPS

SITE_NAME = "Turkic Idiom Benchmark"

_SIZE_NAMES = (*(name for name, _, _ in SIZE_CLASSES), UNKNOWN_SIZE)
_COMMIT = re.compile("[0-9a-f]{40}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_LANGUAGE_MODELS = "language-models.html"
_OLDER = "older-editions"  # the tab that lists submissions for other editions


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A link of the navigation: the file of a page, and its name."""

    file: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class TabLink:
    """A tab above a table: its name, the file of its page, its title, and how many submissions it has."""

    name: str
    file: str
    title: str
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart on a page: its SVG, which is not escaped, and the file of its specification."""

    title: str
    description: str
    svg: Markup
    spec_file: str


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a submission stands: the ranking, its page, the standing, and the number of ranked models."""

    title: str
    file: str
    standing: Standing | None
    n_ranked: int


class Pages:
    """Files of a site.

    Attributes:
        board: the leaderboard of encoders that they show.
        language_models: the board of submissions that answer items; None if there are none, and no page of them.
        about: repository and date of the build.
    """

    def __init__(
        self, board: Board, language_models: LanguageModelBoard | None = None, *, about: About = NOTHING_KNOWN
    ) -> None:
        self.board = board
        self.about = about
        self.language_models = language_models
        self._data: BoardData = board.data
        self._environment = environment()
        self._charts: dict[str, Chart] = {}
        self._distinctions = distinctions(board.submissions)
        self._language_boards = language_boards(board)
        self._splits = {task: spelling_splits(board, task) for task in self._data.tasks}
        tasks = [Link(_task_file(task), TASK_LABELS[task]) for task in self._data.tasks]
        if language_models:
            self._distinctions |= distinctions(language_models.board.submissions)
            tasks.append(Link(_LANGUAGE_MODELS, "Language models"))
        self._links = (
            Link("index.html", "Overview"),
            *(Link(_language_file(code), LANGUAGES[code].name) for code in self._data.languages),
            *tasks,
            Link("compare.html", "Compare"),
            Link("items.html", "Items"),
            Link("submit.html", "Submit"),
            Link("data.html", "Data"),
            Link("how-to-read.html", "How to read this"),
        )

    def all(self) -> Iterator[tuple[str, bytes]]:
        """Yield (path within the site, content) of every file."""
        yield from self._overview_files()
        for task in self._data.tasks:
            yield _task_file(task), self._task(task)
        for language_board in self._language_boards:
            yield from self._language_files(language_board)
        for name in dict.fromkeys(name for board in self._boards for name in board.by_id):
            yield f"models/{name}.html", self._model(name)
        if self.language_models:
            yield from self._language_model_files(self.language_models)
        for submission in self.board.submissions:
            yield f"scores/{submission.id}.json", _json(scores_file(submission, self.board))
        yield "compare.html", self._compare()
        yield from comparison_files(self.board)
        yield from self._item_browser()
        yield "submit.html", self._submit()
        yield "data.html", self._page("data.html", title="The data", bundled=self._data.path == BUNDLED_PATH)
        yield "how-to-read.html", self._page("how-to-read.html", title="How to read this")
        yield "leaderboard.csv", to_csv(self.board).encode()
        yield "leaderboard.json", _json(leaderboard_file(self.board))
        yield "items.json", _json(items_file(self._data))
        for schema_file, schema in json_schemas().items():
            yield schema_file, _json(schema)
        yield from every_eval_ever_files(self._boards, self.about)
        for name, chart in self._charts.items():
            yield f"figures/{name}.vl.json", _json(dict(chart.spec))
        for path in sorted(files("leaderboard").joinpath("static").iterdir(), key=lambda path: path.name):
            yield f"static/{path.name}", path.read_bytes()

    def _page(self, template: str, *, title: str, file: str | None = None, root: str = "", **values: Any) -> bytes:
        values = {"current": file or template} | values
        text = self._environment.get_template(template).render(
            site_name=SITE_NAME,
            about_site=self.about,
            version=version("turkic-idiom-tasks"),
            title=title,
            file=file or template,
            root=root,
            links=self._links,
            data=self._data,
            languages=self._data.languages,
            unreliable_note=UNRELIABLE_NOTE,
            forms=TASK_FORMS,
            leads=TASK_LEADS,
            **values,
        )
        return text.encode()

    def _overview_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the overview with its default tab and, if there are several tabs, a page for each."""
        tabs = tabs_of(self.board)
        older = self.board.other_editions
        links = _tab_links("index", tabs)
        if older:
            links.append(TabLink(_OLDER, _tab_file("index", _OLDER), "Older editions", f"{len(older)} listed"))
        charts = {"few-shot": few_shot_curves(self.board), "few-shot-delta": few_shot_delta(self.board)}
        values: dict[str, Any] = {
            "tabs": links,
            "n_items": sum(subset.n for subset in self._data.subsets),
            "n_submissions": len(self.board.submissions),
            "forest": forest_by_task(self.board),
            "scatters": [plot for plot in (score_by_size(self.board), score_by_throughput(self.board)) if plot],
            "charts": self._figures(charts),
            "published": reported(),
            "published_charts": self._figures({"published-few-shot-delta": reported_few_shot_delta()}),
            "edition": edition_of(self._data.revision),
        }
        yield "index.html", self._overview(default_tab(tabs), file="index.html", **values)
        if len(links) > 1:
            for tab in tabs:
                file = _tab_file("index", tab.name)
                yield file, self._overview(tab, file=file, **values)
        if older:
            file = _tab_file("index", _OLDER)
            yield file, self._overview(None, file=file, older=older, **values)

    def _overview(self, tab: Tab | None, *, file: str, older: Sequence[OtherEdition] = (), **values: Any) -> bytes:
        """Return the overview with the table of a tab, or the list of submissions for other editions."""
        by_language = standings_by_language(self._language_boards, self._data, tab) if tab else {}
        return self._page(
            "index.html",
            file=file,
            current="index.html",
            title="Overview",
            tab=tab,
            current_tab=_OLDER if older or tab is None else tab.name,
            columns=tab_columns(self.board, tab) if tab else [],
            rows=tab_rows(self.board, tab, by_language) if tab else [],
            older=older,
            sizes=_SIZE_NAMES,
            **values,
        )

    def _task(self, task: str) -> bytes:
        return self._page(
            "task.html",
            file=_task_file(task),
            title=f"{TASK_LABELS[task]}: {TASK_TITLES[task]}" if task != SPANS else TASK_TITLES[task],
            lead=TASK_LEADS[task],
            task=task,
            subsets=self._data.of_task(task),
            columns=task_columns(self.board, task),
            rows=task_rows(self.board, task),
            standings=self.board.by_task[task],
            splits=self._splits[task],
            sizes=_SIZE_NAMES,
            forest=forest_by_language(self.board, task),
        )

    def _language_files(self, of_language: LanguageBoard) -> Iterator[tuple[str, bytes]]:
        """Yield the page of a language with its default tab and, if there are several, a page for each tab."""
        code = of_language.code
        yield _language_file(code), self._language(of_language, of_language.default, file=_language_file(code))
        if len(of_language.tabs) > 1:
            for tab in of_language.tabs:
                file = _tab_file(code, tab.name)
                yield file, self._language(of_language, tab, file=file)

    def _language(self, of_language: LanguageBoard, tab: Tab | None, *, file: str) -> bytes:
        code = of_language.code
        splits = []
        if tab is not None:
            for task in tab.tasks:
                splits += [split for split in self._splits[task] if split.subset.language == code]
        return self._page(
            "language.html",
            file=file,
            current=_language_file(code),
            title=LANGUAGES[code].name,
            code=code,
            tab=tab,
            tabs=_tab_links(code, of_language.tabs),
            columns=tab_columns(of_language.board, tab) if tab else [],
            rows=tab_rows(of_language.board, tab) if tab else [],
            splits=splits,
            sizes=_SIZE_NAMES,
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
            parts += [task_part(of_board, board, task) for task in ALL_TASK_NAMES if of_board.of_task(task)]
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
            hub_link=_is_on_hub(metadata),
            badges=badges(submission, boards[0]),
            places=places,
            is_compared=self.board in boards,
            titles=TASK_TITLES | KIND_TITLES,
            parts=parts,
            forest=forest_of_model(self.board, self.board.by_id[name]) if self.board in boards else None,
        )

    def _places(self, name: str, board: Board) -> list[Place]:
        """Return the places of a submission in the rankings of one board, the most general ranking first."""
        is_encoders = board is self.board
        file = "index.html" if is_encoders else _LANGUAGE_MODELS
        places = [Place("all tasks" if is_encoders else "all items", file, board.overall.get(name), len(board.overall))]
        if is_encoders and name in board.retrieval:
            places.append(Place("T1–T3", file, board.retrieval[name], len(board.retrieval)))
        titles = TASK_LABELS | KIND_LABELS
        for task in board.data.tasks:
            if name in board.by_task[task]:
                file = _task_file(task) if is_encoders else _LANGUAGE_MODELS
                places.append(Place(titles[task], file, board.by_task[task][name], len(board.by_task[task])))
        return places

    def _language_model_files(self, models: LanguageModelBoard) -> Iterator[tuple[str, bytes]]:
        yield (
            _LANGUAGE_MODELS,
            self._page(
                _LANGUAGE_MODELS,
                title="Language models",
                models=models,
                columns=models.columns(),
                rows=models.overview(),
                labels=KIND_LABELS,
                kind_titles=KIND_TITLES,
                traps=TRAPS,
                sizes=_SIZE_NAMES,
                titles_of={task: subset_titles(models.board.data, task) for task in models.board.data.tasks},
            ),
        )
        yield "language-models.csv", to_csv(models.board).encode()
        yield "language-models.json", _json(leaderboard_file(models.board))

    def _item_browser(self) -> Iterator[tuple[str, bytes]]:
        yield (
            "items.html",
            self._page("items.html", title="Items", browser=Markup(markup()), concepts_file=CONCEPTS_FILE),
        )
        yield CONCEPTS_FILE, concepts_script(self.board)
        yield "static/browser.css", style().encode()
        yield "static/browser.js", script().encode()

    def _submit(self) -> bytes:
        return self._page(
            "submit.html",
            title="Submit a model",
            steps=STEPS,
            n_texts=count_texts(self._data),
            bibtex=bibtex(version("turkic-idiom-tasks")),
            rules=check_rules(self._data),
        )

    def _compare(self) -> bytes:
        return self._page(
            "compare.html",
            title="Compare models",
            labels=choice_labels(self.board.submissions),
            items=comparison_json(self.board),
        )

    def _figures(self, charts: Mapping[str, Chart | None]) -> list[Figure]:
        figures = []
        for name, chart in charts.items():
            if chart is not None:
                self._charts[name] = chart
                svg = Markup(chart.svg())
                figures.append(Figure(chart.title, chart.description, svg, f"figures/{name}.vl.json"))
        return figures


def _is_on_hub(metadata: Metadata) -> bool:
    """Return whether a model is one of the Hub: built-in baselines have a name of that form, but no commit."""
    return _HUB_ID.fullmatch(metadata.name) is not None and _COMMIT.fullmatch(metadata.revision or "") is not None


def _language_file(code: str) -> str:
    return f"{code}.html"


def _tab_file(page: str, tab: str) -> str:
    return f"{page}-{tab}.html"


def _tab_links(page: str, tabs: Sequence[Tab]) -> list[TabLink]:
    return [TabLink(tab.name, _tab_file(page, tab.name), tab.title, f"{len(tab.standings)} ranked") for tab in tabs]


def _task_file(task: str) -> str:
    return f"{task.lower()}.html"


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()
