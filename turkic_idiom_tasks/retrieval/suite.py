"""`turkic-idiom run`: every task and pooling of a model from one pass over the distinct texts."""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.files import check_writable
from turkic_idiom_tasks.languages import get_language
from turkic_idiom_tasks.retrieval.ranking import SubsetRanking, rank_subset
from turkic_idiom_tasks.retrieval.relevance import TASKS, find_task, queries_with_shared_stem
from turkic_idiom_tasks.retrieval.results import ResultFiles
from turkic_idiom_tasks.retrieval.source import SPLIT, current_source

if TYPE_CHECKING:
    from turkic_idiom_tasks.encoders.resolve import LoadedModel

log = logging.getLogger("turkic_idiom_tasks")
NATIVE = "native"  # the model's own pooling


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What `turkic-idiom run` was asked for; `poolings` and `languages` empty mean the model's own and all."""

    tasks: tuple[str, ...]
    output: Path
    poolings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    revision: str | None = None
    backend: str = "torch"
    device: str | None = None
    dtype: str = "float32"
    batch_size: int = 32
    first_layer: int = 1
    top_k: int | None = None
    overwrite: bool = False

    @classmethod
    def from_arguments(cls, options: argparse.Namespace) -> RunOptions:
        """From the parsed command line.

        Raises:
            InputError: an unknown task, language or pooling.
        """
        return cls(
            tasks=tuple(dict.fromkeys(find_task(name).short for name in options.tasks or TASKS)),
            output=Path(options.output),
            poolings=_poolings(options.pooling or []),
            languages=tuple(get_language(code).code for code in options.languages or []),
            revision=options.revision,
            backend=options.backend,
            device=options.device,
            dtype=options.dtype,
            batch_size=options.batch_size,
            first_layer=options.first_layer,
            top_k=options.top_k,
            overwrite=options.overwrite,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ModelRun:
    """One row of the final table: a model under one pooling on one task.

    Attributes:
        model: display name, with the pooling where one was chosen.
        task: full name of the task.
        rankings: subset -> ranking with its scores.
        shared_stem: subset -> the queries that have a content word in common with a relevant document.
        left_out: subsets of the task that the data does not have.
        folder: where the result files stand.
    """

    model: str
    task: str
    rankings: dict[str, SubsetRanking]
    shared_stem: dict[str, frozenset[str]]
    left_out: tuple[str, ...]
    folder: Path


def run_suite(models: Sequence[str], options: RunOptions) -> list[ModelRun]:
    """Scores models one after the other and writes their results as each is done; finished ones are read, not computed.

    Raises:
        InputError: data, model, pooling or output folder cannot be used; results written before stay.
    """
    check_writable(options.output)
    tasks = _load_tasks(options)
    runs: list[ModelRun] = []
    for name in dict.fromkeys(models):
        runs += _run_model(name, tasks, options)
    return runs


def _load_tasks(options: RunOptions) -> list[Any]:
    import mteb

    from turkic_idiom_tasks.retrieval.source import subsets_or_error
    from turkic_idiom_tasks.startup.hook import extend_late

    extend_late()
    source = current_source()
    tasks = []
    for short in options.tasks:
        if len(options.tasks) == 1 or source.subsets(short):
            subsets_or_error(source, short)
        else:
            log.warning("%s: %s has no data for it; left out", TASKS[short].name, source.path)
            continue
        task = mteb.get_task(TASKS[short].name)
        if options.languages:
            wanted = {get_language(code).script_code for code in options.languages}
            languages = task.metadata.hf_subsets_to_langscripts
            task.hf_subsets = [subset for subset in task.hf_subsets if wanted & set(languages[subset])]
        if task.hf_subsets:
            task.load_data()
            tasks.append(task)
    if not tasks:
        subsets_or_error(source, options.tasks[0])
        raise usage_error(f"no subset of {', '.join(options.tasks)} has the language {', '.join(options.languages)}")
    return tasks


def _run_model(name: str, tasks: list[Any], options: RunOptions) -> Iterator[ModelRun]:
    from turkic_idiom_tasks.encoders.resolve import resolve_model

    device = "cpu" if options.backend == "openvino" else options.device
    loaded = resolve_model(name, revision=options.revision, device=device, dtype=options.dtype)
    cells = [_Cell(variant, task, options.output) for variant in _variants(loaded, options) for task in tasks]
    for cell in cells:
        cell.read(overwrite=options.overwrite)
    pooled = [cell for cell in cells if cell.variant.pooling]
    if any(cell.is_missing for cell in pooled):
        _evaluate_pooled(loaded, pooled, options=options)
    source = current_source()
    for cell in cells:
        if cell.is_missing:
            _evaluate_with_mteb(loaded, cell, options=options)
        task, spec = cell.task, TASKS[cell.task.short]
        subsets = task.hf_subsets
        yield ModelRun(
            model=cell.variant.meta.name,
            task=task.metadata.name,
            rankings={subset: cell.rankings[subset] for subset in subsets},
            shared_stem={s: queries_with_shared_stem(source.load(task.short, s), task.short, s) for s in subsets},
            left_out=tuple(subset for subset in spec.subsets if subset not in task.metadata.hf_subsets),
            folder=cell.files.scores.parent,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Variant:
    """A model under one of the five poolings, or, with None, as it is."""

    meta: Any
    pooling: str | None


class _Cell:
    """A model variant on a task: its result files, and its rankings once they are read or computed."""

    def __init__(self, variant: _Variant, task: Any, output: Path) -> None:
        self.variant = variant
        self.task = task
        self.files = ResultFiles.of(output, task, variant.meta)
        self.rankings: dict[str, SubsetRanking] = {}

    @property
    def is_missing(self) -> bool:
        """Whether a subset that was asked for is still to be ranked."""
        return not set(self.task.hf_subsets) <= set(self.rankings)

    def read(self, *, overwrite: bool) -> None:
        """Takes over what an earlier run finished."""
        self.rankings = self.files.read(self.task, overwrite=overwrite)

    def write(
        self,
        rankings: dict[str, SubsetRanking],
        *,
        settings: dict[str, Any],
        seconds: float,
        top_k: int | None,
        scores: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """Writes the result files; from now on the cell is finished."""
        self.files.write(
            self.task,
            self.variant.meta,
            scores=scores or {subset: ranking.scores() for subset, ranking in rankings.items()},
            rankings=rankings,
            settings=settings | {"pooling": self.variant.pooling},
            seconds=seconds,
            top_k=top_k,
        )
        self.rankings = rankings


def _variants(loaded: LoadedModel, options: RunOptions) -> list[_Variant]:
    """The variants to score, each with the metadata under whose name its results stand."""
    from turkic_idiom_tasks.encoders.resolve import native_pooling

    if loaded.encoder is None:
        if options.poolings or options.backend != "torch":
            raise usage_error(
                f"{loaded.meta.name}: not a transformer encoder, so --pooling and --backend do not apply; "
                "leave them out"
            )
        return [_Variant(loaded.meta, None)]
    asked = options.poolings or ((loaded.pooling,) if loaded.pooling else (NATIVE,))
    variants = []
    for pooling in asked:
        actual = native_pooling(loaded.encoder) if pooling == NATIVE else pooling
        if actual is None and options.backend != "torch":
            raise usage_error(f"{loaded.meta.name}: its own pooling runs on torch only; choose one with --pooling")
        meta = loaded.meta if pooling == NATIVE else loaded.meta_for(pooling)
        variants.append(_Variant(_with_settings(meta, actual, options), actual))
    return variants


def _with_settings(meta: Any, pooling: str | None, options: RunOptions) -> Any:
    """The metadata under which results stand: what departs from the defaults gets mteb's folder for experiments."""
    from turkic_idiom_tasks.encoders.poolings import FIRST_LAYER

    settings: dict[str, Any] = {}
    if options.backend != "torch":
        settings["backend"] = options.backend
    if options.dtype != "float32":
        settings["dtype"] = options.dtype
    if pooling == "first_last" and options.first_layer != FIRST_LAYER:
        settings["first_layer"] = options.first_layer
    return meta.model_copy(update={"experiment_kwargs": settings}) if settings else meta


def _evaluate_pooled(loaded: LoadedModel, cells: list[_Cell], *, options: RunOptions) -> None:
    """Ranks every missing cell from one forward pass over the distinct texts, prompts included."""
    from turkic_idiom_tasks.encoders.pooled import PooledEncoder

    start = time.monotonic()
    encoder = PooledEncoder.from_sentence_transformer(
        loaded.encoder,
        backend=options.backend,
        model_id=loaded.meta.name,
        revision=loaded.meta.revision,
        first_layer=options.first_layer,
    )
    prompts = {cell.task.metadata.name: _prompts(loaded, cell.task) for cell in cells}
    for task, prompt in prompts.items():
        if any(prompt.values()):
            log.warning("%s, %s: prompts %s", loaded.meta.name, task, prompt)
    missing = [cell for cell in cells if cell.is_missing]
    work = _work(cells, prompts)
    store = encoder.store_for(options.output / ".embeddings", **work, batch_size=options.batch_size)
    if not store.is_begun():  # an interrupted run left nothing: only what is missing is encoded
        work = _work(missing, prompts)
        store = encoder.store_for(options.output / ".embeddings", **work, batch_size=options.batch_size)
    vectors = encoder.encode(**work, batch_size=options.batch_size, store=store)
    rows = {text: row for row, text in enumerate(work["texts"])}
    shared = (time.monotonic() - start) / len(missing)
    for cell in missing:
        begin = time.monotonic()
        prompt = prompts[cell.task.metadata.name]
        found = vectors[str(cell.variant.pooling)]
        data = cell.task.data
        rankings = {subset: rank_subset(found, rows, data[subset], prompts=prompt) for subset in cell.task.hf_subsets}
        cell.write(
            rankings,
            settings=encoder.describe() | {"prompts": prompt},
            seconds=shared + time.monotonic() - begin,
            top_k=options.top_k,
        )
    store.discard()


def _work(cells: list[_Cell], prompts: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The distinct prompted texts of some cells, and the poolings that they need."""
    tasks = list({cell.task.metadata.name: cell.task for cell in cells}.values())
    poolings = dict.fromkeys(str(cell.variant.pooling) for cell in cells)
    return {"texts": list(dict.fromkeys(_prompted_texts(tasks, prompts))), "poolings": tuple(poolings)}


def _prompts(loaded: LoadedModel, task: Any) -> dict[str, str]:
    """What the model wants before queries and documents of a task, as mteb would put it there."""
    return {role: loaded.prompt(task.metadata, role) for role in ("query", "document")}


def _prompted_texts(tasks: list[Any], prompts: dict[str, dict[str, str]]) -> Iterator[str]:
    for task in tasks:
        prompt = prompts[task.metadata.name]
        for subset in task.hf_subsets:
            data = task.data[subset]
            yield from (prompt["query"] + text for text in data.queries.values())
            yield from (prompt["document"] + text for text in data.documents.values())


def _evaluate_with_mteb(loaded: LoadedModel, cell: _Cell, *, options: RunOptions) -> None:
    """Ranks one cell of any model that mteb can run, by mteb's own evaluation."""
    import mteb
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    start = time.monotonic()
    task = cell.task
    settings = {"batch_size": options.batch_size}
    result = mteb.evaluate(loaded.mteb_model, task, cache=None, encode_kwargs=settings, show_progress_bar=False)
    cell.write(
        {subset: task.rankings[SPLIT, subset] for subset in task.hf_subsets},
        scores={row["hf_subset"]: _only_scores(row) for row in result.task_results[0].scores[SPLIT]},
        settings={"backend": "mteb"},
        seconds=time.monotonic() - start,
        top_k=options.top_k,
    )


def _only_scores(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("hf_subset", "languages", "mteb_version")}


def _poolings(names: Sequence[str]) -> tuple[str, ...]:
    from turkic_idiom_tasks.encoders.poolings import POOLINGS

    chosen: list[str] = []
    for name in names:
        if name not in (*POOLINGS, NATIVE, "all"):
            raise usage_error(f"unknown pooling {name!r}; known: {', '.join(POOLINGS)}, all (or leave it out)")
        chosen += POOLINGS if name == "all" else [name]
    return tuple(dict.fromkeys(chosen))
