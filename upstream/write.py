"""Write the files of the pull requests, so that prompts, languages and metadata stand in the package alone.

``python upstream/write.py`` writes them with placeholders, as they are kept here; ``python upstream/write.py RETRIEVAL
COMMIT ITEMS COMMIT`` with the two datasets that are on the Hub and their commits, as they are sent. A file that a
project has already gets a patch, made for lighteval 0.13.0 and EuroEval 18.3.0.
"""

import sys
from pathlib import Path

import yaml

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.languages import names as in_words
from turkic_idiom_tasks.results.item_answers import find_items
from turkic_idiom_tasks.tasks.items.item_types import (
    CLOZE,
    EQUIVALENT,
    LETTERS,
    MEANING,
    N_OPTIONS,
    USAGE,
    Item,
    Option,
)
from turkic_idiom_tasks.tasks.items.items import item_sets
from turkic_idiom_tasks.tasks.items.prompts import prompt, question

ROOT = Path(__file__).parent
PLACEHOLDERS = ("ORG/turkic-idioms", "0" * 40, "ORG/turkic-idiom-items", "0" * 40)
MTEB_NAMES = {
    "T1": "TurkicIdiomEquivalentRetrieval",
    "T2": "TurkicIdiomMeaningRetrieval",
    "T3": "TurkicIdiomCrossLingualMeaningRetrieval",
}
MTEB = "mteb/mteb/tasks/retrieval/multilingual/turkic_idiom_retrieval.py"
MTEB_BENCHMARK = "mteb/mteb/benchmarks/benchmarks/turkic_idiom_benchmarks.py"
LM_EVAL = "lm-eval/lm_eval/tasks/turkic_idiom"
LIGHTEVAL = "lighteval/src/lighteval/tasks/tasks/turkic_idiom.py"
LITERALS = "src/lighteval/tasks/templates/utils/translation_literals.py"
EUROEVAL = "euroeval/src/euroeval/dataset_configs"
REGISTER = "inspect/register"
INSPECT_TASKS = "inspect/turkic_idioms/tasks.py"
KINDS = (MEANING, EQUIVALENT, USAGE, CLOZE)
DESCRIPTIONS = {
    MEANING: "Which of four definitions is that of a Turkic idiom?",
    EQUIVALENT: "Which of four idioms means the same as an idiom of another Turkic language?",
    USAGE: "Is a Turkic idiom used figuratively or literally in a sentence?",
    CLOZE: "Which of four Turkic idioms fills the blank in a sentence?",
}
WORDS = yaml.safe_load((ROOT / "words.yaml").read_text(encoding="utf-8"))


def files(retrieval: str, retrieval_commit: str, items: str, items_commit: str) -> dict[str, str]:
    """Return the path of every written file, below this folder, and its text."""
    texts = {
        MTEB: mteb_module(retrieval, retrieval_commit),
        MTEB_BENCHMARK: mteb_benchmark(),
        LIGHTEVAL: lighteval_module(items, items_commit),
        "lighteval/literals.patch": literals_patch(),
        "euroeval/templates.patch": euroeval_patch(),
        INSPECT_TASKS: inspect_tasks(),
        INSPECT_TASKS.replace("tasks.py", "__init__.py"): inspect_exports(),
    }
    for code in WORDS:
        texts[f"{EUROEVAL}/{LANGUAGES[code].name.lower()}.py"] = euroeval_config(code, items)
    for kind in KINDS:
        texts[f"{REGISTER}/turkic_idiom_{kind}/eval.yaml"] = register_entry(kind)
    texts[f"{LM_EVAL}/_template_yaml"] = lm_eval_template(items, items_commit)
    members: dict[str, list[str]] = {}
    for name, config in item_tasks().items():
        members.setdefault(name.split("_")[2], []).append(name)
        texts[f"{LM_EVAL}/{name}.yaml"] = f"include: _template_yaml\ntask: {name}\ndataset_name: {config}\n"
    for kind, names in members.items():
        tasks = "".join(f"  - {name}\n" for name in names)
        means = "aggregate_metric_list:\n  - {metric: acc, weight_by_size: false}\nmetadata: {version: 1.0}\n"
        texts[f"{LM_EVAL}/turkic_idiom_{kind}.yaml"] = f"group: turkic_idiom_{kind}\ntask:\n{tasks}{means}"
    texts[f"{LM_EVAL}/README.md"] = lm_eval_readme(members, items)
    return texts


def item_tasks() -> dict[str, str]:
    """Return task -> config of the items: every kind and language, and the directions from Turkish, for few files."""
    tasks, dataset = {}, open_dataset()
    for item_set in item_sets():
        is_sent = item_set.kind in KINDS and (item_set.kind != EQUIVALENT or item_set.language == PIVOT)
        if is_sent and find_items(dataset, item_set.kind, "-".join(item_set.languages)) is not None:
            tasks[f"turkic_idiom_{item_set.name}"] = "_".join((*item_set.languages, item_set.kind))
    return tasks


