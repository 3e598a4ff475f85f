"""Scoring of one model for `turkic-idiom run`: finished results are read, the others are computed and written."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mteb.models.model_meta import ModelMeta

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.encoders.names import FIRST_LAYER, NATIVE, trust_setting
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.encoders.text_vectors import TextVectors
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import LoadedModel, resolve_model
from turkic_idiom_tasks.harnesses.mteb_results import IdiomTask, TaskFolder, model_revision
from turkic_idiom_tasks.harnesses.mteb_similarity import SIMILARITY_CLASSES
from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries
from turkic_idiom_tasks.io.files import check_writable
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.predictions import Prediction, SubsetKey
from turkic_idiom_tasks.results.record import (
    DataName,
    Header,
    ModelName,
    OtherFormatError,
    Throughput,
    differing_majors,
    installed_versions,
    read_record,
    subset_scores,
)
from turkic_idiom_tasks.results.scored import ScoredSubset, score_record, score_subset
from turkic_idiom_tasks.runs.run_options import Reporter, RunOptions
from turkic_idiom_tasks.tasks.retrieval.ranking import ROLES, of_texts, rank_by_task
from turkic_idiom_tasks.tasks.similarity.pair_similarities import SENTENCE, similarities_by_pooling

_NOT_SCORES = ("hf_subset", "languages", "main_score", "mteb_version")  # keys of mteb's rows that are no scores


@dataclass(frozen=True, slots=True, eq=False)
class _Variant:
    """A model under one of the five poolings, or as mteb evaluates it if the pooling is None.

    Attributes:
        meta: mteb's metadata, which has the name and revision of the results.
        pooling: None if the model is not a transformer, or has its own pooling that is none of the five.
        settings: everything else that decides a result, except the prompts.
    """

    meta: ModelMeta
    pooling: str | None
    settings: Mapping[str, Any]


@dataclass(slots=True, eq=False)
class Unit:
    """A model variant on a task, with its finished results.

    Attributes:
        variant: variant of the model.
        task: mteb's task, on the data to score on.
        dataset: that data: the data of the run, or the task's own.
        folder: folder of the results.
        subsets: subsets to score.
        settings: settings that decide a result.
        scored: subset -> scores, once they are read or computed.
        headers: subset -> header of its record.
    """

    variant: _Variant
    task: IdiomTask
    dataset: Dataset
    folder: TaskFolder
    subsets: tuple[str, ...]
    settings: dict[str, Any]
    scored: dict[str, ScoredSubset] = field(default_factory=dict)
    headers: dict[str, Header] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Return the subsets that are still to be scored."""
        return [subset for subset in self.subsets if subset not in self.scored]


