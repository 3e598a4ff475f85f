"""Printing of a comparison: a verdict, a table as wide as the terminal, and notes on how to read it."""

from rich.console import Console
from rich.table import Table

from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.metrics.bootstrap import LEVEL, RESAMPLES, SMALL_N, UNRELIABLE_MARK, UNRELIABLE_NOTE
from turkic_idiom_tasks.report.compare import ALPHA, PARTS, SIDES, Report, verdict
from turkic_idiom_tasks.report.frame import MACRO
from turkic_idiom_tasks.report.tables import NO_VALUE
from turkic_idiom_tasks.results.predictions import SPANS

WIDE = 116  # columns that the table with every figure needs
_COLUMNS = ("n", "A", "B", "B - A", "95% interval", "win/tie/loss", "effect", "p", "Holm", "pratt", "wilcox")
_NARROW_COLUMNS = ("n", "A", "B", "B - A", "win/tie/loss", "Holm")  # with the interval below the difference


def print_comparison(report: Report, console: Console) -> None:
    """Print a verdict, the table in the width of the console, and notes on how to read it."""
    is_wide = console.width >= WIDE
    console.print(verdict(report))
    console.print()
    for side, name in zip(SIDES, report.names, strict=True):
        console.print(f"{side}: {printable(name)}", soft_wrap=True)
    table = Table("task", "subset", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in _COLUMNS if is_wide else _NARROW_COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows:
        result = row.result
        cells = [f"{result.n_concepts}{'*' if result.small else ''}", f"{result.first:.3f}", f"{result.second:.3f}"]
        mark = "" if result.interval.is_reliable else UNRELIABLE_MARK
        difference = _signed(result.difference)
        interval = f"[{_signed(result.interval.low)}, {_signed(result.interval.high)}]{mark}"
        outcomes = f"{result.wins}/{result.ties}/{result.losses}"
        if is_wide:
            effect = NO_VALUE if result.effect is None else _signed(result.effect)
            p_values = map(_p_value, (result.p, row.holm, result.p_pratt, result.p_wilcox))
            cells += [difference, interval, outcomes, effect, *p_values]
        else:
            cells += [f"{difference}\n{interval}", outcomes, _p_value(row.holm)]
        table.add_row(row.task, row.subset, *cells)
    console.print()
    console.print(table)
    console.print()
    for note in _notes(report, is_wide=is_wide):
        console.print(note)


def _notes(report: Report, *, is_wide: bool) -> list[str]:
    tasks = {row.task for row in report.rows}
    n_tests = sum(row.holm is not None for row in report.rows)
    notes = []
    if any(not task.startswith(SPANS) for task in tasks):
        notes.append("A, B: mean nDCG of the queries over the whole pool")
    if any(task.startswith(SPANS) for task in tasks):
        notes.append("A, B (spans): micro-averaged F1 of whole spans; counts of several seeds are averaged")
    notes.append(
        f"{LEVEL:.0%} interval: expanded percentile bootstrap of B - A, {RESAMPLES:,} resamples of whole concepts"
    )
    if not all(row.result.interval.is_reliable for row in report.rows):
        notes.append(f"{UNRELIABLE_MARK}: {UNRELIABLE_NOTE}")
    notes.append("n: concepts; win/tie/loss: those on which B is better, equal, worse")
    if n_tests and is_wide:
        notes += [
            "effect: matched-pairs rank-biserial correlation, from -1 to 1, positive where B is better",
            f"p: two-sided sign-flip test, A and B exchanged by concept, (k + 1) / ({RESAMPLES:,} + 1)",
            f"Holm: that p adjusted for all p of this table ({n_tests}); the verdict counts p < {ALPHA:.2f}",
            "pratt, wilcox: p of the Wilcoxon signed-rank test; ties ranked (Pratt), or dropped as in the paper",
        ]
    elif n_tests:
        notes.append(
            f"Holm: p of a two-sided sign-flip test, A and B exchanged by concept, adjusted for all {n_tests} tests of "
            f"this table; the verdict counts p < {ALPHA:.2f}. Effect size and the other tests: in a terminal of "
            f"{WIDE} columns, or with --format csv"
        )
    if any(row.subset == MACRO for row in report.rows):
        notes.append(
            f"{MACRO}: all languages have the same weight; a concept is resampled and exchanged in all its languages "
            "at once"
        )
    if any(row.subset in PARTS for row in report.rows):
        notes.append(f"{', '.join(PARTS)}: the queries of T1 whose answer letters alone do not find, and the others")
    if any(row.result.small for row in report.rows):
        notes.append(f"* fewer than {SMALL_N} concepts: too few for a test; read the interval, not the difference")
    if any(row.result.effect is None and not row.result.small for row in report.rows):
        notes.append(f"{NO_VALUE}: A and B score the same on every concept")
    return [*notes, *report.remarks]


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # + 0.0: no -0.000


def _p_value(p: float | None) -> str:
    if p is None:
        return NO_VALUE
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
