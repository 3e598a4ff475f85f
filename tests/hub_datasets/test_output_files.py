"""Files that a command would replace: every output of every command that writes single files, by one table."""

import os

import pytest

from tests.hub_datasets.conftest import write_entries, write_lines
from tests.hub_datasets.scripted_models import judgement, verification
from tests.killing import every_kill
from tests.llm_server import KEY, MODEL, running_llm
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.output_files import check_outputs, write_output
from turkic_idiom_tasks.lexicon.entries import Entry

MODELS = ("--model", MODEL, "--set", "cache=cache.jsonl")
VERIFY = ("dataset", "verify", "lexicon", *MODELS)
# arguments, the file that is written, and the option that names it if it is named itself
OUTPUTS = [
    ((*VERIFY, "--out", "out"), "lexicon-verdicts.jsonl", None),
    (VERIFY, "x.jsonl", "--verdicts"),
    (("judge", "lexicon", *MODELS), "lexicon-judged.jsonl", None),
    (("judge", "lexicon", *MODELS), "x.jsonl", "--verdicts"),
    (("judge", "samples.jsonl", *MODELS), "samples.jsonl-verdicts.jsonl", None),
    (("judge", "samples", *MODELS), "samples/verdicts.jsonl", None),
    (("dataset", "show", "--data", "lexicon"), "x.html", "--out"),
    (("dataset", "review", "--lang", "tr", "--data", "lexicon"), "x.html", "--out"),
    (("lm", "questionnaire", "--data", "lexicon"), "x.html", "--out"),
    (("dataset", "annotate", "--lang", "tr", "--in", "rows.jsonl"), "x.jsonl", "--out"),
    (("dataset", "align", "lexicon", "-l", "tr", "--in", "lexicon", "--out", "out"), "out-review.csv", None),
    (("leaderboard", "build", "submissions", "--out", "site"), "x.html", "--report"),
]
REPEATED = [case for case in OUTPUTS if "judge" in case[0] or "verify" in case[0]]
NAMED = [case for case in OUTPUTS if case[2] is not None]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A function that runs a command in a folder with a lexicon, samples and rows; the model rejects everything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    entries = [Entry(name, "göz yummak", f"görmemek {name}", "Buna göz yumdu.") for name in "abc"]
    write_entries(tmp_path / "lexicon", tr=entries)
    row = {"id": "1", "idiom": "göz yummak", "language": "tr", "reference": "görmemek", "answer": "bilmiyorum"}
    write_lines(tmp_path / "samples.jsonl", [row])
    sample = {"doc": row, "filtered_resps": ["bilmiyorum"]}
    write_lines(tmp_path / "samples" / "samples_turkic_idiom_explain_tr.jsonl", [sample])
    write_lines(tmp_path / "rows.jsonl", [row | {"sentence": "Buna göz yumdu."}])
    (tmp_path / "submissions").mkdir()

    def command(*arguments):
        answer = verification(False, False, False) if "verify" in arguments else judgement("LOW")
        with running_llm(lambda body: answer) as server:
            options = ("--set", f"base_url={server.url}") if "--model" in arguments else ()
            code = main([*map(str, arguments), *options])
            captured = capsys.readouterr()
            return code, captured.out + captured.err, len(server.requests)

    return command


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock")}


def named(arguments, option, name):
    return arguments if option is None else (*arguments, option, name)


@pytest.mark.parametrize(("arguments", "name", "option"), OUTPUTS)
def test_a_file_of_somebody_else_is_refused_before_anything_is_sent_or_written(run, tmp_path, arguments, name, option):
    (tmp_path / name).write_text("mine")
    before = contents(tmp_path)
    code, printed, n_requests = run(*named(arguments, option, name))
    assert (code, n_requests) == (1, 0), printed
    assert f"{name}: " in printed
    assert contents(tmp_path) == before


@pytest.mark.parametrize("link", [None, os.symlink])
@pytest.mark.parametrize(("arguments", "name", "option"), NAMED)
def test_what_a_command_reads_is_refused_by_whatever_name(run, tmp_path, arguments, name, option, link):
    (tmp_path / "cache.jsonl").write_text("")
    inputs = ["lexicon/tr.jsonl", "lexicon/new.jsonl"] if "lexicon" in arguments else []
    inputs += [file for file in ("samples.jsonl", "rows.jsonl") if file in arguments]
    inputs += ["cache.jsonl"] if "--model" in arguments else []
    inputs += ["submissions/new.html"] if "submissions" in arguments else []
    before = contents(tmp_path)
    assert inputs
    for file in inputs:
        target = file
        if link is not None and (tmp_path / file).exists():
            target = f"link-{len(contents(tmp_path))}"
            link(tmp_path / file, tmp_path / target)
            before = contents(tmp_path)
        overwrite = ["--overwrite"] if {"annotate", "leaderboard"} & set(arguments) else []
        code, printed, n_requests = run(*arguments, option, target, *overwrite)
        assert (code, n_requests) == (2, 0), printed
        assert contents(tmp_path) == before


@pytest.mark.parametrize(("arguments", "name", "option"), REPEATED)
def test_a_command_that_goes_on_replaces_its_own_file_until_somebody_changes_it(run, tmp_path, arguments, name, option):
    command = named(arguments, option, name)
    first = run(*command)
    written = (tmp_path / name).read_bytes()
    again = run(*command)
    assert again[0] == first[0], again[1]
    assert (tmp_path / name).read_bytes() == written
    (tmp_path / name).write_bytes(written + b"\n")
    code, printed, n_requests = run(*command)
    assert (code, n_requests) == (1, 0), printed
    assert "was changed since" in printed
    assert (tmp_path / name).read_bytes() == written + b"\n"


def test_two_outputs_in_one_file_are_refused(run):
    code, printed, n_requests = run(*VERIFY, "--out", "out", "--verdicts", "out-rejected.jsonl")
    assert (code, n_requests, "is the file of --verdicts as well" in printed) == (2, 0, True)


def test_answers_are_appended_to_no_file_but_a_cache(run, tmp_path):
    before = contents(tmp_path)
    for file in ("lexicon/tr.jsonl", "samples.jsonl"):
        code, printed, n_requests = run("judge", "samples.jsonl", "--model", MODEL, "--set", f"cache={file}")
        assert (code, n_requests) == (1, 0)
        assert f"{file}: holds no answers" in printed
    assert contents(tmp_path) == before


def test_a_lexicon_is_not_replaced_by_what_is_imported_from_its_own_file(run, tmp_path):
    (tmp_path / "lexicon" / "az.jsonl").write_text('{"TR-Deyim": "göz yummak", "TR-Anlam": "görmemek"}\n')
    before = contents(tmp_path)
    arguments = ("--format", "paper", "lexicon/az.jsonl", "--out", "lexicon", "--overwrite")
    code, printed, _ = run("dataset", "import", *arguments)
    assert (code, "lexicon/az.jsonl: is read by this command" in printed) == (2, True)
    assert contents(tmp_path) == before


def test_after_a_kill_between_the_file_and_its_record_the_file_is_still_our_own(tmp_path):
    path = tmp_path / "x.jsonl"
    texts = map(str, range(1000))
    write_output(path, "first", command="verify")
    n_kills = 0
    for _ in every_kill(lambda: None, lambda: write_output(path, next(texts), command="verify"), below=tmp_path):
        n_kills += 1
        check_outputs({"--verdicts": path}, command="verify")
    assert n_kills > 2
    with pytest.raises(InputError, match=r"x\.jsonl: was not written by this command"):
        check_outputs({"--verdicts": path}, command="judge")