class ModelScorer:
    """Scores one model of a run."""

    def __init__(
        self,
        datasets: Mapping[str, Dataset],
        subsets: Sequence[SubsetKey],
        options: RunOptions,
        reporter: Reporter,
        *,
        place: str,
    ) -> None:
        """Make the scorer of the given (task, subset) pairs; `datasets` has the data of each task."""
        self._datasets = datasets
        self._subsets = subsets
        self._options = options
        self._reporter = reporter
        self._place = place
        self._notes: set[str] = set()

    def score(self, name: str) -> list[Unit]:
        """Load a model, read its finished results, and compute and write the others.

        Raises:
            InputError: as in `run_models`.
        """
        self._reporter.progress(f"{self._place}, loading {name}")
        options = self._options
        with quiet_libraries():
            loaded = resolve_model(
                name,
                revision=options.revision,
                device=options.device,
                dtype=options.dtype,
                trust_remote_code=options.trust_remote_code,
            )
        if not loaded.is_sentence_transformer and (options.dtype != "float32" or options.first_layer != FIRST_LAYER):
            self._note(f"{name}: no transformer encoder, so --dtype and --first-layer have no effect")
        units = self._units(loaded)
        for unit in units:
            if not options.overwrite:
                unit.folder.check_data(unit.dataset)
                self._read_finished(unit)
        pooled = [unit for unit in units if unit.variant.pooling and unit.missing]
        others = [unit for unit in units if not unit.variant.pooling and unit.missing]
        for unit in units:
            check_writable(unit.folder.path)
        if pooled:
            self._score_pooled(loaded, pooled)
        for unit in others:
            self._score_with_mteb(loaded, unit)
        for unit in units:
            self._complete_view(unit)  # an earlier run may have been killed before it wrote mteb's file
        return units

    def _units(self, loaded: LoadedModel) -> list[Unit]:
        units = []
        for variant in _variants(loaded, self._options):
            for short in dict.fromkeys(task for task, _ in self._subsets):
                task = _make_task(short, self._datasets[short])
                settings = dict(variant.settings) | {"prompts": None}
                if variant.pooling:
                    settings["prompts"] = _prompts(loaded, task)
                units.append(
                    Unit(
                        variant=variant,
                        task=task,
                        dataset=self._datasets[short],
                        folder=TaskFolder(self._options.output, task, variant.meta),
                        subsets=tuple(subset for name, subset in self._subsets if name == short),
                        settings=settings,
                    )
                )
        return units

    def _read_finished(self, unit: Unit) -> None:
        """Read the results that an earlier run finished with the same settings; note why others are computed again."""
        place = f"{unit.variant.meta.name}, {unit.task.short}"
        for subset in unit.subsets:
            try:
                header = unit.folder.read_header(subset, unit.dataset)
            except OtherFormatError:
                self._note(f"{place}: finished results have another format; computed again")
                continue
            if header is None:
                continue
            if header.settings != unit.settings:
                self._note(f"{place}: finished results have {_differences(header, unit.settings)}; computed again")
                continue
            record = read_record(unit.folder.record_path(subset), unit.dataset)
            (scored,) = score_record(record)
            if scored.cut is not None and (self._options.top_k is None or scored.cut < self._options.top_k):
                self._note(f"{place}: finished results list only {scored.cut} documents per query; computed again")
                continue
            unit.scored[subset] = scored
            unit.headers[subset] = header
            for package in differing_majors(header.versions):
                self._note(
                    f"{unit.variant.meta.name}: finished results of {package} are used; pass --overwrite to compute "
                    "them again"
                )

    def _score_pooled(self, loaded: LoadedModel, units: Sequence[Unit]) -> None:
        """Score the missing subsets of all tasks and poolings from the same forward passes."""
        encoder = PooledEncoder(loaded.encoder, model_id=str(loaded.meta.name), first_layer=self._options.first_layer)
        prompts = {unit.task.short: unit.settings["prompts"] for unit in units}
        for unit in {unit.task.short: unit for unit in units}.values():
            if any(unit.settings["prompts"].values()):
                name = unit.task.metadata.name
                self._reporter.note(f"{loaded.meta.name}, {name}: prompts {unit.settings['prompts']}")
        missing: set[SubsetKey] = set()
        for unit in units:
            missing.update((unit.task.short, subset) for subset in unit.missing)
        poolings = list(dict.fromkeys(str(unit.variant.pooling) for unit in units))
        vectors = TextVectors(encoder, poolings, batch_size=self._options.batch_size)
        start = time.monotonic()
        for (short, subset), predictions in self._predictions(vectors, missing, prompts):
            waiting = [unit for unit in units if unit.task.short == short and subset in unit.missing]
            seconds = (time.monotonic() - start) / len(waiting)
            throughput = Throughput.of(encoder)
            for unit in waiting:
                prediction = predictions[str(unit.variant.pooling)]
                self._write(unit, subset, prediction, loaded=loaded, seconds=seconds, throughput=throughput)
                if not unit.missing:
                    self._complete_view(unit)
            start = time.monotonic()

    def _predictions(
        self, vectors: TextVectors, keys: Collection[SubsetKey], prompts: Mapping[str, Mapping[str, str]]
    ) -> Iterator[tuple[SubsetKey, Mapping[str, Prediction]]]:
        """Yield (task, subset) and pooling -> prediction, task by task, retrieval first."""
        ranked = [key for key in self._subsets if key in keys and key[0] in TASKS]
        if ranked:
            dataset = self._datasets[ranked[0][0]]  # all retrieval tasks have the same
            yield from rank_by_task(vectors, dataset, ranked, prompts=prompts, progress=self._progress)
        for short, subset in self._subsets:
            if (short, subset) in keys and short in SIMILARITY_TASKS:
                pairs = self._datasets[short].pairs(short, subset)
                progress = of_texts(self._progress, short)
                prompt = prompts[short][SENTENCE]
                yield (
                    (short, subset),
                    similarities_by_pooling(vectors, short, pairs, prompt=prompt, progress=progress),
                )

    def _score_with_mteb(self, loaded: LoadedModel, unit: Unit) -> None:
        """Score the missing subsets with mteb's own evaluation, which works for any model of mteb."""
        missing = unit.missing  # becomes shorter with every result
        for number, subset in enumerate(missing):
            self._progress(unit.task.short, number, len(missing), unit="subsets")
            start = time.monotonic()
            prediction, row = loaded.evaluate_subset(unit.task, subset, batch_size=self._options.batch_size)
            self._write(unit, subset, prediction, loaded=loaded, seconds=time.monotonic() - start, mteb_row=row)
        self._complete_view(unit)

    def _write(
        self,
        unit: Unit,
        subset: str,
        prediction: Prediction,
        *,
        loaded: LoadedModel,
        seconds: float,
        throughput: Throughput | None = None,
        mteb_row: Mapping[str, Any] | None = None,
    ) -> None:
        """Score a prediction and write its record."""
        scored = score_subset(prediction)
        scores = _other_scores(mteb_row or {}) | dict(scored.scores)
        meta = unit.variant.meta
        header = Header(
            data=DataName.of(unit.dataset),
            model=ModelName(name=str(meta.name), revision=model_revision(meta), n_parameters=loaded.n_parameters),
            settings=unit.settings,
            versions=installed_versions(),
            subsets=[subset_scores(unit.task.short, subset, scores)],
            seconds=round(seconds, 3),
            throughput=throughput,
        )
        unit.folder.write(
            subset,
            header,
            prediction,
            dataset=unit.dataset,
            top_k=self._options.top_k,
            overwrite=self._options.overwrite,
        )
        unit.scored[subset] = scored
        unit.headers[subset] = header

    def _complete_view(self, unit: Unit) -> None:
        for line in unit.folder.complete_view(unit.dataset, unit.headers, overwrite=self._options.overwrite):
            self._note(line)

    def _progress(self, task: str, n_done: int, n_all: int, *, unit: str) -> None:
        suffix = f" {unit}" if unit == "texts" else ""
        self._reporter.progress(f"{self._place}, {task}, {n_done:,}/{n_all:,}{suffix}")

    def _note(self, line: str) -> None:
        """Report a note only once, although it holds for several subsets."""
        if line not in self._notes:
            self._notes.add(line)
            self._reporter.note(line)


