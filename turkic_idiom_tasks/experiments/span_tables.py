"""The tables of the span experiments, ours beside the paper's, as CSV and Markdown.

The paper's scores are over tokens, most likely the sub-word tokens of its Trainer: beside them stand our sub-word
scores. Span F1, which counts whole idioms, is lower and says more. Every figure is a mean over seeds.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from turkic_idiom_tasks.experiments.span_grid import ALL
from turkic_idiom_tasks.files import write_text

PUBLISHED = Path(__file__).parent.parent / "published.json"
PUBLISHED_LANGUAGES = ("az", "tk", "gag", "uz")
TURKISH_SCORES = ("subword_precision", "subword_recall", "subword_f1", "subword_accuracy")
F1_SCORES = ("subword_f1", "token_f1", "span_f1")

Records = Sequence[Mapping[str, Any]]
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a name for its files, a title, and a note on how to read it."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def to_csv(self) -> str:
        """Comma-separated, figures in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_markdown(self) -> str:
        """A pipe table, figures to three places."""
        lines = [f"## {self.title}", "", *([self.note, ""] if self.note else [])]
        lines += [f"| {' | '.join(self.header)} |", f"|{'---|' * len(self.header)}"]
        lines += [f"| {' | '.join(_shown(value) for value in row)} |" for row in self.rows]
        return "\n".join([*lines, ""])


def span_tables(records: Records) -> list[Table]:
    """Every table of the records of a span grid.

    Args:
        records: as `span_grid.read_results` returns them.
    """
    published = json.loads(PUBLISHED.read_text("utf-8"))
    return [
        _source_table(records, published["span_turkish"]),
        _zero_shot_table(records, published["span_zero_shot"]),
        _few_shot_table(records, published["span_few_shot"]),
        _learning_curves(records),
        _every_cell(records),
    ]


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Writes each table as ``<name>.csv`` and ``<name>.md``, and returns the Markdown files."""
    written = []
    for table in tables:
        write_text(folder / f"{table.name}.csv", table.to_csv())
        write_text(folder / f"{table.name}.md", table.to_markdown())
        written.append(folder / f"{table.name}.md")
    return written


def _source_table(records: Records, published: Mapping[str, Any]) -> Table:
    """The paper's Table 2."""
    rows = []
    for model in _models(records):
        own = [r for r in records if r["model"] == model and r["language"] == r["source_language"]]
        scores = [_mean(own, name) for name in (*TURKISH_SCORES, "token_f1", "span_f1")]
        rows.append((model, len(own), *scores, _spread(own, "span_f1"), _n_test(own), *_paper(published, model, 4)))
    header = ("model", "seeds", "P", "R", "F1", "accuracy", "token F1", "span F1", "sd over seeds", "n")
    paper = ("paper P", "paper R", "paper F1", "paper accuracy")
    note = "P, R, F1 and accuracy over sub-words, as most likely in the paper, whose test sentences are others."
    return Table("table2_source", "Fine-tuned and tested on the source language", (*header, *paper), tuple(rows), note)


def _zero_shot_table(records: Records, published: Mapping[str, Any]) -> Table:
    """The paper's Table 3."""
    zero = [r for r in records if r["size"] == 0]
    return _by_language(
        zero,
        published,
        name="table3_zero_shot",
        title="Fine-tuned on the source language, tested on others",
        of=lambda rows, score: _mean(rows, score),
        note="n < 30: read the interval in the result file, not the score.",
    )


def _few_shot_table(records: Records, published: Mapping[str, Any]) -> Table:
    """The paper's Table 4."""
    adapted = [r for r in records if r["size"] != 0 and r["language"] != r["source_language"]]

    def best(rows: Records, score: str) -> float | None:
        means = [_mean([r for r in rows if r["size"] == size], score) for size in _sizes(rows)]
        return max((value for value in means if value is not None), default=None)

    return _by_language(
        adapted,
        published,
        name="table4_few_shot",
        title="Adapted to the language: the best of its sample sizes",
        of=best,
        note="The best size is chosen on the test sentences, as in the paper: an optimistic figure. The learning "
        "curves show every size.",
    )


def _by_language(
    records: Records,
    published: Mapping[str, Any],
    *,
    name: str,
    title: str,
    of: Callable[[Records, str], float | None],
    note: str,
) -> Table:
    languages = list(dict.fromkeys(r["language"] for r in records))
    rows: list[tuple[Cell, ...]] = []
    for model in _models(records):
        of_model = {code: [r for r in records if (r["model"], r["language"]) == (model, code)] for code in languages}
        paper = dict(zip(PUBLISHED_LANGUAGES, _paper(published, model, len(PUBLISHED_LANGUAGES)), strict=True))
        for score in F1_SCORES:
            values = [of(of_model[code], score) for code in languages]
            rows.append((model, score, *values, _average(values)))
        rows.append((model, "paper", *(paper.get(code) for code in languages), _average(list(paper.values()))))
        rows.append((model, "n", *(_n_test(of_model[code]) for code in languages), None))
    return Table(name, title, ("model", "score", *languages, "mean"), tuple(rows), note)


def _learning_curves(records: Records) -> Table:
    rows = []
    for model in _models(records):
        for language in dict.fromkeys(r["language"] for r in records if r["language"] != r["source_language"]):
            own = [r for r in records if (r["model"], r["language"]) == (model, language)]
            for size in _sizes(own):
                at = [r for r in own if r["size"] == size]
                scores = [_mean(at, name) for name in F1_SCORES]
                rows.append((model, language, size, len(at), *scores, _spread(at, "span_f1"), _n_test(at)))
    header = ("model", "language", "training sentences", "seeds", *F1_SCORES, "sd over seeds", "n")
    return Table("learning_curves", "F1 by number of training sentences", header, tuple(rows))


def _every_cell(records: Records) -> Table:
    names = list(records[0]["scores"]) if records else []
    keys = ("model", "language", "size", "seed", "best_epoch")
    rows = tuple((*(r[key] for key in keys), *(r["scores"][name] for name in names)) for r in records)
    return Table("cells", "Every cell", (*keys, *names), rows)


def _models(records: Records) -> list[str]:
    return list(dict.fromkeys(r["model"] for r in records))


def _sizes(records: Records) -> list[Any]:
    return sorted({r["size"] for r in records}, key=lambda size: float("inf") if size == ALL else size)


def _scores(records: Records, name: str) -> list[float]:
    return [r["scores"][name] for r in records if r["scores"][name] is not None]


def _mean(records: Records, name: str) -> float | None:
    values = _scores(records, name)
    return mean(values) if values else None


def _spread(records: Records, name: str) -> float | None:
    values = _scores(records, name)
    return stdev(values) if len(values) > 1 else None


def _average(values: Sequence[float | None]) -> float | None:
    """The mean over languages, undefined where one of them is."""
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _n_test(records: Records) -> int | None:
    return int(records[0]["scores"]["n_sentences"]) if records else None


def _paper(published: Mapping[str, Any], model: str, length: int) -> list[float | None]:
    return list(published.get(model, [None] * length))


def _shown(value: Cell) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
