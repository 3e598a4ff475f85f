"""Work of the span cells: one training on the source language, then a test or an adaptation for each cell.

The checkpoint of the source language is saved with the outcome of its training, so that a later run continues from it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import trust_setting
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import read_json
from turkic_idiom_tasks.results.predictions import SPANS, Tags
from turkic_idiom_tasks.results.record import DataName, Header, ModelName, Training, installed_versions, subset_scores
from turkic_idiom_tasks.runs.cells import Cell, Finish, Result, Work, content_revision, pinned_commit
from turkic_idiom_tasks.runs.span_cells import SpanPart, checkpoint_folder, source_cell
from turkic_idiom_tasks.splits import TRAIN, VALIDATION
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier
from turkic_idiom_tasks.tasks.spans.scoring import predicted_tags, score_predictions
from turkic_idiom_tasks.training.cards import SPAN_RECORD, save_checkpoint
from turkic_idiom_tasks.training.config import is_first_process
from turkic_idiom_tasks.training.span import FineTuned, few_shot_sample, fine_tune, load_untuned


class Outcome(BaseModel):
    """Outcome of the training of a checkpoint, which is saved in its folder.

    Attributes:
        best_epoch: the epoch whose weights were kept; None without validation sentences.
        validation_span_f1: its span F1 in [0, 1]; None if undefined.
        history: number, validation loss and span F1 of every epoch.
        seconds: time for loading, training and testing.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    best_epoch: int | None
    validation_span_f1: float | None
    history: list[dict[str, float | None]]
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """A classifier that was trained on the source language.

    Attributes:
        classifier: the classifier, whose weights the cells of the job change.
        weights: name -> tensor on the CPU, copied after the training on the source language.
        outcome: outcome of that training.
    """

    classifier: TokenClassifier
    weights: Mapping[str, Any]
    outcome: Outcome


def start(cells: Sequence[Cell], work: Work[SpanPart]) -> Finish:
    """Train on the source language, or load the checkpoint that an earlier run saved.

    Returns:
        the function that runs one of the cells.

    Raises:
        InputError: model or data cannot be used, or the checkpoint is damaged.
    """
    cell = source_cell(work.part, cells[0].model, cells[0].seed or 0)
    folder = checkpoint_folder(
        work.part,
        cell.model,
        cell.seed or 0,
        dataset=work.dataset,
        folder=work.folder,
        trust_remote_code=work.trust_remote_code,
    )
    source = _load_source(folder, work) if folder.is_dir() else _train_source(cell, work, folder)
    return partial(_finish, work=work, source=source)


def _load_source(folder: Path, work: Work[SpanPart]) -> _Source:
    """Return the checkpoint of an earlier run.

    Raises:
        InputError: it is damaged.
    """
    try:
        outcome = Outcome.model_validate(read_json(folder / SPAN_RECORD))
    except ValidationError as error:
        raise InputError(
            f"{folder / SPAN_RECORD}: damaged; delete the folder {folder}, and run the command again"
        ) from error
    return _source(TokenClassifier.load(str(folder), trust_remote_code=work.trust_remote_code), outcome)


def _train_source(cell: Cell, work: Work[SpanPart], folder: Path) -> _Source:
    """Fine-tune a model on the source language and save it; under torchrun only the first process saves it."""
    start = time.perf_counter()
    splits = work.dataset.sentences(work.part.language)
    seed = cell.seed or 0
    classifier = load_untuned(
        cell.model,
        seed=seed,
        revision=pinned_commit(cell.model),
        trust_remote_code=work.trust_remote_code,
    )
    tuned = fine_tune(classifier, splits[TRAIN], splits[VALIDATION], config=work.part.training, seed=seed)
    _, scores = _test(classifier, work.dataset, work.part.language)
    outcome = _outcome(tuned, seconds=time.perf_counter() - start)
    if is_first_process():
        _save(cell, work, classifier, folder, scores=scores, outcome=outcome)
    return _source(classifier, outcome)


def _save(
    cell: Cell,
    work: Work[SpanPart],
    classifier: TokenClassifier,
    folder: Path,
    *,
    scores: Mapping[str, float | None],
    outcome: Outcome,
) -> None:
    record = {
        "model": cell.model,
        "model_revision": content_revision(cell.model),
        "language": work.part.language,
        "seed": cell.seed,
        "config": work.part.training.model_dump(),
        "data": {"path": work.dataset.path, "revision": work.dataset.revision},
        "scores": scores,
        "versions": installed_versions(),
        **trust_setting(work.trust_remote_code),
        **outcome.model_dump(),
    }
    try:
        save_checkpoint(classifier, folder, record)
    except InputError:
        if not folder.is_dir():  # a worker whose driver was killed may have saved the same checkpoint just now
            raise


def _source(classifier: TokenClassifier, outcome: Outcome) -> _Source:
    weights = {}
    for name, tensor in classifier.model.state_dict().items():
        weights[name] = tensor.detach().to("cpu", copy=True)
    return _Source(classifier, weights, outcome)


def _finish(cell: Cell, *, work: Work[SpanPart], source: _Source) -> Result:
    """Test the source checkpoint on the target language of a cell, after adapting it to that language if required."""
    start = time.perf_counter()
    source.classifier.model.load_state_dict(source.weights)
    splits = work.dataset.sentences(str(cell.target))
    outcome = source.outcome
    if cell.target != work.part.language:
        tuned = FineTuned(source.classifier, None, math.nan, ())
        if cell.size != 0:
            size = cell.size if isinstance(cell.size, int) else None
            seed = cell.seed or 0
            sample = few_shot_sample(splits[TRAIN], size, seed=seed)
            tuned = fine_tune(source.classifier, sample, splits[VALIDATION], config=work.part.training, seed=seed)
        outcome = _outcome(tuned, seconds=0.0)
    tags, scores = _test(source.classifier, work.dataset, str(cell.target))
    seconds = time.perf_counter() - start + outcome.seconds
    header = Header(
        data=DataName.of(work.dataset),
        model=ModelName(
            name=cell.model,
            revision=content_revision(cell.model),
            n_parameters=sum(parameter.numel() for parameter in source.classifier.model.parameters()),
        ),
        settings={"dtype": "float32"},
        training=Training(
            regime=cell.regime,
            language=work.part.language,
            seed=cell.seed,
            size=cell.size,
            config=work.part.training.model_dump(),
            outcome=outcome.model_dump(exclude={"seconds"}),
        ),
        versions=installed_versions(),
        subsets=[subset_scores(SPANS, tags.sentences.language, scores)],
        seconds=round(seconds, 3),
    )
    return Result(header, {(SPANS, tags.sentences.language): tags})


def _test(classifier: TokenClassifier, dataset: Dataset, language: str) -> tuple[Tags, dict[str, float]]:
    """Return the tags of the test sentences of a language, and their scores; an undefined score is NaN."""
    sentences = dataset.test_sentences(language)
    tokens = [sentence.tokens for sentence in sentences.rows]
    predictions = classifier.predict(tokens, [language] * len(tokens), progress=False)
    return predicted_tags(sentences, predictions), score_predictions(sentences, predictions)


def _outcome(tuned: FineTuned, *, seconds: float) -> Outcome:
    history = []
    for epoch in tuned.history:
        history.append({name: _number(value) for name, value in epoch.items()})
    return Outcome(
        best_epoch=tuned.best_epoch,
        validation_span_f1=_number(tuned.validation_f1),
        history=history,
        seconds=round(seconds, 3),
    )


def _number(value: float) -> float | None:
    """Return a number for JSON; an undefined one (NaN) becomes None."""
    return None if math.isnan(value) else float(value)
