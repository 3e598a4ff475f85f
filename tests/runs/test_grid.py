"""`turkic-idiom grid` on a small lexicon with a tiny untrained model: its records, its commands, what goes wrong."""

import csv
import json
import shlex
import shutil
import subprocess
import sys

import pytest
from seqeval.metrics import f1_score

from tests.killing import every_kill
from tests.runs.grid_data import retrieval_part, small_lexicon, span_part, stamps, write_grid_file
from tests.runs.toy_kind import ToyCells, open_toys
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.io.files import LOCK, locked
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.record import find_records, installed_versions, read_record
from turkic_idiom_tasks.results.scored import score_record
from turkic_idiom_tasks.runs.grid import DONE, FAILED, MISSING, last_run, open_grid
from turkic_idiom_tasks.runs.grid_file import KINDS, read_grid_file
from turkic_idiom_tasks.spans import TAG_LETTERS

N_CELLS = 16  # 1 pretrained, 1 tr-only, 2 monolingual and 2 cross-lingual trainings, each twice; 4 span cells


@pytest.fixture(autouse=True)
def data_in_use(grid_data, monkeypatch):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(grid_data))


def grid(command, file, out, *options):
    """The exit code of a grid command."""
    return main(["grid", command, str(file), "--out", str(out), *options])


def open_file(file, out):
    """The grid of a file in a folder."""
    data, _ = last_run(out)
    return open_grid(read_grid_file(file), open_dataset(data), out)


def headers(file, out):
    """(regime, language, pooling, tested language, size) -> header of every record."""
    found = {}
    for cell, header in open_file(file, out).headers().items():
        found[cell.regime, cell.language, cell.pooling, cell.target, cell.size] = header
    return found


def scores_of(header):
    return {(row.task, row.subset): header.scores(row.task, row.subset) for row in header.subsets}


def test_cells_have_the_scores_of_run_and_of_finetune(finished, untrained_bert, grid_data, tmp_path, capsys):
    cells, poolings, data = headers(*finished), ("mean", "max"), ["--data", str(grid_data)]
    for (regime, _, pooling, _, size), header in cells.items():
        stated = header.training.model_dump() if header.training else {"regime": "pretrained", "size": None}
        assert (stated["regime"], stated["size"], header.settings.get("pooling")) == (regime, size, pooling)
    run = ["run", *data, "--format", "json"]
    both = [option for pooling in poolings for option in ("--pooling", pooling)]
    assert main([*run, "-m", str(untrained_bert), "--out", str(tmp_path / "run"), *both]) == 0
    expected = {}
    for row in json.loads(capsys.readouterr().out):
        pooling = row["model"].partition("pooling=")[2].rstrip(")")
        expected[pooling, row["task"][-2:], row["subset"]] = row["ndcg"]
    untuned = [cells["pretrained", None, pooling, None, None] for pooling in poolings]
    assert untuned[0].throughput is not None
    assert untuned[0].throughput == untuned[1].throughput  # all poolings come from one pass
    compared = 0
    for pooling, header in zip(poolings, untuned, strict=True):
        for (task, subset), scores in scores_of(header).items():
            assert scores["ndcg"] == pytest.approx(expected[pooling, task, subset], abs=1e-6)
            compared += 1
    assert compared == 2 * 7  # T1 and T3 in two languages, T2 in three
    tune = ["finetune", "retrieval", "-m", str(untrained_bert), "--regime", "cross-lingual", "--language", "uz"]
    tune += ["--set", "pooling=max", "--set", "evaluations=1", "--seed", "1"]
    assert main([*tune, *data, "--out", str(tmp_path / "tuned")]) == 0
    capsys.readouterr()
    assert main([*run, "-m", str(tmp_path / "tuned"), "-t", "T3", "-l", "uz", "--out", str(tmp_path / "run")]) == 0
    (score,) = (row["ndcg"] for row in json.loads(capsys.readouterr().out) if row["subset"] == "tur-uzn")
    header = cells["cross-lingual", "uz", "max", None, None]
    assert set(scores_of(header)) == {("T1", "tur-uzn"), ("T2", "uzn"), ("T3", "tur-uzn")}
    assert (header.training.language, header.training.seed) == ("uz", 1)
    assert header.training.outcome["steps"] > 0
    assert header.scores("T3", "tur-uzn")["ndcg"] == pytest.approx(score, abs=1e-6)


