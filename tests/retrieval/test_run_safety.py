"""`run` killed at any point, beside another run, and over damaged results: nothing lost, nothing wrong unsaid."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.killing import all_at_once, every_kill
from tests.retrieval.conftest import rows_of
from tests.retrieval.test_stock_mteb import RANDOM, by_subset
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.record import find_records, read_header
from turkic_idiom_tasks.runs.run import run_models
from turkic_idiom_tasks.runs.run_options import make_options

VIEW = "TurkicIdiomT1.json"
FOLDER = Path("results/results/mteb__baseline-random-encoder/2")  # its vectors, and so its scores, follow the texts


def run(output, data, **options):
    """What `turkic-idiom run` does, on one thread, as the pools of libraries do not survive a fork."""
    torch.set_num_threads(1)
    return list(run_models([RANDOM], open_dataset(str(data)), make_options(tasks=["T1"], output=output, **options)))


def restore(saved, output):
    shutil.rmtree(output)
    shutil.copytree(saved, output)


def scores(runs):
    """Subset -> nDCG."""
    return {subset: scored.main for model_run in runs for subset, scored in model_run.subsets.items()}


def view_of(output):
    return json.loads(next(output.rglob(VIEW)).read_text())


def scores_in_view(output):
    return {subset: row["ndcg"] for subset, row in by_subset(view_of(output)).items()}


@pytest.mark.long
def test_a_kill_at_any_point_of_a_run_loses_nothing(tmp_path, small_lexicon):
    """Azerbaijani is finished; the run of both languages is killed before each of its writes, then started again."""
    output = tmp_path / "output"
    expected = scores(run(tmp_path / "whole", small_lexicon))
    run(output, small_lexicon, languages=["az"])
    (finished,) = find_records(output)
    content = finished.read_bytes()
    shutil.copytree(output, tmp_path / "saved")
    kills = 0
    for _ in every_kill(lambda: restore(tmp_path / "saved", output), lambda: run(output, small_lexicon), below=output):
        assert finished.read_bytes() == content
        kills += 1
        if kills % 3 == 0:  # every time would take long
            assert scores(run(output, small_lexicon)) == expected
            assert scores_in_view(output) == expected
    assert kills > 10
    assert scores(run(output, small_lexicon)) == expected
    assert not list(output.rglob(".tmp-*"))


@pytest.mark.long
def test_a_kill_while_other_data_is_written_never_shows_its_scores(tmp_path, small_lexicon, other_lexicon):
    """As in `run --overwrite --data B`, killed, and then `run` on A."""
    output = tmp_path / "output"
    small, other = (scores(run(tmp_path / name, data)) for name, data in (("a", small_lexicon), ("b", other_lexicon)))
    assert small["tur-azj"] != other["tur-azj"]
    run(output, small_lexicon)
    shutil.copytree(output, tmp_path / "saved")
    outcomes = set()
    for kill in every_kill(
        lambda: restore(tmp_path / "saved", output), lambda: run(output, other_lexicon, overwrite=True), below=output
    ):
        for data, expected in ((small_lexicon, small), (other_lexicon, other))[kill % 2 :]:
            message = ""
            try:
                found = scores(run(output, data))
            except InputError as error:
                message = str(error)
            outcomes.add("refused" if message else "read")
            assert "scores of other data" in message if message else found == expected
    assert outcomes == {"read", "refused"}
    assert scores(run(output, other_lexicon, overwrite=True)) == other
    assert view_of(output)["dataset_revision"] == open_dataset(str(other_lexicon)).revision


@pytest.mark.parametrize("name", [VIEW, "model_meta.json"])
def test_a_file_of_mteb_that_is_gone_is_written_again(tmp_path, small_lexicon, name):
    run(tmp_path, small_lexicon)
    (path,) = tmp_path.rglob(name)
    content = path.read_bytes()
    path.unlink()
    run(tmp_path, small_lexicon)
    assert path.read_bytes() == content


def test_two_runs_at_once_lose_nothing(tmp_path, small_lexicon):
    expected = scores(run(tmp_path / "alone", small_lexicon))
    for attempt in range(3):
        output = tmp_path / f"output-{attempt}"
        runs = [partial(run, output, small_lexicon, languages=[language]) for language in ("az", "uz")]
        assert all_at_once(runs) == [0, 0]
        assert len(find_records(output)) == 2
        assert scores_in_view(output) == expected


def test_other_data_that_comes_meanwhile_is_not_replaced(tmp_path, small_lexicon, other_lexicon):
    """Both runs found an empty folder; the second to finish is refused."""
    output = tmp_path / "output"

    class Interrupting:
        """Lets another run go first when this one has begun to rank."""

        is_done = False

        def progress(self, what, done=0, total=0):
            if "T1" in what and done == 0 and not self.is_done:
                self.is_done = True
                run(output, other_lexicon)

        def note(self, line):
            raise AssertionError(line)

    options = make_options(tasks=["T1"], languages=["az"], output=output)
    with pytest.raises(InputError, match="scores of other data"):
        list(run_models([RANDOM], open_dataset(str(small_lexicon)), options, reporter=Interrupting()))
    assert view_of(output)["dataset_revision"] == open_dataset(str(other_lexicon)).revision
    for path in find_records(output):
        assert read_header(path).data.revision == open_dataset(str(other_lexicon)).revision


def test_a_damaged_record_is_named_also_where_nobody_asked_for_it(turkic, small_lexicon):
    arguments = ("run", "-m", RANDOM, "-t", "T1", "--format", "csv", "--data", small_lexicon)
    first = rows_of(turkic(*arguments))
    (FOLDER / "TurkicIdiomT1.tur-uzn.record.jsonl.gz").write_bytes(b"damaged")
    azerbaijani = turkic(*arguments, "-l", "az")
    assert rows_of(azerbaijani)[0] == first[0]
    assert "TurkicIdiomT1.json is written without it" in azerbaijani.stderr
    stored = by_subset(json.loads((FOLDER / VIEW).read_text()))
    assert set(stored) == {"tur-azj", "tur-uzn"}  # what was known of the other stays
    both = turkic(*arguments)
    assert both.returncode == 1
    (line,) = both.stderr.splitlines()
    assert "TurkicIdiomT1.tur-uzn.record.jsonl.gz" in line
    assert rows_of(turkic(*arguments, "--overwrite")) == first
