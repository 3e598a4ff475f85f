"""`turkic-idiom submit` on true results: the suite's own, stock mteb's and lm-eval's, and a span grid's."""

import gzip
import json
import shutil
from importlib.metadata import version

import pytest

from leaderboard.rescore import rescore
from leaderboard.submission import load_submission
from leaderboard.submit import SubmitOptions, submit
from tests.leaderboard.conftest import read_lines
from tests.span_detection.conftest import first_letter_classifier, make_classifier  # noqa: F401
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.span_grid import SpanGrid, run_grid
from turkic_idiom_tasks.finetuning.span import SpanConfig
from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE
from turkic_idiom_tasks.retrieval.suite import RunOptions, run_suite
from turkic_idiom_tasks.span_detection.sentences import open_spans

GRAMS, BM25 = "turkic-idiom/char-ngrams", "mteb/baseline-bm25s"
SAID = {"contact": "@me", "training_data": "Wikipedia; no idiom of the benchmark"}


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def once(folder, run, arguments, **options):
    """Runs a command for the whole module, the first time that it is asked for."""
    if not folder.is_dir():
        done = run(*arguments, **options)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def bert(shared_folder, submission_lexicon, untrained_bert):
    """Results of the suite of an untrained BERT under two poolings, cut at five documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_VARIABLE, str(submission_lexicon))
        options = RunOptions(("T1",), shared_folder / "bert", poolings=("mean", "cls"), top_k=5)
        run_suite([str(untrained_bert)], options)
    return shared_folder / "bert"


@pytest.fixture
def packed(tmp_path, submission_gold):
    """A function that submits and returns the records."""

    def run(*places, **said):
        written = submit(list(places), SubmitOptions(tmp_path / "out", **(SAID | said)), gold=submission_gold)
        for folder, record in written:
            again = rescore(load_submission(folder, submission_gold), submission_gold)
            assert again.metadata == record.metadata
            assert [one.scores for one in again.subsets] == [one.scores for one in record.subsets]
        return [record for _, record in written]

    return run


def stored(folder, task):
    (path,) = folder.rglob(f"{task}.json")
    return {row["hf_subset"]: row for row in json.loads(path.read_text())["scores"]["test"]}


def mains(record, task):
    return {one.subset: one.main for one in record.of_task(task)}


@pytest.mark.slow
def test_results_of_the_suite_by_the_commands(command, submission_run, tmp_path):
    arguments = ("turkic-idiom", "submit", submission_run, "--out", tmp_path / "out")
    refused = command(*arguments)
    assert refused.returncode == 2
    assert "add --training-data: what it was trained on" in refused.stderr
    assert "--contact: how you want to be reached" in refused.stderr
    assert not list((tmp_path / "out").glob("*"))
    done = command(*arguments, "--contact", "@me", "--training-data", "none")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "out").iterdir()
    assert done.stdout.startswith(f"{folder}\n  {GRAMS}, revision 1, baseline, pretrained, 0 parameters\n")
    metadata = json.loads((folder / "submission.json").read_text())
    assert (metadata["contact"], metadata["training_data"], metadata["regime"]) == ("@me", "none", "pretrained")
    packages = ("turkic-idiom-tasks", "mteb", "sentence-transformers", "transformers", "torch")
    assert metadata["versions"] == {package: version(package) for package in packages}
    assert {path.name for path in folder.iterdir()} == {"submission.json", "T1.jsonl.gz"}
    bad = shutil.copytree(folder, tmp_path / "bad" / folder.name)
    content = gzip.decompress((bad / "T1.jsonl.gz").read_bytes()).replace(b'"tur:', b'"xxx:', 2)
    (bad / "T1.jsonl.gz").write_bytes(gzip.compress(content))
    checked = command("turkic-idiom", "leaderboard", "check", tmp_path / "out", bad)
    assert checked.returncode == 1, checked.stderr
    assert checked.stdout.startswith(f"{folder}: ok\n")
    for subset, row in stored(submission_run, "TurkicIdiomT1").items():
        assert f"{subset} {row['ndcg']:.4f} [" in checked.stdout
    for line in (2, 3):
        assert f"{bad / 'T1.jsonl.gz'}:{line}: tur-azj has no query 'xxx:" in checked.stdout
    assert "Traceback" not in checked.stderr


@pytest.mark.slow
def test_one_submission_for_each_pooling_and_cut_rankings_say_so(bert, packed, submission_gold, tmp_path):
    with pytest.raises(InputError, match="add --regime: which supervision"):
        packed(bert)  # a checkpoint in a folder may have been tuned
    records = packed(bert, regime="tr-only", name="my/bert", n_parameters=7)
    assert [record.metadata.pooling for record in records] == ["cls", "mean"]
    assert {(r.metadata.name, r.metadata.regime, r.metadata.type) for r in records} == {
        ("my/bert", "tr-only", "encoder")
    }
    assert {record.metadata.n_parameters for record in records} == {7}
    revision = records[0].metadata.revision
    assert len(revision) == 40  # of its files
    for record in records:
        assert [one.cut for one in record.subsets] == [5, 5]
    (mean,) = packed(bert, regime="other", name="my/bert", poolings=("mean",))
    assert mean.metadata.pooling == "mean"
    assert mains(mean, "T1") == mains(records[1], "T1")
    written = {}
    for record in records:
        (path,) = bert.glob(f"results/*pooling={record.metadata.pooling}*/*/TurkicIdiomT1.rankings.jsonl.gz")
        written[record.id] = [(row["query"], row["documents"]) for row in read_lines(path)[1:]]
        documents, found = [], []
        for row in read_lines(tmp_path / "out" / record.id / "T1.jsonl.gz"):
            documents = row.get("documents", documents)
            named = [[documents[p] for p in (g if isinstance(g, list) else [g])] for g in row.get("ranking", ())]
            found += [(row["query"], [group if len(group) > 1 else group[0] for group in named])] if named else []
        assert sorted(found) == sorted(written[record.id])
        for one in record.subsets:  # what does not look further than the cut is what the suite has computed
            row = stored(path.parent, "TurkicIdiomT1")[one.subset]
            for name in ("recall_at_1", "recall_at_5"):
                assert one.scores[name] == pytest.approx(row[name], abs=1e-9)
    assert written[records[0].id] != written[records[1].id]
    with pytest.raises(InputError, match="--pooling max: not in the results; they have cls, mean"):
        packed(bert, regime="tr-only", name="my/bert", poolings=("max",))


@pytest.mark.slow
def test_predictions_of_stock_mteb(command, packed, shared_folder, submission_lexicon):
    folders = ("--output-folder", shared_folder / "mteb", "--prediction-folder", shared_folder / "predictions")
    once(shared_folder / "mteb", command, ("mteb", "run", "-m", BM25, "-t", "TurkicIdiomT1", "TurkicIdiomT2", *folders),
         data=submission_lexicon)  # fmt: skip
    (shared_folder / "predictions" / "STS12_predictions.json").write_text("{}")  # a task of others is left alone
    with pytest.raises(InputError, match=r"TurkicIdiomT1_predictions.json: does not say which data .* --output-folder"):
        packed(shared_folder / "predictions")
    (record,) = packed(shared_folder / "predictions", shared_folder / "mteb")
    assert (record.metadata.name, record.metadata.type, record.metadata.n_parameters) == (BM25, "baseline", 0)
    assert {"mteb", "torch", "transformers"} <= set(record.metadata.versions)
    for task in ("T1", "T2"):
        rows = stored(shared_folder / "mteb", f"TurkicIdiom{task}")
        assert set(mains(record, task)) == set(rows)
        for one in record.of_task(task):
            assert one.cut is None
            for name, value in one.scores.items():
                assert value == pytest.approx(rows[one.subset][name], abs=1e-6)


@pytest.fixture
def samples(command, shared_folder, submission_lexicon, first_letter_classifier):  # noqa: F811
    arguments = (
        "lm-eval", "run", "--model", "token-classifier", "--model_args", f"pretrained={first_letter_classifier}",
        "--tasks", "turkic_idiom_span_tr", "turkic_idiom_span_az", "turkic_idiom_span_tr_xml",
        "--output_path", shared_folder / "lm", "--log_samples",
    )  # fmt: skip
    return once(shared_folder / "lm", command, arguments, data=submission_lexicon, OMP_NUM_THREADS="1")


@pytest.mark.slow
def test_samples_of_stock_lm_eval(packed, samples, tmp_path, bert):
    (results,) = samples.rglob("results_*.json")
    with pytest.raises(InputError, match="say with --name ORG/NAME how to call it publicly"):
        packed(samples)
    with pytest.raises(InputError, match="add --regime"):
        packed(samples, name="my/tagger")
    with pytest.raises(
        InputError, match=r"two results of spans, tr: .*samples_turkic_idiom_span_tr_.*; name the files"
    ):
        packed(samples, name="my/tagger", regime="tr-only")
    for path in samples.rglob("samples_turkic_idiom_span_tr_xml_*"):
        path.rename(tmp_path / path.name)
    (record,) = packed(samples, name="my/tagger", regime="tr-only")
    stock = json.loads(results.read_text())
    assert record.metadata.type == "token-classifier"
    assert record.metadata.n_parameters == stock["config"]["model_num_parameters"]
    assert set(record.metadata.versions) == {"lm-eval", "transformers"}
    assert [one.subset for one in record.subsets] == ["tr", "az"]
    for one in record.subsets:
        row = stock["results"][f"turkic_idiom_span_{one.language}"]
        for name, value in one.scores.items():
            assert value == pytest.approx(row[f"{name},strict"], abs=1e-12)
        ends = (row["span_f1_ci_low,strict"], row["span_f1_ci_high,strict"])
        assert (one.low, one.high) == pytest.approx(ends, abs=1e-12)
    assert 0 < record.subsets[0].main < 1
    # with the rankings of the same model: one submission
    together = packed(samples, bert, name="my/both", regime="tr-only", type="encoder", poolings=("mean",))
    revision = together[0].metadata.revision
    assert [(r.metadata.pooling, r.metadata.revision) for r in together] == [("mean", revision)]
    assert [one.task for one in together[0].subsets] == ["T1", "T1", "spans", "spans"]
    apart = packed(samples, bert, name="my/three", regime="tr-only", type="encoder")
    assert [[one.task for one in r.subsets] for r in apart] == [["T1", "T1"]] * 2 + [["spans", "spans"]]
    (path,) = samples.rglob("samples_turkic_idiom_span_az_*")
    shutil.copytree(samples, tmp_path / "limited")
    (cut,) = (tmp_path / "limited").rglob(path.name)
    cut.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(InputError, match=r"make no whole submission: .*az: . of its sentence ids are missing"):
        packed(tmp_path / "limited", name="my/cut", regime="tr-only")


@pytest.fixture(scope="module")
def grid(shared_folder, submission_lexicon, untrained_bert):
    made = SpanGrid(
        (str(untrained_bert),), shared_folder / "grid", open_spans(str(submission_lexicon)), ("tr", "az", "uz"),
        sizes=(5,), seeds=(1, 2), config=SpanConfig(epochs=1, learning_rate=5e-3),
    )  # fmt: skip
    assert run_grid(made) == {}
    return made


@pytest.mark.slow
def test_a_classifier_joins_the_rankings_of_an_encoder_that_was_tuned_from_the_same_model(packed, grid, bert, tmp_path):
    (turkish,) = (grid.output / "cells").glob("*-tr-all-1-*.json")
    (tmp_path / "cells").mkdir()
    cell = json.loads(turkish.read_text()) | {"model_revision": "f" * 40}  # other weights than those that rank
    (tmp_path / "cells" / turkish.name).write_text(json.dumps(cell))
    said = {"name": "my/joined", "type": "encoder", "poolings": ("mean",)}
    (joined,) = packed(tmp_path / "cells", bert, regime="tr-only", **said)
    assert [one.task for one in joined.subsets] == ["T1", "T1", "spans"]
    assert joined.metadata.revision not in (None, "f" * 40)
    apart = packed(tmp_path / "cells", **said | {"name": "my/apart", "poolings": ()}, regime="tr-only")
    assert apart[0].metadata.revision == "f" * 40


@pytest.mark.slow
def test_cells_of_a_span_grid(packed, grid):
    found = packed(grid.output, name="my/bert")
    shots = {(r.metadata.regime, r.metadata.few_shot): [one.subset for one in r.subsets] for r in found}
    assert shots == {
        ("tr-only", 0): ["tr", "az", "uz"],  # the checkpoint as it is
        ("few-shot", 5): ["az", "uz"],
        ("cross-lingual", None): ["tr", "az", "uz"],  # each with all that there is of its own
    }
    cells = [json.loads(path.read_text()) for path in (grid.output / "cells").glob("*.json")]
    for record in found:
        assert record.metadata.type == "token-classifier"
        assert "transformers" in record.metadata.versions
        for one in record.subsets:
            size = "all" if one.language == "tr" or record.metadata.few_shot is None else record.metadata.few_shot
            (cell,) = [c for c in cells if (c["language"], c["size"], c["seed"]) == (one.language, size, 1)]
            assert one.main == pytest.approx(cell["scores"]["span_f1"], abs=1e-12)
    other = packed(grid.output, name="my/other", seed=2)
    assert len(other) == 3
    with pytest.raises(InputError, match="--seed 3: not in the results; they have 1, 2"):
        packed(grid.output, name="my/other", seed=3)
    turkish = list((grid.output / "cells").glob("*-tr-all-1-*.json"))
    (alone,) = packed(*turkish, name="my/turkish")
    assert (alone.metadata.regime, [one.subset for one in alone.subsets]) == ("tr-only", ["tr"])


@pytest.mark.slow
def test_what_cannot_be_packed(bert, packed, tmp_path, submission_gold_of):
    said = {"regime": "other", "name": "my/bert", "poolings": ("mean",)}
    with pytest.raises(InputError, match=r"predictions for other data \(revision .* name the data with --data"):
        submit([bert], SubmitOptions(tmp_path / "out", **SAID), gold=submission_gold_of(""))
    for place in ("absent", "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(InputError, match=r"absent: no such file or folder|empty: nothing to submit; expected"):
            packed(tmp_path / place)
    with pytest.raises(InputError, match=r"--regime zero-shot: unknown; known: pretrained"):
        packed(bert, regime="zero-shot")
    with pytest.raises(InputError, match=r"submission.json: 'contact': has the character"):
        packed(bert, **said, contact="a\x07b")
    copy = shutil.copytree(bert, tmp_path / "copy")
    with pytest.raises(InputError, match=r"two results of T1, tur-azj: .* name the files of one of them"):
        packed(bert, copy, **said)
    path = next(copy.rglob("TurkicIdiomT1.rankings.jsonl.gz"))
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    with pytest.raises(InputError, match=r"TurkicIdiomT1.rankings.jsonl.gz: not a ranking file"):
        packed(copy, **said)
    path.write_bytes(content)
    path.with_name("TurkicIdiomT1.json").unlink()
    with pytest.raises(InputError, match=r"no TurkicIdiomT1.json beside it; the run was not finished"):
        packed(copy, **said)
    assert list((tmp_path / "out").glob(".*")) == list((tmp_path / "out").glob("*")) == []
    packed(bert, **said)
    with pytest.raises(InputError, match=r"exists already; remove it or choose another --out"):
        packed(bert, **said)


@pytest.mark.slow
def test_the_same_results_are_the_same_bytes(bert, packed, tmp_path):
    found = []
    for _ in range(2):
        packed(bert, name="my/bert", regime="other")
        files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
        found.append([(path.relative_to(tmp_path), path.read_bytes()) for path in files])
        shutil.rmtree(tmp_path / "out")
    assert len(found[0]) == 4
    assert found[0] == found[1]
