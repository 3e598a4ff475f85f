"""Figures of the leaderboard for other programs: JSON, CSV that is safe in a spreadsheet, and Every Eval Ever.

The figures of a submission are collected once (`records_of`); every file takes them from there. Every Eval Ever is the
shared schema of evaluation results at github.com/evaleval/every_eval_ever; the form is that of version 0.3.0 of its
``eval.schema.json``: a file for each submission, at ``data/<collection>/<developer>/<model>/<uuid>.json``.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from typing import Any

import pandas as pd

from leaderboard import formats
from leaderboard.board import Board, ScoredSubmission
from leaderboard.data import BoardData
from leaderboard.formats import SubmissionJson, SubsetScoresJson, schema_path
from leaderboard.ranking import Standings
from leaderboard.scripts import short_numbers
from leaderboard.submission import NAME
from turkic_idiom_tasks.io.csv_files import csv_text
from turkic_idiom_tasks.metrics.bootstrap import LEVEL, RESAMPLES, SMALL_N
from turkic_idiom_tasks.results.people import PEOPLE, n_people
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.scored import MAIN_SCORES, ScoredSubset

Records = Mapping[str, SubmissionJson]  # id -> figures of a submission, best first

COLLECTION = "turkic-idiom"  # in Every Eval Ever
METRICS = {  # of Every Eval Ever: main score -> id of the metric, its name, its family, its lowest value
    "ndcg": ("turkic_idiom.ndcg", "nDCG without a cut-off", "ndcg", 0.0),
    "span_f1": ("turkic_idiom.span_f1", "F1 of exact spans", "f1", 0.0),
    "spearman": ("turkic_idiom.spearman", "Spearman's correlation", "spearman", -1.0),
    "accuracy": ("accuracy", "Accuracy", "accuracy", 0.0),
    "accepted": ("turkic_idiom.accepted", "Share of accepted answers", "accuracy", 0.0),
}
_PACKAGE = "turkic-idiom-tasks"
_METADATA = ("name", "revision", "type", "regime", "parameters", "pooling", "few_shot", "training_data")


def records_of(board: Board) -> Records:
    """Return the figures of every submission of a board."""
    records = {}
    names: dict[str, None] = {}  # those with all tasks first, best first
    for order in (board.overall, board.retrieval, *board.by_task.values(), board.by_id):
        names |= dict.fromkeys(order)
    for name in names:
        submission = board.by_id[name]
        subsets = []
        for score in submission.subsets:
            interval = board.main_scores[name][score.task, score.subset].interval
            row = SubsetScoresJson(
                task=score.task,
                subset=score.subset,
                language=score.language,
                n=score.n,
                small_n=score.n < SMALL_N,
                main=score.main,
                low=interval.low,
                high=interval.high,
                reliable=interval.is_reliable,
                headline=score.headline.score if score.headline else None,
                scores=dict(sorted(score.scores.items())),
            )
            subsets.append(row)
        tasks = {task: place for task, of_task in board.by_task.items() if (place := _standing(of_task, name))}
        records[name] = SubmissionJson(
            id=name,
            badges=["recomputed", "reproduced"] if name in board.reproduced else ["recomputed"],
            metadata=submission.metadata.model_dump(),
            overall=_standing(board.overall, name),
            retrieval=_standing(board.retrieval, name),
            tasks=tasks,
            subsets=subsets,
        )
    return records


def _standing(standings: Standings, name: str) -> formats.StandingJson | None:
    standing = standings.get(name)
    if standing is None:
        return None
    rank, group, _ = standings.places[name]
    interval = standing.interval
    return formats.StandingJson(
        rank=rank,
        group=group,
        score=standing.score,
        low=interval.low,
        high=interval.high,
        reliable=interval.is_reliable,
    )


def leaderboard_file(board: Board, records: Records) -> formats.LeaderboardFile:
    """Return every figure of a leaderboard with its metadata; an undefined score is null."""
    other_editions = []
    for name, metadata in board.other_editions.items():
        other = formats.OtherEditionJson(id=name, edition=metadata.edition, metadata=metadata.model_dump())
        other_editions.append(other)
    people = []
    for (task, subset), of_people in board.people.items():
        interval = of_people.resampled.interval()
        answers = formats.PeopleJson(
            task=task,
            subset=subset,
            n_people=len(of_people.names),
            n_items=of_people.n_items,
            main=of_people.resampled.score,
            low=interval.low,
            high=interval.high,
            reliable=interval.is_reliable,
            best=round(of_people.best, 6),
        )
        people.append(answers)
    return formats.LeaderboardFile(
        schema_file=schema_path("leaderboard"),
        data=formats.DataJson.model_validate(board.data),
        models=list(records.values()),
        other_editions=other_editions,
        people=people,
    )


def scores_file(submission: ScoredSubmission, record: SubmissionJson) -> formats.ScoresFile:
    """Return the figures of one submission, with its score of every query and sentence."""
    values: dict[str, list[int | float]] = {}
    for score in submission.subsets:
        # Spearman's correlation has no parts that belong to one pair
        if score.similarities is None:
            columns = score.sums if score.task == SPANS else score.sums[:, 0]
            values[f"{score.task}/{score.subset}"] = short_numbers(columns)
    schema = f"../{schema_path('scores')}"
    return formats.ScoresFile(schema_file=schema, submission=record, items="../items.json", values=values)


def to_csv(board: Board, file: formats.LeaderboardFile) -> str:
    """Return a row per submission: metadata, ranks, and main score with interval per subset; before them the people."""
    data = board.data
    columns = ["id", *_METADATA, "texts_per_second", "device", "badges", "rank", "group"]
    columns += [*_with_interval("macro", "_"), "retrieval", *data.tasks]
    for subset in data.subsets:
        columns += _with_interval(f"{subset.task} {subset.name}")
    rows: list[dict[str, Any]] = []
    for of_people in file.people:
        rows = rows or [{"id": PEOPLE, "name": f"People (n = {n_people(board.people.values())})", "type": PEOPLE}]
        names = _with_interval(f"{of_people.task} {of_people.subset}")
        figures = (of_people.main, of_people.low, of_people.high, int(of_people.reliable))
        rows[0] |= dict(zip(names, figures, strict=True))
    for record in file.models:
        row: dict[str, Any] = {"id": record.id, "parameters": record.metadata["n_parameters"]} | record.metadata
        row["badges"] = " ".join(record.badges)
        if record.overall:
            standing = record.overall
            row |= {"rank": standing.rank, "group": standing.group}
            macro = (standing.score, standing.low, standing.high, int(standing.reliable))
            row |= dict(zip(_with_interval("macro", "_"), macro, strict=True))
        if record.retrieval:
            row["retrieval"] = record.retrieval.score
        row |= {task: standing.score for task, standing in record.tasks.items()}
        for score in record.subsets:
            names = _with_interval(f"{score.task} {score.subset}")
            row |= dict(zip(names, (score.main, score.low, score.high, int(score.reliable)), strict=True))
        rows.append(row)
    # As objects, because pandas would write whole numbers of a column with gaps as 3.0
    frame = pd.DataFrame(rows, columns=columns, dtype="object")
    for name in columns:
        if pd.api.types.infer_dtype(frame[name]) == "floating":
            # Only then it takes the format of floats
            frame[name] = frame[name].astype("float64")
    # CRLF, so that a stray \r within a text is quoted
    return csv_text(frame, float_format="%.6f", line_end="\r\n")


def _with_interval(title: str, between: str = " ") -> list[str]:
    """Return the columns of a score, the ends of its interval, and whether that is reliable, as 1 or 0."""
    return [title, f"{title}{between}low", f"{title}{between}high", f"{title}{between}reliable"]


def every_eval_ever_files(
    boards: Sequence[tuple[Board, Records]], repository: str | None, built: date | None
) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of a file for each submission with a defined score."""
    # The schema asks for the time at which a record was made, so nothing can be written without the day of the build
    if built is None:
        return
    made = str(int(datetime.combine(built, time(), tzinfo=UTC).timestamp()))  # seconds since 1970
    source: dict[str, Any] = {
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
    for submission in dict.fromkeys(name for board, _ in boards for name in board.by_id):
        results = []
        for board, records in boards:
            if submission in board.by_id:
                metadata, revision = records[submission].metadata, board.data.revision
                scores = board.by_id[submission].subsets
                for score, row in zip(scores, records[submission].subsets, strict=True):
                    if row.main is not None:
                        results.append(_result(score, row, board.data, repository))
        name = metadata["name"]
        # The name becomes a path of the site, in which the schema wants the organisation: only ORG/NAME may, whoever
        # made the metadata
        if not results or "/" not in name or not re.fullmatch(NAME, name):
            continue
        fields = ("revision", "n_parameters", "type", "regime", "pooling", "few_shot", "training_data")
        # A submitter does not state how the model is deployed or may be had
        details = {"deployment_type": "unknown", "model_availability": "unknown"}
        details |= {"model_type" if field == "type" else field: metadata[field] for field in fields}
        details["submission"] = submission
        evaluation_id = f"{COLLECTION}/{submission}/{revision}"
        record = {
            "schema_version": "0.3.0",
            "evaluation_id": evaluation_id,
            "retrieved_timestamp": made,
            "source_metadata": source,
            "eval_library": {"name": _PACKAGE, "version": version(_PACKAGE)},
            "model_info": {
                "name": name,
                "id": name,
                "additional_details": _texts(details),
                "developer": name.partition("/")[0],
            },
            "evaluation_results": results,
        }
        # The schema asks for a UUID of version 4; this one depends on the evaluation alone, so builds are repeatable
        digest = hashlib.sha256(evaluation_id.encode()).digest()
        file_name = uuid.UUID(bytes=digest[:16], version=4)
        content = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        yield f"every_eval_ever/data/{COLLECTION}/{name}/{file_name}.json", content.encode()


def _result(score: ScoredSubset, row: SubsetScoresJson, data: BoardData, repository: str | None) -> dict[str, Any]:
    name = f"turkic_idiom.{row.task}.{row.subset}"
    metric_id, metric_name, kind, lowest = METRICS[MAIN_SCORES[row.task]]
    about_data = {"revision": data.revision, "edition": data.edition, "language": row.language}
    details = {
        "headline": row.headline,
        "floor": round(score.floor, 6),
        "interval_is_reliable": str(row.reliable).lower(),
    }
    if score.answers is not None:
        details |= {"prompt": score.answers.prompt, "method": score.answers.method}
    return {
        "evaluation_result_id": name,
        "evaluation_name": name,
        "source_data": {
            "dataset_name": data.path,
            "additional_details": _texts(about_data),
            **({"source_type": "url", "url": [repository]} if repository else {"source_type": "other"}),
        },
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
            "score": row.main,
            "details": _texts(details),
            "uncertainty": {
                "confidence_interval": {
                    "lower": row.low,
                    "upper": row.high,
                    "confidence_level": LEVEL,
                    "method": "expanded percentile bootstrap over concepts",
                },
                "num_samples": row.n,
                "num_bootstrap_samples": RESAMPLES,
            },
        },
    }


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Return the known values as texts, which is all that the schema takes for details."""
    return {name: str(value) for name, value in values.items() if value is not None}
