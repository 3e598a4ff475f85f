"""What ends a command from outside: Ctrl-C while a server says nothing, and outputs that take nothing."""

import functools
import signal
import subprocess
import sys
from time import monotonic

import pytest

from tests.llm_server import MODEL, Slow, running_llm
from turkic_idiom_tasks.cli import main

PROGRAM = 'run() { "$0" -m turkic_idiom_tasks "$@"; }; '
NO_SPACE = "turkic-idiom: error: No space left on device\n"
NO_DAY = "turkic-idiom: error: SOURCE_DATE_EPOCH=soon: not a date; give seconds since 1970\n"
NO_MODEL = ["dataset", "verify", "lexicon", "--set", "base_url=http://127.0.0.1:9", "--model"]

pytestmark = pytest.mark.usefixtures("one_entry")


def test_control_c_ends_questions_to_a_model_within_two_seconds_whatever_their_limit_of_time():
    # A shell that runs the tests in the background has them, and what they start, ignore Ctrl-C.
    heeding = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with running_llm(lambda body: Slow(60, "")) as server:
        command = [sys.executable, "-m", "turkic_idiom_tasks", "dataset", "verify", "lexicon", "--model", MODEL]
        command += ["--set", "timeout=600", "--set", f"base_url={server.url}"]
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
    ("command", "code", "printed"),
    [
        ("run dataset show a --data lexicon >&-", 0, ""),
        ("run dataset show a --data lexicon >/dev/full", 1, NO_SPACE),
        ("run --help >/dev/full", 1, NO_SPACE),  # before any command begins
        ("export SOURCE_DATE_EPOCH=soon; run leaderboard build nowhere", 2, NO_DAY),  # before numpy reads it
    ],
)
def test_an_output_that_takes_nothing_or_a_day_that_is_none_is_one_line(command, code, printed):
    result = subprocess.run(["/bin/sh", "-c", PROGRAM + command, sys.executable], stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (code, printed)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["list", "--data", "a\nb"], 1, "a\\nb: no such directory"),  # one line, whatever a name holds
        (["run", "-m", "/", "-t", "T2"], 2, "/: not a model folder"),
        (["run", "-m", "turkic-idiom/char-ngrams", "--set", "top_k=" + "[" * 100_000], 2, "found '[[["),
        (["leaderboard", "build", "loop", "--out", "site"], 2, "loop: no such folder"),
        (["lm", "questionnaire", "--out", "loop"], 1, "loop: exists; choose another --out, or remove it"),
        (["dataset", "export", "lexicon", "--out", "lexicon"], 1, "holds a lexicon, not a dataset in the Hub layout"),
        (["dataset", "export", "lexicon", "--out", "e", "--licence", "a\nb"], 2, "--licence 'a\\nb': the Hub names"),
        (["dataset", "export", "lexicon", "--out", "/"], 1, "is or holds the current folder"),
        (["dataset", "import", "--format", "columns", "twice.csv", "--out", "i"], 1, "the header again (1 times)"),
        (["lm", "report", "lexicon"], 1, "no results; expected"),
        (["run", "-m", "turkic-idiom/char-ngrams", "-t", "T2", "--out", "file"], 1, "move away what is there"),
        ([*NO_MODEL, "\udcff"], 2, "'\\udcff' is no character of UTF-8"),
        ([*NO_MODEL, "a\udcffb/c"], 2, "'\\udcff' is no character of UTF-8"),
    ],
)
def test_what_nobody_should_write_is_one_line_that_helps(tmp_path, capsys, arguments, code, message):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("göz")
    (tmp_path / "twice.csv").write_text("gloss,tr\ngloss,tr\n")
    assert main(arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "--overwrite" not in line  # which none of these commands has, or where it would be of no use
    assert (tmp_path / "loop").is_symlink()


def test_a_terminal_without_a_width_still_gets_the_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert main(["dataset", "stats", "lexicon"]) == 0
    assert "entries" in capsys.readouterr().out
