"""Similarity cells: an encoder as it is, and trained with each loss and seed, scored on pairs with idioms.

Both may be repeated with idiom tokens. A regime such as ``simcse-all-tokens`` says what was done to the encoder.

The data is the lexicon of the grid, AStitchInLanguageModels or ChengyuSTS. `similarity_jobs` does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import JsonValue, PositiveInt, model_validator

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.similarity import content_digest
from turkic_idiom_tasks.encoders.names import (
    INITIAL_VECTORS,
    MEAN,
    PRETRAINED,
    RANDOM,
    REPLACE_NONE,
    REPLACE_SELECTED,
    REPLACEMENTS,
)
from turkic_idiom_tasks.encoders.siblings.classifier_folders import best_classifier
from turkic_idiom_tasks.runs.cells import (
    AtLeastOne,
    Cell,
    CellKind,
    Distinct,
    Finish,
    NonEmpty,
    Part,
    Seeds,
    Work,
    one_of,
    without_pooling,
)
from turkic_idiom_tasks.runs.workload import Passes, Workload
from turkic_idiom_tasks.training.config import (
    COSINE,
    PRETRAIN_EPOCHS,
    SEEDS,
    SIMCSE,
    IdiomTokenConfig,
    SimilarityConfig,
    check_token_inputs,
    checked,
)
from turkic_idiom_tasks.training.siblings.known_idioms import read_sentences
from turkic_idiom_tasks.training.triplets import (
    ASTITCH,
    CHENGYU,
    LEXICON,
    REFUSE,
    SEEN_IDIOMS,
    TripletData,
    build_triplets,
)

SIMILARITY = "similarity"


@dataclass(frozen=True, slots=True)
class Treatment:
    """What is done to an encoder before it is scored.

    Attributes:
        loss: loss of the training for similarity; None if there is none.
        replacement: idioms that a token stands for: ``all`` or ``select``; None if there are no idiom tokens.
    """

    loss: str | None
    replacement: str | None


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
        idiom_tokens: ``none``, ``all``, ``select``; every cell is repeated for each of them. ``select`` asks
            `idiomaticity_classifier`.
        idiom_token_init: vector of a new token, ``mean`` or ``random``.
        idiomaticity_classifier: folder that `turkic-idiom finetune idiomaticity` has made.
        pretrain_sentences: file with sentences, one a line, for masked-LM training of the encoders with tokens.
        pretrain_epochs: passes over these sentences.
        training: settings of every training.
    """

    set_by_cells: ClassVar[frozenset[str]] = frozenset({"seed", "loss"})

    models: AtLeastOne[Annotated[NonEmpty, without_pooling("; choose the pooling with training: {pooling: ...}")]]
    source: Annotated[str, one_of(LEXICON, ASTITCH, CHENGYU)] = LEXICON
    languages: Distinct[str] = ()
    losses: Distinct[Annotated[str, one_of(SIMCSE, COSINE)]] = (SIMCSE,)
    seen_idioms: Annotated[str, one_of(*SEEN_IDIOMS)] = REFUSE
    general: str | None = None
    seeds: Seeds = SEEDS
    idiom_tokens: AtLeastOne[Annotated[str, one_of(*REPLACEMENTS)]] = (REPLACE_NONE,)
    idiom_token_init: Annotated[str, one_of(*INITIAL_VECTORS)] = MEAN
    idiomaticity_classifier: str | None = None
    pretrain_sentences: str | None = None
    pretrain_epochs: PositiveInt = PRETRAIN_EPOCHS
    training: SimilarityConfig = SimilarityConfig()

    @model_validator(mode="after")
    def _check_token_inputs(self) -> SimilarityPart:
        check_token_inputs(
            self.idiom_tokens, classifier=self.idiomaticity_classifier, sentences=self.pretrain_sentences
        )
        return self

    @cached_property
    def classifier_revision(self) -> str | None:
        """Return a hash of the files of the classifier; None if there is none.

        Raises:
            InputError: the folder has no classifier that could be asked.
        """
        if self.idiomaticity_classifier is None:
            return None
        return best_classifier(Path(self.idiomaticity_classifier)).revision

    @cached_property
    def sentences_revision(self) -> str | None:
        """Return a hash of the sentences of the masked-LM training; None if there is none.

        Raises:
            InputError: the file cannot be read, or has no sentence.
        """
        sentences = self.sentences()
        return content_digest([sentences]) if sentences else None

    def triplets(self, dataset: Dataset) -> TripletData:
        """Return the triplets and pairs of this part.

        Raises:
            InputError: the data or a language is unknown, malformed or too small, or test idioms occur in training.
        """
        general = None if self.general is None else Path(self.general)
        return build_triplets(
            self.data(dataset), languages=self.languages, seen_idioms=self.seen_idioms, general=general
        )

    def data(self, dataset: Dataset) -> Dataset | str:
        """Return the data of the grid, or the name of other data, as `build_triplets` takes it."""
        return dataset if self.source == LEXICON else self.source

    def sentences(self) -> list[str]:
        """Return the sentences of the masked-LM training; none if there is no such training.

        Raises:
            InputError: the file cannot be read, or has no sentence.
        """
        return [] if self.pretrain_sentences is None else read_sentences(Path(self.pretrain_sentences))

    def treatments(self) -> dict[str, Treatment]:
        """Return regime -> what is done to the encoder, in the order of the cells."""
        treatments = {}
        for choice in self.idiom_tokens:
            for loss in (None, *self.losses):
                parts = [loss or PRETRAINED]
                if choice != REPLACE_NONE:
                    parts += [choice, "tokens"]
                    parts += [] if self.pretrain_sentences is None else ["mlm"]
                replacement = None if choice == REPLACE_NONE else choice
                treatments["-".join(parts)] = Treatment(loss, replacement)
        return treatments

    def token_config(self, replacement: str) -> IdiomTokenConfig:
        """Return the settings of idiom tokens."""
        settings = {"idiom_tokens": replacement, "idiom_token_init": self.idiom_token_init}
        return checked(IdiomTokenConfig, settings | {"pretrain_epochs": self.pretrain_epochs})


