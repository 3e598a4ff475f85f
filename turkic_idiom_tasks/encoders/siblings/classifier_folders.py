"""Folders of classifiers of sentences that `turkic-idiom finetune idiomaticity` has made; imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AliasPath, BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import first_fault, read_json

IDIOMATICITY_RECORD = "idiomaticity_finetuning.json"


class ClassifierSettings(BaseModel):
    """How a classifier that tells whether an idiom is meant is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gives_idiom: bool  # whether the idiom is the second text, behind the sentence
    max_length: PositiveInt  # sub-words of both that are used


class _Record(BaseModel):
    """What is needed of the record that stands beside a classifier."""

    inputs: Annotated[list[str], Field(validation_alias=AliasPath("settings", "inputs"))]
    subtask: Annotated[str, Field(validation_alias=AliasPath("settings", "subtask"))] = "A"
    max_length: Annotated[PositiveInt, Field(validation_alias=AliasPath("settings", "config", "max_length"))]
    development_f1: Annotated[float, Field(validation_alias=AliasPath("scores", "development_f1"))]


def best_classifier(folder: Path) -> tuple[Path, ClassifierSettings]:
    """Return the folder of the classifier with the best development score, of one seed or several, and its settings."""
    records: dict[Path, _Record] = {}
    for place in (folder, *sorted(folder.glob("seed-*"))):
        path = place / IDIOMATICITY_RECORD
        if path.is_file():
            try:
                records[place] = _Record.model_validate(read_json(path))
            except ValidationError as error:
                raise InputError(
                    f"{path}: not the record of a finished training ({first_fault(error)}); train again"
                ) from error
    if not records:
        raise usage_error(
            f"idiomaticity classifier {folder}: no {IDIOMATICITY_RECORD} in it or its seed folders; train a classifier "
            "with turkic-idiom finetune idiomaticity"
        )
    best, record = max(records.items(), key=lambda item: item[1].development_f1)
    if "context" in record.inputs or record.subtask != "A":
        raise usage_error(
            f"idiomaticity classifier {best}: it was trained on subtask B or with the sentences around; it must take a "
            "sentence and, at most, the idiom (--inputs idiom, --subtask A)"
        )
    return best, ClassifierSettings(gives_idiom="idiom" in record.inputs, max_length=record.max_length)