def form_of_answer() -> str:
    """Return what a prompt says after its task, up to the letters."""
    options = tuple(Option(text) for text in ("a", "b", "c", "d"))
    item = Item("id", MEANING, PIVOT, PIVOT, "concept", "idiom", "idiom", options, 0)
    first, task = (text.partition("\n")[0] for text in (prompt(item), question(item)))
    return first.removeprefix(task).partition(", ".join(LETTERS[:N_OPTIONS]))[0]


def mteb_module(repository: str, commit: str) -> str:
    """Return the task classes for mteb, which load from the Hub without code of their own."""
    text = (
        "from mteb.abstasks.retrieval import AbsTaskRetrieval\nfrom mteb.abstasks.task_metadata import TaskMetadata\n"
    )
    text += f'\n_DATASET = {{\n    "path": "{repository}",\n    "revision": "{commit}",\n}}\n'
    for short, name in MTEB_NAMES.items():
        task, metadata = TASKS[short], TASK_CLASSES[TASKS[short].name].metadata
        assert isinstance(metadata.prompt, dict)
        languages = []
        for subset in task.subsets:
            languages.append(f'            "{short}-{subset}": {metadata.eval_langs[subset]!r},\n'.replace("'", '"'))
        fields = {
            "name": name,
            "description": metadata.description,
            "reference": metadata.reference,
            "type": "Retrieval",
            "category": "t2t",
            "modalities": ["text"],
            "eval_splits": ["test"],
            "main_score": "ndcg_at_10",  # of mteb's other tasks; ours has no cut-off
            "date": metadata.date,
            "domains": metadata.domains,
            "task_subtypes": metadata.task_subtypes,
            "license": metadata.license,
            "annotations_creators": metadata.annotations_creators,
            "dialect": [],
            "sample_creation": metadata.sample_creation,
            "prompt": metadata.prompt,
        }
        text += f"\n\nclass {name}(AbsTaskRetrieval):\n    metadata = TaskMetadata(\n        dataset=_DATASET,\n"
        text += "".join(f"        {key}={value!r},\n".replace("'", '"') for key, value in fields.items())
        text += "        eval_langs={\n" + "".join(languages) + "        },\n"
        text += f'        bibtex_citation=r"""{metadata.bibtex_citation}""",\n    )\n'
    return text


def mteb_benchmark() -> str:
    """Return the benchmark of these tasks for mteb, which a leaderboard shows only if its menu names it."""
    metadata = TASK_CLASSES[TASKS["T1"].name].metadata
    names = "".join(f'            "{name}",\n' for name in MTEB_NAMES.values())
    return f'''from mteb.benchmarks.benchmark import Benchmark
from mteb.get_tasks import get_tasks

TURKIC_IDIOM_RETRIEVAL = Benchmark(
    name="TurkicIdiomRetrieval(v1)",
    aliases=["TurkicIdiomRetrieval"],
    display_name="Turkic Idioms",
    tasks=get_tasks(
        tasks=[
{names}        ],
    ),
    description="Retrieval of idioms with the same meaning across Turkic languages, and of the definitions of idioms.",
    reference="{metadata.reference}",
    citation=r"""{metadata.bibtex_citation}""",
)
'''


def lm_eval_template(repository: str, commit: str) -> str:
    """Return what the task files for lm-eval include."""
    letters = "'ABCD'[:options|length]|list"
    lines = [
        "{%- set lines = question.split('\\n') -%}",
        "{{lines[0]}}" + form_of_answer() + "{{" + letters + "|join(', ')}}.",
        "{{lines[1:]|join('\\n')}}",
        "{% for option in options %}{{'ABCD'[loop.index0]}}. {{option}}",
        "{% endfor %}Answer:",
    ]
    text = "\n".join(f"  {line}" for line in lines)
    return f"""dataset_path: {repository}
dataset_kwargs: {{revision: {commit}}}
output_type: multiple_choice
test_split: test
fewshot_split: train
doc_to_text: |-
{text}
doc_to_choice: "{{{{{letters}}}}}"
doc_to_target: answer
metric_list:
  - metric: acc
metadata: {{version: 1.0}}
"""


