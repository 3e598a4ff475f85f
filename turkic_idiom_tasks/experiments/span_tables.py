"""The tables of the span experiments, ours beside the paper's, as CSV and Markdown.

The paper's scores are over tokens, most likely the sub-word tokens of its Trainer: beside them stand our sub-word
scores. Span F1, which counts whole idioms, is lower and says more. Every figure is a mean over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from turkic_idiom_tasks.experiments.span_grid import ALL
from turkic_idiom_tasks.experiments.tables import Cell, Table
from turkic_idiom_tasks.published import PublishedTable, published_tables

F1_SCORES = ("subword_f1", "token_f1", "span_f1")
PAPER_SCORES = {
    "subword_precision": "precision",
    "subword_recall": "recall",
    "subword_f1": "f1",
    "subword_accuracy": "accuracy",
}

Records = Sequence[Mapping[str, Any]]


def span_tables(records: Records) -> list[Table]:
    """Every table of the records of a span grid.

    Args:
        records: as `span_grid.read_results` returns them.
    """
    published = published_tables()
    return [
        _source_table(records, published["span_turkish"]),
        _zero_shot_table(records, published["span_zero_shot"]),
        _few_shot_table(records, published["span_few_shot"]),
        _learning_curves(records),
        _every_cell(records),
    ]


def _source_table(records: Records, published: PublishedTable) -> Table:
    """The paper's Table 2."""
    rows = []
    for model in models_of(records):
        own = [r for r in records if r["model"] == model and r["language"] == r["source_language"]]
        scores = [mean_score(own, name) for name in (*PAPER_SCORES, "token_f1", "span_f1")]
        stated = published.numbers(model, PAPER_SCORES.values())
        rows.append((model, len(own), *scores, _spread(own, "span_f1"), _n_test(own), *stated))
    header = ("model", "seeds", "P", "R", "F1", "accuracy", "token F1", "span F1", "sd over seeds", "n")
    paper_header = ("paper P", "paper R", "paper F1", "paper accuracy")
    note = "P, R, F1 and accuracy over sub-words, as most likely in the paper, whose test sentences are others."
    title = "Fine-tuned and tested on the source language"
    return Table("table2_source", title, (*header, *paper_header), tuple(rows), note)


def _zero_shot_table(records: Records, published: PublishedTable) -> Table:
    """The paper's Table 3."""
    zero = [r for r in records if r["size"] == 0]
    return _by_language(
        zero,
        published,
        name="table3_zero_shot",
        title="Fine-tuned on the source language, tested on others",
        of=mean_score,
        note="n < 30: read the interval in the result file, not the score.",
    )


def _few_shot_table(records: Records, published: PublishedTable) -> Table:
    """The paper's Table 4."""
    adapted = [r for r in records if r["size"] != 0 and r["language"] != r["source_language"]]
    return _by_language(
        adapted,
        published,
        name="table4_few_shot",
        title="Adapted to the language: the best of its sample sizes",
        of=best_score,
        note="The best size is chosen on the test sentences, as in the paper: an optimistic figure. The learning "
        "curves show every size.",
    )


def _by_language(
    records: Records,
    published: PublishedTable,
    *,
    name: str,
    title: str,
    of: Callable[[Records, str], float | None],
    note: str,
) -> Table:
    languages = list(dict.fromkeys(r["language"] for r in records))
    rows: list[tuple[Cell, ...]] = []
    for model in models_of(records):
        of_model = {code: [r for r in records if (r["model"], r["language"]) == (model, code)] for code in languages}
        stated = published.numbers(model, languages)
        for score in F1_SCORES:
            values = [of(of_model[code], score) for code in languages]
            rows.append((model, score, *values, _average(values)))
        rows.append((model, "paper", *stated, _average(stated)))
        rows.append((model, "n", *(_n_test(of_model[code]) for code in languages), None))
    return Table(name, title, ("model", "score", *languages, "mean"), tuple(rows), note)


def _learning_curves(records: Records) -> Table:
    rows = []
    for model in models_of(records):
        for language in dict.fromkeys(r["language"] for r in records if r["language"] != r["source_language"]):
            own = [r for r in records if (r["model"], r["language"]) == (model, language)]
            for size in sizes_of(own):
                at = [r for r in own if r["size"] == size]
                scores = [mean_score(at, name) for name in F1_SCORES]
                rows.append((model, language, size, len(at), *scores, _spread(at, "span_f1"), _n_test(at)))
    header = ("model", "language", "training sentences", "seeds", *F1_SCORES, "sd over seeds", "n")
    return Table("learning_curves", "F1 by number of training sentences", header, tuple(rows))


def _every_cell(records: Records) -> Table:
    names = list(records[0]["scores"]) if records else []
    keys = ("model", "language", "size", "seed", "best_epoch")
    rows = tuple((*(r[key] for key in keys), *(r["scores"][name] for name in names)) for r in records)
    return Table("cells", "Every cell", (*keys, *names), rows)


def models_of(records: Records) -> list[str]:
    """The models in the order of the records."""
    return list(dict.fromkeys(r["model"] for r in records))


def sizes_of(records: Records) -> list[int | str]:
    """How many training sentences were seen, growing, all of them last."""
    return sorted({r["size"] for r in records}, key=lambda size: float("inf") if size == ALL else size)


def mean_score(records: Records, name: str) -> float | None:
    """The mean of a score over seeds; None where it is undefined for all of them."""
    values = _scores(records, name)
    return mean(values) if values else None


def best_score(records: Records, name: str) -> float | None:
    """The mean over seeds of a score at the number of training sentences where it is highest."""
    means = [mean_score([r for r in records if r["size"] == size], name) for size in sizes_of(records)]
    return max((value for value in means if value is not None), default=None)


def _scores(records: Records, name: str) -> list[float]:
    return [r["scores"][name] for r in records if r["scores"][name] is not None]


def _spread(records: Records, name: str) -> float | None:
    values = _scores(records, name)
    return stdev(values) if len(values) > 1 else None


def _average(values: Sequence[float | None]) -> float | None:
    """The mean over languages, undefined where one of them is."""
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _n_test(records: Records) -> int | None:
    return int(records[0]["scores"]["n_sentences"]) if records else None
