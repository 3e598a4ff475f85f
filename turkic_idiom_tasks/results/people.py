"""Answers of people to items, as the page of `turkic-idiom lm questionnaire` exports them: a file for each person."""

import re
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.item_answers import GENERATION, find_items, row_digest
from turkic_idiom_tasks.results.model_predictions import HarnessFile, ModelPredictions, check_data, read_harness_file
from turkic_idiom_tasks.results.predictions import Prediction, SubsetKey
from turkic_idiom_tasks.results.reader import read_answers
from turkic_idiom_tasks.tasks.items.prompts import NATIVE

FORMAT = "turkic-idiom answers of a person 1"
FILE = re.compile(r"answers-[0-9a-f]{8}.*\.json")
PEOPLE = "people"  # name in reports; nobody states theirs


class _Profile(HarnessFile):
    native: str  # native language, in the words of the person
    region: str = ""
    age: str  # a group of ages


class _Answer(HarnessFile):
    task: str
    subset: str
    digest: str  # of the item
    answer: JsonValue  # position of the option, words, or null


class _Answers(HarnessFile):
    format: Literal["turkic-idiom answers of a person 1"]
    revision: str
    profile: _Profile
    answers: list[_Answer]


def read_person(path: Path, dataset: Dataset) -> ModelPredictions:
    """Return the answers of one person; answers to items that the data do not have are an InputError."""
    file = read_harness_file(_Answers, path)
    check_data(path, file.revision, dataset)
    answers: dict[SubsetKey, list[tuple[str, object, object]]] = {}
    for row in file.answers:
        items = find_items(dataset, row.task, row.subset)
        ids = {row_digest(item): item.id for item in items.rows} if items else {}
        if row.digest not in ids:
            raise InputError(
                f"{path}: answers an item of {row.task}, {row.subset} that the data in use do not have; read it with "
                "the version of this package that made the page"
            )
        answers.setdefault((row.task, row.subset), []).append((ids[row.digest], row.digest, row.answer))
    predictions: dict[SubsetKey, Prediction] = {}
    for key, rows in answers.items():
        predictions[key] = read_answers(path, key, rows, dataset, prompt=NATIVE, method=GENERATION, is_partial=True)
    return ModelPredictions(path=path, predictions=predictions, name=PEOPLE)
