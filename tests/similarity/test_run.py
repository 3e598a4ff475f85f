"""The similarity tasks in `turkic-idiom run`: one pass with the retrieval tasks, records, and what is wrong in them."""

import io
import json
import math

import mteb
import pytest
from rich.cells import cell_len
from sentence_transformers import SentenceTransformer

from turkic_idiom_tasks import TurkicIdiomSTS
from turkic_idiom_tasks.cli.run_output import print_tables
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.report.compare import compare_results
from turkic_idiom_tasks.report.frame import report_run
from turkic_idiom_tasks.results.record import read_record
from turkic_idiom_tasks.results.scored import score_record
from turkic_idiom_tasks.runs.run import run_models
from turkic_idiom_tasks.runs.run_options import make_options

KEY = ("STS", "tur")


@pytest.fixture(scope="module")
def finished(pair_dataset, untrained_bert, tmp_path_factory):
    """A run of a tiny encoder under two poolings on T4 and STS, and its folder."""
    folder = tmp_path_factory.mktemp("finished")
    options = make_options(tasks=("T4", "STS"), poolings=("mean", "cls"), output=folder)
    return list(run_models([str(untrained_bert)], pair_dataset, options)), folder


def printed(runs, frame, overall):
    text = io.StringIO()
    print_tables(runs, frame, overall, file=text)
    return text.getvalue()


def record_of(folder, pooling):
    (path,) = [path for path in folder.rglob("TurkicIdiomSTS.tur.record.jsonl.gz") if f"={pooling})" in path.as_posix()]
    return path


def test_one_pass_gives_what_stock_mteb_gives(pair_dataset, minilm, tmp_path):
    """The mean pooling of MiniLM is its own, so mteb's evaluation of the model itself must agree."""
    options = make_options(tasks=("TurkicIdiomSTS",), poolings=("mean", "max"), output=tmp_path / "out")
    runs = list(run_models([str(minilm)], pair_dataset, options))
    stock = mteb.evaluate(SentenceTransformer(str(minilm)), TurkicIdiomSTS(dataset=pair_dataset), cache=None)
    (row,) = stock.task_results[0].scores["test"]
    ours = {run.model.partition("=")[2]: run.subsets["tur"].scores for run in runs}
    for name in ("spearman", "spearman_idiom", "spearman_general", "affinity", "accuracy", "n_pairs"):
        expected = math.nan if row[name] is None else row[name]
        assert ours["mean)"][name] == pytest.approx(expected, abs=1e-6, nan_ok=True), name
    assert ours["max)"]["affinity"] != pytest.approx(ours["mean)"]["affinity"], abs=1e-3)


def test_a_record_holds_the_similarities_and_a_second_run_reads_it(finished, pair_dataset, untrained_bert):
    runs, folder = finished
    path = record_of(folder, "mean")
    before = path.stat().st_mtime_ns
    record = read_record(path, pair_dataset)
    (scored,) = score_record(record)
    assert scored.main == record.header.scores(*KEY)["spearman"]
    assert record.header.settings["prompts"] == {"sentence": ""}
    assert record.header.throughput.n_texts == 18  # all of T4, and both poolings came from the same passes
    assert scored.n == 24  # six of each: correct, incorrect, two controls
    options = make_options(tasks=("STS",), poolings=("mean",), output=folder)
    (again,) = run_models([str(untrained_bert)], pair_dataset, options)
    assert path.stat().st_mtime_ns == before
    assert again.subsets["tur"].main == scored.main
    view = json.loads((path.parent / "TurkicIdiomSTS.json").read_text())
    assert view["dataset_revision"] == pair_dataset.revision
    assert view["scores"]["test"][0]["main_score"] == pytest.approx(scored.scores["sense_accuracy"], abs=1e-6)
    assert len({run.task for run in runs}) == 2


def test_comparing_leaves_similarity_out(finished, pair_dataset):
    _, folder = finished
    places = [record_of(folder, pooling).parent for pooling in ("mean", "cls")]
    report = compare_results(*places, pair_dataset)
    assert {row.task for row in report.rows} == {"T4"}
    with pytest.raises(InputError, match="no means over items"):
        compare_results(*places, pair_dataset, tasks=("STS",))
    (only_similarities,) = places[0].glob("*STS*.record.jsonl.gz")
    with pytest.raises(InputError, match="it has STS only; there is no paired test"):
        compare_results(only_similarities, only_similarities, pair_dataset)


def test_the_table_fits_80_columns_and_ends_with_the_headlines(finished, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    runs, _ = finished
    frame, overall = report_run(runs)
    text = printed(runs, frame, overall)
    lines = [line for line in text.splitlines() if not line.startswith("  /")]
    assert max(cell_len(line) for line in lines) <= 80
    assert "accuracy" in text
    assert any(line.split()[:4] == ["headline", "T4", "STS", "mean"] for line in lines)
    assert set(frame["task"]) == {"TurkicIdiomT4", "TurkicIdiomSTS"}
    similarity = frame[frame["task"] == "TurkicIdiomSTS"]
    assert similarity["ndcg"].isna().all()
    assert similarity["spearman"].notna().all()


@pytest.mark.parametrize("which", ["none", "one", "all"])
def test_a_footnote_stands_only_where_a_row_has_its_mark(finished, which):
    """A model whose rows would all have the mark has it once, beside its name."""
    frame, overall = report_run(finished[0])
    frame = frame.assign(interval_is_reliable=True, n_idioms=30)
    of_sts = frame.index[frame["task"] == "TurkicIdiomSTS"]
    of_first = of_sts[frame.loc[of_sts, "model"] == frame.at[of_sts[0], "model"]]
    marked = {"none": [], "one": of_first[:1], "all": of_first}[which]
    frame.loc[marked, "interval_is_reliable"] = False
    frame.loc[marked[:1], "n_idioms"] = 29
    sts = printed(finished[0], frame, overall.assign(headline_is_reliable=True)).partition("TurkicIdiomSTS")[2]
    assert sts.count("~") == (0 if which == "none" else 2)  # the mark and its note
    assert ("may be too short" in sts) == (which != "none")
    assert ("fewer than 30 idioms" in sts) == ("tur*" in sts) == (which != "none")
    assert (f"{frame.at[of_sts[0], 'model']} ~" in sts) == (which == "all")


def test_data_of_their_own_is_scored_beside_the_lexicon(pair_dataset, untrained_bert, astitch, tmp_path, monkeypatch):
    monkeypatch.setenv("ASTITCH_DATA", str(astitch))
    options = make_options(tasks=("STS", "AStitchIdiomSTS"), output=tmp_path / "out", poolings=("mean",))
    runs = {run.task: run for run in run_models([str(untrained_bert)], pair_dataset, options)}
    assert list(runs["AStitchIdiomSTS"].subsets) == ["eng", "por"]
    assert runs["AStitchIdiomSTS"].subsets["eng"].n == 5
