"""Work of the idiomaticity cells: train a classifier, and score it on the test rows.

A record has the scores, and the predicted label of every test row in their order as one text of digits.
"""

from __future__ import annotations

import time
from functools import partial

from turkic_idiom_tasks.experiments.cells import Cell, Finish, Result, Work, content_revision, pinned_commit
from turkic_idiom_tasks.experiments.idiomaticity_cells import IdiomaticityPart
from turkic_idiom_tasks.finetuning.idiomaticity import load_classifier, train_seed
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.results.record import DataName, Header, ModelName, Training, installed_versions, subset_scores


def start(work: Work[IdiomaticityPart]) -> Finish:
    """Return the function that runs one cell."""
    return partial(_finish, work=work)


def _finish(cell: Cell, *, work: Work[IdiomaticityPart]) -> Result:
    begin = time.perf_counter()
    part, seed = work.part, cell.seed or 0
    rows = part.rows(work.dataset, cell.regime)
    classifier = load_classifier(
        cell.model, seed=seed, revision=pinned_commit(cell.model), trust_remote_code=work.trust_remote_code
    )
    scores, labels = train_seed(classifier, rows, config=part.training, seed=seed)
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
        seconds=round(time.perf_counter() - begin, 3),
    )
    return Result(header, {})
