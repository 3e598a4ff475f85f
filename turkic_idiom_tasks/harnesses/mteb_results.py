"""Result files of one model on one task, in mteb's folders: our records, and mteb's own files as a view of them.

A record (see `results.record`) is a finished result, one for each subset. mteb's ``TASK.json`` is derived from the
records in the same folder, so it can be written again at any time. Every writer holds the lock of the folder, so that
no result is lost if two programs write at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mteb.cache import ResultCache
from mteb.models.model_meta import ModelMeta
from mteb.results import TaskResult
from pydantic import ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import NO_REVISION
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_similarity import IdiomSTS
from turkic_idiom_tasks.harnesses.mteb_tasks import TurkicIdiomRetrieval
from turkic_idiom_tasks.io.files import LOCK, locked, write_json, write_text
from turkic_idiom_tasks.io.reading import display, read_json
from turkic_idiom_tasks.results.predictions import Prediction, subsets_of
from turkic_idiom_tasks.results.record import (
    MODEL_META,
    SUFFIX,
    Header,
    OtherFormatError,
    read_header,
    read_record,
    write_record,
)
from turkic_idiom_tasks.results.scored import MAIN_SCORES, score_record
from turkic_idiom_tasks.splits import TEST

IdiomTask = TurkicIdiomRetrieval | IdiomSTS


class TaskFolder:
    """Folder with the results of one model on one task.

    Attributes:
        path: mteb's folder for the model, its revision, and settings that differ from the defaults.
    """

    def __init__(self, output: Path, task: IdiomTask, meta: ModelMeta) -> None:
        self._task = task
        self._meta = meta
        self._view: Path = ResultCache(output).get_task_result_path(task.metadata.name, meta)
        self.path: Path = self._view.parent

    def record_path(self, subset: str) -> Path:
        """Return the path of a record, such as ``TurkicIdiomT1.tur-azj.record.jsonl.gz``."""
        return self.path / f"{self._view.stem}.{subset}{SUFFIX}"

    def check_data(self, dataset: Dataset) -> None:
        """Check that mteb's file is absent, or of this data.

        Raises:
            InputError: the file is of other data, or cannot be read.
        """
        view = self._read_view()
        if view is not None and view["dataset_revision"] != dataset.revision:
            raise _other_data(self._view, view["dataset_revision"], dataset)

    def read_header(self, subset: str, dataset: Dataset) -> Header | None:
        """Return the header of a finished result of this model on this data; None if there is no result.

        Raises:
            OtherFormatError: the record has another format.
            InputError: the record is of other data or of another model, or damaged.
        """
        path = self.record_path(subset)
        if not path.is_file():
            return None
        header = read_header(path)
        if header.data.revision != dataset.revision:
            raise _other_data(path, header.data.revision, dataset)
        is_same_model = (header.model.name, header.model.revision) == (self._meta.name, model_revision(self._meta))
        stated = [(row.task, row.subset) for row in header.subsets]
        if not is_same_model or stated != [(self._task.short, subset)]:
            raise InputError(
                f"{path}: a result of {display(header.model.name)} on {display(stated)}, which does not belong there; "
                "choose another --out, or pass --overwrite"
            )
        return header

    def write(
        self,
        subset: str,
        header: Header,
        prediction: Prediction,
        *,
        dataset: Dataset,
        top_k: int | None,
        overwrite: bool,
    ) -> None:
        """Write a record, which makes the result of the subset a finished one.

        Args:
            subset: subset of the task.
            header: everything that decides the result, and its scores.
            prediction: rankings or similarities of the subset by the model.
            dataset: the data that was predicted.
            top_k: documents per query that are listed; None lists the whole pool.
            overwrite: whether to replace a result of other data, which another program may have written meanwhile.

        Raises:
            InputError: a result of other data is there, or the folder cannot be written.
        """
        with locked(self.path / LOCK):
            if not overwrite:
                self.check_data(dataset)
                self._check_record(subset, dataset)
            write_record(self.record_path(subset), header, {(self._task.short, subset): prediction}, top_k=top_k)

    def complete_view(self, dataset: Dataset, headers: Mapping[str, Header], *, overwrite: bool) -> list[str]:
        """Write mteb's files with the scores of the records, and with mteb's own scores of other subsets on this data.

        Nothing is written if the files are complete already.

        Args:
            dataset: the data of the predictions.
            headers: subset -> header of the records that the caller has read or written; the others are read here.
            overwrite: whether mteb's file may be replaced if it is of other data.

        Returns:
            for each record that cannot be used, the reason.

        Raises:
            InputError: mteb's file is of other data, or the folder cannot be written.
        """
        if self._is_complete(dataset, headers):
            return []
        with locked(self.path / LOCK):
            if not overwrite:
                self.check_data(dataset)
            all_headers, problems = self._read_others(dataset, headers)
            view = self._derive_view(dataset, all_headers, overwrite=overwrite)
            if view != self._read_view(lenient=overwrite) or not (self.path / MODEL_META).is_file():
                description = json.dumps(self._meta.to_dict(), default=str, indent=4)  # as mteb writes it
                write_text(self.path / MODEL_META, description)
                write_json(self._view, view)
        return problems

    def _is_complete(self, dataset: Dataset, headers: Mapping[str, Header]) -> bool:
        """Return whether mteb's files state the scores of every record; reading needs no lock."""
        subsets = [subset for subset in subsets_of(self._task.short) if self.record_path(subset).is_file()]
        view = self._read_view(lenient=True)
        if view is None or not set(subsets) <= set(headers) or view["dataset_revision"] != dataset.revision:
            return False
        states_all = view["scores"] == self._derive_view(dataset, headers)["scores"]
        return bool(states_all) and (self.path / MODEL_META).is_file()

    def _read_others(self, dataset: Dataset, headers: Mapping[str, Header]) -> tuple[dict[str, Header], list[str]]:
        """Return the headers of all records of this data, and a message for each record that cannot be used."""
        all_headers: dict[str, Header] = {}
        problems = []
        for subset in subsets_of(self._task.short):
            if subset in headers:
                all_headers[subset] = headers[subset]
                continue
            try:
                header = self.read_header(subset, dataset)
                if header is not None:
                    score_record(read_record(self.record_path(subset), dataset))
                    all_headers[subset] = header
            except InputError as error:
                problems.append(f"{error}; {self._view.name} is written without it")
        return all_headers, problems

    def _derive_view(
        self, dataset: Dataset, headers: Mapping[str, Header], *, overwrite: bool = False
    ) -> dict[str, Any]:
        """Return the content of mteb's file: the scores of the records, and its own rows of other subsets."""
        scores = {}
        seconds = 0.0
        for subset, header in headers.items():
            scores[subset] = self._scores(subset, header)
            seconds += header.seconds or 0.0
        result = TaskResult.from_task_results(self._task, {TEST: scores}, evaluation_time=seconds)
        view: dict[str, Any] = json.loads(result.model_dump_json())
        old = self._read_view(lenient=overwrite)
        if old is None or old["dataset_revision"] != dataset.revision:
            return view
        rows = {}
        for row in (*old["scores"].get(TEST, []), *view["scores"].get(TEST, [])):
            rows[row["hf_subset"]] = row
        ordered = []
        for subset in dict.fromkeys([*subsets_of(self._task.short), *rows]):
            if subset in rows:
                ordered.append(rows[subset])
        view["scores"] = old["scores"] | {TEST: ordered}
        return view

    def _scores(self, subset: str, header: Header) -> dict[str, Any]:
        """Return the scores of a record as mteb's file states them."""
        scores: dict[str, Any] = {}
        for name, value in header.scores(self._task.short, subset).items():
            scores[name] = int(value) if name.startswith("n_") and value == value else value
        main = scores[MAIN_SCORES[self._task.short]]
        return scores | {"main_score": main, "mteb_version": header.versions.get("mteb")}

    def _check_record(self, subset: str, dataset: Dataset) -> None:
        try:
            self.read_header(subset, dataset)
        except OtherFormatError:
            return  # it is replaced, and the user has a note about it

    def _read_view(self, *, lenient: bool = False) -> dict[str, Any] | None:
        """Return the content of mteb's file as JSON values; None if there is no file.

        Args:
            lenient: whether to return None for a damaged file too.

        Raises:
            InputError: the file is not a result file.
        """
        if not self._view.is_file():
            return None
        try:
            result = TaskResult.model_validate(read_json(self._view, special_numbers=True))
        except (InputError, ValidationError) as error:
            if lenient:
                return None
            raise InputError(f"{self._view}: not a result file; delete it or pass --overwrite") from error
        view: dict[str, Any] = json.loads(result.model_dump_json())
        return view


def model_revision(meta: ModelMeta) -> str | None:
    """Return the revision of a model as records state it: None if mteb has no revision of it."""
    return None if meta.revision == NO_REVISION else str(meta.revision)


def _other_data(path: Path, revision: str, dataset: Dataset) -> InputError:
    return InputError(
        f"{path}: scores of other data (revision {revision[:12]}; the data in use, {dataset.path}, has "
        f"{dataset.revision[:12]}); choose another --out, or pass --overwrite"
    )
