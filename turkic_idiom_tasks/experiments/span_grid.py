"""The paper's span experiments for any encoders: train on Turkish, transfer, adapt.

Each model is fine-tuned on the source language once per seed; its checkpoint is tested there and, untouched, on every
other language (0 examples), then adapted to each with 10, 30, 50 and all training sentences, the smaller samples part
of the larger ones. A cell is one test score: (model, language, size, seed). Its result file is written last and whole,
and is the mark that the cell is done: a run that was killed goes on with the cells that have none.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.encoders.checkpoints import folder_revision, is_local
from turkic_idiom_tasks.encoders.registry import NO_REVISION, PAPER_ENCODERS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import check_writable, write_json
from turkic_idiom_tasks.finetuning.card import save_checkpoint
from turkic_idiom_tasks.finetuning.processes import is_first_process
from turkic_idiom_tasks.finetuning.span import SEEDS, FineTuned, SpanConfig, few_shot_sample, fine_tune, load_untuned
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.span_detection.classifier import TokenClassifier
from turkic_idiom_tasks.span_detection.scoring import score_predictions
from turkic_idiom_tasks.span_detection.sentences import SpanSource, TaggedSentence

log = logging.getLogger("turkic_idiom_tasks")

SIZES = (10, 30, 50)  # the paper's samples; none (zero-shot) and all come besides
ALL = "all"
RESULT_FORMAT = 1

Splits = Mapping[str, list[TaggedSentence]]


@dataclass(frozen=True, slots=True)
class SpanCell:
    """One test score of the grid.

    Attributes:
        model: Hub id or folder.
        language: code of the test sentences.
        size: how many training sentences of that language were seen: 0, a number, or ``all``.
        seed: of head, order, dropout and sample.
    """

    model: str
    language: str
    size: int | str
    seed: int


@dataclass(frozen=True, slots=True)
class SpanGrid:
    """What is run.

    Attributes:
        models: Hub ids or folders.
        output: folder for results and checkpoints.
        source: the sentences.
        languages: codes, the source language first; by default those of the data.
        sizes: samples besides none and all.
        seeds: by default three, as in the paper.
        adapts: whether to adapt to the other languages, or only to test on them.
        config: how every model is fine-tuned.
    """

    models: tuple[str, ...]
    output: Path
    source: SpanSource
    languages: tuple[str, ...]
    sizes: tuple[int, ...] = SIZES
    seeds: tuple[int, ...] = SEEDS
    adapts: bool = True
    config: SpanConfig = SpanConfig()  # noqa: RUF009  # frozen

    def cells(self, model: str, seed: int) -> Iterator[SpanCell]:
        """The cells of a model and seed: the source language, then each other one by growing size."""
        source, *others = self.languages
        yield SpanCell(model, source, ALL, seed)
        for language in others:
            n_train = len(self.source.load(language)["train"])
            sizes: list[int | str] = [size for size in self.sizes if size < n_train]
            adapted = [*sizes, ALL] if self.adapts and n_train else []
            for size in (0, *adapted):
                yield SpanCell(model, language, size, seed)

    def result_path(self, cell: SpanCell) -> Path:
        """Where the result of a cell stands; named by everything that decides it."""
        decides = asdict(cell) | asdict(self.config)
        decides |= {"revision": revision_of(cell.model), "data": self.source.revision, "format": RESULT_FORMAT}
        decides |= {"source": self.languages[0], "code": version("turkic-idiom-tasks")}
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]
        name = f"{model_slug(cell.model)}-{cell.language}-{cell.size}-{cell.seed}-{digest}.json"
        return self.output / "cells" / name

    def checkpoint_path(self, model: str, seed: int) -> Path:
        """Where the checkpoint of the source language stands; its name changes with what decides it."""
        base = self.result_path(SpanCell(model, self.languages[0], ALL, seed))
        return self.output / "checkpoints" / base.stem


@lru_cache(maxsize=64)
def revision_of(model: str) -> str | None:
    """What a model's weights are known by: the content hash of a folder, the pinned commit of a Hub id, or None."""
    if is_local(model):
        return folder_revision(Path(model).expanduser())
    pinned = PAPER_ENCODERS.get(model, (NO_REVISION, None))[0]
    return None if pinned == NO_REVISION else pinned