def test_records_give_their_scores_again_also_by_seqeval(finished, grid_data):
    dataset = open_dataset(str(grid_data))
    sizes = {}
    for path in find_records(finished[1] / "records"):
        record = read_record(path, dataset)
        assert score_record(record)
        assert (record.header.data.path, record.header.versions) == (str(grid_data), installed_versions())
        for (task, language), tags in record.predictions.items():
            if task == SPANS:
                sizes.setdefault(language, set()).add(record.header.training.size)
                gold = [list(sentence.tags) for sentence in dataset.test_sentences(language).rows]
                stated = record.header.scores(SPANS, language)
                tagged = [[TAG_LETTERS[letter] for letter in letters] for letters in tags.letters]
                assert stated["span_f1"] == pytest.approx(f1_score(gold, tagged, zero_division=0))
                assert stated["n_sentences"] == len(gold)
                assert record.header.training.language == "tr"
    assert sizes == {"tr": {"all"}, "az": {0, 5, "all"}}


def test_an_adaptation_goes_on_from_the_saved_checkpoint(finished, grid_data, tmp_path):
    file, out = finished[0], shutil.copytree(finished[1], tmp_path / "out")
    (path,) = out.glob("records/*-from-tr-az-all-1-*")
    before = read_record(path, open_dataset(str(grid_data)))
    path.unlink()
    others = stamps(out)
    (checkpoint,) = (out / "checkpoints").iterdir()
    weights = (checkpoint / "model.safetensors").stat().st_mtime_ns
    assert grid("run", file, out) == 0
    after = read_record(path, open_dataset(str(grid_data)))
    assert after.predictions[SPANS, "az"].letters == before.predictions[SPANS, "az"].letters
    assert after.header.training == before.header.training
    assert others.items() <= stamps(out).items()
    assert (checkpoint / "model.safetensors").stat().st_mtime_ns == weights


def test_status_and_a_second_run_compute_nothing_and_another_major_version_is_said(finished, capsys, monkeypatch):
    before = stamps(finished[1])
    for command in ("status", "run"):
        assert grid(command, *finished) == 0
        title, heading, first, *_ = (printed := capsys.readouterr().out).splitlines()
        assert f"{N_CELLS} cells: {N_CELLS} done\nnothing is missing" in printed
        assert title.split() == ["done/failed/missing"]
        assert heading.split() == ["model", "pretrained", "tr-only", "monolingual", "cross-lingual", "from-tr"]
        assert first.split()[1:] == ["2/0/0", "2/0/0", "4/0/0", "4/0/0", "4/0/0"]
        assert "another version:" not in printed
    assert stamps(finished[1]) == before
    later = installed_versions() | {"torch": "99.0"}
    monkeypatch.setattr("turkic_idiom_tasks.results.record.installed_versions", lambda: later)
    assert grid("status", *finished) == 0
    printed = capsys.readouterr().out
    assert f"{N_CELLS} finished cells were computed with torch " in printed
    assert printed.count("another version:") == 1
    assert f"{N_CELLS} cells: {N_CELLS} done" in printed


