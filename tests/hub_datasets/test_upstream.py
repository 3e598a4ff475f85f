"""The files of the pull requests in copies of the installed packages, which load them from a Hub at a commit."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from functools import partial
from importlib.metadata import version
from pathlib import Path

import lm_eval
import mteb
import pytest
import yaml

from hub_datasets.hub_export import hub_layout
from hub_datasets.item_export import item_layout
from tests.hub_server import Repository
from tests.warm_commands import run_to_end
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.prompts import letters, option_texts, prompt, question

FOLDER = Path(__file__).parents[2] / "upstream"
EUROEVAL = "TURKIC_IDIOM_EUROEVAL_PYTHON"  # names an interpreter of Python 3.12 or newer that has EuroEval
# What the modules tests/test_tasks/ and tests/test_benchmarks/ of mteb ask, which its wheel leaves out
MTEB_CHECKS = """
import json, sys
import mteb
import mteb.benchmarks.benchmarks as listed

names, benchmark_name = json.loads(sys.argv[1])
benchmark = mteb.get_benchmark(benchmark_name)
assert mteb.get_benchmark(benchmark.aliases[0]) is benchmark
all_names = [value.name for value in vars(listed).values() if isinstance(value, mteb.Benchmark)]
assert len(all_names) == len({*all_names})
assert [task.metadata.name for task in benchmark.tasks] == names
counts = {}
for name in names:
    task = mteb.get_task(name)
    metadata = task.metadata
    assert type(task).__module__.startswith("mteb.tasks.retrieval"), type(task).__module__
    metadata._validate_metadata()
    assert metadata.is_filled(), [key for key in metadata.model_fields if getattr(metadata, key) is None]
    assert metadata.main_score == "ndcg_at_10"
    statistics = task.calculate_descriptive_statistics(overwrite_results=True)["test"]
    assert metadata.descriptive_stat_path.is_file() and metadata.descriptive_stats["test"] == statistics
    for part in statistics["hf_subset_descriptive_stats"].values():
        assert part["relevant_docs_statistics"]["min_relevant_docs_per_query"] > 0
        for kind, count in (("queries", part["num_queries"]), ("documents", part["num_documents"])):
            texts = part[f"{kind}_text_statistics"]  # short and repeated texts are faults there
            assert texts["min_text_length"] > 3 and texts["unique_texts"] >= 0.99 * count, texts
    (result,) = mteb.evaluate(mteb.get_model("mteb/baseline-random-encoder"), task, cache=None).task_results
    rows = {row["hf_subset"]: row["main_score"] for row in result.scores["test"]}
    assert sorted(rows) == sorted(metadata.eval_langs) and all(0 <= score <= 1 for score in rows.values())
    assert result.dataset_revision == metadata.dataset["revision"]
    counts[name] = [statistics["num_queries"], statistics["num_documents"]]
