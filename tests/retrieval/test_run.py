"""`turkic-idiom run` as a user runs it, with the real MiniLM where a real encoder matters."""

import csv
import gzip
import io
import json
import multiprocessing
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.retrieval.conftest import rows_of
from tests.retrieval.test_stock_mteb import RANDOM, by_subset, results
from turkic_idiom_tasks.cli.run_output import reporting
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.results.record import find_records, read_header, read_record
from turkic_idiom_tasks.runs.run import run_models
from turkic_idiom_tasks.runs.run_options import make_options

BASELINE = "turkic-idiom/char-ngrams"
BASELINE_FOLDER = Path("results/results/turkic-idiom__char-ngrams/1")
TASKS = ("TurkicIdiomT1", "TurkicIdiomT2")
SUBSETS = ("tur", "azj", "tuk", "gag", "uzn")


def rows_in_view(model, task, folder="results"):
    """Subset -> row of mteb's own file."""
    (path,) = Path(folder).glob(f"results/{model}/*/{task}.json")
    return by_subset(json.loads(path.read_text()))


def test_one_pass_equals_stock_mteb_for_every_pooling(
    turkic, stock_mteb, tmp_path, small_lexicon, minilm, register_local
):
    """Our one pass against stock commands with stock modules; without a pooling it is the model's own."""
    register_local(f"me/minilm={minilm}")
    for options in (("--pooling", "all"), ()):
        run = turkic("run", "-m", minilm, *options, "-o", "suite", "-t", "T1", "-t", "T2", "--data", small_lexicon)
        assert run.returncode == 0, run.stderr
    for suffix in ("", " (pooling=max)", " (pooling=last_four)"):
        folder = tmp_path / f"stock{suffix}"
        stock_mteb("run", "-m", f"me/minilm{suffix}", "-t", *TASKS, "--output-folder", folder, data=small_lexicon)
        for task in TASKS:
            ours = rows_in_view(f"local__{minilm.name}{suffix.replace(' ', '_')}", task, "suite")
            theirs = by_subset(results(folder, task))
            assert set(ours) == set(theirs)
            for subset, row in theirs.items():
                for score in ("ndcg", "ndcg_at_10", "mrr", "recall_at_5", "ndcg_floor", "n_queries", "main_score"):
                    assert ours[subset][score] == pytest.approx(row[score], abs=1e-5), (suffix, task, subset, score)


