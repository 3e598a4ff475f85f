"""What ends a command from outside: Ctrl-C while a server says nothing, and outputs that take nothing."""

import functools
import signal
import subprocess
import sys
from time import monotonic

import pytest

from tests.llm_server import KEY, MODEL, Slow, running_llm
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon

COMMAND = (sys.executable, "-m", "turkic_idiom_tasks")


@pytest.fixture
def lexicon(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    entry = Entry("a", "göz yummak", "görmemek", "Göz yumdu.")
    write_lexicon(tmp_path / "lexicon", [Concept("a", "")], {"tr": [entry]})
    return tmp_path / "lexicon"


def test_control_c_ends_questions_to_a_model_within_two_seconds_whatever_their_limit_of_time(lexicon):
    # A shell that runs the tests in the background has them, and what they start, ignore Ctrl-C.
    heeding = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with running_llm(lambda body: Slow(60, "")) as server:
        command = [*COMMAND, "dataset", "verify", "lexicon", "--model", MODEL, "--set", "timeout=600"]
        command += ["--set", f"base_url={server.url}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heeding) as process:
            while not server.requests:
                signal.sigtimedwait([], 0.05)
            start = monotonic()
            process.send_signal(signal.SIGINT)
            _, printed = process.communicate(timeout=60)
            assert monotonic() - start < 2
    assert process.returncode == 130
    assert printed.splitlines()[-1] == "turkic-idiom: interrupted; run the same command again to continue"


@pytest.mark.parametrize(
    ("command", "output", "code", "printed"),
    [
        ("dataset show a --data lexicon", ">&-", 0, ""),
        ("dataset show a --data lexicon", ">/dev/full", 1, "turkic-idiom: error: No space left on device\n"),
        ("--help", ">/dev/full", 1, "turkic-idiom: error: No space left on device\n"),  # before any command begins
    ],
)
@pytest.mark.usefixtures("lexicon")
def test_an_output_that_takes_nothing_is_one_line_or_none(command, output, code, printed):
    shell = ["/bin/sh", "-c", f'"$0" -m turkic_idiom_tasks {command} {output}', sys.executable]
    result = subprocess.run(shell, stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (code, printed)


@pytest.mark.parametrize("model", ["\udcff", "a\udcffb/c"])
def test_bytes_that_are_no_utf_8_are_named(lexicon, capsys, model):
    with running_llm(lambda body: "no JSON") as server:
        arguments = ["dataset", "verify", "lexicon", "--model", model, "--set", f"base_url={server.url}"]
        assert main(arguments) == 2
        assert not server.requests
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "'\\udcff' is no character of UTF-8" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "--data", "a\nb"], "a\\nb: no such directory"),  # one line, whatever a name holds
        (["run", "-m", "/", "-t", "T2"], "/: not a model folder"),
        (["run", "-m", "turkic-idiom/char-ngrams", "--set", "top_k=" + "[" * 100_000], "found '[[["),
        (["leaderboard", "build", "loop", "--out", "site"], "loop: no such folder"),
        (["lm", "questionnaire", "--out", "loop"], "loop: exists; choose another --out, or remove it"),
        (["dataset", "export", "lexicon", "--out", "lexicon"], "holds a lexicon, not a dataset in the Hub layout"),
        (["dataset", "export", "lexicon", "--out", "e", "--licence", "a\nb"], "--licence 'a\\nb': the Hub names"),
        (["dataset", "export", "lexicon", "--out", "/"], "is or holds the current folder"),
        (["dataset", "import", "--format", "columns", "twice.csv", "--out", "i"], "reason: the header again (1 times)"),
        (["lm", "report", "lexicon"], "no results; expected"),
        (["run", "-m", "turkic-idiom/char-ngrams", "-t", "T2", "--out", "file"], "move away what is there"),
    ],
)
def test_what_nobody_should_write_is_one_line_that_helps(lexicon, tmp_path, capsys, arguments, message):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("göz")
    (tmp_path / "twice.csv").write_text("gloss,tr\ngloss,tr\n")
    assert main(arguments) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "--overwrite" not in line  # which none of these commands has, or where it would be of no use
    assert (tmp_path / "loop").is_symlink()


def test_a_terminal_without_a_width_still_gets_the_table(lexicon, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert main(["dataset", "stats", str(lexicon)]) == 0
    assert "entries" in capsys.readouterr().out


def test_a_day_that_is_none_is_refused_before_numpy_reads_it(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    command = [*COMMAND, "leaderboard", "build", "nowhere"]  # in a process that has not imported numpy yet
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    (line,) = result.stderr.splitlines()
    assert (result.returncode, "SOURCE_DATE_EPOCH=soon: not a date" in line) == (2, True)