print(json.dumps(counts))
"""
# What a model is asked
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


@pytest.fixture(scope="module")
def layouts():
    """The two datasets on the Hub, made once, which takes half a minute."""
    return {"tester/idioms": hub_layout(load_lexicon()), "tester/items": item_layout(load_lexicon())}


@pytest.fixture
def written(writer, layouts, hub, session_online, tmp_path):
    """A folder with the files for two datasets on the Hub, and what the environment of a process must be."""
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


def run_python(*arguments, environment, folder, python=sys.executable):
    """Runs an interpreter with arguments, and returns the JSON on the last line that it prints."""
    run = run_to_end([python, *map(str, arguments)], env=environment, cwd=folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.long
def test_the_kept_files_are_those_that_are_written(writer):
    written = writer.files(*writer.PLACEHOLDERS)
    for path, text in written.items():
        assert (FOLDER / path).read_text(encoding="utf-8") == text, f"{path}: run python upstream/write.py"
    kept = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*") if path.is_file()}
    of_people = {path for path in kept if path.endswith((".md", ".pyc"))}
    assert kept - of_people <= {*written, "write.py", "words.yaml", "mteb/local_folder.patch"}


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
    wanted = json.dumps([names, "TurkicIdiomRetrieval(v1)"])
    assert run_python("-c", MTEB_CHECKS, wanted, environment=environment, folder=tmp_path) == expected


@pytest.mark.long
def test_mteb_loads_a_folder_with_the_patch(sentence_model, tmp_path):
    shutil.copytree(Path(mteb.__file__).parent, tmp_path / "mteb", ignore=shutil.ignore_patterns("__pycache__"))
    apply(FOLDER / "mteb" / "local_folder.patch", tmp_path)
    (tmp_path / "folder").symlink_to(sentence_model)
    arguments = ["run", "-m", "./folder", "-t", "TurkicIdiomT1", "-l", "kaz", "--output-folder", "out"]
    run = run_to_end(
        [sys.executable, "-m", "mteb", *arguments], env=os.environ | {"PYTHONPATH": str(tmp_path)}, cwd=tmp_path
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (result,) = tmp_path.glob("out/results/*/*/TurkicIdiomT1.json")
    assert 0 < json.loads(result.read_text("utf-8"))["scores"]["test"][0]["main_score"] < 1


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
    arguments = [folder / writer.LM_EVAL, json.dumps(names)]
    answer = run_python("-c", LM_EVAL_CHECKS, *arguments, environment=environment, folder=tmp_path)
    assert answer["tasks"] == sorted(answer["tasks"])
    assert {*writer.item_tasks()} <= {*answer["tasks"]}
    assert answer["asked"] == expected
    assert not any((Path(lm_eval.__file__).parent / "tasks").glob("turkic*"))  # or the names would be taken


@pytest.mark.long
def test_lm_eval_s_own_tests_of_tasks_pass(writer, written, tmp_path):
    """Of a copy of the installed package with our tasks in it; the tests are in the source archive alone."""
    folder, environment = written
    fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "lm-eval"]
    fetched = run_to_end([*fetch, f"lm-eval=={version('lm-eval')}"], cwd=tmp_path)
    if fetched.returncode:
        pytest.skip(f"no source archive of lm-eval: {fetched.stderr[-300:]}")
    (archive,) = tmp_path.glob("lm_eval-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    names = list(writer.item_tasks())
    tests = tmp_path / archive.name.removesuffix(".tar.gz") / "tests"
    (tests / "__init__.py").touch()  # which the archive lacks
    (tests / "utils.py").write_text(f"def new_tasks():\n    return {names}\n", encoding="utf-8")
    shutil.copytree(Path(lm_eval.__file__).parent, tests.parent / "lm_eval", dirs_exist_ok=True)
    shutil.copytree(folder / "lm-eval", tests.parent, dirs_exist_ok=True)
    options = ["-q", "-p", "no:cacheprovider", "-k", "TestNewTasksElseDefault", "tests/test_tasks.py"]
    run = run_to_end([sys.executable, "-m", "pytest", *options], env=environment, cwd=tests.parent)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{13 * len(names)} passed" in run.stdout  # it has 13 tests of a task


def apply(patch, folder):
    run = subprocess.run(["patch", "-p1", "-i", str(patch)], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_lighteval_takes_the_literals(writer, tmp_path):
    lighteval = pytest.importorskip("lighteval")
    place = tmp_path / writer.LITERALS
    place.parent.mkdir(parents=True)
    shutil.copy(Path(lighteval.__file__).parents[1] / Path(writer.LITERALS).relative_to("src"), place)
    apply(FOLDER / "lighteval" / "literals.patch", tmp_path)
    names = {"__name__": "patched"}
    exec(place.read_text(encoding="utf-8"), names)
    by_code = {language.value: literals for language, literals in names["TRANSLATION_LITERALS"].items()}
    for code in ("aze", "tuk", "kaz", "tur"):
        for field in names["TranslationLiterals"].__dataclass_fields__:
            assert getattr(by_code[code], field), (code, field)  # which raises where there is no word
    assert [by_code[code].no for code in ("aze", "tuk", "kaz")] == ["xeyr", "ýok", "жоқ"]


@pytest.mark.long
def test_euroeval_takes_the_configs_and_templates(written, layouts, tmp_path):
    """In a copy of the package of another interpreter; see `EUROEVAL`."""
    if EUROEVAL not in os.environ:
        pytest.skip(f"no {EUROEVAL}, an interpreter with EuroEval")
    folder, environment = written
    python = os.environ[EUROEVAL]
    find = "import importlib.util; print(importlib.util.find_spec('euroeval').submodule_search_locations[0])"
    installed = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    shutil.copytree(installed, tmp_path / "src" / "euroeval")
    apply(folder / "euroeval" / "templates.patch", tmp_path)
    shutil.copytree(folder / "euroeval" / "src", tmp_path / "src", dirs_exist_ok=True)
    names = [f"turkic-idiom-meaning-{code}" for code in ("tr", "az", "tk", "uz", "kk")]
    environment |= {"PYTHONPATH": str(tmp_path / "src")}
    arguments = (Path(__file__).with_name("euroeval_reads.py"), "tester/items", tmp_path / "cache")
    read = partial(run_python, *arguments, environment=environment, folder=None, python=python)
    described = read()  # as a dataset on the Hub that EuroEval does not list
    assert sorted(described) == sorted(layouts["tester/items"].configs)
    for name, facts in described.items():
        train = "train" if f"data/{name}/train.parquet" in layouts["tester/items"].contents else None
        assert (facts["task"], facts["splits"]) == ("multiple-choice", [train, None, "test"])
        assert facts["prefix"]
        assert facts["example"].endswith(f"\nAnswer: {facts['label']}")
    item, facts = build_items(open_dataset(), "meaning", "tr")[0], described["tr_meaning"]
    assert (facts["languages"], facts["label"]) == (["Turkish"], "abcd"[item.gold])
    options = [f"{letter}. {text}" for letter, text in zip("abcd", option_texts(item), strict=True)]
    assert facts["prompt"].startswith(f"What does the Turkish idiom mean? Idiom: {item.idiom}\n")
    assert "\n".join(["", *options, ""]) in facts["prompt"]
    assert facts["prompt"].endswith("'d', and nothing else.")
    assert "'c'" not in described["tr_usage"]["prompt"]
    described = read(*names)
    assert sorted(facts["name"] for facts in described.values()) == sorted(names)
    for facts in described.values():
        assert (facts["task"], facts["unofficial"]) == ("knowledge", True)
        assert facts["splits"] == ["train", None, "test"]
        assert facts["label"] in "abcd"
        assert facts["example"].endswith(f": {facts['label']}")
    kazakh, turkish = described["kk_meaning"], described["tr_meaning"]
    native = question(item, "native").replace("\n", " ")
    options = [f"{letter}. {text}" for letter, text in zip("abcd", option_texts(item, "native"), strict=True)]
    assert turkish["prompt"].startswith("\n".join([f"Soru: {native}", "Seçenekler:", *options]))
    assert "'a', 'b', 'c' veya 'd'" in turkish["prompt"]
    assert "'a', 'b', 'c' немесе 'd'" in kazakh["prompt"]


def test_the_entries_of_the_register_point_at_tasks_that_run(writer, monkeypatch, item_lexicon, tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai")
    answer = inspect_ai.model.ModelOutput.from_content("mockllm/model", "A")
    # Or the words would be sent to be counted
    answer.usage = inspect_ai.model.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = inspect_ai.model.get_model("mockllm/model", memoize=False, custom_outputs=lambda *arguments: answer)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(item_lexicon))
    for kind in writer.KINDS:
        (path,) = (FOLDER / "inspect" / "register").glob(f"*_{kind}/eval.yaml")
        entry = yaml.safe_load(path.read_text(encoding="utf-8"))
        (task,) = entry["tasks"]
        assert task["name"] == path.parent.name
        file = FOLDER.parent / task["task_path"]
        (log,) = inspect_ai.eval(f"{file}@{task['name']}", model=model, limit=2, display="none", log_dir=str(tmp_path))
        assert log.status == "success", log.error
        assert log.eval.dataset.samples > 2


def test_the_register_takes_its_entries():
    metadata = pytest.importorskip("inspect_evals.metadata", reason="pip install --no-deps inspect-evals")
    from register_tooling.task_resolver import resolve_task

    for path in sorted((FOLDER / "inspect" / "register").glob("*/eval.yaml")):
        entry = metadata.ExternalEvalMetadata(**yaml.safe_load(path.read_text("utf-8")), id=path.parent.name)
        source = (FOLDER.parent / entry.tasks[0].task_path).read_text("utf-8")
        line = 1 + source[: source.index(f"def {entry.id}(")].count("\n")
        assert resolve_task(source, line_anchor=line).name == entry.id


@pytest.mark.long
def test_the_commands_of_releasing_publish_both_datasets_and_write_the_files(writer, online, hub, tmp_path):
    """docs/releasing.md, "Publish the data", line by line; only the login is replaced, by HF_TOKEN."""
    page = (FOLDER.parent / "docs" / "releasing.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```bash\n(.*?)```", page, flags=re.DOTALL)
    login, *lines = block.splitlines()
    assert login == "hf auth login"
    shutil.copytree(FOLDER, tmp_path / "upstream")
    names = {"ORG/NAME": "tester/idioms", "ORG/ITEMS": "tester/items"}
    n_commands = 0
    for line in lines:
        command, *arguments = line.partition("#")[0].split()
        arguments = [names.get(argument, argument) for argument in arguments]
        if command == "turkic-idiom":
            online(*arguments)
        else:
            for name in names.values():
                arguments[arguments.index("COMMIT")] = hub.repository(name).main
            done = run_to_end([sys.executable, *arguments], cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        n_commands += 1
    assert n_commands == 5
    for name, path in (("tester/idioms", writer.MTEB), ("tester/items", f"{writer.LM_EVAL}/_template_yaml")):
        repository = hub.repository(name)
        assert repository.tags == {"v0.2.0": repository.main}
        text = (tmp_path / "upstream" / path).read_text(encoding="utf-8")
        assert name in text
        assert repository.main in text