@pytest.mark.parametrize("width", [80, 120])
def test_table_csv_and_json_say_the_same_and_the_table_fits_the_terminal(turkic, five_languages, monkeypatch, width):
    """All five subsets of T2 beside each other."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    arguments = ("run", "-m", BASELINE, "-m", RANDOM, "--data", five_languages)
    table = turkic(*arguments)
    assert table.returncode == 0, table.stderr
    rows = rows_of(turkic(*arguments, "--format", "csv"))
    values = json.loads(turkic(*arguments, "--format", "json").stdout)
    assert len(rows) == len(values)
    for row, value in zip(rows, values, strict=True):
        assert list(row) == list(value)
        assert row == {name: "" if cell is None else str(cell) for name, cell in value.items()}
        assert value["ndcg_low"] <= value["ndcg"] <= value["ndcg_high"]
        assert f"{value['ndcg']:.3f}" in table.stdout
        assert f"{value['ndcg_low']:.3f}-{value['ndcg_high']:.3f}".replace("0.", ".") in table.stdout
    assert {row["subset"] for row in rows if row["task"] == "TurkicIdiomT2"} == {*SUBSETS, "mean"}
    assert list(rows[0])[:4] == ["model", "task", "subset", "headline"]
    lines = table.stdout.splitlines()
    folders = [line for line in lines if line.startswith("  ") and "results/results" in line]
    assert len(folders) == 2
    for line in lines:
        assert line in folders or cell_len(line) <= width
    assert "\x1b" not in table.stdout
    assert ("corrected" in table.stdout) == (width == 120)
    for part in ("random (floor)", "* fewer than 30 queries", "not in this data: tur-kaz tur-tat tur-kir\n"):
        assert part in table.stdout
    last = lines[-2:]  # a line for each model: its headlines, their mean and its interval
    assert [line.split()[0] for line in last] == [BASELINE, RANDOM]
    assert all(re.search(r" -?[01]?\.\d+ to -?[01]?\.\d+$", line.rstrip()) for line in last), last


def test_a_killed_run_continues_and_leaves_no_half_written_file(turkic, tmp_path, small_lexicon):
    arguments = ["run", "-m", BASELINE, "-m", RANDOM, "--data", small_lexicon, "-o", tmp_path / "results"]
    process = multiprocessing.get_context("fork").Process(target=turkic, args=arguments)
    process.start()
    deadline = time.monotonic() + 120
    while not list(tmp_path.rglob("TurkicIdiomT2.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.join()
    finished = {path: path.read_bytes() for path in tmp_path.rglob("*.record.jsonl.gz")}
    assert len(finished) >= 5
    for content in finished.values():
        gzip.decompress(content)
    rerun = turkic(*arguments)
    assert rerun.returncode == 0, rerun.stderr
    assert {path: path.read_bytes() for path in finished} == finished
    assert len(list(tmp_path.rglob("TurkicIdiomT?.json"))) == 6
    assert not list(tmp_path.rglob(".tmp-*"))


def test_languages_run_one_after_the_other_are_kept(turkic, small_lexicon):
    arguments = ("run", "-m", BASELINE, "-t", "T1", "--format", "csv", "--data", small_lexicon)
    azerbaijani = rows_of(turkic(*arguments, "-l", "az"))
    uzbek = rows_of(turkic(*arguments, "-l", "uz"))
    assert list(rows_in_view("turkic-idiom__char-ngrams", "TurkicIdiomT1")) == ["tur-azj", "tur-uzn"]
    both = rows_of(turkic(*arguments))
    assert [row["subset"] for row in both] == ["tur-azj", "tur-uzn", "mean"]
    assert both[:2] == [azerbaijani[0], uzbek[0]]


def test_prompts_are_shown_and_change_the_scores(turkic, tmp_path, small_lexicon, minilm):
    """An E5-style model: its prompts come from its own configuration; those of mteb: harnesses/test_mteb_loading.py."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm), device="cpu", prompts={"query": "query: ", "document": "passage: "})
    model.save_pretrained(str(tmp_path / "e5like"))
    arguments = ("-t", "T2", "-l", "uz", "--format", "csv", "--data", small_lexicon)
    run = turkic("run", "-m", "./e5like", *arguments)
    (prompted, _) = rows_of(run)
    assert "prompts {'query': 'query: ', 'document': 'passage: '}" in run.stderr
    (bare, _) = rows_of(turkic("run", "-m", minilm, *arguments))
    assert prompted["ndcg"] != bare["ndcg"]


@pytest.mark.parametrize(
    ("arguments", "parts", "exit_code"),
    [
        (("-t", "T9"), ["unknown task 'T9'", "TurkicIdiomT1 (T1)"], 2),
        (("-l", "ba"), ["unknown language 'ba'", "tr (Turkish)"], 2),
        (("--pooling", "mean"), [BASELINE, "not a transformer encoder, so no pooling applies; leave mean out"], 2),
        (("--revision", "abc"), [f"{BASELINE}: mteb pins revision 1"], 2),
        (("--set", "dtype=int8"), ["unknown dtype 'int8'", "bfloat16"], 2),
        (("--set", "first_layer=2"), ["'first_layer'", "less than or equal to 1; found 2"], 2),
        (("--set", "topk=3"), ["unknown field 'topk'", "first_layer, top_k"], 2),
        (("--set", "device=banana"), ["device=banana: unknown", "cuda:1"], 2),
        (("-m", RANDOM, "-m", "absent/one/folder"), ["no such folder"], 2),
        (("-m", RANDOM, "-m", f"{BASELINE} (pooling=avg)"), ["unknown pooling 'avg'"], 2),
        (("-m", "sentence-transformers/all-MiniLM-L99"), ["sentence-transformers/all-MiniLM-L99", "similar names"], 2),
        (("-m", "intfloat/multilingual-e5-bas"), ["could not be reached", "intfloat/multilingual-e5-base"], 2),
        (("--data", "./absent"), ["./absent: no such directory"], 1),
        (("-t", "T1", "-l", "gag"), ["no subset of T1 has the language gag"], 2),
        (("-o", "/proc/results"), ["/proc/results: cannot be written", "--out"], 1),
    ],
)
def test_bad_input_is_one_line_before_anything_is_computed(
    turkic, tmp_path, small_lexicon, untrained_bert, arguments, parts, exit_code
):
    """Also about the last of the models."""
    run = turkic("run", "--data", small_lexicon, *arguments, "-m", untrained_bert, "-m", BASELINE)
    assert run.returncode == exit_code, run.stderr
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("turkic-idiom: error: ")]
    for part in parts:
        assert part in line
    assert not (tmp_path / "results" / "results").exists()


