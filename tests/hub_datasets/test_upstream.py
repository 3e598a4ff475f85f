"""The files of the pull requests in copies of the installed packages, which load them from a Hub at a commit."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import lm_eval
import mteb
import pytest

from hub_datasets.hub_export import hub_layout
from hub_datasets.item_export import item_layout
from tests.hub_server import Repository
from tests.warm_commands import run_to_end
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.prompts import letters, option_texts, prompt, question

FOLDER = Path(__file__).parents[2] / "upstream"
# What the modules tests/test_tasks/ and tests/test_benchmarks/ of mteb ask, which its wheel leaves out
MTEB_CHECKS = """
import json, sys
import huggingface_hub, mteb
import mteb.benchmarks.benchmarks as listed

names, benchmark_name = json.loads(sys.argv[1])
benchmark = mteb.get_benchmark(benchmark_name)
assert benchmark in mteb.get_benchmarks(display_on_leaderboard=False)
assert mteb.get_benchmark(benchmark.aliases[0]) is benchmark
all_names = [value.name for value in vars(listed).values() if isinstance(value, mteb.Benchmark)]
assert len(all_names) == len({*all_names})
assert [task.metadata.name for task in benchmark.tasks] == names


def check_quality(statistics):
    for kind, count in (("queries", statistics["num_queries"]), ("documents", statistics["num_documents"])):
        texts = statistics[f"{kind}_text_statistics"]
        assert texts["min_text_length"] > 3, texts
        assert texts["max_text_length"] <= 50 * texts["average_text_length"], texts
        assert 0.99 * count <= texts["unique_texts"] <= count, (count, texts)
    relevant = statistics["relevant_docs_statistics"]
    assert relevant["min_relevant_docs_per_query"] > 0
    assert relevant["unique_relevant_docs"] <= statistics["num_documents"]
    assert not statistics.get("samples_in_train")


counts = {}
for name in names:
    task = mteb.get_task(name)
    metadata = task.metadata
    assert type(task).__module__.startswith("mteb.tasks.retrieval"), type(task).__module__
    metadata._validate_metadata()
    assert metadata.is_filled(), [key for key in metadata.model_fields if getattr(metadata, key) is None]
    assert not metadata.dataset.get("trust_remote_code", False)
    assert metadata.main_score == "ndcg_at_10"
    huggingface_hub.dataset_info(metadata.dataset["path"], revision=metadata.dataset["revision"])
    statistics = task.calculate_descriptive_statistics(overwrite_results=True)["test"]
    assert metadata.descriptive_stat_path.is_file() and metadata.descriptive_stats["test"] == statistics
    assert metadata.n_samples == {"test": statistics["num_samples"]}
    for part in (statistics, *statistics["hf_subset_descriptive_stats"].values()):
        check_quality(part)
    for model in ("mteb/baseline-random-encoder", "mteb/baseline-bm25s"):
        (result,) = mteb.evaluate(mteb.get_model(model), task, cache=None).task_results
        rows = {row["hf_subset"]: row["main_score"] for row in result.scores["test"]}
        assert sorted(rows) == sorted(metadata.eval_langs) and all(0 <= score <= 1 for score in rows.values())
        assert result.dataset_revision == metadata.dataset["revision"]
    counts[name] = [statistics["num_queries"], statistics["num_documents"]]
print(json.dumps(counts))
"""
# What tests/test_tasks.py of lm-eval asks of new tasks, which its wheel leaves out; and what is asked of a model
LM_EVAL_CHECKS = """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager, get_task_dict

manager = TaskManager(include_path=sys.argv[1], include_defaults=False)
names = json.loads(sys.argv[2])
for name, task in get_task_dict(names, manager).items():
    task.download()
    assert task.dataset is not None and task.has_test_docs() and task.config.test_split is not None
    assert not task.has_training_docs() or task.config.training_split is not None
    assert not task.has_validation_docs() or task.config.validation_split is not None
    assert not task.should_decontaminate()
    for doc in list(task.test_docs())[:10]:
        question, choices = task.doc_to_text(doc), task.doc_to_choice(doc)
        assert question and not (question[-1].isspace() and task.config.target_delimiter.isspace())
        assert all(isinstance(choice, str) for choice in choices)
        assert isinstance(task.doc_to_target(doc), (int, str))
        assert len(task.construct_requests(doc=doc, ctx=question)) == len(choices)
    task.build_all_requests(limit=10, rank=0, world_size=1)
    assert task.instances
results = simple_evaluate(model="dummy", tasks=names, task_manager=manager, log_samples=True, bootstrap_iters=2)
asked = {}
for name in names:
    assert 0 <= results["results"][name]["acc,none"] <= 1
    for sample in results["samples"][name]:
        question, answers = sample["arguments"][0][0], [part[1] for part in sample["arguments"]]
        asked[f"{name} {sample['doc']['id']}"] = [question, answers, sample["target"]]
