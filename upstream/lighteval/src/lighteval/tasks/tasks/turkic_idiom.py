"""
name:
Turkic Idiom

dataset:
ORG/turkic-idiom-items

abstract:
Multiple-choice questions about idioms: their meaning, their equivalent in
another language, their use in a sentence, and the idiom that fills a blank.

languages:
turkish, azerbaijani, turkmen, gagauz, uzbek, kazakh, tatar, kyrgyz

tags:
multiple-choice, multilingual, idioms

paper:
"""

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def turkic_idiom_prompt(line, task_name: str = None):
    letters = "ABCD"[: len(line["options"])]
    task, *lines = line["question"].split("\n")
    lines += [f"{letter}. {option}" for letter, option in zip(letters, line["options"])]
    return Doc(
        task_name=task_name,
        query="\n".join([f"{task} Answer with one letter: {', '.join(letters)}.", *lines, "Answer:"]),
        choices=[f" {letter}" for letter in letters],
        gold_index=letters.index(line["answer"]),
    )


CONFIGS = {
    "turkic_idiom_meaning:tr": "tr_meaning",
    "turkic_idiom_meaning:az": "az_meaning",
    "turkic_idiom_meaning:tk": "tk_meaning",
    "turkic_idiom_meaning:gag": "gag_meaning",
    "turkic_idiom_meaning:uz": "uz_meaning",
    "turkic_idiom_meaning:kk": "kk_meaning",
    "turkic_idiom_meaning:tt": "tt_meaning",
    "turkic_idiom_meaning:ky": "ky_meaning",
    "turkic_idiom_equivalent:tr_az": "tr_az_equivalent",
    "turkic_idiom_equivalent:tr_tk": "tr_tk_equivalent",
    "turkic_idiom_equivalent:tr_gag": "tr_gag_equivalent",
    "turkic_idiom_equivalent:tr_uz": "tr_uz_equivalent",
    "turkic_idiom_equivalent:tr_kk": "tr_kk_equivalent",
    "turkic_idiom_equivalent:tr_tt": "tr_tt_equivalent",
    "turkic_idiom_equivalent:tr_ky": "tr_ky_equivalent",
    "turkic_idiom_usage:tr": "tr_usage",
    "turkic_idiom_usage:az": "az_usage",
    "turkic_idiom_usage:tk": "tk_usage",
    "turkic_idiom_usage:uz": "uz_usage",
    "turkic_idiom_cloze:tr": "tr_cloze",
    "turkic_idiom_cloze:az": "az_cloze",
    "turkic_idiom_cloze:tk": "tk_cloze",
    "turkic_idiom_cloze:gag": "gag_cloze",
    "turkic_idiom_cloze:uz": "uz_cloze",
}

TASKS_TABLE = [
    LightevalTaskConfig(
        name=name,
        prompt_function=turkic_idiom_prompt,
        hf_repo="ORG/turkic-idiom-items",
        hf_revision="0000000000000000000000000000000000000000",
        hf_subset=config,
        hf_avail_splits=["train", "test"],
        evaluation_splits=["test"],
        few_shots_split="train",
        generation_size=1,
        metrics=[Metrics.loglikelihood_acc],
        stop_sequence=["\n"],
        version=0,
    )
    for name, config in CONFIGS.items()
]
