"""Figures of the leaderboard for other programs: as JSON, and as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import pandas as pd
from pydantic import BaseModel

from leaderboard.board import Board
from leaderboard.formats import (
    DataJson,
    DataSubsetJson,
    ItemsFile,
    LeaderboardFile,
    OtherEditionJson,
    ScoresFile,
    StandingJson,
    SubmissionJson,
    SubsetScoresJson,
    schema_path,
)
from leaderboard.items import BoardData, item_values
from leaderboard.ranking import Standing
from leaderboard.scores import ScoredSubmission, corrected
from leaderboard.tables import badges, by_rank
from turkic_idiom_tasks.lexicon.editions import edition_of
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins like this
_TEXTS = ("id", "name", "revision", "type", "regime", "pooling", "training_data", "device", "badges")
_INTEGERS = ("parameters", "few_shot", "rank", "group")
_RELIABLE = "reliable"  # end of the title of the columns that say, as 1 or 0, whether an interval is reliable


def leaderboard_file(board: Board) -> dict[str, Any]:
    """Return every figure of a leaderboard with its metadata; an undefined score is null."""
    subsets = []
    for subset in board.data.subsets:
        subsets.append(
            DataSubsetJson(
                task=subset.task,
                subset=subset.name,
                language=subset.language,
                n=subset.n,
                pool=subset.pool,
                floor=_number(subset.floor),
            )
        )
    data = DataJson(
        path=board.data.path,
        revision=board.data.revision,
        edition=edition_of(board.data.revision),
        subsets=subsets,
    )
    other_editions = []
    for other in board.other_editions:
        metadata = other.metadata
        other_editions.append(OtherEditionJson(id=other.id, edition=metadata.edition, metadata=metadata.model_dump()))
    return _as_json(
        LeaderboardFile(
            schema_file=schema_path("leaderboard"),
            data=data,
            models=[_submission_json(submission, board) for submission, _ in by_rank(board)],
            other_editions=other_editions,
        )
    )


def scores_file(submission: ScoredSubmission, board: Board) -> dict[str, Any]:
    """Return the figures of one submission, with its score of every query and sentence."""
    return _as_json(
        ScoresFile(
            schema_file=f"../{schema_path('scores')}",
            submission=_submission_json(submission, board),
            items="../items.json",
            values=item_values(submission.subsets),
        )
    )


def items_file(data: BoardData) -> dict[str, Any]:
    """Return the ids of all queries and sentences, in the order of the values in the files of the submissions.

    Pairs of the similarity task are left out, as their score is no sum of values.
    """
    items = {subset.key: list(subset.texts) for subset in data.with_parts}
    return _as_json(ItemsFile(schema_file=schema_path("items"), items=items))


def _as_json(file: BaseModel) -> dict[str, Any]:
    return file.model_dump(mode="json", by_alias=True)


def _submission_json(submission: ScoredSubmission, board: Board) -> SubmissionJson:
    tasks = {}
    for task in board.data.tasks:
        if submission.id in board.by_task[task]:
            tasks[task] = _standing_json(board.by_task[task][submission.id])
    subsets = []
    for score in submission.subsets:
        interval = board.interval(submission, score)
        row = SubsetScoresJson(
            task=score.task,
            subset=score.subset,
            language=score.language,
            n=score.n,
            small_n=score.n < SMALL_N,
            main=_number(score.main),
            low=_number(interval.low),
            high=_number(interval.high),
            reliable=interval.is_reliable,
            corrected=_number(corrected(score)),
            scores={name: _number(value) for name, value in sorted(score.scores.items())},
        )
        subsets.append(row)
    overall, retrieval = board.overall.get(submission.id), board.retrieval.get(submission.id)
    return SubmissionJson(
        id=submission.id,
        badges=list(badges(submission, board)),
        metadata=submission.metadata.model_dump(),
        overall=_standing_json(overall) if overall else None,
        retrieval=_standing_json(retrieval) if retrieval else None,
        tasks=tasks,
        subsets=subsets,
    )


def to_csv(board: Board) -> str:
    """Return a row per submission: metadata, ranks, and main score with interval per subset."""
    columns = ["id", "name", "revision", "type", "regime", "parameters", "pooling", "few_shot", "training_data"]
    columns += [
        "texts_per_second",
        "device",
        "badges",
        "rank",
        "group",
        "macro",
        "macro_low",
        "macro_high",
        f"macro_{_RELIABLE}",
    ]
    columns += ["retrieval", *board.data.tasks]
    for subset in board.data.subsets:
        title = f"{subset.task} {subset.name}"
        columns += [title, f"{title} low", f"{title} high", f"{title} {_RELIABLE}"]
    rows = [_csv_row(submission, standing, board) for submission, standing in by_rank(board)]
    frame = pd.DataFrame(rows, columns=columns)
    for name in columns:
        if name in _TEXTS:
            frame[name] = frame[name].map(_harmless, na_action="ignore")
        elif name in _INTEGERS or name.endswith(_RELIABLE):
            frame[name] = frame[name].astype("Int64")
        else:
            frame[name] = frame[name].astype("float64")
    return str(frame.to_csv(index=False, float_format="%.6f", lineterminator="\r\n"))  # so that a stray \r is quoted


def _csv_row(submission: ScoredSubmission, standing: Standing | None, board: Board) -> dict[str, Any]:
    about = submission.metadata
    row: dict[str, Any] = {
        "id": submission.id,
        "name": about.name,
        "revision": about.revision,
        "type": about.type,
        "regime": about.regime,
        "parameters": about.n_parameters,
        "pooling": about.pooling,
        "few_shot": about.few_shot,
        "training_data": about.training_data,
        "texts_per_second": about.texts_per_second,
        "device": about.device,
        "badges": " ".join(badges(submission, board)),
    }
    if standing:
        row |= {"rank": standing.rank, "group": standing.group, "macro": standing.score}
        row |= {"macro_low": standing.interval.low, "macro_high": standing.interval.high}
        row[f"macro_{_RELIABLE}"] = int(standing.interval.is_reliable)
    if submission.id in board.retrieval:
        row["retrieval"] = board.retrieval[submission.id].score
    for task, standings in board.by_task.items():
        if submission.id in standings:
            row[task] = standings[submission.id].score
    for score in submission.subsets:
        title, interval = f"{score.task} {score.subset}", board.interval(submission, score)
        row |= {title: score.main, f"{title} low": interval.low, f"{title} high": interval.high}
        row[f"{title} {_RELIABLE}"] = int(interval.is_reliable)
    return row


def _harmless(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would take it for a formula."""
    plain = unicodedata.normalize("NFKC", text)  # some spreadsheets read a full-width sign as the plain one
    return f"'{text}" if plain.lstrip(" ").startswith(_FORMULA_STARTS) else text


def _standing_json(standing: Standing) -> StandingJson:
    interval = standing.interval
    return StandingJson(
        rank=standing.rank,
        group=standing.group,
        score=_number(standing.score),
        low=_number(interval.low),
        high=_number(interval.high),
        reliable=interval.is_reliable,
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)