def test_a_baseline_runs_as_it_is_beside_poolings_of_other_models(turkic, small_lexicon, untrained_bert):
    arguments = ("run", "-m", untrained_bert, "-m", BASELINE, "-t", "T1", "--data", small_lexicon, "--format", "csv")
    run = turkic(*arguments, "--pooling", "all", "--set", "dtype=bfloat16", "--set", "first_layer=0")
    models = list(dict.fromkeys(row["model"] for row in rows_of(run)))
    assert [name.partition(" ")[0] for name in models] == [f"local/{untrained_bert.name}"] * 5 + [BASELINE]
    assert f"{BASELINE}: not a transformer encoder, so these have no effect: pooling, dtype, first_layer" in run.stderr
    assert (
        f"{untrained_bert}: a local folder, so --revision has no effect"
        in turkic("run", "-m", untrained_bert, "-t", "T1", "--data", small_lexicon, "--revision", "abc").stderr
    )


def test_scores_of_models_and_tasks_before_a_failure_are_printed(turkic, pair_lexicon):
    """BM25 ranks documents, and has no similarity of two sentences."""
    models = ("-m", BASELINE, "-m", "mteb/baseline-bm25s", "-m", RANDOM)
    run = turkic("run", *models, "-t", "T4", "-t", "STS", "--data", pair_lexicon, "--format", "csv")
    assert run.returncode == 2
    assert "leave it out of TurkicIdiomSTS" in run.stderr
    scored = dict.fromkeys((row["model"], row["task"]) for row in csv.DictReader(io.StringIO(run.stdout)))
    assert list(scored) == [  # similarity comes last
        (BASELINE, "TurkicIdiomT4"), ("mteb/baseline-bm25s", "TurkicIdiomT4"), (BASELINE, "TurkicIdiomSTS")
    ]  # fmt: skip


def test_a_model_whose_vectors_are_not_finite_is_one_line(turkic, tmp_path, small_lexicon, make_untrained):
    from safetensors.torch import load_file, save_file

    folder = make_untrained(seed=5)
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"] *= float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    run = turkic("run", "-m", folder, "-t", "T1", "--data", small_lexicon)
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert "is not finite" in line
    assert not list(tmp_path.rglob("TurkicIdiom*"))


def test_scores_of_other_data_are_not_overwritten(turkic, small_lexicon, other_lexicon):
    """Whether or not records are there: a file of mteb alone is not replaced either."""
    arguments = ("run", "-m", BASELINE, "-t", "T1", "--format", "csv")
    first = rows_of(turkic(*arguments, "--data", small_lexicon))
    view = BASELINE_FOLDER / "TurkicIdiomT1.json"
    for removed in ("", "*.gz"):
        for path in BASELINE_FOLDER.glob(removed or "none"):
            path.unlink()
        before = {path: path.read_bytes() for path in BASELINE_FOLDER.iterdir()}
        run = turkic(*arguments, "--data", other_lexicon)
        assert run.returncode == 1
        assert re.search("scores of other data .*pass --overwrite", run.stderr)
        assert {path: path.read_bytes() for path in BASELINE_FOLDER.iterdir()} == before
    replaced = rows_of(turkic(*arguments, "--data", other_lexicon, "--overwrite"))
    assert [row["subset"] for row in replaced] == ["tur-azj", "mean"]
    assert list(by_subset(json.loads(view.read_text()))) == ["tur-azj"]
    view.write_text('{"dataset')
    run = turkic(*arguments, "--data", small_lexicon)
    assert run.returncode == 1
    assert f"{view}: not a result file; delete it or pass --overwrite" in run.stderr
    assert rows_of(turkic(*arguments, "--data", small_lexicon, "--overwrite")) == first
    assert set(by_subset(json.loads(view.read_text()))) == {"tur-azj", "tur-uzn"}


