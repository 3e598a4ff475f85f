"""Explanations of idioms that language models gave, read for the judge: samples of lm-eval, logs of Inspect, own lines.

A line of one's own is ``{"id": ..., "language": "tr", "idiom": ..., "reference": ..., "answer": ...}``; ``concept``,
the unit that is resampled, is the id unless it is given, and ``mode`` divides the results further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hub_datasets.judge import Case, explanation_case
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES

LM_EVAL_SAMPLES = "samples_turkic_idiom_explain_*.jsonl"
INSPECT_LOGS = ("*.eval",)
_MOST_CHARACTERS = 20_000  # of an answer that a judge is shown


class _Row(BaseModel):
    """An explanation in a line of one's own, or put together from a harness's file."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str
    language: str
    idiom: str
    reference: str
    answer: str
    concept: str | None = None
    mode: str | None = None


class _Document(BaseModel):
    """Question in a sample of lm-eval."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str
    language: str
    idiom: str
    reference: str
    concept: str
    mode: str


class _LmEvalSample(BaseModel):
    """A sample of ``lm-eval run --log_samples``."""

    model_config = ConfigDict(extra="ignore", strict=True)

    doc: _Document
    filtered_resps: list[str]


def read_explanations(places: Sequence[Path]) -> list[Case]:
    """Return what is to be judged in some files, and in the sample files and logs of some folders.

    Raises:
        InputError: a place does not exist, holds nothing of the kind, is damaged, or has a question twice.
    """
    cases: dict[str, Case] = {}
    origins: dict[str, Path] = {}
    for path in _files(places):
        for place, row in _rows(path):
            case = _case(place, row)
            if case.id in cases:
                raise InputError(
                    f"{place}: the question {display(case.id)} was answered in {origins[case.id]} too; judge one run "
                    "at a time"
                )
            cases[case.id] = case
            origins[case.id] = path
    if not cases:
        raise InputError(
            f"{', '.join(map(str, places))}: no explanations to judge; expected {LM_EVAL_SAMPLES} of lm-eval run "
            "--log_samples, logs of the Inspect task explain, or JSONL with id, language, idiom, reference, answer"
        )
    return list(cases.values())


def _files(places: Sequence[Path]) -> list[Path]:
    files: dict[Path, None] = {}
    for place in places:
        if not place.exists():
            raise InputError(f"{place}: no such file or folder; give what a run of the task explain has written")
        if place.is_file():
            files[place] = None
            continue
        for pattern in (LM_EVAL_SAMPLES, *INSPECT_LOGS):
            for path in sorted(place.rglob(pattern)):
                files[path] = None
    return list(files)


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the place and the fields of each explanation in a file."""
    if path.suffix == ".eval":
        from hub_datasets.inspect_explain import read_log  # which needs the extra inspect

        for number, row in enumerate(read_log(path), start=1):
            yield f"{path}, sample {number}", row
        return
    for line in read_json_lines(path):
        place = f"{path}:{line.number}"
        if line.problem:
            raise InputError(f"{place}: {line.problem}")
        is_sample = isinstance(line.value, dict) and "doc" in line.value
        yield place, _of_lm_eval(place, line.value) if is_sample else line.value


def _of_lm_eval(place: str, value: Mapping[str, Any]) -> dict[str, Any]:
    try:
        sample = _LmEvalSample.model_validate(value)
    except ValidationError as error:
        raise _malformed(place, error) from error
    return sample.doc.model_dump() | {"answer": "\n".join(sample.filtered_resps)}


def _case(place: str, value: Any) -> Case:
    try:
        row = _Row.model_validate(value)
    except ValidationError as error:
        raise _malformed(place, error) from error
    if row.language not in LANGUAGES:
        raise InputError(f"{place}: unknown language {display(row.language)}; known: {', '.join(LANGUAGES)}")
    return explanation_case(
        row.id,
        row.concept or row.id,
        row.language,
        mode=row.mode,
        texts={"idiom": row.idiom, "reference": row.reference, "answer": row.answer[:_MOST_CHARACTERS]},
    )


def _malformed(place: str, error: ValidationError) -> InputError:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "the line"
    return InputError(f"{place}: {name}: {first['msg']}, found {display(first['input'])}")
