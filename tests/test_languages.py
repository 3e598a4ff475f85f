"""Languages are data: nothing in the code names one, and data may bring others in a languages.jsonl of its own."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from turkic_idiom_tasks.languages import LANGUAGES, PIVOT

PACKAGES = [Path(__file__).parents[1] / name for name in ("turkic_idiom_tasks", "hub_datasets", "leaderboard")]
NAMED = {"siblings", "sources"}  # folders of readers that are by nature of one language
SOURCE_FORMAT = "uz-idioms"  # the name of such a source
OTHERS = [language for code, language in LANGUAGES.items() if code != PIVOT]
NAMES = re.compile(
    "|".join(rf"\b{re.escape(text)}\b" for language in OTHERS for text in (language.name, language.own_name))
)
CODES = {text for language in OTHERS for text in (language.code, language.subset, language.script_code)}


def texts(path):
    """Yield line and text of all strings of a module but docstrings and examples in help texts; of others the lines."""
    content = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(content.splitlines(), start=1)
        return
    nodes = list(ast.walk(ast.parse(content)))
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements
        if is_text and not node.value.startswith("Example: "):
            yield node.lineno, node.value.replace(SOURCE_FORMAT, "")


def test_no_code_and_no_page_names_a_language_but_the_pivot():
    named = []
    for package in PACKAGES:
        for path in sorted(path for suffix in ("py", "js", "html") for path in package.rglob(f"*.{suffix}")):
            if NAMED.isdisjoint(path.parts):
                for number, text in texts(path):
                    is_code = path.suffix == ".py" and not CODES.isdisjoint(re.split("[ ,]+", text))
                    if is_code or NAMES.search(text):
                        named.append(f"{path}:{number}: {text.strip()[:80]}")
    assert named == []


TABLE = """concept,tr,ba,ba-meaning,ba-example,ba-variants
turn-a-blind-eye,göz yummak,күҙ йомоу,белеп тороп күрмәмешкә һалышыу,Оҫта был юлы ла күҙ йомоу кәрәк тине.,-
not-listen,kulak asmamak,ҡолаҡ һалмау,һүҙгә иғтибар итмәү,Бала ҡолаҡ һалмау менән яуап бирҙе,ҡолаҡ ҡаҡмау; ҡолаҡ аҫмау
"""
FILLED_IN = {
    "name": "Bashkir",
    "own_name": "Башҡортса",
    "subset": "bak",
    "alphabet": "абвгғдҙеёжзийкҡлмнңоөпрсҫтуүфхһцчшщъыьэәюя",
    "provisional": False,
    "to_common": {"к": "k", "ҡ": "k", "ү": "ü", "ҙ": "z", "у": "u", "л": "l", "а": "a", "һ": "s"},
}
COMMANDS = """
import json, sys
from pathlib import Path
from turkic_idiom_tasks.cli import main

table, out, filled_in = sys.argv[1:]
columns = ["dataset", "import", "--format", "columns", table, "--out", out]
statuses = [main(columns)]
record = Path(table).with_name("languages.jsonl")
offered = json.loads(record.read_text("utf-8"))
statuses.append(main(columns))  # nothing is filled in yet
record.write_text(json.dumps(offered | json.loads(filled_in)) + "\\n", "utf-8")
statuses.append(main(columns))
statuses.append(main(["dataset", "annotate", "--in", out, "--out", out + "-tagged"]))
statuses.append(main(["dataset", "export", out + "-tagged", "--out", out + "-hub"]))
print("STATUSES", json.dumps({"statuses": statuses, "offered": offered}))
"""
HARNESSES = """
import gc, json, os
gc.disable()  # a fifth of the time of the import of mteb
import mteb
from lm_eval.tasks import TaskManager
from turkic_idiom_tasks.dataset import open_dataset

tasks = mteb.get_tasks(tasks=["TurkicIdiomT1", "TurkicIdiomT2"])
manager = TaskManager(include_defaults=False)
dataset = open_dataset(os.environ["TURKIC_IDIOM_DATA"])
entry = dataset.lexicon.of("ba")["turn-a-blind-eye"]
print("ANSWER", json.dumps({
    "subsets": {task.metadata.name: type(task).metadata.eval_langs for task in tasks},
    "lm": sorted(name for name in manager.all_tasks if name.endswith("_ba")),
    "variants": dataset.lexicon.of("ba")["not-listen"].variants,
    "spans": [entry.example[span.start:span.end] for span in entry.spans],
}))
"""


def run_script(script, *arguments, folder, **environment):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    variables = os.environ | {"XDG_CACHE_HOME": str(folder), "HF_HUB_OFFLINE": "1"} | environment
    finished = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.rpartition("\n")[0].rpartition("\n")[2].partition(" ")[2]), finished.stderr


@pytest.fixture(scope="module")
def bashkir(tmp_path_factory):
    """A lexicon of a language that the package does not know, made by the documented steps, and what they said."""
    folder = tmp_path_factory.mktemp("bashkir")
    (folder / "table.csv").write_text(TABLE, "utf-8")
    arguments = (folder / "table.csv", folder / "lexicon", json.dumps(FILLED_IN))
    answer, said = run_script(COMMANDS, *arguments, folder=folder)
    return folder, answer, said


def test_import_of_an_unknown_language_writes_the_record_to_fill_in(bashkir):
    folder, answer, said = bashkir
    assert answer["statuses"] == [1, 1, 0, 0, 0]
    offered = answer["offered"]
    assert (offered["code"], offered["script"], offered["name"]) == ("ba", "Cyrl", "")
    assert set(offered["alphabet"]) == {letter for letter in TABLE.lower() if "а" <= letter <= "ө" and letter.isalpha()}
    assert f"fill in its record in {folder / 'languages.jsonl'}" in said
    assert "languages.jsonl:1: field 'name'" in said
    assert "ba: languages.jsonl has no suffixes; only exact forms were looked for" in said


@pytest.mark.parametrize("kind", [pytest.param("lexicon-tagged", marks=pytest.mark.long), "lexicon-hub"])
def test_harnesses_have_the_tasks_of_a_language_that_data_bring(bashkir, kind):
    folder, *_ = bashkir
    answer, _ = run_script(HARNESSES, folder=folder, TURKIC_IDIOM_DATA=str(folder / kind))
    assert answer["subsets"]["TurkicIdiomT1"]["tur-bak"] == ["tur-Latn", "bak-Cyrl"]
    assert answer["subsets"]["TurkicIdiomT2"]["bak"] == ["bak-Cyrl"]
    names = {f"turkic_idiom_{kind}_ba" for kind in ("meaning", "equivalent_tr", "span", "explain")}
    assert names <= set(answer["lm"])
    assert answer["variants"] == ["ҡолаҡ ҡаҡмау", "ҡолаҡ аҫмау"]
    assert answer["spans"] == ["күҙ йомоу"]
