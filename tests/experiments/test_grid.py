"""`turkic-idiom grid` as a user runs it, with tiny untrained models on a small lexicon."""

import csv
import json
import os
import pty
import resource
import shlex
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.experiments.grid_file import REGIMES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon

PLAIN = ("dil", "el", "kalp", "su", "ev", "yol", "gece")  # words that the untrained models know
POOLINGS = ("mean", "max")


def small_lexicon(folder, *, seed=0, languages=("tr", "az", "uz"), size=60):
    """Concepts with the same idioms in every language, and random meanings."""
    rng = np.random.default_rng(seed)

    def idiom(number):
        return " ".join(PLAIN[(number // len(PLAIN) ** place) % len(PLAIN)] for place in range(3))

    concepts = [Concept(f"c-{number:02d}", "") for number in range(size)]
    entries = {
        code: [Entry(c.id, idiom(n), " ".join(rng.choice(PLAIN, size=5)), None, None) for n, c in enumerate(concepts)]
        for code in languages
    }
    write_lexicon(folder, concepts, entries)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_lexicon(tmp_path_factory.mktemp("grid") / "lexicon")


def grid_file(folder, models, *, seeds=(1,), regimes=REGIMES, **training):
    path = folder / "grid.yaml"
    content = {"models": [str(model) for model in models], "regimes": list(regimes), "languages": ["az", "uz"],
               "poolings": list(POOLINGS), "seeds": list(seeds), "training": training}  # fmt: skip
    path.write_text(json.dumps({"retrieval": content}))  # JSON is YAML
    return path


def results(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "retrieval").glob("*.json")}


def records(out):
    found = [json.loads(path.read_text()) for path in (out / "retrieval").glob("*.json")]
    return {(one["regime"], one["language"]): one for one in found}


@pytest.fixture(scope="module")
def finished(untrained_bert, data, tmp_path_factory):
    """Folder of a finished grid of one model, and its grid file."""
    folder = tmp_path_factory.mktemp("finished")
    file = grid_file(folder, [untrained_bert])
    command = [
        Path(sys.executable).parent / "turkic-idiom",
        "grid",
        "run",
        file,
        "--data",
        data,
        "--out",
        folder / "out",
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "6 cells: 6 done" in done.stdout
    return folder / "out", file


def test_an_untuned_cell_has_the_scores_of_the_run_command(finished, untrained_bert, data, tmp_path, monkeypatch):
    from turkic_idiom_tasks.retrieval.suite import RunOptions, run_suite

    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(data))
    runs = run_suite([str(untrained_bert)], RunOptions(("T1", "T2", "T3"), tmp_path, poolings=POOLINGS))
    record = records(finished[0])["pretrained", None]
    assert record["seed"] is None
    for run in runs:
        pooling = run.model.partition("pooling=")[2].rstrip(")")
        short = run.task[-2:]
        for subset, ranking in run.rankings.items():
            assert record["poolings"][pooling]["scores"][short][subset] == pytest.approx(ranking.scores(), abs=1e-6)
            queries = dict(zip(ranking.queries, ranking.per_query.ndcg, strict=True))
            assert record["poolings"][pooling]["per_query"][short][subset] == pytest.approx(queries, abs=1e-6)


def test_a_tuned_cell_has_the_scores_of_finetune_and_run(finished, untrained_bert, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(data))
    tuned = ("finetune", "retrieval", "-m", str(untrained_bert), "--regime", "cross-lingual", "--language", "uz")
    assert main([*tuned, "--pooling", "max", "--seed", "1", "--out", "tuned"]) == 0
    assert main(["run", "-m", "./tuned", "-t", "T3", "-l", "uz", "--format", "json"]) == 0
    score = json.loads(next(Path("results").rglob("TurkicIdiomT3.json")).read_text())["scores"]["test"][0]["ndcg"]
    record = records(finished[0])["cross-lingual", "uz"]["poolings"]["max"]
    assert set(record["scores"]) == {"T1", "T2", "T3"}
    assert set(record["scores"]["T3"]) == {"tur-uzn"}
    assert record["tuning"]["steps"] > 0
    assert record["scores"]["T3"]["tur-uzn"]["ndcg"] == pytest.approx(score, abs=1e-6)


def test_plan_status_and_a_second_run_compute_nothing(finished, data, capsys):
    out, file = finished
    before = results(out)
    for subcommand in ("plan", "status", "run"):
        assert main(["grid", subcommand, str(file), "--data", str(data), "--out", str(out)]) == 0
        assert "6 cells: 6 done\nnothing is missing" in capsys.readouterr().out
    assert results(out) == before


def test_the_estimate_comes_from_finished_cells_of_the_same_kind(finished, untrained_bert, data, tmp_path, capsys):
    out, _ = finished
    more = grid_file(tmp_path, [untrained_bert], seeds=(1, 2), regimes=("pretrained", "tr-only", "monolingual"))
    assert main(["grid", "plan", str(more), "--data", str(data), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    took = {key: one["seconds"] for key, one in records(out).items()}
    expected = took["tr-only", None] + took["monolingual", "az"] + took["monolingual", "uz"]
    assert "7 cells: 4 done, 3 missing" in printed
    assert f"about {expected:.0f} s of work for 3 missing cells" in printed


def test_the_tables_are_of_the_languages_that_the_grid_trains_on(finished, data, capsys):
    out, file = finished
    assert main(["grid", "tables", str(file), "--data", str(data), "--out", str(out)]) == 0
    assert "nDCG over az, uz" in capsys.readouterr().out
    with (out / "tables" / "table5_t2.csv").open() as table:
        (row,) = csv.DictReader(table)
    cells = {(language, regime): records(out)[regime, code] for language, regime, code in (
        ("tur", "tr-only", None), ("azj", "monolingual", "az"), ("uzn", "monolingual", "uz"))}  # fmt: skip
    best = max(
        np.mean([one["poolings"][pooling]["scores"]["T2"][subset]["ndcg"] for (subset, _), one in cells.items()])
        for pooling in POOLINGS
    )
    assert float(row["monolingual"]) == pytest.approx(best, abs=1e-6)
    assert "<svg" in (out / "tables" / "figure2_t1.svg").read_text()


def test_other_data_is_not_mixed_into_a_folder(finished, tmp_path, command):
    out, file = finished
    other = small_lexicon(tmp_path / "other", seed=5)
    for subcommand in ("plan", "run", "tables"):
        refused = command("turkic-idiom", "grid", subcommand, file, "--data", other, "--out", out)
        assert refused.returncode == 2
        assert "holds results of other data" in refused.stderr
        assert "--out" in refused.stderr


def test_failing_cells_are_recorded_stop_no_other_and_are_retried_when_asked(untrained_bert, data, tmp_path, command):
    missing = tmp_path / "comes-later"
    file = grid_file(tmp_path, [missing, untrained_bert], regimes=("pretrained",))
    arguments = ("turkic-idiom", "grid", "run", file, "--data", data, "--out", tmp_path / "out")
    first = command(*arguments)
    assert first.returncode == 1
    assert "2 cells: 1 done, 1 failed" in first.stdout
    assert f"failed: retrieval, {missing}, pretrained: {missing}: no such folder" in first.stdout
    missing.symlink_to(untrained_bert)
    assert (
        "2 cells: 1 done, 1 missing" in command(*arguments[:2], "status", *arguments[3:]).stdout
    )  # its revision is known
    again = command(*arguments, "--retry-failed")
    assert again.returncode == 0, again.stderr
    assert "2 cells: 2 done" in again.stdout
    label, advised = again.stdout.splitlines()[-1].split(" ", 1)
    assert label == "Tables:"
    tables = command(*shlex.split(advised))
    assert tables.returncode == 0, tables.stderr


def test_a_training_that_diverges_is_said_and_keeps_the_untuned_weights(untrained_bert, data, tmp_path, command):
    file = grid_file(tmp_path, [untrained_bert], regimes=("pretrained", "tr-only"), learning_rate=1e30)
    done = command("turkic-idiom", "grid", "run", file, "--data", data, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "mean: no tuned weights could be scored; loss or vectors were not finite at step" in done.stdout
    found = records(tmp_path / "out")
    untuned, tuned = found["pretrained", None], found["tr-only", None]
    assert tuned["poolings"]["mean"]["per_query"] == untuned["poolings"]["mean"]["per_query"]


def test_a_disk_that_is_full_leaves_a_record_and_no_half_result(untrained_bert, data, tmp_path):
    """A limit on the size of files stands for the full disk: the result does not fit, the failure does."""
    file = grid_file(tmp_path, [untrained_bert], regimes=("pretrained",))
    arguments = ["grid", "run", file, "--data", data, "--out", tmp_path / "out"]
    full = start(arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    printed, _ = full.communicate(timeout=120)
    assert full.returncode == 1
    assert "cannot be written (File too large)" in printed
    assert not results(tmp_path / "out")
    assert not list((tmp_path / "out").rglob(".*.json*"))
    again = start([*arguments, "--retry-failed"])
    assert "1 cell: 1 done" in again.communicate(timeout=120)[0]


def test_a_second_run_in_the_same_folder_is_refused_and_leaves_nothing_there(finished, data, tmp_path, command):
    """Nor the note of its own data, which need not be that of the first run."""
    import fcntl

    _, file = finished
    out = tmp_path / "out"
    out.mkdir()
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = command("turkic-idiom", "grid", "run", file, "--data", data, "--out", out)
    assert refused.returncode == 2
    assert "another `grid run` works in it" in refused.stderr
    assert [path.name for path in out.iterdir()] == [".lock"]


def test_killed_drivers_and_workers_on_ray_lose_no_finished_cell(untrained_bert, data, tmp_path, ray_address):
    """Kills at random points; what had a result keeps it, untouched, and in the end every cell has one."""
    rng = np.random.default_rng(os.getpid())
    out = tmp_path / "out"
    file = grid_file(tmp_path, [untrained_bert], seeds=(1, 2))
    arguments = ["grid", "run", file, "--data", data, "--out", out, "--engine", "ray", "--address", ray_address]
    total = 1 + 2 * 5
    seen = {}
    for victim in ("driver", "worker", "driver"):
        driver = start(arguments)
        aim = min(len(seen) + int(rng.integers(1, 3)), total - 1)
        while driver.poll() is None and len(results(out) if out.exists() else ()) < aim:
            time.sleep(0.02)
        time.sleep(float(rng.uniform(0, 0.5)))
        if victim == "worker":
            for worker in ray_workers():
                worker.kill()
            time.sleep(0.2)  # the driver sees it and gives the cells to other workers
        driver.kill()
        driver.wait()
        wait_until_idle(out)
        now = results(out)
        assert seen.items() <= now.items()  # nothing lost, nothing computed again
        seen = now
    assert 0 < len(seen) < total
    last = start(arguments)
    printed, errors = last.communicate(timeout=240)
    assert last.returncode == 0, errors
    assert f"{total} cells: {total} done" in printed
    assert errors.count(": done") == total - len(seen)  # exactly the missing ones ran
    assert seen.items() <= results(out).items()
    assert not list(out.rglob(".*.json*")), "a temporary file was left"


def test_on_a_terminal_stdout_still_holds_results_alone(untrained_bert, data, tmp_path):
    """The trainer of transformers prints its logs to stdout as soon as stderr is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 120))
    script = Path(sys.executable).parent / "turkic-idiom"
    command = [script, "finetune", "retrieval", "-m", untrained_bert, "--regime", "tr-only", "--data", data]
    environment = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
    with subprocess.Popen(
        [*map(str, command), "--out", str(tmp_path / "tuned")],
        env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True,
    ) as run:  # fmt: skip
        os.close(theirs)
        shown = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
        printed = run.stdout.read()
    os.close(ours)
    assert run.returncode == 0, shown
    assert "it/s]" in shown
    assert printed.startswith("tr-only, tr: ")
    assert "eval_ndcg" not in printed


def read_terminal(descriptor):
    """What was written to it since; nothing once all its writers are gone."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def start(arguments, **options):
    script = Path(sys.executable).parent / "turkic-idiom"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [str(script), *map(str, arguments)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def ray_workers():
    """The processes of Ray that work on a cell now."""
    return [one for one in psutil.process_iter(["cmdline"]) if "_attempt_in" in " ".join(one.info["cmdline"] or [])]


def wait_until_idle(out):
    """Until no worker of a killed driver is left."""
    deadline = time.monotonic() + 60
    while ray_workers():
        assert time.monotonic() < deadline, "Ray keeps the workers of a driver that is gone"
        time.sleep(0.1)
