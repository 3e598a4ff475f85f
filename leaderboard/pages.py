"""Pages and files of the site as bytes; the same boards always give the same bytes."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import date
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from leaderboard import exports, figures, formats, scripts, tables
from leaderboard.board import RETRIEVAL_TASKS, Board, language_boards
from leaderboard.data import BoardData
from leaderboard.details import Values, missed_items, spelling_splits, task_part, trap_profiles
from leaderboard.formats import ItemsFile, schema_path
from leaderboard.ranking import Score
from leaderboard.tables import TASK_FORMS, TASK_LABELS, TASK_LEADS, TASK_TITLES, Tab
from turkic_idiom_tasks.concept_browser.parts import browser_part
from turkic_idiom_tasks.dataset import BUNDLED_PATH
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import UNRELIABLE_NOTE, Interval
from turkic_idiom_tasks.results.model_predictions import BASELINE
from turkic_idiom_tasks.results.predictions import ALL_TASK_NAMES, SPANS
from turkic_idiom_tasks.tasks.items.item_types import TRAPS

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as error:
    raise InputError(
        f"the site needs the package {error.name}: pip install 'turkic-idiom-tasks[leaderboard]'"
    ) from error

SITE_NAME = "Turkic Idiom Benchmark"

_LANGUAGE_MODELS = "language-models.html"
_OLDER = "older-editions"  # the tab that lists submissions for other editions
_COMMIT = re.compile("[0-9a-f]{40}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


class Pages:
    """Files of a site of two boards: of encoders, and of language models if there are any."""

    def __init__(
        self, board: Board, models: Board | None = None, *, repository: str | None = None, built: date | None = None
    ) -> None:
        self._board, self._models = board, models
        self._boards = [board, models] if models else [board]
        self._data = board.data
        self._repository, self._built = repository, built
        self._tabs_by_language = {code: tables.tabs_of(part) for code, part in language_boards(board).items()}
        of_models = language_boards(models) if models else {}
        self._models_by_language = {code: part for code, part in of_models.items() if part.by_id}
        self._notes: dict[str, str] = {}
        for of_kind in self._boards:
            self._notes |= tables.row_notes(of_kind.by_id.values())
        self._splits = {task: spelling_splits(board, task) for task in self._data.tasks}
        about = [("how-to-read.html", "How to read this"), ("data.html", "Data"), ("paper.html", "The paper's tables")]
        of_tasks = []
        for task in self._data.tasks:
            of_tasks.append((f"{task.lower()}.html", f"{TASK_FORMS[task].capitalize()} ({TASK_LABELS[task]})"))
        navigation = [  # (title, links); a group of one link is that link
            ("", [("index.html", "Overview")]),
            ("Languages", [(f"{code}.html", LANGUAGES[code].name) for code in self._data.languages]),
            ("Tasks", of_tasks),
            ("", [(_LANGUAGE_MODELS, "Language models")] if models else []),
            ("", [("compare.html", "Compare"), ("items.html", "Concepts"), ("submit.html", "Submit")]),
            ("About", about),
        ]
        self._environment = environment()
        self._environment.globals |= {
            "site_name": SITE_NAME,
            "repository": repository,
            "built": built,
            "version": version("turkic-idiom-tasks"),
            "navigation": [(title, links) for title, links in navigation if links],
            "summary": "How well models understand idioms of Turkic languages, computed from submitted predictions",
            "has_models": models is not None,
            "data": self._data,
            "languages": self._data.languages,
            "unreliable_note": UNRELIABLE_NOTE,
            "titles": TASK_TITLES,
            "sizes": tables.SIZES,
        }

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield (path within the site, content) of every file."""
        board, data = self._board, self._data
        overview = {
            "n_items": sum(subset.n for subset in data.subsets),
            "n_submissions": len(board.by_id),
            "scatters": figures.scatters(board),
        }
        yield from self._tab_pages("index.html", "Overview", "index", tables.tabs_of(board), **overview)
        for task in data.tasks:
            file = f"{task.lower()}.html"
            page = self._page(
                "task.html",
                TASK_TITLES[task] if task == SPANS else f"{TASK_LABELS[task]}: {TASK_TITLES[task]}",
                current=file,
                lead=TASK_LEADS[task],
                task=task,
                table=tables.task_table(board, task),
                splits=self._splits[task],
                forest=figures.forest_by_language(board, task),
            )
            yield file, page
        for code, tabs in self._tabs_by_language.items():
            splits = [split for of_task in self._splits.values() for split in of_task if split["language"] == code]
            language = LANGUAGES[code]
            about = {"splits": splits, "is_provisional": language.provisional}
            yield from self._tab_pages("language.html", language.name, code, tabs, **about)
        for name in dict.fromkeys(name for board in self._boards for name in board.by_id):
            yield f"models/{name}.html", self._model(name)
        if self._models:
            yield from self._language_model_pages(self._models)
        boards = []
        for file, of_kind in zip(("leaderboard", "language-models"), self._boards, strict=False):
            records = exports.records_of(of_kind)
            boards.append((of_kind, records))
            content = exports.leaderboard_file(of_kind, records)
            yield f"{file}.csv", exports.to_csv(of_kind, content).encode()
            yield f"{file}.json", _json(content)
        for name, submission in board.by_id.items():
            yield f"scores/{name}.json", _json(exports.scores_file(submission, boards[0][1][name]))
        yield from self._other_pages()
        yield from scripts.comparison_files({**(self._models.by_id if self._models else {}), **board.by_id}.values())
        yield from scripts.concept_files(self._boards)
        yield "static/browser.css", browser_part("css").encode()
        yield "static/browser.js", browser_part("js").encode()
        ids = {subset.key: list(subset.texts) for subset in data.with_parts}
        # In the order of the values in scores/, which hold no ids
        yield "items.json", _json(ItemsFile(schema_file=schema_path("items"), items=ids))
        for name, model in formats.FILES.items():
            head = {"$schema": formats.DIALECT, "$id": f"{name}-{formats.FORMAT}.json"}
            yield schema_path(name), _json(head | model.model_json_schema(mode="serialization"))
        yield from exports.every_eval_ever_files(boards, self._repository, self._built)
        for path in sorted(files("leaderboard").joinpath("static").iterdir(), key=lambda path: path.name):
            yield f"static/{path.name}", path.read_bytes()

    def _page(self, template: str, title: str, *, current: str = "", root: str = "", **values: Any) -> bytes:
        """Return a page; `current` is the link of the navigation that it is, and `root` leads to the site's folder."""
        values |= {"title": title, "current": current or template, "root": root}
        return self._environment.get_template(template).render(values).encode()

    def _tab_pages(
        self, template: str, title: str, name: str, tabs: Sequence[Tab], **values: Any
    ) -> Iterator[tuple[str, bytes]]:
        """Yield a page with its default tab and, if there are several tabs, a page for each."""
        older = self._board.other_editions if name == "index" else {}
        links = []
        for tab in tabs:
            links.append((tab.name, f"{name}-{tab.name}.html", tab.name.capitalize(), f"{len(tab.standings)} ranked"))
        if older:
            links.append((_OLDER, f"{name}-{_OLDER}.html", "Older editions", f"{len(older)} listed"))
        n_tabs = len(links)
        if name in self._models_by_language:
            n_ranked = len(self._models_by_language[name].overall)
            links.append(("language-models", f"{name}-{_LANGUAGE_MODELS}", "Language models", f"{n_ranked} ranked"))
        # That with the most ranked submissions; of several, the one with the most tasks
        default = max(tabs, key=lambda tab: (len(tab.standings), len(tab.tasks)), default=None)
        for of_page in (*tabs, *([None] if older or not tabs else [])):  # None: older editions, or nothing at all
            values |= {
                "tab": of_page,
                "tabs": links,
                "table": tables.tab_table(of_page, self._tabs_by_language) if of_page else None,
                "forest": figures.forest_by_task(of_page) if of_page else None,
                "older": {} if of_page else older,
            }
            page = self._page(template, title, current=f"{name}.html", **values)
            # The default tab has an address of its own too: a link to it stays right when another becomes the default
            if of_page is default:
                yield f"{name}.html", page
            if older or n_tabs > 1:
                yield f"{name}-{of_page.name if of_page else _OLDER}.html", page

    def _language_model_pages(self, models: Board) -> Iterator[tuple[str, bytes]]:
        """Yield the page of all language models, and a page for each language with ranks of its own."""
        parts = {"": models} | self._models_by_language
        selector = []
        for code, board in parts.items():
            file = f"{code}-{_LANGUAGE_MODELS}" if code else _LANGUAGE_MODELS
            name = LANGUAGES[code].name if code else "All languages"
            selector.append((code, file, name, f"{len(board.overall)} ranked"))
        for code, file, *_ in selector:
            board = parts[code]
            by_task = {} if code else {task: tables.task_table(board, task) for task in board.data.tasks}
            page = self._page(
                _LANGUAGE_MODELS,
                f"Language models{' for ' + LANGUAGES[code].name if code else ''}",
                code=code,
                selector=selector,
                table=tables.item_table(board),
                by_task={task: table for task, table in by_task.items() if table.rows},
                profiles=trap_profiles(board),
                missed=missed_items(board, self._data.lexicon),
                traps=TRAPS,
            )
            yield file, page

    def _model(self, name: str) -> bytes:
        """Return the page of a submission, with its tasks of both boards."""
        boards = [board for board in self._boards if name in board.by_id]
        parts: list[Values] = []
        rankings = []  # title, page and standings of each, the most general first
        for board in boards:
            submission = board.by_id[name]
            parts += [task_part(submission, board, task) for task in ALL_TASK_NAMES if submission.of_task(task)]
            is_encoders = board is self._board
            file = "index.html" if is_encoders else _LANGUAGE_MODELS
            rankings.append(("all tasks" if is_encoders else "all items", file, board.overall))
            if is_encoders and name in board.retrieval:
                rankings.append(("T1–T3", file, board.retrieval))
            for task in board.data.tasks:
                if name in board.by_task[task]:
                    file = f"{task.lower()}.html" if is_encoders else _LANGUAGE_MODELS
                    rankings.append((TASK_LABELS[task], file, board.by_task[task]))
        submission, is_compared = boards[0].by_id[name], boards[0] is self._board
        metadata = submission.metadata
        # Built-in baselines have a name of that form, but no commit
        is_on_hub = _HUB_ID.fullmatch(metadata.name) and _COMMIT.fullmatch(metadata.revision or "")
        return self._page(
            "model.html",
            metadata.name,
            root="../",
            submission=submission,
            about=metadata,
            distinction=self._notes.get(name, ""),
            hub_link=is_on_hub,
            is_reproduced=name in boards[0].reproduced,
            rankings=rankings,
            is_compared=is_compared,
            parts=parts,
            forest=figures.forest_of_model(self._board, submission) if is_compared else None,
        )

    def _other_pages(self) -> Iterator[tuple[str, bytes]]:
        labels: dict[str, str] = {}
        pairs: list[tuple[str, str]] = []  # ids of models to compare: the best with the next, and with a baseline
        for board in self._boards:
            labels |= scripts.choice_labels(board.by_id.values())
            best, *others = [*dict.fromkeys([*board.overall, *board.retrieval]), ""]
            baselines = [name for name in others if name and board.by_id[name].metadata.type == BASELINE]
            pairs += [(best, name) for name in dict.fromkeys([*others[:1], *baselines[:1]]) if name]
        items = scripts.comparison_json(self._boards)
        yield "compare.html", self._page("compare.html", "Compare models", labels=labels, items=items, pairs=pairs[:3])
        html = browser_part("html")
        yield "items.html", self._page("items.html", "Concepts", browser=html, concepts_file=scripts.CONCEPTS_FILE)
        bibtex = files("leaderboard").joinpath("templates", "citation.bib").read_text("utf-8")
        page = self._page(
            "submit.html",
            "Submit a model",
            n_texts=count_texts(self._data),
            bibtex=bibtex.replace("VERSION", version("turkic-idiom-tasks")).rstrip("\n"),
            rules=scripts.check_rules(self._data),
        )
        yield "submit.html", page
        about: dict[str, Any] = {"bundled": self._data.path == BUNDLED_PATH, "n_entries": 0, "n_reviewed": 0}
        # Of other data the page says nothing about the texts
        if self._data.lexicon and about["bundled"]:
            for language, entries in self._data.lexicon.entries.items():
                about["n_entries"] += len(entries)
                about["n_reviewed"] += len(self._data.lexicon.reviewed(language))
        yield "data.html", self._page("data.html", "The data", **about)
        # An entry needs a day; feed readers know the old ones by their ids
        if self._built:
            submissions = [one for board in self._boards for one in board.by_id.values()]
            yield "feed.xml", self._page("feed.xml", "Submissions", submissions=submissions)
        yield "paper.html", self._page("paper.html", "Reported in the paper", published=figures.reported())
        yield "how-to-read.html", self._page("how-to-read.html", "How to read this")