def test_subsets_that_stock_mteb_computed_are_kept(turkic, stock_mteb, tmp_path, small_lexicon, abstention_scores):
    stock = ("run", "-m", RANDOM, "-t", "TurkicIdiomT2", "--output-folder", tmp_path / "results")
    view = ("mteb__baseline-random-encoder", "TurkicIdiomT2")
    stock_mteb(*stock, data=small_lexicon)
    before = rows_in_view(*view)
    assert set(before) == {"tur", "azj", "uzn"}
    assert turkic("run", "-m", RANDOM, "-t", "T2", "-l", "az", "--data", small_lexicon).returncode == 0
    after = rows_in_view(*view)
    assert list(after) == ["tur", "azj", "uzn"]
    for subset in ("tur", "uzn"):
        defined = {name: value for name, value in before[subset].items() if value == value}
        assert {name: value for name, value in after[subset].items() if value is not None} == defined
    assert after["azj"]["ndcg"] == pytest.approx(before["azj"]["ndcg"], abs=1e-6)
    stock_mteb(*stock, data=small_lexicon)  # which takes the file that we wrote for finished
    assert rows_in_view(*view) == after


@pytest.mark.parametrize(
    ("change", "said", "outcome"),
    [
        (lambda header: header["settings"].update(pooling="cls"), "pooling 'cls' instead of None", "computed"),
        (lambda header: header.update(format=1), "finished results have another format; computed again", "computed"),
        (lambda header: header["subsets"][0]["scores"].pop("ndcg"), "have another format; computed again", "computed"),
        (lambda header: header["versions"].update(torch="1.9", gone="1.0"), "finished results of torch 1.9 ", "used"),
        (lambda header: header.update(seconds=3.0), "", "used"),
        (lambda header: header["model"].update(name="other/model"), "does not belong there", "refused"),
        (lambda header: header["subsets"].clear(), "does not belong there", "refused"),
    ],
)
def test_a_finished_result_is_used_again_only_if_it_was_computed_alike(turkic, small_lexicon, change, said, outcome):
    arguments = ("run", "-m", BASELINE, "-t", "T1", "--format", "csv", "--data", small_lexicon)
    first = rows_of(turkic(*arguments))
    records = find_records(Path("results"))
    for path in records:
        head, *lines = gzip.decompress(path.read_bytes()).splitlines()
        header = json.loads(head)
        change(header)
        path.write_bytes(gzip.compress(b"\n".join([json.dumps(header).encode(), *lines, b""])))
    stamps = {path: path.stat().st_mtime_ns for path in records}
    again = turkic(*arguments)
    lines = [line for line in again.stderr.splitlines() if said and said in line]
    assert len(lines) == bool(said)  # once, not for every subset
    if outcome == "refused":
        assert again.returncode == 1
    else:
        assert rows_of(again) == first
    assert ({path: path.stat().st_mtime_ns for path in records} != stamps) == (outcome == "computed")


def test_top_k_cuts_the_records_and_no_score(turkic, small_dataset, small_lexicon):
    arguments = ("run", "-m", RANDOM, "-t", "T1", "--format", "csv", "--data", small_lexicon)
    whole = rows_of(turkic(*arguments, "-o", "whole"))
    assert rows_of(turkic(*arguments, "-l", "az", "--set", "top_k=3"))[0] == whole[0]
    (path,) = find_records(Path("results"))
    before = path.read_bytes()
    assert {len(json.loads(line)["ranking"]) for line in gzip.decompress(before).splitlines()[2:]} == {3}
    again = turkic(*arguments, "-l", "az", "--set", "top_k=2")
    assert rows_of(again)[0] == whole[0]  # read, and exact
    assert path.read_bytes() == before
    more = turkic(*arguments, "--set", "top_k=0")
    assert "finished results list only 3 documents per query; computed again" in more.stderr
    assert rows_of(more) == whole
    assert read_record(path, small_dataset).predictions["T1", "tur-azj"].n_listed is None


