"""Options of `turkic-idiom run`, and the reporters of its progress."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.encoders.names import BATCH_SIZE, FIRST_LAYER, NATIVE, POOLINGS, check_dtype
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.languages import get_language
from turkic_idiom_tasks.results import TOP_K
from turkic_idiom_tasks.results.predictions import OTHER_DATA_TASKS, SubsetKey

log = logging.getLogger("turkic_idiom_tasks")

ALL = "all"  # every pooling
# short name of a task -> its name in mteb
FULL_NAMES = {short: task.name for short, task in TASKS.items()}
FULL_NAMES |= {short: task.name for short, task in SIMILARITY_TASKS.items()}


class ModelSettings(BaseModel):
    """Settings of ``turkic-idiom run --set``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    device: str | None = None  # None lets the library choose
    dtype: str = "float32"  # of the weights of transformers
    batch_size: PositiveInt = BATCH_SIZE  # texts per forward pass
    # index of the hidden states that first_last takes as the first layer
    first_layer: Annotated[int, Field(ge=0, le=1)] = FIRST_LAYER
    top_k: NonNegativeInt = TOP_K  # documents per query in the records; 0 keeps the whole pool
    query_prompt: str = ""  # before the texts of each role; of models on a server
    document_prompt: str = ""
    setting: Literal["pre_train", "fine_tune"] = "pre_train"  # of a submission to SemEval


class RunOptions(ModelSettings):
    """Tasks and settings of a run."""

    tasks: tuple[str, ...]  # short names
    output: Path  # mteb's folder for results
    poolings: tuple[str, ...] = ()  # names from `POOLINGS`, or ``native``; empty means the model's own
    names: tuple[str, ...] = ()  # of local models in results, in their order; empty leaves it to `name_models`
    languages: tuple[str, ...] = ()  # codes; only subsets with one of them are scored; empty means all languages
    revision: str | None = None  # of the model on the Hub
    trust_remote_code: bool = False  # whether code that comes with a model may be executed
    overwrite: bool = False  # whether finished results are computed again
    base_url: str = ""  # of a server that has the models


class Reporter:
    """Reports the progress of a run: this one logs notes and shows no progress."""

    def progress(self, what: str, done: int = 0, total: int = 0) -> None:
        """Report the current step, such as ``model 1/2, T2``, and how much of it is done, if that is known."""

    def note(self, line: str) -> None:
        """Report something that needs no action."""
        log.warning("%s", line)


def make_options(
    *, tasks: Sequence[str] = (), languages: Sequence[str] = (), poolings: Sequence[str] = (), **others: Any
) -> RunOptions:
    """Return the options of a run, with names as a user writes them; `others` are further fields of `RunOptions`.

    Tasks are full or short names, none for those of the paper; poolings are those in `POOLINGS`, ``native`` or ``all``.
    """
    problems = []
    chosen_tasks: list[str] = []
    for name in tasks or PAPER_TASKS:
        matching = [short for short, full in FULL_NAMES.items() if name.lower() in (short.lower(), full.lower())]
        if not matching:
            known = ", ".join(f"{full} ({short})" for short, full in FULL_NAMES.items())
            problems.append(f"unknown task {name!r}; known: {known}")
        chosen_tasks += matching
    chosen: list[str] = []
    for name in poolings:
        if name not in (*POOLINGS, NATIVE, ALL):
            problems.append(f"unknown pooling {name!r}; known: {', '.join(POOLINGS)}, all (or leave it out)")
        chosen += POOLINGS if name == ALL else [name]
    options = RunOptions(
        tasks=tuple(dict.fromkeys(chosen_tasks)),
        languages=tuple(get_language(code).code for code in languages),
        poolings=tuple(dict.fromkeys(chosen)),
        **others,
    )
    check_dtype(options.dtype)
    # a wrong device would otherwise fail only when the model is loaded, after the data was prepared
    if options.device is not None:
        import torch  # not loaded for options that are wrong

        problem = ""
        try:
            if torch.device(options.device).type == "cuda" and not torch.cuda.is_available():
                problem = "torch finds no CUDA device here; leave it out, or give cpu"
        except RuntimeError:
            problem = "unknown; such as cpu, cuda, cuda:1 or mps"
        if problem:
            problems.append(f"device={options.device}: {problem}")
    if problems:
        raise usage_error("; ".join(problems))
    return options


def open_datasets(dataset: Dataset, options: RunOptions) -> dict[str, Dataset]:
    """Return the data of each task of the options: the given data, or the task's own."""
    from turkic_idiom_tasks.harnesses.mteb_tasks import CLASS_OF_TASK

    own = [task for task in options.tasks if task in OTHER_DATA_TASKS]
    return dict.fromkeys(options.tasks, dataset) | {task: CLASS_OF_TASK[task].open_data() for task in own}


def choose_subsets(datasets: Mapping[str, Dataset], options: RunOptions, reporter: Reporter) -> list[SubsetKey]:
    """Return the (task, subset) pairs of the options that the data has, at least one; note which tasks have none."""
    keys: list[SubsetKey] = []
    empty: list[str] = []
    for task in options.tasks:
        languages: dict[str, set[str]] = {}  # subset -> codes
        if task in SIMILARITY_TASKS:
            for subset in datasets[task].pair_subsets(task):
                languages[subset] = {SIMILARITY_TASKS[task].languages[subset]}
        else:
            for subset in datasets[task].subsets(task):
                languages[subset] = {language.code for language in TASKS[task].subsets[subset]}
        if not languages:
            empty.append(task)
        for subset, codes in languages.items():
            if not options.languages or codes & set(options.languages):
                keys.append((task, subset))
    if keys:
        for task in empty:
            reporter.note(f"{FULL_NAMES[task]}: {datasets[task].path} has no data for it; left out")
        return keys
    # Both raise an error that says what the data lacks for a task, which is more than can be said here.
    for task in empty:
        if task in SIMILARITY_TASKS:
            datasets[task].pairs(task, next(iter(SIMILARITY_TASKS[task].languages)))
        datasets[task].check_task(task)
    raise usage_error(
        f"no subset of {', '.join(options.tasks)} has the language {', '.join(options.languages)}; "
        "`turkic-idiom list` shows what the data holds"
    )
