"""Work of the idiomaticity cells: train a classifier, and score it on the test rows.

The setups of a model and a seed begin with the same training, which is done once for the cells of a job.

A record has the scores, and the predicted label of every test row in their order as one text of digits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from turkic_idiom_tasks.encoders.siblings.sentence_classifier import SentenceClassifier
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.results.record import DataName, Header, ModelName, Training, installed_versions, subset_scores
from turkic_idiom_tasks.runs.cells import Cell, Finish, Result, Work, content_revision, pinned_commit
from turkic_idiom_tasks.runs.idiomaticity_cells import IdiomaticityPart
from turkic_idiom_tasks.training.siblings.idiomaticity import Stage, load_classifier, train_seed, train_stage


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """What the setups of a model and a seed share: the training without sentences of the test idioms.

    Attributes:
        classifier: the classifier, whose weights the cells of the job change.
        first: its first stage.
        seconds: time for loading and training.
    """

    classifier: SentenceClassifier
    first: Stage
    seconds: float


def start(cells: Sequence[Cell], work: Work[IdiomaticityPart]) -> Finish:
    """Train the stage that all cells begin with, and return the function that runs one of them.

    Raises:
        InputError: model or data cannot be used.
    """
    begin = time.perf_counter()
    cell, seed = cells[0], cells[0].seed or 0
    rows = work.part.rows(work.dataset, cell.regime)
    classifier = load_classifier(
        cell.model, seed=seed, revision=pinned_commit(cell.model), trust_remote_code=work.trust_remote_code
    )
    first = train_stage(classifier, rows.stages[0], rows.development, config=work.part.training, seed=seed)
    source = _Source(classifier, first, seconds=time.perf_counter() - begin)
    return partial(_finish, work=work, source=source)


def _finish(cell: Cell, *, work: Work[IdiomaticityPart], source: _Source) -> Result:
    begin = time.perf_counter()
    part, seed, classifier = work.part, cell.seed or 0, source.classifier
    rows = part.rows(work.dataset, cell.regime)
    scores, labels = train_seed(classifier, rows, config=part.training, seed=seed, first=source.first)
    n_idioms = len({row.idiom for row in rows.test})
    figures = {
        "macro_f1": scores.test_f1,
        "macro_f1_ci_low": scores.low,
        "macro_f1_ci_high": scores.high,
        "development_macro_f1": scores.development_f1,
        "n_sentences": float(len(rows.test)),
        "n_idioms": float(n_idioms),
        "small_sample": float(n_idioms < SMALL_N),
    }
    header = Header(
        data=DataName(path=rows.path, revision=rows.revision),
        model=ModelName(
            name=cell.model,
            revision=content_revision(cell.model),
            n_parameters=sum(parameter.numel() for parameter in classifier.model.parameters()),
        ),
        settings={"dtype": "float32", "inputs": list(part.inputs), "subtask": part.subtask},
        training=Training(
            regime=cell.regime,
            seed=cell.seed,
            config=part.training.model_dump() | {"source": part.source},
            outcome={"best_epoch": scores.best_epoch, "test_labels": "".join(map(str, labels))},
        ),
        versions=installed_versions(),
        subsets=[subset_scores(IDIOMATICITY, rows.path, figures)],
        seconds=round(source.seconds + time.perf_counter() - begin, 3),
    )
    return Result(header, {})
