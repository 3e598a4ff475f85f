"""What ``inspect eval turkic_idiom_tasks/...`` writes: logs of Inspect AI, read by Inspect itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from pydantic import ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import MAX_BYTES, MalformedError, display, first_fault, first_line
from turkic_idiom_tasks.results.item_answers import GENERATION, ITEM_TASKS
from turkic_idiom_tasks.results.model_predictions import LLM, HarnessFile, ModelPredictions, regime_of_language_model
from turkic_idiom_tasks.results.predictions import SPANS, Prediction, SubsetKey
from turkic_idiom_tasks.results.reader import read_answers
from turkic_idiom_tasks.results.record import check_data
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.items.items import kind_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

# Names that Inspect gives to logs in its two formats; a folder holds other JSON too, which need not be read for this.
LOG = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT.+_.+\.json")
_PREFIX = "turkic_idiom_tasks/"  # of the names of our tasks
_SCORERS = dict.fromkeys(ITEM_TASKS, "idiom_choice")
_SCORERS |= dict.fromkeys(OPEN_TASKS, "idiom_recall") | {SPANS: "idiom_spans"}


class _Metadata(HarnessFile):
    """What our tasks state about themselves in a log."""

    data_revision: str
    prompt: str
    few_shot: int


def read_log(path: Path, dataset: Dataset, *, is_partial: bool = False) -> ModelPredictions | None:
    """Return the answers of a log, one prediction for each set in it; None for a log of somebody else's task.

    A log that is damaged, unfinished, of other data or, unless `is_partial`, of a part of the items is an InputError.
    """
    log = open_log(path)
    # Inspect states the package only where the task was named with it; run from a file, it has its bare name.
    task = log.eval.task.removeprefix(_PREFIX)
    if not log.eval.task.startswith(_PREFIX) and task not in (*ITEM_TASKS, SPANS):
        return None
    if log.status != "success":
        raise InputError(
            f"{path}: the run ended with the status {display(log.status)}; finish it with inspect eval-retry"
        )
    try:
        about = _Metadata.model_validate(log.eval.metadata or {}, strict=True)
    except ValidationError as error:
        raise InputError(
            f"{path}: does not say which data and prompt it is of ({first_fault(error)}); run it again with "
            f"{_PREFIX}..."
        ) from error
    check_data(path, about.data_revision, dataset)
    predictions: dict[SubsetKey, Prediction] = {}
    for key, answers in _answers(path, log, task).items():
        predictions[key] = read_answers(
            path, key, answers, dataset, prompt=about.prompt, method=GENERATION, is_partial=is_partial
        )
    # hf/ORG/NAME is ORG/NAME, openai/gpt-5 stays, and hf/local with the argument `model_path` is that path
    name = log.eval.model.partition("/")[2]
    if name == "local" and log.eval.model_args.get("model_path"):
        name = str(log.eval.model_args["model_path"])
    elif not is_local(name) and "/" not in name:
        name = log.eval.model
    return ModelPredictions(
        path=path,
        predictions=predictions,
        name=name,
        type=LLM,
        regime=regime_of_language_model(name, shots=about.few_shot),
        few_shot=about.few_shot,
        versions={package.replace("_", "-"): version for package, version in log.eval.packages.items()},
    )


def open_log(path: Path) -> EvalLog:
    """Return what Inspect reads in a log; an InputError if it cannot be read, or has two answers of a sample."""
    try:
        # Late: an optional package, which takes two seconds to import
        from inspect_ai.log import read_eval_log

        if path.suffix == ".eval":
            with ZipFile(path) as archive:
                if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                    raise MalformedError(f"more than the {MAX_BYTES:,} bytes that are allowed, once unpacked")
                newest = {member.filename: member for member in archive.infolist()}
                for member in archive.infolist():
                    # Inspect reads the newest of a name, as of a sample that failed and was asked again.
                    is_replaced = member is not newest[member.filename] and member.filename.startswith("samples/")
                    if is_replaced and json.loads(archive.read(member)).get("scores"):
                        raise MalformedError(f"{display(member.filename)} stands in it twice, each time with an answer")
        return read_eval_log(str(path))
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path}: reading it needs the package {error.name}: pip install 'turkic-idiom-tasks[inspect]'"
        ) from error
    except Exception as error:  # whatever a damaged archive makes Inspect raise
        raise InputError(f"{path}: no log that Inspect can read ({first_line(error)}); run it again") from error


def _answers(path: Path, log: EvalLog, task: str) -> dict[SubsetKey, list[tuple[str, object, Any]]]:
    """Return task and subset -> what our scorer read; see `read_answers`."""
    answers: dict[SubsetKey, list[tuple[str, object, Any]]] = {}
    for sample in log.samples or []:
        sample_id = str(sample.id)  # spans_tr/SENTENCE, or the id of an item: equivalent_tr_uz/CONCEPT
        scores = sample.scores or {}
        score = scores.get(_SCORERS[task])
        if score is None:
            raise InputError(
                f"{path}: sample {display(sample_id)} has no score of {_SCORERS[task]}, which reads the answers "
                f"(it has {', '.join(map(display, scores)) or 'none'}); run inspect score --scorer "
                f"{_PREFIX}{_SCORERS[task]}"
            )
        if sample.epoch > 1:
            raise InputError(f"{path}: has several answers to each item; run it again with --epochs 1")
        set_name, _, rest = sample_id.partition("/")
        subset = set_name.removeprefix(f"{kind_of(task)}_").replace("_", "-")
        answer: str | int | None = score.answer
        if task == SPANS:
            sample_id, answer = rest, "".join(tag[0] for tag in (score.answer or "").split())
        elif task not in OPEN_TASKS and score.answer is not None:
            # -1 is no option of an item, so a text that our scorer cannot have written is refused later.
            answer = LETTERS.find(score.answer) if len(score.answer) == 1 else -1
        answers.setdefault((task, subset), []).append((sample_id, (sample.metadata or {}).get("digest"), answer))
    return answers
