"""Tables of experiments on a terminal: they fit, and no figure, heading or name is lost."""

import re

import pandas as pd
import pytest
from rich.cells import cell_len

from turkic_idiom_tasks.cli.output import print_experiment
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