def lm_eval_readme(members: dict[str, list[str]], repository: str) -> str:
    """Return the page that lm-eval asks for beside the task files."""
    groups = "".join(f"* `turkic_idiom_{kind}`\n" for kind in members)
    tasks = "".join(f"* `{name}`\n" for names in members.values() for name in names)
    citation = str(TASK_CLASSES[TASKS["T1"].name].metadata.bibtex_citation).strip()
    return f"""# Turkic idioms

Multiple-choice questions about idioms in {in_words(LANGUAGES, "and")}: what an idiom
means, which idiom of another language means the same, whether a sentence uses it figuratively, and which idiom fills a
blank. A language model wrote the data and others read it; no native speaker has.

Homepage: https://huggingface.co/datasets/{repository}

### Citation

```
{citation}
```

### Groups and Tasks

#### Groups

{groups}
#### Tasks

{tasks}
### Checklist

For adding novel benchmarks/datasets to the library:
* [ ] Is the task an existing benchmark in the literature? The languages are those of the paper; these items are not.
  * [x] Have you referenced the original paper that introduced the task?
  * [ ] If yes, does the original paper provide a reference implementation? It has none of these items.

### Changelog

* version 1.0: first version
"""


def lighteval_module(repository: str, commit: str) -> str:
    """Return the tasks for lighteval."""
    configs = ""
    for config in item_tasks().values():
        languages, _, kind = config.rpartition("_")
        configs += f'    "turkic_idiom_{kind}:{languages}": "{config}",\n'
    listed = ", ".join(language.name.lower() for language in LANGUAGES.values())
    return f'''"""
name:
Turkic Idiom

dataset:
{repository}

abstract:
Multiple-choice questions about idioms: their meaning, their equivalent in
another language, their use in a sentence, and the idiom that fills a blank.

languages:
{listed}

tags:
multiple-choice, multilingual, idioms

paper:
"""

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def turkic_idiom_prompt(line, task_name: str = None):
    letters = "{LETTERS[:N_OPTIONS]}"[: len(line["options"])]
    task, *lines = line["question"].split("\\n")
    lines += [f"{{letter}}. {{option}}" for letter, option in zip(letters, line["options"])]
    return Doc(
        task_name=task_name,
        query="\\n".join([f"{{task}}{form_of_answer()}{{', '.join(letters)}}.", *lines, "Answer:"]),
        choices=[f" {{letter}}" for letter in letters],
        gold_index=letters.index(line["answer"]),
    )


CONFIGS = {{
{configs}}}

TASKS_TABLE = [
    LightevalTaskConfig(
        name=name,
        prompt_function=turkic_idiom_prompt,
        hf_repo="{repository}",
        hf_revision="{commit}",
        hf_subset=config,
        hf_avail_splits=["train", "test"],
        evaluation_splits=["test"],
        few_shots_split="train",
        generation_size=1,
        metrics=[Metrics.loglikelihood_acc],
        stop_sequence=["\\n"],
        version=0,
    )
    for name, config in CONFIGS.items()
]
'''


def patch(path: str, *hunks: tuple[int, str]) -> str:
    """Return a unified diff of a file; a hunk is the number of its first line in that file, and its lines."""
    text, shift = f"--- a/{path}\n+++ b/{path}\n", 0
    for line, body in hunks:
        signs = [row[0] for row in body.splitlines()]
        old, new = len(signs) - signs.count("+"), len(signs) - signs.count("-")
        text += f"@@ -{line},{old} +{line + shift},{new} @@\n{body}"
        shift += new - old
    return text


def added(text: str) -> str:
    """Return the lines of a text as a hunk adds them."""
    return "".join(f"+{line}\n" for line in text.splitlines())


def literals_patch() -> str:
    """Return the words of lighteval's templates in the languages whose entries are empty."""
    hunks = []
    for line, code, following in ((112, "az", "BALINESE"), (754, "kk", "KHMER"), (1295, "tk", "TWI")):
        name = f"Language.{LANGUAGES[code].name.upper()}"
        literals = "".join(f'        {key}="{word}",\n' for key, word in WORDS[code]["lighteval"].items())
        entry = f"    {name}: TranslationLiterals(\n        language={name},\n{literals}    ),"
        next_entry = f"    Language.{following}: TranslationLiterals(language=Language.{following}),"
        hunks.append((line, f"-    {name}: TranslationLiterals(language={name}),\n{added(entry)} {next_entry}\n"))
    return patch(LITERALS, *hunks)


def euroeval_config(code: str, repository: str) -> str:
    """Return the dataset of a language for EuroEval: the meanings of idioms, asked in that language."""
    name = LANGUAGES[code].name
    return f'''"""All {name} dataset configurations used in EuroEval."""

from ..data_models import DatasetConfig
from ..languages import {name.upper()}
from ..tasks import KNOW

# Unofficial datasets ###

TURKIC_IDIOM_MEANING_{code.upper()}_CONFIG = DatasetConfig(
    name="turkic-idiom-meaning-{code}",
    pretty_name="Turkic Idiom Meaning {name}",
    source="{repository}::{code}_{MEANING}",
    task=KNOW,
    languages=[{name.upper()}],
    val_split=None,
    input_column="question_native",
    target_column="answer",
    choices_column="options_native",
    unofficial=True,
)
'''


