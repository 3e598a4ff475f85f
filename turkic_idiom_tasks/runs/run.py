"""Scoring of models on the tasks of encoders for `turkic-idiom run`."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.dataset.similarity import SEMEVAL_STS, SIMILARITY_TASKS
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.names import FIRST_LAYER, NATIVE, POOLINGS, split_pooling, trust_setting
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.served import CACHE_FILE
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import (
    DOCUMENT,
    QUERY,
    LoadedModel,
    check_name,
    load_served,
    name_models,
    resolve_model,
)
from turkic_idiom_tasks.harnesses.mteb_results import TaskFolder
from turkic_idiom_tasks.harnesses.mteb_tasks import CLASS_OF_TASK
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries
from turkic_idiom_tasks.io.files import check_writable
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.predictions import Similarities, SubsetKey, subsets_of
from turkic_idiom_tasks.results.record import (
    DataName,
    Header,
    OtherFormatError,
    build_record,
    differing_majors,
    read_record,
)
from turkic_idiom_tasks.results.scored import ScoredSubset, score_record, score_subset
from turkic_idiom_tasks.runs.engine import score_encoder
from turkic_idiom_tasks.runs.run_options import FULL_NAMES, Reporter, RunOptions, choose_subsets, open_datasets
from turkic_idiom_tasks.tasks.items.prompts import CHARACTERS_PER_TOKEN
from turkic_idiom_tasks.tasks.siblings.semeval import semeval_dataset, submission_form

_NOT_SCORES = ("hf_subset", "languages", "main_score", "mteb_version")  # keys of mteb's rows that are no scores


@dataclass(frozen=True, slots=True, eq=False)
class ModelRun:
    """Scores of a model under one pooling on one task."""

    model: str  # display name, with the pooling if one was chosen
    task: str  # full name
    subsets: Mapping[str, ScoredSubset]
    left_out: tuple[str, ...]  # subsets of the task that the data does not have
    folder: Path  # of the result files


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """A model under one pooling on one task, with its finished results."""

    name: str  # of the model in results, with the pooling if one was chosen
    short: str  # name of the task
    folder: TaskFolder
    subsets: tuple[str, ...]  # to score
    settings: dict[str, Any]  # everything that decides a result besides the model and the data
    scored: dict[str, ScoredSubset] = field(default_factory=dict)
    headers: dict[str, Header] = field(default_factory=dict)

    @property
    def missing(self) -> list[SubsetKey]:
        return [(self.short, subset) for subset in self.subsets if subset not in self.scored]


def run_models(
    models: Sequence[str], dataset: Dataset, options: RunOptions, *, reporter: Reporter | None = None
) -> Iterator[ModelRun]:
    """Score models (mteb or Hugging Face names, or local folders), and write each result when it is done.

    Finished results are only read. After an InputError about a model or the folder, those already written stay.
    """
    reporter = reporter or Reporter()
    datasets = open_datasets(dataset, options)
    keys = choose_subsets(datasets, options, reporter)
    check_writable(options.output)
    # Each line once: many notes hold for several subsets
    note = cache(reporter.note)
    labels = name_models(models, options.names)
    names = list(dict.fromkeys(models))
    if not options.base_url:
        _check_options(names, options, note)
    # A model may have two names, or name a pooling that all have
    done: set[tuple[str, str]] = set()
    for number, name in enumerate(names, start=1):
        place = f"model {number}/{len(names)}"
        reporter.progress(f"{place}, loading {name}")
        loaded = _load(name, options, label=labels.get(name))
        units = [unit for unit in _units(loaded, datasets, keys, options) if (unit.name, unit.short) not in done]
        done |= {(unit.name, unit.short) for unit in units}
        for unit in units:
            if not options.overwrite:
                unit.folder.check_data()
                for line in _read_finished(unit, options):
                    note(line)
        # No folder is made before the data of all of them is checked
        for unit in units:
            check_writable(unit.folder.path)
        # what mteb evaluates comes last, and apart: it must not compute what only a pooling lacks
        failure: Exception | None = None
        try:
            for is_pooled in (True, False):
                chosen = [unit for unit in units if bool(unit.settings["pooling"]) is is_pooled and unit.missing]
                if chosen:
                    _compute(loaded, chosen, datasets, keys, options, reporter=reporter, place=place, note=note)
        except Exception as error:
            # Raised below, after the units that are finished
            failure = error
        for unit in units:
            if unit.missing:
                continue
            # also of units that were complete: an earlier run may have been killed before it wrote mteb's file
            for line in unit.folder.complete_view(unit.headers):
                note(line)
            short, data = unit.short, datasets[unit.short]
            present = data.subsets(short) if short in TASKS else data.pair_subsets(short)
            yield ModelRun(
                model=unit.name,
                task=FULL_NAMES[short],
                subsets={subset: unit.scored[subset] for subset in unit.subsets},
                left_out=tuple(subset for subset in subsets_of(short) if subset not in present),
                folder=unit.folder.path,
            )
        if failure is not None:
            raise failure
        # Otherwise it would be in memory while the next one is loaded
        del loaded


def _load(name: str, options: RunOptions, *, label: str | None = None) -> LoadedModel:
    with quiet_libraries():
        if options.base_url:
            prompts = {QUERY: options.query_prompt, DOCUMENT: options.document_prompt}
            return load_served(name, options.base_url, cache=options.output / CACHE_FILE, prompts=prompts)
        return resolve_model(
            name,
            label=label,
            revision=options.revision,
            device=options.device,
            dtype=options.dtype,
            trust_remote_code=options.trust_remote_code,
        )


def semeval_submission(model: str, options: RunOptions) -> str:
    """Return the submission form of SemEval-2022 Task 2 B for a model, under its own pooling or the only one given."""
    data = semeval_dataset(gold=False)
    loaded = _load(model, options)
    pooling = loaded.chosen_pooling((*options.poolings, loaded.pooling or NATIVE)[0])
    keys = [(SEMEVAL_STS, subset) for subset in data.pair_subsets(SEMEVAL_STS)]
    results = score_encoder(
        loaded, {SEMEVAL_STS: data}, keys, [pooling], batch_size=options.batch_size, first_layer=options.first_layer
    )
    similarities = [result.prediction for result in results if isinstance(result.prediction, Similarities)]
    return submission_form(similarities, options.setting)


def _check_options(names: Sequence[str], options: RunOptions, note: Callable[[str], None]) -> None:
    """Say, before anything is computed, which options do not apply to which models."""
    for name in names:
        if options.revision is not None and is_local(split_pooling(name)[0]):
            note(f"{name}: a local folder, so --revision has no effect")
        if check_name(name, revision=options.revision):
            continue
        poolings = {*(options.poolings or split_pooling(name)[1:])} - {None, NATIVE}
        if poolings and not poolings >= {*POOLINGS}:
            raise usage_error(f"{name}: not a transformer encoder, so no pooling applies; leave {min(poolings)} out")
        given = {"pooling": poolings, "dtype": options.dtype != "float32"}
        given["first_layer"] = options.first_layer != FIRST_LAYER
        if any(given.values()):
            ignored = ", ".join(option for option, is_given in given.items() if is_given)
            note(f"{name}: not a transformer encoder, so these have no effect: {ignored}")


def estimate(dataset: Dataset, options: RunOptions) -> str:
    """Return a line on what a server would be asked for each model: distinct texts, requests and tokens."""
    datasets, texts = open_datasets(dataset, options), set[str]()
    for task, subset in choose_subsets(datasets, options, Reporter()):
        if task in SIMILARITY_TASKS:
            texts |= set(datasets[task].pairs(task, subset).texts)
        else:
            data, pool = datasets[task].retrieval(task, subset), datasets[task].pool(task, subset)
            texts |= {options.query_prompt + data.queries[query] for query in pool.queries}
            texts |= {options.document_prompt + data.documents[document] for document in pool.documents}
    n_tokens, n_requests = sum(map(len, texts)) / CHARACTERS_PER_TOKEN, math.ceil(len(texts) / options.batch_size)
    return f"{len(texts):,} texts, {n_requests:,} requests, about {n_tokens:,.0f} tokens for each model\n"


def _units(
    loaded: LoadedModel, datasets: Mapping[str, Dataset], keys: Sequence[SubsetKey], options: RunOptions
) -> Iterator[_Unit]:
    """Yield the units, those of one pooling after the other."""
    choices = options.poolings or (loaded.pooling or NATIVE,)
    for choice in (NATIVE,) if loaded.encoder is None and set(choices) >= set(POOLINGS) else choices:
        pooling = loaded.chosen_pooling(choice)
        meta = loaded.meta if choice == NATIVE else loaded.meta_for(choice)
        settings: dict[str, Any] = {
            "pooling": pooling,
            "dtype": options.dtype if loaded.is_sentence_transformer else None,
            "first_layer": options.first_layer if pooling == "first_last" else None,
            "max_length": PooledEncoder(loaded.encoder).max_length if pooling else None,
        }
        not_default = trust_setting(options.trust_remote_code)
        settings |= not_default | dict(loaded.served)
        if loaded.files:
            settings["files"] = loaded.files
        for name, default in (("dtype", "float32"), ("first_layer", FIRST_LAYER)):
            if settings[name] not in (None, default):
                not_default[name] = settings[name]
        # mteb's folder for experiments keeps results under other settings apart from those of a submission
        if not_default:
            meta = meta.model_copy(update={"experiment_kwargs": not_default})
        for short in dict.fromkeys(task for task, _ in keys):
            task = CLASS_OF_TASK[short](dataset=datasets[short])
            yield _Unit(
                name=str(meta.name),
                short=short,
                folder=TaskFolder(options.output, task, datasets[short], meta, options.overwrite),
                subsets=tuple(subset for name, subset in keys if name == short),
                settings=settings | {"prompts": loaded.prompts(short) if pooling or loaded.served else None},
            )


def _read_finished(unit: _Unit, options: RunOptions) -> Iterator[str]:
    """Read the results that an earlier run finished with the same settings; yield why others are computed again."""
    place = f"{unit.name}, {unit.short}: finished results"
    for subset in unit.subsets:
        try:
            header = unit.folder.read_header(subset)
        except OtherFormatError:
            yield f"{place} have another format; computed again"
            continue
        if header is None:
            continue
        differences = []
        for name in sorted({*header.settings, *unit.settings}):
            old, new = header.settings.get(name), unit.settings.get(name)
            if old != new:
                differences.append(f"{name} {display(old)} instead of {display(new)}")
        if differences:
            yield f"{place} have {', '.join(differences)}; computed again"
            continue
        (scored,) = score_record(read_record(unit.folder.record_path(subset), unit.folder.dataset))
        if scored.cut is not None and (not options.top_k or scored.cut < options.top_k):
            yield f"{place} list only {scored.cut} documents per query; computed again"
            continue
        unit.scored[subset] = scored
        unit.headers[subset] = header
        for package in differing_majors(header.versions):
            yield f"{unit.name}: finished results of {package} are used; pass --overwrite to compute them again"


def _compute(
    loaded: LoadedModel,
    units: Sequence[_Unit],
    datasets: Mapping[str, Dataset],
    keys: Sequence[SubsetKey],
    options: RunOptions,
    *,
    reporter: Reporter,
    place: str,
    note: Callable[[str], None],
) -> None:
    """Compute the missing results of units from the same passes; write each, and mteb's file after the last one."""
    for unit in {unit.short: unit for unit in units}.values():
        if any((unit.settings["prompts"] or {}).values()):
            note(f"{loaded.meta.name}, {FULL_NAMES[unit.short]}: prompts {unit.settings['prompts']}")
    missing = {key for unit in units for key in unit.missing}
    results = score_encoder(
        loaded,
        datasets,
        [key for key in keys if key in missing],
        list(dict.fromkeys(unit.settings["pooling"] for unit in units)),
        batch_size=options.batch_size,
        first_layer=options.first_layer,
        progress=lambda step, n_done, n_all: reporter.progress(f"{place}, {step}", n_done, n_all),
    )
    for result in results:
        for unit in units:
            if result.key not in unit.missing or unit.settings["pooling"] != result.pooling:
                continue
            subset = result.key[1]
            scored = score_subset(result.prediction)
            scores: dict[str, float] = {}
            for name, value in result.mteb_row.items():  # mteb has many scores besides ours
                if name not in _NOT_SCORES and isinstance(value, int | float):
                    scores[name] = float(value)
            record = build_record(
                unit.name,
                {result.key: result.prediction},
                {result.key: scores | dict(scored.scores)},
                data=DataName.of(unit.folder.dataset),
                revision=loaded.revision,
                n_parameters=loaded.n_parameters,
                settings=unit.settings,
                seconds=result.seconds,
                throughput=result.throughput,
            )
            unit.folder.write(subset, record, top_k=options.top_k or None)
            unit.scored[subset] = scored
            unit.headers[subset] = record.header
            if not unit.missing:
                for line in unit.folder.complete_view(unit.headers):
                    note(line)
