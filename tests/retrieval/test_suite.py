"""`turkic-idiom run` as a user runs it, with the real MiniLM where a real encoder matters."""

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.retrieval.test_stock_mteb import RANDOM, by_subset, results
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.metrics.ranking import score_rankings
from turkic_idiom_tasks.retrieval.relevance import build_retrieval
from turkic_idiom_tasks.splits import retrieval_split

BASELINE = "turkic-idiom/char-ngrams"
POOLINGS = ("cls", "mean", "max", "first_last", "last_four")
TASKS = ("TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3")


def records(run):
    assert run.returncode == 0, run.stderr
    return list(csv.DictReader(io.StringIO(run.stdout)))


def result_of(folder, model, task):
    (path,) = [path for path in folder.rglob(f"{task}.json") if f"/{model}/" in path.as_posix()]
    return json.loads(path.read_text())


def test_suite_equals_stock_mteb_for_every_pooling(command, tmp_path, lexicon_directory, minilm):
    """Our one pass against five stock commands, whose poolings are stock sentence-transformers modules."""
    suite = command(
        "turkic-idiom", "run", "-m", minilm, "--pooling", "all", "-o", tmp_path / "suite", "--data", lexicon_directory
    )
    assert suite.returncode == 0, suite.stderr
    registered = {"TURKIC_IDIOM_MODELS": f"me/minilm={minilm}"}
    for pooling in ("max", "first_last", "last_four"):
        name = f"me/minilm (pooling={pooling})"
        arguments = ("run", "-m", name, "-t", *TASKS, "--output-folder", tmp_path / pooling)
        stock = command("mteb", *arguments, data=lexicon_directory, **registered)
        assert stock.returncode == 0, stock.stderr
        for task in TASKS:
            ours = by_subset(result_of(tmp_path / "suite", f"local__{minilm.name}_(pooling={pooling})", task))
            theirs = by_subset(results(tmp_path / pooling, task))
            assert set(ours) == set(theirs)
            for subset, row in theirs.items():
                for score in ("ndcg", "ndcg_at_10", "mrr", "recall_at_5", "ndcg_floor", "n_queries"):
                    assert ours[subset][score] == pytest.approx(row[score], abs=1e-5), (pooling, task, subset, score)


def test_native_pooling_is_the_models_own(command, tmp_path, lexicon_directory, minilm):
    from sentence_transformers import SentenceTransformer

    run = command("turkic-idiom", "run", "-m", minilm, "-t", "T2", "--format", "csv", "--data", lexicon_directory)
    found = {row["subset"]: row for row in records(run)}
    lexicon = load_lexicon(lexicon_directory)
    model = SentenceTransformer(str(minilm), device="cpu")
    for subset in ("tur", "azj", "uzn"):
        data = build_retrieval(lexicon, "T2", subset)
        queries = model.encode(list(data.queries.values()), normalize_embeddings=True)
        documents = model.encode(list(data.documents.values()), normalize_embeddings=True)
        ids = list(data.documents)
        relevant = [[ids.index(document) for document in data.qrels[query]] for query in data.queries]
        expected = score_rankings(queries @ documents.T, relevant).means()
        assert float(found[subset]["ndcg"]) == pytest.approx(expected["ndcg"], abs=1e-5)


def test_table_csv_and_json_say_the_same(command, tmp_path, lexicon_directory):
    arguments = ("turkic-idiom", "run", "-m", BASELINE, "-m", RANDOM, "--data", lexicon_directory)
    table = command(*arguments)
    assert table.returncode == 0, table.stderr
    rows = records(command(*arguments, "--format", "csv"))
    values = json.loads(command(*arguments, "--format", "json").stdout)
    assert [(row["model"], row["task"], row["subset"]) for row in rows] == [
        (row["model"], row["task"], row["subset"]) for row in values
    ]
    assert {row["subset"] for row in rows if row["task"] == "TurkicIdiomT2"} == {"tur", "azj", "uzn", "mean"}
    for row in values:
        assert row["ndcg_low"] <= row["ndcg"] <= row["ndcg_high"]
        if row["subset"] != "mean":
            assert f"{row['ndcg']:.3f} [{row['ndcg_low']:.3f}, {row['ndcg_high']:.3f}]" in table.stdout
    assert "not in this data: tur-tuk tur-gag" in table.stdout
    assert "* fewer than 30 queries" in table.stdout


