"""`turkic-idiom dataset`: what each command prints, writes and refuses."""

import json
import logging
import sys
from io import BytesIO, TextIOWrapper

import pytest

from hub_datasets.import_report import REPORT_FILE
from hub_datasets.importing import FORMATS
from tests.hub_datasets.conftest import kevser_file, write_entries
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.cli.dataset import SourceFormat
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry


@pytest.fixture
def source(tmp_path):
    return kevser_file(tmp_path, "Göz yummak;Görmezden gelmek;x", ";y;z")


def test_import_prints_its_account_and_check_counts_or_lists_every_problem(source, tmp_path, dataset):
    assert tuple(SourceFormat) == FORMATS
    out = tmp_path / "out"
    stdout, stderr = dataset("import", "--format", "kevser", source, "--out", out)
    assert stdout == f"{out}: 1 concepts, entries: tr 1\n"
    lines = stderr.splitlines()
    assert lines[0] == "2 rows with 2 readings = 1 entries + 0 merged + 1 dropped"
    assert (lines[1].split(maxsplit=2), str(out) in lines[2]) == (["dropped", "1", "no idiom"], True)
    assert json.loads((out / REPORT_FILE).read_text())["readings"] == 2
    assert dataset("check", out) == ("tr: 1 entries, 1 with meaning, 0 with example, 0 with spans\n", "")
    with (out / "tr.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"concept": "x"\n{"concept": "goz", "idiom": "göz", "meaning": null, "example": null}\n')
        file.write('{"concept": "goz", "idiom": "\\u202e", "meaning": null, "example": null, "spans": null}\n')
    stdout, _ = dataset("check", out, code=1)
    path = out / "tr.jsonl"
    assert [line.split(": ")[0] for line in stdout.splitlines()] == [f"{path}:{number}" for number in (2, 3, 4)]
    assert printable(stdout) == stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("import --format xml file --out out", "xml"),
        ("annotate", "--in"),
        ("annotate --in x", "--out"),
        ("annotate --in x --out y", "--lang is missing"),
        ("annotate --lang fi --in x --out y", "unknown language 'fi'; known: tr"),
        ("annotate --lang tr --in . --out out", "--lang"),
        ("export", "--out"),
        ("export --out out --repo org/name", "--repo"),
        ("export --repo turkic-idioms --yes", "'turkic-idioms': a repository on the Hub is named ORG/NAME"),
        ("export --repo org/name --version 1.0 --yes", "--version '1.0': a version looks like v1.0.0"),
        ("export --version 1.0", "a repository on the Hub; --version '1.0'"),  # both faults in one line
        ("show fly-into-a-rage --out page.html", "--out"),
        ("review", "--lang"),
        ("review --lang az --n 0 --out out", "--n"),
    ],
)
def test_wrong_usage_names_the_argument(tmp_path, monkeypatch, dataset, arguments, message):
    monkeypatch.chdir(tmp_path)
    out, err = dataset(*arguments.split(), code=2)
    assert (out, message in err) == ("", True), err
    assert list(tmp_path.iterdir()) == []


def test_stats_and_their_forms(source, tmp_path, dataset):
    lexicon = write_entries(tmp_path / "lexicon", tr=[Entry("a", "göz yummak", "aldırmamak")])
    assert json.loads(dataset("stats", lexicon, "--format", "json")[0])["languages"]["tr"]["entries"] == 1
    assert dataset("stats", lexicon, "--format", "card")[0].startswith("# Idioms of Turkish (`tr`)\n")
    assert dataset("stats", "--attest", "kevser", source, lexicon)[0].startswith(
        "tr: 1 of 1 idioms are listed (100.0%), another 0 with their verb in another form (together 100.0%)"
    )
    other = write_entries(tmp_path / "other", tr=[Entry("a", "el açmak", "dilenmek")])
    assert dataset("stats", "--attest", "kevser", source, other)[0].endswith("\n  el açmak\ta\n")
    uzbek = write_entries(tmp_path / "uzbek", uz=[Entry("a", "bosh egmoq", "m")])
    assert "has no entries in tr" in dataset("stats", "--attest", "kevser", source, uzbek, code=1)[1]


@pytest.fixture
def wide_lexicon(tmp_path):
    """All languages, and statuses longer than a line."""
    entries = {}
    for code, language in LANGUAGES.items():
        first, second = language.alphabet[:2]
        entries[code] = [Entry("a", f"{first} {first}", second, status=f"{'a very long verdict ' * 8}{code}")]
    return write_entries(tmp_path / "wide", **entries)


def test_tables_fit_the_terminal(wide_lexicon, tmp_path, dataset, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stdout, _ = dataset("stats", wide_lexicon)
    assert max(len(line) for line in stdout.splitlines()) <= 80
    assert stdout.splitlines()[0].split() == ["1", "concepts", *LANGUAGES]
    words = stdout.split()
    # Twice: in the head, and at the end of its folded status
    assert [words.count(code) for code in LANGUAGES][1:] == [2] * (len(LANGUAGES) - 1)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1, "idiom": "göz yummak", "sentence": "Gözü kaldı. Sonra ağzını yumdu."}\n')
    _, stderr = dataset("annotate", "--lang", "tr", "--in", path, "--out", tmp_path / "out.jsonl")
    assert max(len(line) for line in stderr.splitlines()) <= 80


def test_texts_go_to_terminals_without_their_letters(wide_lexicon, tmp_path, monkeypatch):
    """stdout of a Turkish Windows (cp1254), and of a C locale (ASCII)."""
    lexicon = write_entries(tmp_path / "lexicon", gloss="to bow", az=[Entry("a", "baş əymək")])
    for encoding in ("cp1254", "ascii"):
        raw = BytesIO()
        terminal = TextIOWrapper(raw, encoding=encoding)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            assert main(["dataset", "show", "a", "--data", str(lexicon)]) == 0
            assert main(["dataset", "stats", str(wide_lexicon)]) == 0
        terminal.flush()
        assert b"a: to bow" in raw.getvalue()
        assert b"\\u0259ym\\u0259k" in raw.getvalue()  # no encoding of the two has the schwa


def test_names_of_folders_never_act_on_the_terminal(source, tmp_path, dataset):
    strange = tmp_path / "a\x1b[31mb\u202e"
    strange.mkdir()
    lexicon, annotated, exported = strange / "lexicon", strange / "annotated", strange / "exported"
    for arguments in (
        ("import", "--format", "kevser", source, "--out", lexicon),
        ("annotate", "--in", lexicon, "--out", annotated),
        ("export", lexicon, "--out", exported),
        ("show", "--data", lexicon, "--out", strange / "page.html"),
    ):
        stdout, stderr = dataset(*arguments)
        assert "a\\x1b[31mb\\u202e" in stdout
        assert printable(stdout + stderr) == stdout + stderr


def test_log_lines_never_act_on_the_terminal(monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(logging.root, "handlers", [])  # those of pytest, beside which `main` adds none
        main(["--version"])
        logging.getLogger("x").warning("%s has no data", "a\x1b[31m")
    assert capsys.readouterr().err == "x: a\\x1b[31m has no data\n"
