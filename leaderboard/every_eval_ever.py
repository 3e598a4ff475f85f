"""Scores of submissions in the form of Every Eval Ever, the shared schema of evaluation results.

The form is that of version 0.3.0 of ``eval.schema.json`` at github.com/evaleval/every_eval_ever: a file for each
submission, at ``data/<collection>/<developer>/<model>/<uuid>.json``. What is not known is said to be unknown.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, time
from importlib.metadata import version
from typing import Any

from leaderboard.board import Board
from leaderboard.scores import ScoredSubmission, corrected
from leaderboard.submission import NAME
from leaderboard.submit_page import About
from turkic_idiom_tasks.metrics.bootstrap import LEVEL, RESAMPLES
from turkic_idiom_tasks.results.scored import MAIN_SCORES, ScoredSubset

SCHEMA_VERSION = "0.3.0"
COLLECTION = "turkic-idiom"
FOLDER = "every_eval_ever"  # within the site

_PACKAGE = "turkic-idiom-tasks"
METRICS = {  # main score -> id of the metric, its name, its family, its lowest value
    "ndcg": ("turkic_idiom.ndcg", "nDCG without a cut-off", "ndcg", 0.0),
    "span_f1": ("turkic_idiom.span_f1", "F1 of exact spans", "f1", 0.0),
    "spearman": ("turkic_idiom.spearman", "Spearman's correlation", "spearman", -1.0),
    "accuracy": ("accuracy", "Accuracy", "accuracy", 0.0),
    "accepted": ("turkic_idiom.accepted", "Share of accepted answers", "accuracy", 0.0),
}
_NAME = re.compile(NAME)


def every_eval_ever_files(boards: list[Board], about: About) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of a file for each submission with a defined score.

    The schema asks for the time at which a record was made, so there are no files where the day of the build is not
    known; nor for models without an organisation in their name, as it is part of the path.
    """
    if about.built is None:
        return
    made = int(datetime.combine(about.built, time(), tzinfo=UTC).timestamp())
    submissions: dict[str, list[tuple[ScoredSubmission, Board]]] = {}
    for board in boards:
        for submission in board.submissions:
            submissions.setdefault(submission.id, []).append((submission, board))
    for parts in submissions.values():
        record = _record(parts, about.repository, made=made)
        name = record["model_info"]["id"]
        if record["evaluation_results"] and "/" in name and _NAME.fullmatch(name):
            content = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
            yield f"{FOLDER}/data/{COLLECTION}/{name}/{_uuid(record['evaluation_id'])}.json", content.encode()


def _record(parts: list[tuple[ScoredSubmission, Board]], repository: str | None, *, made: int) -> dict[str, Any]:
    """Return the record of a submission.

    Args:
        parts: the submission as each board has it.
        repository: address of the repository that takes submissions.
        made: when the record was made, in seconds since 1970.
    """
    submission, board = parts[0]
    metadata = submission.metadata
    source = {
        "source_name": "Turkic Idiom Benchmark",
        "source_type": "evaluation_run",
        "source_organization_name": _PACKAGE,
        "evaluator_relationship": "other",
        "additional_details": {
            "evaluator_relationship_note": "predictions come from a submitter, scores are computed from them here"
        },
    }
    if repository:
        source["source_organization_url"] = repository
    details = {
        "deployment_type": "unknown",
        "model_availability": "unknown",
        "revision": metadata.revision,
        "n_parameters": metadata.n_parameters,
        "model_type": metadata.type,
        "regime": metadata.regime,
        "pooling": metadata.pooling,
        "few_shot": metadata.few_shot,
        "training_data": metadata.training_data,
        "submission": submission.id,
    }
    model_info = {"name": metadata.name, "id": metadata.name, "additional_details": _texts(details)}
    if "/" in metadata.name:
        model_info["developer"] = metadata.name.partition("/")[0]
    results = []
    for part, board_of_part in parts:
        for score in part.subsets:
            if not math.isnan(score.main):
                results.append(_result(part, board_of_part, score, repository=repository))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{COLLECTION}/{submission.id}/{board.data.revision}",
        "retrieved_timestamp": str(made),
        "source_metadata": source,
        "eval_library": {"name": _PACKAGE, "version": version(_PACKAGE)},
        "model_info": model_info,
        "evaluation_results": results,
    }


def _result(
    submission: ScoredSubmission, board: Board, score: ScoredSubset, *, repository: str | None
) -> dict[str, Any]:
    name = f"turkic_idiom.{score.task}.{score.subset}"
    metric_id, metric_name, kind, lowest = METRICS[MAIN_SCORES[score.task]]
    data = {"revision": board.data.revision, "edition": submission.metadata.edition, "language": score.language}
    source: dict[str, Any] = {"dataset_name": board.data.path, "additional_details": _texts(data)}
    if repository:
        source |= {"source_type": "url", "url": [repository]}
    else:
        source["source_type"] = "other"
    interval = board.interval(submission, score)
    details: dict[str, Any] = {"chance_corrected": _rounded(corrected(score)), "floor": _rounded(score.floor)}
    details["interval_is_reliable"] = str(interval.is_reliable).lower()
    if score.answers is not None:
        details |= {"prompt": score.answers.prompt, "method": score.answers.method}
    return {
        "evaluation_result_id": name,
        "evaluation_name": name,
        "source_data": source,
        "metric_config": {
            "metric_id": metric_id,
            "metric_name": metric_name,
            "metric_kind": kind,
            "metric_unit": "proportion" if lowest == 0 else "correlation",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": lowest,
            "max_score": 1.0,
        },
        "score_details": {
            "score": _rounded(score.main),
            "details": _texts(details),
            "uncertainty": {
                "confidence_interval": {
                    "lower": _rounded(interval.low),
                    "upper": _rounded(interval.high),
                    "confidence_level": LEVEL,
                    "method": "expanded percentile bootstrap over concepts",
                },
                "num_samples": score.n,
                "num_bootstrap_samples": RESAMPLES,
            },
        },
    }


def _texts(values: dict[str, Any]) -> dict[str, str]:
    """Return the known values as texts, which is all that the schema takes for details."""
    return {name: str(value) for name, value in values.items() if value is not None}


def _rounded(value: float) -> float:
    return round(value, 6)


def _uuid(text: str) -> str:
    """Return a UUID of version 4, as the schema asks for, that depends on the text alone."""
    return str(uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4))