print(json.dumps({"asked": asked, "tasks": manager.all_tasks}))
"""


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("upstream_write", FOLDER / "write.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(writer, hub, session_online, tmp_path):
    """A folder with the files for two datasets on the Hub, and what the environment of a process must be."""
    layouts = {"tester/idioms": hub_layout(load_lexicon()), "tester/items": item_layout(load_lexicon())}
    arguments = []
    for name, layout in layouts.items():
        layout.write(tmp_path / name)
        repository = hub.repositories["dataset", name] = Repository(name)
        arguments += [name, repository.commit(tmp_path / name)]
    for path, text in writer.files(*arguments).items():
        (tmp_path / "upstream" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "upstream" / path).write_text(text, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "TURKIC_IDIOM_DATA"}
    return tmp_path / "upstream", environment | session_online | {"TURKIC_IDIOM_NO_HOOK": "1"}


def test_the_kept_files_are_those_that_are_written(writer):
    written = writer.files(*writer.PLACEHOLDERS)
    for path, text in written.items():
        assert (FOLDER / path).read_text(encoding="utf-8") == text, f"{path}: run python upstream/write.py"
    kept = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*") if path.is_file()}
    of_people = {path for path in kept if path.endswith((".md", ".pyc"))}
    assert kept - of_people <= {*written, "write.py", "words.yaml"}


@pytest.mark.long
def test_mteb_takes_its_tasks(writer, written, tmp_path):
    folder, environment = written
    # The installed package as links, but for the lists of modules and the statistics, which are written
    installed, overlay = Path(mteb.__file__).parent, tmp_path / "overlay" / "mteb"
    shutil.copytree(
        installed, overlay, copy_function=os.symlink, ignore=shutil.ignore_patterns("descriptive_stats", "__pycache__")
    )
    lists = {writer.MTEB: [*writer.MTEB_NAMES.values()], writer.MTEB_BENCHMARK: ["TURKIC_IDIOM_RETRIEVAL"]}
    for path, exported in lists.items():
        module = overlay / Path(path).relative_to("mteb/mteb")
        module.symlink_to(folder / path)
        modules = module.with_name("__init__.py")
        text = modules.read_text("utf-8")
        modules.unlink()
        line = f"\nfrom .{module.stem} import {', '.join(exported)}\n__all__ += {exported}\n"
        modules.write_text(text + line, encoding="utf-8")
    names = list(writer.MTEB_NAMES.values())
    dataset, expected = open_dataset(), {}
    for short, name in writer.MTEB_NAMES.items():
        pools = [dataset.retrieval(short, subset) for subset in dataset.subsets(short)]
        expected[name] = [sum(len(pool.queries) for pool in pools), sum(len(pool.documents) for pool in pools)]
    environment |= {"PYTHONPATH": str(tmp_path / "overlay")}
    run = run_to_end(
        [sys.executable, "-c", MTEB_CHECKS, json.dumps([names, "TurkicIdiomRetrieval(v1)"])],
        env=environment,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == expected


@pytest.mark.long
def test_lm_eval_asks_what_our_own_tasks_ask(writer, written, tmp_path):
    folder, environment = written
    data = open_dataset()
    expected, names = {}, []
    for name in writer.item_tasks():
        kind, *codes = name.removeprefix("turkic_idiom_").split("_")
        items = build_items(data, kind, *codes) if {*codes} <= {"tr", "az", "uz"} else ()
        names += [name] if items else []
        for item in items:
            choices = letters(item)
            expected[f"{name} {item.id}"] = [prompt(item), [f" {letter}" for letter in choices], choices[item.gold]]
    arguments = [str(folder / writer.LM_EVAL), json.dumps(names)]
    run = run_to_end([sys.executable, "-c", LM_EVAL_CHECKS, *arguments], env=environment, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    answer = json.loads(run.stdout.splitlines()[-1])
    assert answer["tasks"] == sorted(answer["tasks"])
    assert {*writer.item_tasks()} <= {*answer["tasks"]}
    assert answer["asked"] == expected
    assert not any((Path(lm_eval.__file__).parent / "tasks").glob("turkic*"))  # or the names would be taken


def test_lighteval_asks_the_same(writer, item_lexicon):
    pytest.importorskip("lighteval")
    names = {}
    exec((FOLDER / writer.LIGHTEVAL).read_text(encoding="utf-8"), names)
    data = open_dataset(str(item_lexicon))
    for kind in ("meaning", "usage"):
        for item in build_items(data, kind, "tr"):
            answer = letters(item)[item.gold]
            row = {"question": question(item), "options": option_texts(item), "answer": answer}
            asked = names["turkic_idiom_prompt"](row)
            assert asked.query == prompt(item)
            assert asked.choices[asked.gold_index] == f" {answer}"
