"""Write the files of the pull requests, so that prompts, languages and metadata stand in the package alone.

``python upstream/write.py`` writes them with placeholders, as they are kept here; ``python upstream/write.py RETRIEVAL
COMMIT ITEMS COMMIT`` with the two datasets that are on the Hub and their commits, as they are sent.
"""

import sys
from pathlib import Path

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
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
LM_EVAL = "lm-eval/lm_eval/tasks/turkic_idiom"
LIGHTEVAL = "lighteval/src/lighteval/tasks/tasks/turkic_idiom.py"
KINDS = (MEANING, EQUIVALENT, USAGE, CLOZE)


def files(retrieval: str, retrieval_commit: str, items: str, items_commit: str) -> dict[str, str]:
    """Return the path of every written file, below this folder, and its text."""
    texts = {MTEB: mteb_module(retrieval, retrieval_commit), LIGHTEVAL: lighteval_module(items, items_commit)}
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

Multiple-choice questions about idioms in Turkish, Azerbaijani, Turkmen, Gagauz and Uzbek: what an idiom means, which
idiom of another language means the same, whether a sentence uses it figuratively, and which idiom fills a blank. A
language model wrote the data and others read it; no native speaker has.

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
    names = ", ".join(language.name.lower() for language in LANGUAGES.values())
    return f'''"""
name:
Turkic Idiom

dataset:
{repository}

abstract:
Multiple-choice questions about idioms: their meaning, their equivalent in
another language, their use in a sentence, and the idiom that fills a blank.

languages:
{names}

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


if __name__ == "__main__":
    for path, text in files(*(sys.argv[1:] or PLACEHOLDERS)).items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