class SimilarityKind(CellKind[SimilarityPart]):
    """Cells of `SimilarityPart`."""

    name = SIMILARITY
    part = SimilarityPart

    def cells(self, part: SimilarityPart, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells model by model: without idiom tokens and with them, the untrained encoder, then each loss.

        Raises:
            InputError: the data of the part cannot be used.
        """
        revision = part.triplets(dataset).revision
        for model in part.models:
            for regime, treatment in part.treatments().items():
                for seed in _seeds(part, treatment):
                    yield Cell(SIMILARITY, model, regime, seed=seed, data=revision)

    def settings(self, part: SimilarityPart, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training, where its data comes from, and what decides the idiom tokens.

        Raises:
            InputError: the classifier or the sentences for idiom tokens cannot be read.
        """
        treatment = part.treatments()[cell.regime]
        settings: dict[str, JsonValue] = {"source": part.source, "languages": list(part.languages)}
        if treatment.loss is None:
            settings["pooling"] = part.training.pooling
        else:
            settings |= part.training.model_dump(exclude=set(part.set_by_cells))
        if treatment.replacement is not None:
            settings |= _token_settings(part, treatment.replacement)
        return settings

    def workload(self, part: SimilarityPart, cells: Sequence[Cell], dataset: Dataset) -> Workload:
        """Return the sentences of the tests, of the trainings, and of the development pairs after each epoch.

        The questions to a classifier, which is another model, do not count.
        """
        treatment = part.treatments()[cells[0].regime]
        triplets = part.triplets(dataset)
        tests = Passes()
        for pairs in triplets.test.values():
            tests += Passes.of(pairs.texts)
        workload = Workload(encoded=tests)
        if treatment.replacement is not None:
            workload += Workload(trained=Passes.of(part.sentences()).times(part.pretrain_epochs))
        if treatment.loss is not None:
            epochs = part.training.epochs
            development = Passes.of(triplets.development.texts).times(1 + epochs)
            trained = Passes.of(_trained_texts(triplets, treatment.loss)).times(epochs)
            workload += Workload(encoded=tests + development, trained=trained)
        return workload

    def start(self, cells: Sequence[Cell], work: Work[SimilarityPart]) -> Finish:
        """Return the function that runs one cell."""
        # imported late, so that a grid file is checked and the state of a grid shown without loading torch
        from turkic_idiom_tasks.runs.similarity_jobs import start

        return start(work)


def _seeds(part: SimilarityPart, treatment: Treatment) -> tuple[int | None, ...]:
    """Return the seeds with which a treatment is repeated; None if no seed makes a difference."""
    has_random_tokens = treatment.replacement is not None and (
        part.idiom_token_init == RANDOM or part.pretrain_sentences is not None
    )
    return part.seeds if treatment.loss is not None or has_random_tokens else (None,)


def _token_settings(part: SimilarityPart, replacement: str) -> dict[str, JsonValue]:
    """Return what decides the idiom tokens of a cell besides its regime, its seed and the data."""
    config = part.token_config(replacement)
    settings: dict[str, JsonValue] = {"idiom_token_init": config.idiom_token_init}
    if replacement == REPLACE_SELECTED:
        settings["idiomaticity_classifier"] = part.classifier_revision
    if part.pretrain_sentences is not None:
        settings |= config.model_dump(include={"pretrain_epochs", "pretrain_learning_rate", "masked"})
        settings |= {"pretrain_sentences": part.sentences_revision, "batch_size": part.training.batch_size}
    return settings


def _trained_texts(triplets: TripletData, loss: str) -> list[str]:
    """Return the sentences of one epoch."""
    texts: list[str] = []
    for triplet in triplets.training:
        correct, incorrect = triplet.correct or triplet.original, triplet.incorrect or triplet.original
        if loss == SIMCSE:
            texts += [triplet.original, correct, incorrect]
        else:  # two pairs; the few triplets without a correct or an incorrect sentence give fewer
            texts += [triplet.original, correct, triplet.original, incorrect]
    if loss == COSINE:
        for pair in triplets.general:
            texts += [pair.sentence1, pair.sentence2]
    return texts
