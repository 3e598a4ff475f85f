"""The files of the pull requests in copies of the installed packages, which load them from a Hub at a commit."""

import importlib.util
import json
import os
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
MTEB_CHECKS = """
import json, sys
import mteb

counts = {}
for name in json.loads(sys.argv[1]):
    task = mteb.get_task(name)
    assert type(task).__module__.startswith("mteb.tasks.retrieval"), type(task).__module__
    assert task.metadata.is_filled(), [key for key in task.metadata.model_fields if getattr(task.metadata, key) is None]
    assert task.metadata.main_score == "ndcg_at_10"
    statistics = task.calculate_descriptive_statistics(overwrite_results=True)["test"]
    assert task.metadata.descriptive_stat_path.is_file()
    results = mteb.evaluate(mteb.get_model("mteb/baseline-random-encoder"), task, cache=None)
    (result,) = results.task_results
    rows = {row["hf_subset"]: row["main_score"] for row in result.scores["test"]}
    assert sorted(rows) == sorted(task.metadata.eval_langs) and all(0 <= score <= 1 for score in rows.values())
    assert result.dataset_revision == task.metadata.dataset["revision"]
    counts[name] = [statistics["num_queries"], statistics["num_documents"]]
print(json.dumps(counts))
"""
LM_EVAL_CHECKS = """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

manager = TaskManager(include_path=sys.argv[1], include_defaults=False)
names = json.loads(sys.argv[2])
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
    for path, text in writer.files(*writer.PLACEHOLDERS).items():
        assert (FOLDER / path).read_text(encoding="utf-8") == text, f"{path}: run python upstream/write.py"
    kept = {path.relative_to(FOLDER).as_posix() for suffix in ("yaml", "py") for path in FOLDER.rglob(f"*.{suffix}")}
    assert kept <= {*writer.files(*writer.PLACEHOLDERS), "write.py"}


@pytest.mark.long
def test_mteb_takes_its_tasks(writer, written, tmp_path):
    folder, environment = written
    # The installed package as links, but for the folders on the way to the new module and what statistics go into
    installed, place = Path(mteb.__file__).parent, tmp_path / "overlay" / "mteb"
    for part in ("tasks", "retrieval", "multilingual", ""):
        place.mkdir(parents=True)
        for path in installed.iterdir():
            if path.name not in (part, "__pycache__", "descriptive_stats", "__init__.py" if not part else ""):
                (place / path.name).symlink_to(path)
        if part:
            installed, place = installed / part, place / part
    module = Path(writer.MTEB)
    (place / module.name).symlink_to(folder / module)
    names = list(writer.MTEB_NAMES.values())
    imported = f"\nfrom .{module.stem} import {', '.join(names)}\n__all__ += {names}\n"
    (place / "__init__.py").write_text((installed / "__init__.py").read_text("utf-8") + imported, encoding="utf-8")
    dataset, expected = open_dataset(), {}
    for short, name in writer.MTEB_NAMES.items():
        pools = [dataset.retrieval(short, subset) for subset in dataset.subsets(short)]
        expected[name] = [sum(len(pool.queries) for pool in pools), sum(len(pool.documents) for pool in pools)]
    environment |= {"PYTHONPATH": str(tmp_path / "overlay")}
    run = run_to_end([sys.executable, "-c", MTEB_CHECKS, json.dumps(names)], env=environment, cwd=tmp_path)
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