def test_t1_is_also_scored_apart_for_pairs_without_a_common_word(command, tmp_path):
    """A lexicon of two test concepts: one whose idioms share `göz`, one whose idioms share nothing."""
    concepts = [f"t-{n}" for n in range(200) if retrieval_split(f"t-{n}") == "test"][:2]
    words = {"tr": ["göz yummak", "küplere binmek"], "az": ["göz yummaq", "özündən çıxmaq"]}
    entries = {
        code: [Entry(concept, idiom) for concept, idiom in zip(concepts, found, strict=True)]
        for code, found in words.items()
    }
    write_lexicon(tmp_path / "two", [Concept(concept, "") for concept in concepts], entries)
    arguments = ("turkic-idiom", "run", "-m", BASELINE, "-t", "T1", "--data", tmp_path / "two")
    row = json.loads(command(*arguments, "--format", "json").stdout)[0]
    assert row["n_no_shared_stem"] == 1
    assert row["ndcg"] == pytest.approx((row["ndcg_shared_stem"] + row["ndcg_no_shared_stem"]) / 2)
    assert row["ndcg_shared_stem"] == 1.0  # the baseline finds the cognate
    table = command(*arguments).stdout
    assert "queries that share a stem / do not" in table
    assert "1 / 1" in table


def test_a_file_with_one_cut_subset_says_so(command, tmp_path, lexicon_directory):
    arguments = ("turkic-idiom", "run", "-m", BASELINE, "-t", "T1", "--data", lexicon_directory)
    assert command(*arguments, "-l", "az", "--top-k", 3).returncode == 0
    assert command(*arguments, "-l", "uz").returncode == 0
    (path,) = (tmp_path / "results").rglob("TurkicIdiomT1.rankings.jsonl.gz")
    head, *lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert {line["subset"] for line in lines} == {"tur-azj", "tur-uzn"}
    assert head["top_k"] == 3


def test_rankings_recompute_every_score(command, tmp_path, lexicon_directory):
    assert command("turkic-idiom", "run", "-m", BASELINE, "--data", lexicon_directory).returncode == 0
    (path,) = (tmp_path / "results").rglob("TurkicIdiomT1.rankings.jsonl.gz")
    head, *lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert (head["model"], head["task"], head["top_k"]) == (BASELINE, "TurkicIdiomT1", None)
    stored = by_subset(result_of(tmp_path / "results", "turkic-idiom__char-ngrams", "TurkicIdiomT1"))
    lexicon = load_lexicon(lexicon_directory)
    for subset, row in stored.items():
        data = build_retrieval(lexicon, "T1", subset)
        ids = list(data.documents)
        ranked = {line["query"]: line["documents"] for line in lines if line["subset"] == subset}
        assert set(ranked) == set(data.queries)
        similarities = np.full((len(ranked), len(ids)), np.nan)
        for position, query in enumerate(data.queries):
            for rank, group in enumerate(ranked[query]):
                for document in [group] if isinstance(group, str) else group:
                    similarities[position, ids.index(document)] = -rank
        assert not np.isnan(similarities).any()  # the whole pool is there
        relevant = [[ids.index(document) for document in data.qrels[query]] for query in data.queries]
        for name, value in score_rankings(similarities, relevant).means().items():
            assert row[name] == pytest.approx(value, abs=1e-6), name


