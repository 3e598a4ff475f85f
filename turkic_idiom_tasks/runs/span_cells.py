"""Span cells: train on one language, transfer to the others, adapt to them with growing samples.

Each model is fine-tuned on the source language once per seed. Its checkpoint is tested on that language and, without
further training, on every other language (0 sentences). Then it is adapted to each of them with samples of its training
sentences; smaller samples are part of larger ones. All cells of a model and seed share the training on the source
language and are one job. `span_jobs` does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, JsonValue, PositiveInt, model_validator

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.encoders.names import trust_setting
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.results.model_predictions import ALL
from turkic_idiom_tasks.runs.cells import (
    CHECKPOINTS,
    AtLeastOne,
    Cell,
    CellKind,
    Finish,
    Names,
    Part,
    Seeds,
    Size,
    Work,
    cell_name,
    content_revision,
    one_of,
)
from turkic_idiom_tasks.runs.workload import Passes, Workload
from turkic_idiom_tasks.splits import TEST, TRAIN, VALIDATION
from turkic_idiom_tasks.training.config import SEEDS, SpanConfig

SPAN = "span"
SIZES = (10, 30, 50)  # the paper's samples; none (zero-shot) and all sentences are added

LanguageCode = Annotated[str, one_of(*LANGUAGES)]
Languages = AtLeastOne[LanguageCode]
Sizes = Annotated[AtLeastOne[PositiveInt], AfterValidator(lambda sizes: tuple(sorted(sizes)))]


class SpanPart(Part):
    """Span cells of a grid.

    Attributes:
        models: encoders on the Hub, or folders.
        language: code of the source language, on which every model is trained.
        targets: codes of the languages that it is tested on and adapted to; None means every other one of the data.
        sizes: numbers of training sentences to adapt with, besides none and all.
        adapt: whether to adapt to the target languages, or only to test on them.
        seeds: seeds with which every training is repeated.
        training: settings of the training of every classifier.
    """

    models: Names
    language: LanguageCode = PIVOT
    targets: Languages | None = None
    sizes: Sizes = SIZES
    adapt: bool = True
    seeds: Seeds = SEEDS
    training: SpanConfig = SpanConfig()

    @model_validator(mode="after")
    def _check_targets(self) -> SpanPart:
        if self.targets and self.language in self.targets:
            raise ValueError(f"targets: {self.language} is the language that is trained on; leave it out")
        return self


class SpanKind(CellKind[SpanPart]):
    """Cells of `SpanPart`."""

    name = SPAN
    part = SpanPart

    def cells(self, part: SpanPart, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells of each model and seed: the source language, then each other one by growing size.

        Raises:
            InputError: the data has no sentences in the source language.
        """
        check_source(part, dataset)
        targets = [code for code in dataset.span_languages if code != part.language]
        if part.targets is not None:
            targets = [code for code in targets if code in part.targets]
        sizes = {target: _sizes(part, dataset, target) for target in targets}
        for model in part.models:
            for seed in part.seeds:
                yield source_cell(part, model, seed)
                for target in targets:
                    for size in sizes[target]:
                        yield Cell(SPAN, model, regime_name(part.language), seed=seed, target=target, size=size)

    def settings(self, part: SpanPart, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training."""
        return part.training.model_dump()

    def shared_work(self, cell: Cell) -> tuple[object, ...]:
        """Return a key that all cells of a model, source language and seed have in common."""
        return (cell.model, cell.regime, cell.seed)

    def workload(self, part: SpanPart, cells: Sequence[Cell], dataset: Dataset) -> Workload:
        """Return the sentences of the training, of the validation after each epoch, and of the tests.

        The training on the source language counts only if its cell is missing too; otherwise its checkpoint is there.
        """
        workload = Workload()
        for cell in cells:
            splits = dataset.sentences(str(cell.target))
            training = list(splits[TRAIN])
            if isinstance(cell.size, int):
                training = training[: cell.size]  # which sentences are drawn makes little difference to their length
            epochs = part.training.epochs if training else 0
            workload += Workload(
                encoded=_sentences(splits[TEST]) + _sentences(splits[VALIDATION]).times(epochs),
                trained=_sentences(training).times(epochs),
            )
        return workload

    def start(self, cells: Sequence[Cell], work: Work[SpanPart]) -> Finish:
        """Train on the source language, or load the checkpoint that an earlier run saved."""
        # imported late, so that a grid file is checked and the state of a grid shown without loading torch
        from turkic_idiom_tasks.runs.span_jobs import start

        return start(cells, work)


def regime_name(language: str) -> str:
    """Return the regime of a classifier with this source language."""
    return f"from-{language}"


def source_cell(part: SpanPart, model: str, seed: int) -> Cell:
    """Return the cell of the source language, trained on all its sentences."""
    return Cell(SPAN, model, regime_name(part.language), seed=seed, target=part.language, size=ALL)


def checkpoint_folder(
    part: SpanPart, model: str, seed: int, *, dataset: Dataset, folder: Path, trust_remote_code: bool = False
) -> Path:
    """Return the folder of the checkpoint of a model and seed; its name depends on everything that decides it."""
    name = cell_name(
        source_cell(part, model, seed),
        settings=part.training.model_dump() | trust_setting(trust_remote_code),
        model_revision=content_revision(model),
        data_revision=dataset.revision,
    )
    return folder / CHECKPOINTS / name


def check_source(part: SpanPart, dataset: Dataset) -> None:
    """Check that the data has sentences in the source language.

    Raises:
        InputError: it has none.
    """
    if part.language not in dataset.span_languages:
        raise InputError(
            f"{dataset.path}: no annotated {part.language} sentences to train on; found "
            f"{', '.join(dataset.span_languages) or 'none in any language'}; choose another language or other data"
        )


def _sentences(sentences: Sequence[TaggedSentence]) -> Passes:
    return Passes(len(sentences), sum(len(sentence.tokens) for sentence in sentences))


def _sizes(part: SpanPart, dataset: Dataset, target: str) -> list[Size]:
    """Return the sizes of samples that a language has enough training sentences for."""
    sizes: list[Size] = [0]
    n_train = len(dataset.sentences(target)[TRAIN])
    if part.adapt and n_train:
        sizes += [size for size in part.sizes if size < n_train]
        sizes.append(ALL)
    return sizes