def environment() -> Environment:
    """Return the environment of the templates."""
    templates = Environment(
        loader=PackageLoader("leaderboard"),
        autoescape=True,  # names and texts come from strangers
        # A misspelt name is an error, not an empty place on a page
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "score": tables.shown_score,
        "percent": lambda share: "–" if math.isnan(share) else f"{share:.0%}",
        "parameters": tables.shown_parameters,
        "rate": tables.shown_rate,
        "task_name": TASK_LABELS.__getitem__,
        "place": _place,
        "on_axis": _on_axis,
        "interval": _interval,
        "cell": _cell,
        "tick": lambda value: f"{value:.2g}".removeprefix("0") or "0",
        "language": lambda code: LANGUAGES[code].name,
        "reported": _reported,
        "sentence": lambda names: names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}",
        "variant": tables.variant,
    }
    templates.tests["naming_the_benchmark"] = re.compile("turkic.?idiom", re.IGNORECASE).search
    return templates


def _place(value: float, low: float = 0.0) -> str:
    """Return a place on an axis from `low` to 1; what lies outside the axis stands at its end."""
    return f"{min(1.0, max(0.0, (value - low) / (1 - low))):.3f}".removeprefix("0")


# Cells are made here, of numbers alone: macros need four times as long, and hundreds of models have 100,000 cells
def _on_axis(shown: Score, floor: float | None = None, low: float = 0.0) -> Markup:
    """Return the style of a cell that shows a score, its interval and perhaps its floor on an axis from `low` to 1."""
    interval = shown.interval
    style = f"--p:{_place(shown.score, low)};--l:{_place(interval.low, low)};--h:{_place(interval.high, low)}"
    return Markup(style if floor is None else f"{style};--f:{_place(floor, low)}")  # noqa: S704


