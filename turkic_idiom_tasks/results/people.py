"""Answers of people to items, as the page of `turkic-idiom lm questionnaire` exports them: a file for each person."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.metrics.bootstrap import Resampled, Stratum, resample_models
from turkic_idiom_tasks.results.item_answers import GENERATION, find_items, row_digest
from turkic_idiom_tasks.results.model_predictions import HarnessFile, ModelPredictions, read_harness_file
from turkic_idiom_tasks.results.predictions import Prediction, SubsetKey
from turkic_idiom_tasks.results.reader import read_answers
from turkic_idiom_tasks.results.record import check_data
from turkic_idiom_tasks.results.scored import ScoredSubset, score_subset
from turkic_idiom_tasks.tasks.items.prompts import NATIVE

FORMAT = "turkic-idiom answers of a person 1"
FILE = re.compile(r"answers-[0-9a-f]{8}.*\.json")
PEOPLE = "people"  # name in reports, as nobody states theirs, and of their folder beside submissions


@dataclass(frozen=True, slots=True, eq=False)
class PeopleScore:
    """Scores of all people who answered items of one task and subset, which may be a part of the items."""

    names: frozenset[str]  # of the people's files
    n_items: int  # that somebody answered
    floor: float  # score of guessing
    best: float  # of the person with the highest score
    resampled: Resampled  # the mean of the people's scores, not corrected for chance


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
        # The page names items by their digests alone, because their ids give the meaning away
        ids = {row_digest(item): item.id for item in items.rows} if items else {}
        if row.digest not in ids:
            raise InputError(
                f"{path}: answers an item of {display(f'{row.task}, {row.subset}')} that the data in use do not have; "
                "read it with the version of this package that made the page"
            )
        answers.setdefault((row.task, row.subset), []).append((ids[row.digest], row.digest, row.answer))
    predictions: dict[SubsetKey, Prediction] = {}
    for key, rows in answers.items():
        predictions[key] = read_answers(path, key, rows, dataset, prompt=NATIVE, method=GENERATION, is_partial=True)
    return ModelPredictions(path=path, predictions=predictions, name=PEOPLE)


def score_people(people: Sequence[ModelPredictions]) -> dict[SubsetKey, PeopleScore]:
    """Return (task, subset) -> scores of the people who answered items of it."""
    by_key: dict[SubsetKey, dict[str, ScoredSubset]] = {}
    for person in people:
        for key, prediction in person.predictions.items():
            by_key.setdefault(key, {})[person.path.name] = score_subset(prediction)
    scores = {}
    for key, by_name in by_key.items():
        persons = list(by_name.values())
        # Answers to one concept are resampled together, whoever gave them
        concepts = [concept for scored in persons for concept in scored.concepts]
        means = [scored.main for scored in persons]
        (resampled,) = resample_models([Stratum(concepts, np.concatenate([scored.sums for scored in persons]))])
        scores[key] = PeopleScore(
            names=frozenset(by_name),
            n_items=len({item for scored in persons for item in scored.items}),
            floor=persons[0].floor,
            best=max(means),
            # Every person counts alike, however many items each has answered
            resampled=replace(resampled, score=sum(means) / len(means)),
        )
    return scores


def n_people(scores: Iterable[PeopleScore]) -> int:
    """Return the number of different people."""
    names: set[str] = set()
    for score in scores:
        names.update(score.names)
    return len(names)