def _make_task(short: str, dataset: Dataset) -> IdiomTask:
    if short in SIMILARITY_TASKS:
        return SIMILARITY_CLASSES[SIMILARITY_TASKS[short].name](dataset=dataset)
    return TASK_CLASSES[TASKS[short].name](dataset=dataset)


def _prompts(loaded: LoadedModel, task: IdiomTask) -> dict[str, str]:
    """Return role -> prompt before the texts with that role."""
    if task.short in SIMILARITY_TASKS:
        return {SENTENCE: loaded.prompt(task.metadata)}
    return {role: loaded.prompt(task.metadata, role) for role in ROLES}


def _variants(loaded: LoadedModel, options: RunOptions) -> Iterator[_Variant]:
    """Yield the variants to score, each with the metadata that name its results.

    Raises:
        InputError: the model cannot be pooled.
    """
    if loaded.encoder is None:
        if options.poolings:
            raise usage_error(
                f"{loaded.meta.name}: not a transformer encoder, so --pooling does not apply; leave it out"
            )
        yield _variant(loaded, loaded.meta, None, options)
        return
    for choice in options.poolings or (loaded.pooling or NATIVE,):
        if choice == NATIVE:
            yield _variant(loaded, loaded.meta, native_pooling(loaded.encoder), options)
        else:
            yield _variant(loaded, loaded.meta_for(choice), choice, options)


def _variant(loaded: LoadedModel, meta: ModelMeta, pooling: str | None, options: RunOptions) -> _Variant:
    """Return a variant; if settings differ from the defaults, its results go to mteb's folder for experiments."""
    settings = {
        "pooling": pooling,
        "dtype": options.dtype if loaded.is_sentence_transformer else None,
        "first_layer": options.first_layer if pooling == "first_last" else None,
        "max_length": None,
    }
    if pooling:
        encoder = PooledEncoder(loaded.encoder)
        settings["max_length"] = encoder.max_length
    not_default: dict[str, Any] = trust_setting(options.trust_remote_code)
    settings |= not_default
    if settings["dtype"] not in (None, "float32"):
        not_default["dtype"] = settings["dtype"]
    if settings["first_layer"] not in (None, FIRST_LAYER):
        not_default["first_layer"] = settings["first_layer"]
    if not_default:
        meta = meta.model_copy(update={"experiment_kwargs": not_default})
    return _Variant(meta, pooling, settings)


def _differences(header: Header, settings: Mapping[str, Any]) -> str:
    """Return a text with the differences between the settings of a record and those of this run."""
    parts = []
    for name in sorted({*header.settings, *settings}):
        old, new = header.settings.get(name), settings.get(name)
        if old != new:
            parts.append(f"{name} {display(old)} instead of {display(new)}")
    return ", ".join(parts)


def _other_scores(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores in a row of mteb, which has many scores besides ours."""
    scores = {}
    for name, value in row.items():
        if name not in _NOT_SCORES and isinstance(value, int | float):
            scores[name] = float(value)
    return scores
