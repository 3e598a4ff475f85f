import argparse

import pytest

from hub_datasets import cli, tagged_corpus
from hub_datasets.importing import FORMATS
from turkic_idiom_tasks.errors import InputError


def run(*arguments):
    parser = argparse.ArgumentParser()
    cli.add_parser(parser.add_subparsers(required=True))
    options = parser.parse_args([str(argument) for argument in ("dataset", *arguments)])
    return options.handler(options)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kevser.csv"
    rows = ["Deyimler;Türkçe Anlamı;İngilizce Anlamı", "Göz yummak;Görmezden gelmek;x", ";y;z"]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_the_formats_of_the_command_line_are_those_of_the_importer():
    assert (*FORMATS, tagged_corpus.FORMAT) == cli.FORMATS


def test_import_prints_the_result_on_stdout_and_the_account_on_stderr(source, tmp_path, capsys):
    out = tmp_path / "out"
    assert run("import", "--format", "kevser", source, "--out", out) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{out}: 1 concepts, entries: tr 1\n"
    assert captured.err.splitlines()[:2] == [
        "2 rows with 2 readings = 1 entries + 0 merged + 1 dropped",
        "  dropped      1  no idiom",
    ]


def test_import_refuses_a_full_directory_before_it_reads_the_source(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tr.jsonl").write_text("")
    with pytest.raises(InputError, match="add --overwrite"):
        run("import", "--format", "kevser", tmp_path / "absent", "--out", tmp_path / "out")


def test_a_failed_import_leaves_no_directory(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        run("import", "--format", "kevser", tmp_path / "absent", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_check_counts_or_lists_every_problem(source, tmp_path, capsys):
    out = tmp_path / "out"
    run("import", "--format", "kevser", source, "--out", out)
    capsys.readouterr()
    assert run("check", out) == 0
    assert capsys.readouterr().out == "tr: 1 entries, 1 with meaning, 0 with example, 0 with spans\n"
    with (out / "tr.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"concept": "x"\n{"concept": "goz", "idiom": "göz", "meaning": null, "example": null}\n')
    assert run("check", out) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{out / 'tr.jsonl'}:2", f"{out / 'tr.jsonl'}:3"]


def test_export_says_what_it_left_out(source, tmp_path, capsys):
    run("import", "--format", "kevser", source, "--out", tmp_path / "lexicon")
    capsys.readouterr()
    assert run("export", tmp_path / "lexicon", "--out", tmp_path / "hub") == 0
    captured = capsys.readouterr()
    assert "T1-tur-azj" in captured.err
    assert captured.out.startswith(f"{tmp_path / 'hub'}: ")
    assert (tmp_path / "hub" / "README.md").is_file()


def test_unknown_format_is_a_usage_error_of_the_parser(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        run("import", "--format", "xml", "file", "--out", tmp_path)
    assert caught.value.code == 2