def _interval(bounds: Interval) -> Markup:
    between = " to " if bounds.low < 0 else "–"
    mark = "" if bounds.is_reliable else f'<abbr class="unreliable" title="unreliable: {UNRELIABLE_NOTE}">?</abbr>'
    return Markup(f"{tables.shown_score(bounds.low)}{between}{tables.shown_score(bounds.high)}{mark}")  # noqa: S704


def _cell(shown: Score, floor: float | None = None, low: float = 0.0, note: str = "") -> Markup:
    """Return the cell of a score; a note below it is our own text."""
    if math.isnan(shown.score):
        return Markup('<td class="none"><span aria-hidden="true">–</span><span class="vh">no score</span></td>')
    style, interval = _on_axis(shown, floor, low), _interval(shown.interval)
    below = f"<small>{note}</small>" if note else ""
    text = f'<td style="{style}">{tables.shown_score(shown.score)} <small>{interval}</small>{below}</td>'
    return Markup(text)  # noqa: S704


def _reported(value: float | str | None) -> str:
    """Return a figure of the paper as ``.53``, with the same two or three digits as in the paper."""
    if value is None or isinstance(value, str):
        return value or "–"
    digits = 2 if round(value, 2) == value else 3
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}").replace("-", "−")


def count_texts(data: BoardData) -> int:
    """Return about how many texts a model encodes for retrieval; a query that is also a candidate is counted twice."""
    queries: set[str] = set()
    pools: dict[tuple[str, str], int] = {}
    for subset in data.subsets:
        if subset.task in RETRIEVAL_TASKS and subset.pool is not None:
            queries.update(subset.texts.values())
            field = "idiom" if subset.task == "T1" else "meaning"
            # The pool of a language is encoded once, however many subsets rank it
            pools[field, subset.language] = max(subset.pool, pools.get((field, subset.language), 0))
    return len(queries) + sum(pools.values())


def _json(value: BaseModel | dict[str, Any]) -> bytes:
    content = value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value
    return (json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n").encode()
