"""The figures of the span experiments: what adaptation gains, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turkic_idiom_tasks.experiments.span_tables import Records, best_score, mean_score, models_of, sizes_of
from turkic_idiom_tasks.experiments.tables import short_names
from turkic_idiom_tasks.languages import LANGUAGES

if TYPE_CHECKING:
    from turkic_idiom_tasks.charts import Chart

SCORE = "subword_f1"  # most likely the paper's


def span_charts(records: Records) -> dict[str, Chart]:
    """Name -> chart: Figures 1 and 4 of the paper; none of a grid that did not adapt to another language.

    Args:
        records: as `span_grid.read_results` returns them.

    Raises:
        InputError: the packages for figures are missing.
    """
    others = [r for r in records if r["language"] != r["source_language"]]
    if all(r["size"] == 0 for r in others):
        return {}
    return {"figure1_few_shot_gain": _gains(others), "figure4_learning_curves": _learning_curves(others)}


def _gains(records: Records) -> Chart:
    """The paper's Figure 1."""
    from turkic_idiom_tasks.charts import Cell, heat_map

    names = short_names(models_of(records))
    cells = []
    for model in names:
        for language in _languages(records):
            own = [r for r in records if (r["model"], r["language"]) == (model, language)]
            zero = mean_score([r for r in own if r["size"] == 0], SCORE)
            best = best_score([r for r in own if r["size"] != 0], SCORE)
            gain = None if zero is None or best is None else best - zero
            cells.append(Cell(names[model], LANGUAGES[language].name, gain))
    return heat_map(
        cells,
        title="Few-shot minus zero-shot F1 over sub-words (Figure 1)",
        description="What adapting to each language gains each model at its best number of training sentences, which "
        "is chosen on the test sentences: an optimistic figure.",
    )


def _learning_curves(records: Records) -> Chart:
    """The paper's Figure 4."""
    from turkic_idiom_tasks.charts import CurvePoint, curves

    names = short_names(models_of(records))
    points = []
    for language in _languages(records):
        for model in names:
            own = [r for r in records if (r["model"], r["language"]) == (model, language)]
            for size in sizes_of(records):
                score = mean_score([r for r in own if r["size"] == size], SCORE)
                points.append(CurvePoint(LANGUAGES[language].name, names[model], str(size), score))
    return curves(
        points,
        title="F1 over sub-words by number of training sentences (Figure 4)",
        description="A panel per language, a curve per model, from 0 training sentences of the language to all.",
        x_axis="training sentences",
        y_axis="sub-word F1",
    )


def _languages(records: Records) -> list[str]:
    return list(dict.fromkeys(r["language"] for r in records))
