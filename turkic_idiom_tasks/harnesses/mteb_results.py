"""Result files of one model on one task, in mteb's folders: our records, and mteb's own files as a view of them.

A record (see `results.record`) is a finished result, one for each subset. mteb's ``TASK.json`` is derived from the
records in the same folder, so it can be written again at any time.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mteb.cache import ResultCache
from mteb.models.model_meta import ModelMeta
from mteb.results import TaskResult
from pydantic import ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import NO_REVISION
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_data import scores_for_json
from turkic_idiom_tasks.harnesses.mteb_tasks import IdiomTask
from turkic_idiom_tasks.io.files import LOCK, locked, write_json, write_text
from turkic_idiom_tasks.io.reading import display, read_json
from turkic_idiom_tasks.results.predictions import subsets_of
from turkic_idiom_tasks.results.record import (
    MODEL_META,
    SUFFIX,
    Header,
    OtherFormatError,
    Record,
    check_data,
    read_header,
    read_record,
    write_record,
)
from turkic_idiom_tasks.results.scored import score_record
from turkic_idiom_tasks.splits import TEST

_ELSEWHERE = "choose another --out, or pass --overwrite"  # advice where a folder has results of other data


@dataclass(frozen=True, eq=False)
class TaskFolder:
    """Results of one model on one task and one data set."""

    output: Path  # mteb's folder for all results
    task: IdiomTask
    dataset: Dataset
    meta: ModelMeta  # its name, its revision, and settings that differ from the defaults name the folder
    overwrite: bool = False  # whether results of other data, and damaged files of mteb, may be replaced

    @cached_property
    def view(self) -> Path:
        """Return the path of mteb's own file."""
        return Path(ResultCache(self.output).get_task_result_path(self.task.metadata.name, self.meta))

    @property
    def path(self) -> Path:
        """Return the folder."""
        return self.view.parent

    def record_path(self, subset: str) -> Path:
        """Return the path of a record, such as ``TurkicIdiomT1.tur-azj.record.jsonl.gz``."""
        return self.path / f"{self.view.stem}.{subset}{SUFFIX}"

    def check_data(self) -> None:
        """Raise InputError if there is a file of mteb that is of other data, or cannot be read."""
        view = self._read_view()
        if view is not None:
            check_data(self.view, view["dataset_revision"], self.dataset, what="scores", advice=_ELSEWHERE)

    def read_header(self, subset: str) -> Header | None:
        """Return the header of a finished result of this model on this data; None if there is no result.

        Another format is an OtherFormatError; other data, another model, or a damaged record, a plain InputError.
        """
        path = self.record_path(subset)
        if not path.is_file():
            return None
        header = read_header(path)
        check_data(path, header.data.revision, self.dataset, what="scores", advice=_ELSEWHERE)
        revision = None if self.meta.revision == NO_REVISION else self.meta.revision
        stated = [(row.task, row.subset) for row in header.subsets]
        is_same_model = (header.model.name, header.model.revision) == (self.meta.name, revision)
        if not is_same_model or stated != [(self.task.short, subset)]:
            raise InputError(
                f"{path}: a result of {display(header.model.name)} on {display(stated)}, which does not belong there; "
                "choose another --out, or pass --overwrite"
            )
        main_score = self.task.metadata.main_score
        if main_score not in header.scores(self.task.short, subset):
            raise OtherFormatError(f"{path}: has no {main_score}, which an earlier version did not compute")
        return header

    def write(self, subset: str, record: Record, *, top_k: int | None) -> None:
        """Write a record, which makes the result of the subset a finished one; `top_k` is as in `write_record`."""
        # Every writer holds the lock, so that no result is lost if two programs write at once
        with locked(self.path / LOCK):
            if not self.overwrite:
                # Another program may have written results of other data since the run began
                self.check_data()
                # Such a record is replaced, and the user has a note about it
                with suppress(OtherFormatError):
                    self.read_header(subset)
            write_record(self.record_path(subset), record.header, record.predictions, top_k=top_k)

    def complete_view(self, headers: Mapping[str, Header]) -> list[str]:
        """Write mteb's files with the scores of the records, and with mteb's own scores of other subsets on this data.

        The headers are those of the records that the caller has read or written; the others are read here. Return the
        reason for each record that cannot be used.
        """
        with locked(self.path / LOCK):
            if not self.overwrite:
                self.check_data()
            all_headers: dict[str, Header] = {}
            problems = []
            for subset in subsets_of(self.task.short):
                try:
                    header = headers.get(subset) or self.read_header(subset)
                    if header is None:
                        continue
                    # A record of an earlier run, which may be damaged below its header
                    if subset not in headers:
                        score_record(read_record(self.record_path(subset), self.dataset))
                    all_headers[subset] = header
                except InputError as error:
                    problems.append(f"{error}; {self.view.name} is written without it")
            old = self._read_view()
            view = self._derive_view(all_headers, old=old)
            if view != old or not (self.path / MODEL_META).is_file():
                description = json.dumps(self.meta.to_dict(), default=str, indent=4)  # as mteb writes it
                write_text(self.path / MODEL_META, description)
                write_json(self.view, view)
        return problems

    def _derive_view(self, headers: Mapping[str, Header], *, old: dict[str, Any] | None) -> dict[str, Any]:
        """Return the content of mteb's file: the scores of the records, and its own rows of other subsets."""
        main_score = self.task.metadata.main_score
        scores: dict[str, dict[str, Any]] = {}
        for subset, header in headers.items():
            row = scores_for_json(header.scores(self.task.short, subset))
            for name, value in row.items():
                if name.startswith("n_") and value is not None:  # a record has floats only
                    row[name] = int(value)
            scores[subset] = row | {"main_score": row[main_score], "mteb_version": header.versions.get("mteb")}
        seconds = sum((header.seconds or 0.0 for header in headers.values()), 0.0)
        result = TaskResult.from_task_results(self.task, {TEST: scores}, evaluation_time=seconds)
        # By way of JSON, as mteb reads its own file: so an equal view is recognised, and not written again
        view: dict[str, Any] = json.loads(result.model_dump_json())
        if old is None or old["dataset_revision"] != self.dataset.revision:
            return view
        rows = {row["hf_subset"]: row for row in (*old["scores"].get(TEST, []), *view["scores"].get(TEST, []))}
        order = dict.fromkeys([*subsets_of(self.task.short), *rows])
        view["scores"] = old["scores"] | {TEST: [rows[subset] for subset in order if subset in rows]}
        return view

    def _read_view(self) -> dict[str, Any] | None:
        """Return the content of mteb's file as JSON values; None if there is none, or a damaged one to be replaced."""
        if not self.view.is_file():
            return None
        try:
            result = TaskResult.model_validate(read_json(self.view, special_numbers=True))
        except (InputError, ValidationError) as error:
            if self.overwrite:
                return None
            raise InputError(f"{self.view}: not a result file; delete it or pass --overwrite") from error
        view: dict[str, Any] = json.loads(result.model_dump_json())
        return view
