"""`turkic-idiom lm`: items, their numbers and their baselines, in process."""

import json

import pytest

from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.tasks.items.items import build_items


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory):
    """Folder of the Turkish and Gagauz entries of the bundled lexicon, without equivalents."""
    lexicon = load_lexicon()
    folder = tmp_path_factory.mktemp("unjudged") / "lexicon"
    entries = {code: list(lexicon.of(code).values()) for code in ("tr", "gag")}
    write_lexicon(folder, list(lexicon.concepts.values()), entries)
    return folder


def test_items_are_written_with_key_and_types(tmp_path, capsys):
    out = tmp_path / "usage.jsonl"
    assert main(["lm", "items", "-k", "usage", "-l", "tk", "-l", "gag", "-o", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    items = build_items(open_dataset(), "usage", "tk")
    assert [(row["id"], row["gold"], row["text"]) for row in rows] == [
        (item.id, item.gold, item.text) for item in items
    ]
    assert rows[0]["options"][rows[0]["gold"]]["text"] in ("figurative", "literal")
    printed = capsys.readouterr()
    assert f"{len(items)} items of 1 set" in printed.out
    assert "left out" in printed.err
    assert "usage_gag" in printed.err
    assert main(["lm", "items", "-k", "usage", "-l", "tk", "-o", str(out)]) != 0  # never overwritten unasked


def test_a_lexicon_without_judgements_says_so(unjudged, capsys):
    assert main(["lm", "stats", "--data", str(unjudged), "-k", "usage", "--json"]) == 0
    printed = capsys.readouterr()
    (row,) = json.loads(printed.out)
    assert (row["set"], row["items"], row["small_sample"]) == ("usage_tr", 2 * row["concepts"], False)
    assert "no judged equivalents" in printed.err


@pytest.mark.parametrize("width", [80, 120])
def test_the_tables_fit_the_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["lm", "stats", "-k", "usage", "-l", "tk"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    sizes, accuracies = (line.split() for line in printed.splitlines() if line.startswith("usage_tk"))
    assert accuracies[-1] == "100.0"  # gold
    assert sizes[1] == accuracies[1]
    assert ("longest" in printed.partition("lexical, random")[2].split("Accuracy")[0]) == (width == 120)
    assert "requests" not in printed
