"""Everything that the pages show, computed: the records of a leaderboard and where they stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.data import Data
from leaderboard.ranking import Standing, rank, resample
from leaderboard.records import RETRIEVAL_TASKS, Record
from turkic_idiom_tasks.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Everything that the pages show, computed.

    Attributes:
        data: what was scored on.
        records: sorted by id.
        overall: id -> standing over all tasks, best first; without the records that lack a task.
        retrieval: the same over the retrieval tasks.
        by_task: task -> the same over one task.
        reproduced: ids that the maintainers ran again.
    """

    data: Data
    records: tuple[Record, ...]
    overall: Mapping[str, Standing]
    retrieval: Mapping[str, Standing]
    by_task: Mapping[str, Mapping[str, Standing]]
    reproduced: frozenset[str]


def make_board(records: Collection[Record], data: Data, *, reproduced: Collection[str] = ()) -> Board:
    """Ranks records, which may come in any order.

    Args:
        records: one per submission.
        data: what they were scored on.
        reproduced: ids of records that the maintainers ran again.

    Raises:
        InputError: two records of one id, a record of other data, or an unknown id in `reproduced`.
    """
    ordered = sorted(records, key=lambda record: record.id)
    for before, after in pairwise(ordered):
        if before.id == after.id:
            raise InputError(f"two submissions have the id {after.id!r}; rename the folder of one")
    for record in ordered:
        _check(record, data)
    unknown = sorted(set(reproduced) - {record.id for record in ordered})
    if unknown:
        raise InputError(f"reproduced: no submission {unknown[0]!r}; correct or delete that line")
    parts = resample(ordered, data)
    return Board(
        data=data,
        records=tuple(ordered),
        overall=_by_id(rank(list(parts.values()))),
        retrieval=_by_id(rank([part for task, part in parts.items() if task in RETRIEVAL_TASKS])),
        by_task={task: _by_id(rank([part])) for task, part in parts.items()},
        reproduced=frozenset(reproduced),
    )


def _by_id(standings: Sequence[Standing]) -> dict[str, Standing]:
    return {standing.id: standing for standing in standings}


def _check(record: Record, data: Data) -> None:
    """A record's scores must be of the items of the data, or it cannot stand beside the others."""
    if record.metadata.dataset_revision != data.revision:
        raise InputError(
            f"{record.id}: scored on revision {record.metadata.dataset_revision[:12]}, the data in use, {data.path}, "
            f"has {data.revision[:12]}; name the data that was scored with --data, or score the model again"
        )
    items = {(subset.task, subset.name): tuple(subset.texts) for subset in data.subsets}
    for score in record.subsets:
        if items.get((score.task, score.subset)) != score.items:
            raise InputError(f"{record.id}: the items of {score.task} {score.subset} are not those of {data.path}")
