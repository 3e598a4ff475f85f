"""Tables of experiments on a terminal: they fit, and no figure, heading or name is lost."""

import re
from io import StringIO

import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console

from turkic_idiom_tasks.cli.output import new_table, print_blocks, print_experiment
from turkic_idiom_tasks.report.tables import Table

MODELS = ["some-organisation/an-encoder-with-a-very-long-name-v2", "b/short"]


@pytest.mark.parametrize("width", [60, 80, 300])
def test_a_wide_table_fits_and_is_complete(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    frame = pd.DataFrame({"model": MODELS, "regime": ["cross-lingual", "tr-only"], "nDCG": [0.25, 0.5]})
    for number in range(14):
        frame[f"difference to number {number}"] = [number + 0.125, number + 0.25]
    frame["seeds"] = pd.array([3, None], dtype="Int64")
    frame["untuned kept"] = ["az 1/3, tk", "none"]
    note = "How to read it. " * 20
    long_table = Table("long", "Not shown", frame, is_long=True)
    print_experiment([Table("t", "A title", frame, note), long_table])
    printed = capsys.readouterr().out
    assert "Not shown" not in printed
    assert max(cell_len(line) for line in printed.splitlines()) <= width
    figures = re.findall(r"\d+\.\d{3}", printed)
    expected = [0.25, 0.5] + [number + part for number in range(14) for part in (0.125, 0.25)]
    assert sorted(map(float, figures)) == sorted(expected)
    folded = re.sub(r"\s+", "", "".join(line[:24] for line in printed.splitlines()))
    assert MODELS[0] in folded  # the columns of names are folded, and nothing is cut
    n_blocks = printed.count("b/short")
    assert n_blocks == printed.count("tr-only") == printed.count("model")
    assert (n_blocks == 1) == (width == 300)
    assert " ".join(note.split()) in " ".join(printed.split())


@pytest.mark.parametrize(("width", "n_blocks"), [(40, 4), (80, 2), (200, 1)])
def test_columns_without_room_follow_in_further_blocks(width, n_blocks):
    subsets = [f"tur-{number:03}" for number in range(8)]
    table = new_table("TurkicIdiomT1", subsets)
    table.add_row("queries", *map(str, range(100, 108)))
    table.add_row("organisation/\na-model", *(f"0.{number}\n.100-.{number}" for number in range(200, 208)))
    out = StringIO()
    print_blocks(Console(file=out, width=width), table)
    lines = out.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    assert sum("a-model" in line for line in lines) == sum("queries" in line for line in lines) == n_blocks
    assert re.findall(r"tur-\d+", out.getvalue()) == subsets
    assert re.findall(r"\.100-\.(\d+)", out.getvalue()) == [str(number) for number in range(200, 208)]
