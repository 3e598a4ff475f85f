"""`turkic-idiom finetune span` as a user runs it, in a subprocess."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.finetuning.test_span import sentences
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon

QUICK = ("--epochs", "1", "--learning-rate", "5e-3", "--seed", "1", "--size", "5")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """60 Turkish and 40 Azerbaijani sentences with an idiom each."""
    folder = tmp_path_factory.mktemp("command") / "lexicon"
    entries = {
        code: [Entry(f"c{n:03d}", row.idiom, None, row.sentence, row.spans()) for n, row in enumerate(sentences(count))]
        for code, count in (("tr", 60), ("az", 40))
    }
    write_lexicon(folder, [Concept(f"c{n:03d}", "") for n in range(60)], entries)
    return folder


def cells(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}


def test_a_run_that_is_killed_goes_on_where_it_stopped(command, data, untrained_bert, tmp_path):
    out = tmp_path / "out"
    arguments = ("finetune", "span", "-m", untrained_bert, "--data", data, "--out", out, "--grid", *QUICK)
    script = Path(sys.executable).parent / "turkic-idiom"
    process = subprocess.Popen(
        [script, *map(str, arguments)], env=os.environ | {"HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (out / "cells").is_dir() or not cells(out):
        assert process.poll() is None, "finished before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = cells(out)
    again = command("turkic-idiom", *arguments)
    assert again.returncode == 0, again.stderr
    after = cells(out)
    assert len(after) == 4  # Turkish; Azerbaijani with 0, 5 and all sentences
    assert before.items() <= after.items()  # what was finished was not computed again
    assert "| az | 5 | 1 |" in again.stdout.replace(f"| {untrained_bert} ", "")
    for path in (out / "cells").iterdir():
        assert json.loads(path.read_text())["data"]["path"] == str(data)
    (checkpoint,) = (out / "checkpoints").iterdir()
    assert (checkpoint / "model.safetensors").is_file()


@pytest.mark.slow
def test_two_processes_under_torchrun_write_every_cell_once(data, untrained_bert, tmp_path):
    out = tmp_path / "out"
    arguments = ("finetune", "span", "-m", untrained_bert, "--data", data, "--out", out, "--grid", *QUICK)
    torchrun = Path(sys.executable).parent / "torchrun"
    launch = (torchrun, "--standalone", "--nproc_per_node", "2", "-m", "turkic_idiom_tasks")
    run = subprocess.run(
        [str(part) for part in (*launch, *arguments)], env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    assert len(cells(out)) == 4
    assert run.stdout.count("## Fine-tuned and tested on the source language") == 1


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("-m", "./absent"), "./absent failed: ", 1),
        (("-m", "{bert}", "--language", "uz"), "no annotated uz sentences to train on; found tr, az", 1),
        (
            ("-m", "{bert}", "--target", "gag"),
            "--target gag: no language of the data besides the source language; known: az",
            2,
        ),
        (("-m", "{bert}", "--size", "0"), "--size must be at least 1, not 0", 2),
        (("-m", "{bert}", "--epochs", "0"), "epochs and batch size must be at least 1", 2),
        (("-m", "{bert}", "--data", "./nothing"), "./nothing: no such directory", 1),
    ],
)
def test_bad_input_is_one_line(command, data, untrained_bert, tmp_path, arguments, message, code):
    given = [part.format(bert=untrained_bert) for part in arguments]
    if "--data" not in given:
        given += ["--data", data]
    run = command("turkic-idiom", "finetune", "span", *given, "--out", tmp_path / "out")
    assert run.returncode == code
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert not list((tmp_path / "out").rglob("*.safetensors"))
