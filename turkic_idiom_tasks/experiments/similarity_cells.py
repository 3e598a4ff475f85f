"""Similarity cells: an encoder as it is, and trained with each loss and seed, scored on pairs with idioms.

The data is the lexicon of the grid, AStitchInLanguageModels or ChengyuSTS. `similarity_jobs` does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.experiments.cells import (
    Cell,
    Finish,
    Kind,
    Names,
    Part,
    Seeds,
    Work,
    distinct,
    one_of,
)
from turkic_idiom_tasks.experiments.workload import Passes, Workload
from turkic_idiom_tasks.finetuning.config import COSINE, SEEDS, SIMCSE, SimilarityConfig
from turkic_idiom_tasks.finetuning.triplets import (
    ASTITCH,
    CHENGYU,
    LEXICON,
    REFUSE,
    SEEN_IDIOMS,
    TripletData,
    build_triplets,
)

SIMILARITY = "similarity"


class SimilarityPart(Part):
    """Similarity cells of a grid.

    Attributes:
        models: names as `turkic-idiom run` takes them.
        source: ``lexicon`` (the data of the grid), ``astitch`` or ``chengyu`` (the folders that their variables name).
        languages: subsets of AStitch, or codes of languages of the lexicon; none means all.
        losses: the losses to train with; none only scores the encoders as they are.
        seen_idioms: what is done with triplets whose idiom is in the test pairs; see `build_triplets`.
        general: file with general pairs for the loss ``cosine``.
        seeds: seeds with which every training is repeated.
        training: settings of every training.
    """

    set_by_cells: ClassVar[frozenset[str]] = frozenset({"seed", "loss"})

    models: Names
    source: Annotated[str, one_of(LEXICON, ASTITCH, CHENGYU)] = LEXICON
    languages: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    losses: Annotated[tuple[Annotated[str, one_of(SIMCSE, COSINE)], ...], AfterValidator(distinct)] = (SIMCSE,)
    seen_idioms: Annotated[str, one_of(*SEEN_IDIOMS)] = REFUSE
    general: str | None = None
    seeds: Seeds = SEEDS
    training: SimilarityConfig = SimilarityConfig()

    def triplets(self, dataset: Dataset) -> TripletData:
        """Return the triplets and pairs of this part.

        Raises:
            InputError: the data or a language is unknown, malformed or too small, or test idioms occur in training.
        """
        data = dataset if self.source == LEXICON else self.source
        general = None if self.general is None else Path(self.general)
        return build_triplets(data, languages=self.languages, seen_idioms=self.seen_idioms, general=general)


class SimilarityKind(Kind[SimilarityPart]):
    """Cells of `SimilarityPart`."""

    name = SIMILARITY
    part = SimilarityPart

    def cells(self, part: SimilarityPart, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells model by model: the encoder as it is, then each loss with each seed.

        Raises:
            InputError: the data of the part cannot be used.
        """
        revision = part.triplets(dataset).revision
        for model in part.models:
            yield Cell(SIMILARITY, model, PRETRAINED, data=revision)
            for loss in part.losses:
                for seed in part.seeds:
                    yield Cell(SIMILARITY, model, loss, seed=seed, data=revision)

    def settings(self, part: SimilarityPart, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training, and where its data comes from."""
        settings: dict[str, JsonValue] = {"source": part.source, "languages": list(part.languages)}
        if cell.regime != PRETRAINED:
            settings |= part.training.model_dump(exclude=set(part.set_by_cells))
        else:
            settings["pooling"] = part.training.pooling
        return settings

    def workload(self, part: SimilarityPart, cells: Sequence[Cell], dataset: Dataset) -> Workload:
        """Return the sentences of the tests, of the training, and of the development pairs after each epoch."""
        triplets = part.triplets(dataset)
        tests = Passes()
        for pairs in triplets.test.values():
            tests += Passes.of(pairs.texts)
        if cells[0].regime == PRETRAINED:
            return Workload(encoded=tests)
        trained: list[str] = []
        for triplet in triplets.training:
            correct, incorrect = triplet.correct or triplet.original, triplet.incorrect or triplet.original
            if cells[0].regime == SIMCSE:
                trained += [triplet.original, correct, incorrect]
            else:  # two pairs; the few triplets without a correct or an incorrect sentence give fewer
                trained += [triplet.original, correct, triplet.original, incorrect]
        if cells[0].regime == COSINE:
            for pair in triplets.general:
                trained += [pair.sentence1, pair.sentence2]
        epochs = part.training.epochs
        development = Passes.of(triplets.development.texts).times(1 + epochs)
        return Workload(encoded=tests.times(2) + development, trained=Passes.of(trained).times(epochs))

    def start(self, cells: Sequence[Cell], work: Work[SimilarityPart]) -> Finish:
        """Return the function that runs one cell."""
        # imported late, so that a grid file is checked and the state of a grid shown without loading torch
        from turkic_idiom_tasks.experiments.similarity_jobs import start

        return start(work)