@pytest.mark.long
def test_the_state_of_a_grid_is_shown_without_torch(finished):
    file, out = finished
    code = (
        "import sys; from turkic_idiom_tasks.cli import main; main(sys.argv[1:])\n"
        "print(sorted({'torch', 'mteb', 'transformers', 'sklearn'} & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "grid", "status", str(file), "--out", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{N_CELLS} cells: {N_CELLS} done" in run.stdout
    assert run.stderr.strip() == "[]"


def test_a_longer_grid_computes_only_what_is_new_and_estimates_its_time(finished, untrained_bert, tmp_path, capsys):
    more = retrieval_part([untrained_bert], poolings=["first_last", "max", "mean"], seeds=[2, 1])
    file = write_grid_file(tmp_path, retrieval=more, span=span_part([untrained_bert], seeds=[1, 2], sizes=[7, 5]))
    states = open_file(file, finished[1]).states()
    for cell, state in states.items():
        is_new = cell.seed == 2 or cell.pooling == "first_last" or cell.size == 7
        assert state == (MISSING if is_new else DONE), cell
    assert list(states.values()).count(DONE) == N_CELLS
    slower = retrieval_part([untrained_bert], training={"learning_rate": 1e-5})
    states = open_file(write_grid_file(tmp_path, retrieval=slower), finished[1]).states()
    assert {cell.regime for cell, state in states.items() if state == DONE} == {"pretrained"}
    part = retrieval_part([untrained_bert], seeds=[1, 2], regimes=["pretrained", "tr-only"], poolings=["mean"])
    assert grid("status", write_grid_file(tmp_path, retrieval=part), finished[1]) == 0
    printed = capsys.readouterr().out
    assert "3 cells: 2 done, 1 missing" in printed
    took = headers(*finished)["tr-only", None, "mean", None, None].seconds  # of the finished cell of the same kind
    assert f"about {took:.0f} s of work for 1 missing cells" in printed


@pytest.mark.long
def test_the_tables_are_of_the_languages_that_the_grid_trains_on(finished, tmp_path, capsys):
    file, out = finished[0], shutil.copytree(finished[1], tmp_path / "out")
    assert grid("tables", file, out) == 0
    assert "nDCG over az, uz" in capsys.readouterr().out
    assert "<svg" in (out / "tables" / "figure2_t1.svg").read_text()
    with (out / "tables" / "scores.csv").open() as table:
        assert {row["task"] for row in csv.DictReader(table)} == {"T1", "T2", "T3", "spans"}
    with (out / "tables" / "table2_source.csv").open() as table:
        (row,) = csv.DictReader(table)
    span_f1 = headers(file, out)["from-tr", None, None, "tr", "all"].scores(SPANS, "tr")["span_f1"]
    assert float(row["span F1"]) == pytest.approx(span_f1)


def test_a_third_kind_is_one_entry_in_the_table_of_kinds_and_its_failure_shows_no_key(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(KINDS, "toy", ToyCells)
    monkeypatch.setenv("TOY_API_KEY", "no such idiom")  # which is what the cell says
    file = write_grid_file(tmp_path, toy={"n": 3, "fails": [1]})
    assert grid("run", file, tmp_path / "out") == 1
    printed = capsys.readouterr().out
    assert "3 cells: 2 done, 1 failed" in printed
    assert "failed: toy, toy/model-1, pretrained, seed 1: ZeroDivisionError: ***" in printed
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b'"no such idiom' not in path.read_bytes().replace(b"('", b'("')


def test_what_a_command_cannot_use_is_one_line(finished, untrained_bert, tmp_path, capsys):
    file, out = finished
    other = small_lexicon(tmp_path / "other", seed=5)
    damaged = shutil.copytree(out, tmp_path / "damaged")
    (path,) = damaged.glob("records/*-from-tr-tr-all-1-*")
    path.write_text("{")
    unnamed = shutil.copytree(out, tmp_path / "unnamed")
    (unnamed / "grid.json").write_text("{}")
    uzbek = write_grid_file(tmp_path, span=span_part([untrained_bert], language="uz"))
    new, busy = tmp_path / "new", tmp_path / "busy"
    cases = [
        ("run", file, out, ["--data", str(other)], 2, "holds results of other data"),
        ("tables", file, damaged, [], 1, f"{path.name}: a gzip file that is cut short; delete the file"),
        ("run", file, unnamed, [], 1, "grid.json: damaged; delete it"),
        ("tables", file, new, [], 1, "no cell of this grid is finished; begin with `turkic-idiom"),
        ("status", uzbek, new, [], 1, "no annotated uz sentences to train on; found tr, az"),
        ("run", file, busy, [], 2, "another run works in it"),
    ]
    with locked(busy / LOCK):
        for command, grid_file, folder, options, code, message in cases:
            assert grid(command, grid_file, folder, *options) == code, message
            (line,) = capsys.readouterr().err.splitlines()
            assert message in line
    assert [path.name for path in busy.iterdir()] == [LOCK]


def test_failing_cells_are_recorded_stop_no_other_and_are_retried_when_asked(untrained_bert, tmp_path, capsys):
    absent = tmp_path / "comes-later"
    part = retrieval_part([absent, untrained_bert], regimes=["pretrained"], poolings=["mean"])
    file, out = write_grid_file(tmp_path, retrieval=part), tmp_path / "out"
    assert grid("run", file, out) == 1
    first = capsys.readouterr().out
    assert "2 cells: 1 done, 1 failed" in first
    assert f"failed: retrieval, {absent}, pretrained, mean: {absent}: no such folder" in first
    assert grid("run", file, out) == 1  # is not tried again by itself
    assert "2 cells: 1 done, 1 failed" in capsys.readouterr().out
    absent.symlink_to(untrained_bert)
    assert grid("status", file, out) == 0
    assert "2 cells: 1 done, 1 missing" in capsys.readouterr().out  # with another content it is another cell
    assert grid("run", file, out, "--retry-failed") == 0
    again = capsys.readouterr().out
    assert "2 cells: 2 done" in again
    label, advised = again.splitlines()[-1].split(" ", 1)
    assert label == "Tables:"
    assert main(shlex.split(advised)[1:]) == 0


def test_a_training_that_diverges_is_said_and_keeps_the_untuned_weights(untrained_bert, tmp_path, capsys):
    part = retrieval_part([untrained_bert], regimes=["pretrained", "tr-only"], poolings=["mean"],
                          training={"learning_rate": 1e30})  # fmt: skip
    file, out = write_grid_file(tmp_path, retrieval=part), tmp_path / "out"
    assert grid("run", file, out) == 0
    assert "mean: no tuned weights could be scored; loss or vectors were not finite at step" in capsys.readouterr().out
    untuned, tuned = map(scores_of, headers(file, out).values())
    assert tuned == untuned


@pytest.mark.long
@pytest.mark.slow
def test_real_cells_run_on_ray_as_they_run_here(finished, untrained_bert, tmp_path, ray_address, monkeypatch):
    """Toy cells are killed there; see test_ray.py."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    untuned = retrieval_part([untrained_bert], regimes=["pretrained"])
    file, out = write_grid_file(tmp_path, retrieval=untuned, span=span_part([untrained_bert])), tmp_path / "out"
    assert grid("run", file, out, "--address", ray_address) == 0
    expected, found = headers(*finished), headers(file, out)
    assert len(found) == 2 + 4
    for key, header in found.items():
        for of_subset, scores in scores_of(header).items():
            assert scores == pytest.approx(scores_of(expected[key])[of_subset], abs=1e-6, nan_ok=True), key


@pytest.mark.long
def test_killed_before_any_write_it_goes_on_with_the_same_command(toy_data, tmp_path):
    """Finished cells stay untouched, the others are run, a failed one is known; no temporary file is left."""
    settings = {"n": 3, "together": 2, "fails": (1,)}
    folders = iter(tmp_path / str(number) for number in range(1000))
    current = []

    def prepare():
        current[:] = [next(folders)]

    def run():
        for _ in open_toys(current[0], toy_data, **settings).run():
            pass

    n_kills, n_finished = 0, set()
    for _ in every_kill(prepare, run, below=tmp_path):
        n_kills += 1
        before = stamps(current[0])
        n_finished.add(len(before))
        run()
        grid = open_toys(current[0], toy_data, **settings)
        assert {cell.seed: state for cell, state in grid.states().items()} == {0: DONE, 1: FAILED, 2: DONE}
        assert [outcome.error for job in grid.jobs for outcome in job.ended() if outcome.error] == [
            "ZeroDivisionError: no such idiom"
        ]
        assert before.items() <= stamps(current[0]).items()
        assert len(stamps(current[0])) == 2
        assert not list(current[0].rglob(".tmp-*"))
    assert n_kills > 10
    assert n_finished == {0, 1, 2}