def test_finished_results_are_read_not_computed(command, tmp_path, lexicon_directory):
    arguments = ("turkic-idiom", "run", "-m", BASELINE, "--format", "csv", "--data", lexicon_directory)
    first = records(command(*arguments, "-t", "T1"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("TurkicIdiomT1*")}
    again = records(command(*arguments))
    assert [row for row in again if row["task"] == "TurkicIdiomT1"] == first
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {row["task"] for row in again} == set(TASKS)
    command(*arguments, "--overwrite")
    assert all(path.stat().st_mtime_ns != before[path] for path in before)


def test_a_killed_run_continues_and_leaves_no_half_written_file(command, tmp_path, lexicon_directory, minilm):
    output = tmp_path / "results"
    arguments = ["run", "-m", minilm, "-m", BASELINE, "-m", RANDOM, "--data", lexicon_directory, "-o", output]
    process = subprocess.Popen(
        [Path(sys.executable).parent / "turkic-idiom", *map(str, arguments)],
        cwd=tmp_path,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not list(output.rglob("TurkicIdiomT2.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path: path.read_bytes() for path in output.rglob("TurkicIdiomT?.json")}
    assert finished
    for path, content in finished.items():
        json.loads(content)
        gzip.decompress(path.with_name(f"{path.stem}.rankings.jsonl.gz").read_bytes())
    rerun = command("turkic-idiom", *arguments)
    assert rerun.returncode == 0, rerun.stderr
    assert {path: path.read_bytes() for path in finished} == finished
    assert len(list(output.rglob("TurkicIdiomT?.json"))) == 9
    assert not (output / ".embeddings").exists()


def test_languages_run_one_after_the_other_are_kept(command, tmp_path, lexicon_directory):
    arguments = ("turkic-idiom", "run", "-m", BASELINE, "-t", "T1", "--format", "csv", "--data", lexicon_directory)
    azerbaijani = records(command(*arguments, "-l", "az"))
    uzbek = records(command(*arguments, "-l", "uz"))
    both = records(command(*arguments))
    assert [row["subset"] for row in both] == ["tur-azj", "tur-uzn", "mean"]
    assert both[:2] == [azerbaijani[0], uzbek[0]]
    stored = by_subset(result_of(tmp_path / "results", "turkic-idiom__char-ngrams", "TurkicIdiomT1"))
    assert set(stored) == {"tur-azj", "tur-uzn"}


def test_prompts_are_mtebs_and_shown(command, tmp_path, lexicon_directory, minilm):
    """An E5-style model: its prompts come from its own configuration, as mteb would use them, and change the scores."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm), device="cpu", prompts={"query": "query: ", "document": "passage: "})
    model.save_pretrained(str(tmp_path / "e5like"))
    run = command("turkic-idiom", "run", "-m", tmp_path / "e5like", "-t", "T2", "-l", "uz", "--format", "csv",
                  "--data", lexicon_directory)  # fmt: skip
    (ours, _) = records(run)
    assert "prompts {'query': 'query: ', 'document': 'passage: '}" in run.stderr
    arguments = ("run", "-m", "me/e5like", "-t", "TurkicIdiomT2", "-l", "uzn", "--output-folder", tmp_path / "stock")
    registered = {"TURKIC_IDIOM_MODELS": f"me/e5like={tmp_path / 'e5like'}"}
    stock = command("mteb", *arguments, data=lexicon_directory, **registered)
    assert stock.returncode == 0, stock.stderr
    theirs = by_subset(results(tmp_path / "stock", "TurkicIdiomT2"))["uzn"]
    assert float(ours["ndcg"]) == pytest.approx(theirs["ndcg"], abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "parts", "exit_code"),
    [
        (("-m", BASELINE, "-t", "T9"), ["unknown task 'T9'", "TurkicIdiomT1 (T1)"], 2),
        (("-m", BASELINE, "-l", "kk"), ["unknown language 'kk'", "tr (Turkish)"], 2),
        (("-m", BASELINE, "--pooling", "min"), ["unknown pooling 'min'", "first_last"], 2),
        (("-m", BASELINE, "--pooling", "mean"), [BASELINE, "not a transformer encoder", "leave them out"], 2),
        (("-m", "sentence-transformers/all-MiniLM-L99"), ["sentence-transformers/all-MiniLM-L99", "similar names"], 2),
        (("-m", "no-such-model"), ["no-such-model"], 2),
        (("-m", "./absent-folder"), ["absent-folder: no such folder"], 2),
        (("-m", BASELINE, "--data", "./absent"), ["./absent: no such directory"], 1),
        (("-m", BASELINE, "-t", "T1", "-l", "gag"), ["no subset of T1 has the language gag"], 2),
        (("-m", BASELINE, "-o", "/proc/results"), ["/proc/results: cannot be written", "--output"], 1),
    ],
)
def test_bad_input_is_one_line(command, tmp_path, lexicon_directory, arguments, parts, exit_code):
    data = () if "--data" in arguments else ("--data", lexicon_directory)
    run = command("turkic-idiom", "run", *arguments, *data)
    assert run.returncode == exit_code, run.stderr
    assert "Traceback" not in run.stderr
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("turkic-idiom: error: ")]
    for part in parts:
        assert part in line
    assert not list(tmp_path.rglob("TurkicIdiom*.json"))


def test_scores_of_other_data_are_not_overwritten(command, tmp_path, lexicon_directory):
    assert command("turkic-idiom", "run", "-m", BASELINE, "-t", "T2").returncode == 0
    (path,) = (tmp_path / "results").rglob("TurkicIdiomT2.json")
    before = path.read_bytes()
    run = command("turkic-idiom", "run", "-m", BASELINE, "-t", "T2", "--data", lexicon_directory)
    assert run.returncode == 1
    assert "scores of other data" in run.stderr
    assert "pass --overwrite" in run.stderr
    assert path.read_bytes() == before
    path.write_text('{"dataset')
    run = command("turkic-idiom", "run", "-m", BASELINE, "-t", "T2")
    assert run.returncode == 1
    assert f"{path.relative_to(tmp_path)}: not a result file; delete it or pass --overwrite" in run.stderr


def test_top_k_cuts_the_rankings_and_is_said(command, tmp_path, lexicon_directory):
    assert (
        command("turkic-idiom", "run", "-m", RANDOM, "-t", "T1", "--top-k", "3", "--data", lexicon_directory).returncode
        == 0
    )
    (path,) = (tmp_path / "results").rglob("TurkicIdiomT1.rankings.jsonl.gz")
    head, *lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert head["top_k"] == 3
    assert {len(line["documents"]) for line in lines} == {3}


def test_help_answers_at_once():
    """No heavy package is imported for --help; the second it may take is measured by the benchmark of start-up."""
    code = (
        "import sys, time; start = time.perf_counter(); from turkic_idiom_tasks.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'mteb', 'transformers', 'datasets', 'numpy', 'sklearn', 'pyarrow'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"
    assert "run" in run.stdout
    assert "doctor" in run.stdout