def test_settings_that_depart_from_the_defaults_stand_apart(turkic, small_lexicon, untrained_bert):
    task = ("-t", "T1", "-l", "az", "--data", small_lexicon)
    model = ("-m", untrained_bert, "--pooling", "first_last")
    for options in ((), ("--set", "dtype=bfloat16"), ("--set", "first_layer=0")):
        assert turkic("run", *model, *task, *options).returncode == 0
    (default,) = find_records(Path("results"))  # what `compare` and `submit` read of this folder
    assert read_header(default).settings["dtype"] == "float32"
    found = {}
    for path in find_records(default.parent / "experiments"):
        settings = read_header(path).settings
        found[path.parent.name] = (settings["dtype"], settings["first_layer"])
    assert found == {"dtype_bfloat16": ("bfloat16", 1), "first_layer_0": ("float32", 0)}


def test_a_terminal_sees_how_far_the_work_is(tmp_path, small_lexicon, untrained_bert):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    with reporting(terminal) as reporter:
        options = make_options(tasks=["T1", "T2"], output=tmp_path)
        list(run_models([BASELINE, str(untrained_bert)], open_dataset(str(small_lexicon)), options, reporter=reporter))
    seen = terminal.getvalue()
    for part in ("model 1/2, T2, 2/3", "model 2/2, loading", "model 2/2, T1, texts, 39/39", "model 2/2, T2, 3/3"):
        assert part in seen


@pytest.mark.long
@pytest.mark.slow
def test_nothing_but_scores_is_printed(command, small_lexicon, minilm):
    """No bar or warning of any library, with a model of each kind."""
    models = ("-m", minilm, "-m", "mteb/baseline-bm25s", "-m", BASELINE)
    run = command("turkic-idiom", "run", *models, "-t", "T1", "-l", "az", "--data", small_lexicon)
    assert run.returncode == 0
    for line in run.stderr.splitlines():
        assert re.fullmatch(r"model \d/3, T1(, texts)?: \d+ of \d+", line)
    assert run.stdout.startswith("nDCG over the whole pool")


def test_list_shows_the_data_and_the_models(turkic, small_lexicon, small_dataset, register_local, untrained_bert):
    taken = "intfloat/multilingual-e5-small"
    register_local(f"me/mine={untrained_bert};{taken}={untrained_bert};a/b=")
    run = turkic("list", "--data", small_lexicon)
    assert run.returncode == 0, run.stderr
    text = " ".join(run.stdout.split())
    assert f"data: {small_lexicon} (revision {small_dataset.revision})" in text
    assert re.search(r"TurkicIdiomT1: .*tur-uzn 5/15", text)
    assert "gag " not in text
    for part in (f"{BASELINE},", "cls, mean, max, first_last, last_four: FacebookAI/xlm-roberta-base,", "me/mine"):
        assert part in text
    assert text.count("FacebookAI/xlm-roberta-base,") == 1
    assert re.search("there is already a model of the name.* names no folder", text)
    for name in (taken, "a/b (pooling=mean)"):  # loads no other model of the name
        assert "TURKIC_IDIOM_MODELS: the part " in turkic("run", "-m", name, "--data", small_lexicon).stderr


def test_help_answers_at_once():
    """No heavy package is imported for --help; the second it may take is measured by the benchmark of start-up."""
    code = (
        "import sys; from turkic_idiom_tasks.cli import main; main(['--help']); main(['run', '--help'])\n"
        "heavy = {'torch', 'mteb', 'transformers', 'datasets', 'numpy', 'sklearn', 'pyarrow'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"
    for name in ("run", "doctor", "first_layer"):
        assert name in run.stdout
