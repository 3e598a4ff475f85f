"""Explanations of idioms that language models gave, read for the judge: samples of lm-eval, logs of Inspect, own lines.

A line of one's own is ``{"id": ..., "language": "tr", "idiom": ..., "reference": ..., "answer": ...}``; ``concept``,
the unit that is resampled, is the id unless it is given, and ``mode`` divides the results further.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from hub_datasets.judge import Case, explanation_case
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, first_fault, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES

LM_EVAL_SAMPLES = "samples_turkic_idiom_explain_*.jsonl"
INSPECT_LOGS = "*.eval"
_MOST_CHARACTERS = 20_000  # of an answer that a judge is shown


def _joined(answer: Any) -> Any:
    return "\n".join(map(str, answer)) if isinstance(answer, list) else answer  # lm-eval has a list


class _Explanation(BaseModel):
    """What was asked and answered: a line of one's own, a sample of Inspect, or of ``lm-eval run --log_samples``."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str
    language: str
    idiom: str
    reference: str
    concept: str | None = None
    mode: str | None = None
    answer: Annotated[str, BeforeValidator(_joined)]


def explanation_files(places: Sequence[Path]) -> list[Path]:
    """Return the files among some places, and the sample files and logs in the folders among them, each once."""
    files: list[Path] = []
    for place in places:
        names = [*place.rglob(LM_EVAL_SAMPLES), *place.rglob(INSPECT_LOGS)] if place.is_dir() else [place]
        files += sorted(names)
    return list(dict.fromkeys(files))


def read_explanations(places: Sequence[Path]) -> list[Case]:
    """Return what is to be judged in some files, and in the sample files and logs of some folders."""
    cases: dict[str, Case] = {}
    origins: dict[str, Path] = {}
    for path in explanation_files(places):
        for where, value, problem in _rows(path):
            try:
                if isinstance(value, dict) and isinstance(value.get("doc"), dict):
                    value = value["doc"] | {"answer": value.get("filtered_resps")}
                asked = _Explanation.model_validate(value)
            except ValidationError as error:
                raise InputError(f"{where}: {problem or first_fault(error)}") from error
            if asked.language not in LANGUAGES:
                raise InputError(f"{where}: unknown language {display(asked.language)}; known: {', '.join(LANGUAGES)}")
            # Two answers to one question would count twice, and the intervals resample concepts as if they were one.
            if asked.id in cases:
                raise InputError(
                    f"{where}: the question {display(asked.id)} was answered in {origins[asked.id]} too; judge one "
                    "run at a time"
                )
            texts = {"idiom": asked.idiom, "reference": asked.reference, "answer": asked.answer[:_MOST_CHARACTERS]}
            concept = asked.concept or asked.id
            cases[asked.id] = explanation_case(asked.id, concept, asked.language, mode=asked.mode, texts=texts)
            origins[asked.id] = path
    if not cases:
        raise InputError(
            f"{', '.join(map(str, places))}: no explanations to judge; expected {LM_EVAL_SAMPLES} of lm-eval run "
            "--log_samples, logs of the Inspect task explain, or JSONL with id, language, idiom, reference, answer"
        )
    return list(cases.values())


def _rows(path: Path) -> Iterator[tuple[str, Any, str | None]]:
    """Yield the place and the value of each explanation in a file, and why it has none."""
    if path.suffix == ".eval":
        from hub_datasets.inspect_explain import read_log  # which needs the extra inspect

        for number, row in enumerate(read_log(path), start=1):
            yield f"{path}, sample {number}", row, None
    else:
        for line in read_json_lines(path):
            yield f"{path}:{line.number}", line.value, line.problem