def euroeval_patch() -> str:
    """Return what EuroEval's own files lack: the templates, the headings of options, and the import of the configs.

    Its Kazakh word for "or" has three Latin letters among the Cyrillic ones.
    """
    constants, imports, headings, templates = {}, {}, {}, ""
    for code, entry in WORDS.items():
        words, name = entry["euroeval"], LANGUAGES[code].name
        constants[code] = f"+    {name.upper()},\n"
        imports[code] = f"+from .{name.lower()} import *  # noqa: F403\n"
        headings[code] = f'+    "{code}": "{words["choices"]}",\n'
        templates += f"""    {name.upper()}: PromptConfig(
        default_prompt_prefix=(
            "{words["prefix"]}"
        ),
        default_prompt_template="{words["question"]}: {{text}}\\n{words["answer"]}: {{label}}",
        default_instruction_prompt=(
            "{words["question"]}: {{text}}\\n\\n"
            "{words["instruction"]}"
        ),
        default_prompt_label_mapping="auto",
    ),
"""

    def imported(language: str) -> str:
        return f" from .{language} import *  # noqa: F403\n"

    patches = (
        patch(
            "src/euroeval/constants.py",
            (148, f'     "ab": "Choices",\n{headings["az"]}     "bg": "Възможности",\n'),
            (165, f'     "it": "Scelte",\n{headings["kk"]}     "lt": "Pasirinkimai",\n'),
            (178, f'{headings["tk"]}{headings["tr"]}     "uk": "Варіанти",\n{headings["uz"]} }}\n'),
        ),
        patch(
            "src/euroeval/dataset_configs/__init__.py",
            (15, imported("albanian") + imports["az"] + imported("belarusian")),
            (33, imported("italian") + imports["kk"] + imported("latvian")),
            (45, imported("swedish") + imports["tr"] + imports["tk"] + imported("ukrainian") + imports["uz"] + " \n"),
        ),
        patch(
            "src/euroeval/languages.py",
            (543, '-    _or_separator="nemесе",\n+    _or_separator="немесе",\n )\n'),
        ),
        patch(
            "src/euroeval/prompt_templates/multiple_choice.py",
            (7, f"     ALBANIAN,\n{constants['az']}     BELARUSIAN,\n"),
            (24, f"     ITALIAN,\n{constants['kk']}     LATVIAN,\n"),
            (37, f"     SWEDISH,\n{constants['tr']}{constants['tk']}     UKRAINIAN,\n{constants['uz']} )\n"),
            (308, f"     ),\n{added(templates)} }}\n"),
        ),
    )
    return "".join(patches)


def inspect_tasks() -> str:
    """Return tasks of Inspect that its register finds: it reads the file, and looks for functions under `@task`."""
    text = '"""Tasks for the register of Inspect Evals, under the names of its entries; written by `write.py`."""\n\n'
    text += "from inspect_ai import Task, task\n\nfrom turkic_idiom_tasks.harnesses import inspect_tasks\n"
    for kind in KINDS:
        arguments = [("language", ""), *([("target", "")] if kind == EQUIVALENT else []), ("prompt", "en1")]
        parameters = ", ".join(f'{name}: str = "{value}"' for name, value in arguments)
        passed = ", ".join(f"{name}={name}" for name, _ in arguments)
        text += f'''

@task
def turkic_idiom_{kind}({parameters}, few_shot: int = 0) -> Task:
    """Return the task of {kind}; see `inspect_tasks`."""
    return inspect_tasks.{kind}({passed}, few_shot=few_shot)
'''
    return text


def inspect_exports() -> str:
    """Return the list of these tasks, which the register's lint wants beside them."""
    names = [f"turkic_idiom_{kind}" for kind in sorted(KINDS)]
    listed = "".join(f'    "{name}",\n' for name in names)
    return (
        f'"""Tasks on idioms in Turkic languages."""\n\nfrom .tasks import {", ".join(names)}\n\n'
        f"__all__ = [\n{listed}]\n"
    )


def register_entry(kind: str) -> str:
    """Return the entry of a kind of items in the register of Inspect Evals, which wants one for each task."""
    title = f"Turkic Idioms: {kind.capitalize()}"
    return f"""full_title: "{title}"
common_title: "{title}"
paper_title: A Unified Turkic Idiom Understanding Benchmark
description: "{DESCRIPTIONS[kind]}"
contributors: [OWNER]
tasks:
  - name: turkic_idiom_{kind}
    task_path: upstream/{INSPECT_TASKS}
source:
  repository_url: https://github.com/OWNER/turkic-idiom-tasks
  repository_commit: "{"0" * 40}"
tags: [idioms, multilingual]
"""


if __name__ == "__main__":
    for path, text in files(*(sys.argv[1:] or PLACEHOLDERS)).items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