def model_slug(model: str) -> str:
    """A name for files."""
    parts = [part for part in model.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    return "__".join(parts[-2:])


def run_grid(grid: SpanGrid) -> dict[str, str]:
    """Runs every cell that has no result yet, and returns the models that could not be run with their errors.

    Raises:
        InputError: the output folder cannot be written to, or the data lacks a language.
    """
    from tqdm import tqdm

    check_writable(grid.output)
    failed: dict[str, str] = {}
    runs = [(model, seed) for model in grid.models for seed in grid.seeds]
    for model, seed in tqdm(runs, desc="span grid", unit="run", disable=None):
        if model in failed:
            continue
        try:
            run_model(grid, model, seed)
        except InputError as error:
            failed[model] = str(error)
    return failed


def run_model(grid: SpanGrid, model: str, seed: int) -> None:
    """The missing cells of one model and seed; the source language is trained once, its weights kept in memory.

    Raises:
        InputError: the model or the data cannot be used.
    """
    missing = [cell for cell in grid.cells(model, seed) if not grid.result_path(cell).is_file()]
    if not missing:
        return
    classifier = _source_checkpoint(grid, model, seed)
    base = {name: tensor.detach().cpu().clone() for name, tensor in classifier.model.state_dict().items()}
    for cell in missing:
        if cell.language == grid.languages[0]:
            continue  # written together with its checkpoint
        classifier.model.load_state_dict(base)
        start = time.perf_counter()
        splits = grid.source.load(cell.language)
        tuned = FineTuned(classifier, None, float("nan"), ())
        if cell.size != 0:
            size = None if cell.size == ALL else int(cell.size)
            sample = few_shot_sample(splits["train"], size, seed=seed)
            tuned = _tune(grid, classifier, sample, splits["validation"], seed=seed)
        record = _result(grid, cell, tuned, splits, seconds=time.perf_counter() - start)
        _keep(grid, cell, record)


def _source_checkpoint(grid: SpanGrid, model: str, seed: int) -> TokenClassifier:
    """The model fine-tuned on the source language: an earlier run's checkpoint, or trained, tested and saved now."""
    folder = grid.checkpoint_path(model, seed)
    cell = SpanCell(model, grid.languages[0], ALL, seed)
    if folder.is_dir() and grid.result_path(cell).is_file():
        return TokenClassifier.load(str(folder))
    start = time.perf_counter()
    splits = grid.source.load(cell.language)
    revision = None if is_local(model) else revision_of(model)
    classifier = load_untuned(model, seed=seed, revision=revision)
    tuned = _tune(grid, classifier, splits["train"], splits["validation"], seed=seed)
    record = _result(grid, cell, tuned, splits, seconds=time.perf_counter() - start)
    if is_first_process():
        shutil.rmtree(folder, ignore_errors=True)
        save_checkpoint(tuned.classifier, folder, record)
    _keep(grid, cell, record)
    return classifier


def _keep(grid: SpanGrid, cell: SpanCell, record: Mapping[str, Any]) -> None:
    """Writes the result, which makes the cell a finished one."""
    if is_first_process():
        write_json(grid.result_path(cell), record)
        what = f"{cell.model}, {cell.language}, {cell.size} sentences, seed {cell.seed}"
        log.info("%s: span F1 %s (%.0f s)", what, record["scores"]["span_f1"], record["seconds"])


def _tune(
    grid: SpanGrid,
    classifier: TokenClassifier,
    train: Sequence[TaggedSentence],
    validation: Sequence[TaggedSentence],
    *,
    seed: int,
) -> FineTuned:
    return fine_tune(classifier, train, validation, config=grid.config, seed=seed)


def _result(grid: SpanGrid, cell: SpanCell, tuned: FineTuned, splits: Splits, *, seconds: float) -> dict[str, Any]:
    """The record of a cell: what was run, its scores, and the tags that they can be computed from again."""
    import torch
    import transformers

    test = splits["test"]
    found = tuned.classifier.predict([s.tokens for s in test], [s.language for s in test], progress=False)
    scores = score_predictions(test, found)
    return {
        "format": RESULT_FORMAT,
        **asdict(cell),
        "model_revision": revision_of(cell.model),
        "source_language": grid.languages[0],
        "config": asdict(grid.config),
        "data": {"path": grid.source.path, "revision": grid.source.revision},
        "scores": {name: _json_number(score) for name, score in scores.items()},
        "best_epoch": tuned.best_epoch,
        "validation_span_f1": _json_number(tuned.validation_f1),
        "history": [{name: _json_number(value) for name, value in row.items()} for row in tuned.history],
        "tags": {sentence.id: "".join(tag[0] for tag in one.tags) for sentence, one in zip(test, found, strict=True)},
        "seconds": round(seconds, 3),
        "versions": {
            "turkic-idiom-tasks": version("turkic-idiom-tasks"),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
    }


def _json_number(value: float) -> float | None:
    """NaN, which JSON has not, as null: undefined."""
    return None if value != value else float(value)


def read_results(grid: SpanGrid) -> list[dict[str, Any]]:
    """Every finished cell in the output folder with the grid's data, source language and settings, earlier runs' too.

    Raises:
        InputError: a file is damaged; names it and says to delete it.
    """
    found = []
    for path in sorted((grid.output / "cells").glob("*.json")):
        try:
            record = json.loads(path.read_text("utf-8"))
            decides = (record["data"]["revision"], record["source_language"], record["config"], record["format"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: damaged ({error}); delete it and run the grid again") from error
        if decides == (grid.source.revision, grid.languages[0], asdict(grid.config), RESULT_FORMAT):
            found.append(record)
    order = {code: position for position, code in enumerate((grid.languages[0], *LANGUAGES))}
    return sorted(found, key=lambda r: (r["model"], order[r["language"]], r["seed"], _sample_order(r["size"])))


def _sample_order(size: int | str) -> float:
    return float("inf") if size == ALL else float(size)


def source_first(languages: Sequence[str], source: str = PIVOT) -> tuple[str, ...]:
    """The languages with the source language in front.

    Raises:
        InputError: it is not among them.
    """
    if source not in languages:
        raise InputError(f"the data has no annotated {source} sentences to train on; found {', '.join(languages)}")
    return (source, *(code for code in languages if code != source))
