"""Similarity cells: an encoder as it is, and trained with each loss and seed, scored on pairs with idioms.

Both may be repeated with idiom tokens. A regime such as ``simcse-all-tokens`` says what was done to the encoder.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import JsonValue, PositiveInt, model_validator

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.base import PairDataset
from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS, CHENGYU_STS, STS, content_digest
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.encoders.names import (
    INITIAL_VECTORS,
    MEAN,
    NATIVE,
    PRETRAINED,
    RANDOM,
    REPLACE_NONE,
    REPLACE_SELECTED,
    REPLACEMENTS,
)
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import best_classifier
from turkic_idiom_tasks.results.predictions import Prediction, Similarities, SubsetKey
from turkic_idiom_tasks.results.record import DataName, Record, Training, build_record, count_parameters
from turkic_idiom_tasks.runs.cells import (
    AtLeastOne,
    Cell,
    CellKind,
    Distinct,
    Finish,
    Names,
    Seeds,
    one_of,
)
from turkic_idiom_tasks.training.config import (
    COSINE,
    PRETRAIN_EPOCHS,
    SEEDS,
    SIMCSE,
    IdiomTokenConfig,
    SimilarityConfig,
    check_token_inputs,
)
from turkic_idiom_tasks.training.siblings.known_idioms import known_idioms, read_sentences
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
_TASKS = {LEXICON: STS, ASTITCH: ASTITCH_STS, CHENGYU: CHENGYU_STS}  # source -> short name of its task


class SimilarityCells(CellKind):
    """Similarity cells of a grid."""

    name = SIMILARITY
    set_by_cells: ClassVar[frozenset[str]] = frozenset({"seed", "loss"})

    # names as `turkic-idiom run` takes them
    models: Names
    source: Annotated[str, one_of(LEXICON, ASTITCH, CHENGYU)] = LEXICON  # the grid's data, or what a variable names
    languages: Distinct[str] = ()  # subsets of AStitch, or codes of languages of the lexicon; none means all
    losses: Distinct[Annotated[str, one_of(SIMCSE, COSINE)]] = (SIMCSE,)  # to train with; none: only as they are
    seen_idioms: Annotated[str, one_of(*SEEN_IDIOMS)] = REFUSE  # triplets with a test idiom; see `build_triplets`
    general: str | None = None  # file with general pairs for the loss ``cosine``
    seeds: Seeds = SEEDS  # with which every training is repeated
    idiom_tokens: AtLeastOne[Annotated[str, one_of(*REPLACEMENTS)]] = (REPLACE_NONE,)  # repeats every cell
    idiom_token_init: Annotated[str, one_of(*INITIAL_VECTORS)] = MEAN  # vector of a new token
    # folder that `turkic-idiom finetune idiomaticity` has made, which the tokens ``select`` ask
    idiomaticity_classifier: str | None = None
    # file with sentences, one a line, for masked-LM training of the encoders with tokens
    pretrain_sentences: str | None = None
    pretrain_epochs: PositiveInt = PRETRAIN_EPOCHS  # passes over these sentences
    training: SimilarityConfig = SimilarityConfig()

    @model_validator(mode="after")
    def _check_token_inputs(self) -> SimilarityCells:
        check_token_inputs(
            self.idiom_tokens, classifier=self.idiomaticity_classifier, sentences=self.pretrain_sentences
        )
        return self

    @cached_property
    def sentences(self) -> list[str]:
        """Return the sentences of the masked-LM training; none if there is no such training."""
        return [] if self.pretrain_sentences is None else read_sentences(Path(self.pretrain_sentences))

    @cached_property
    def classifier_revision(self) -> str | None:
        """Return a hash of the files of the classifier; None if there is none."""
        folder = self.idiomaticity_classifier
        return None if folder is None else folder_revision(best_classifier(Path(folder))[0])

    def _triplets(self, dataset: Dataset) -> TripletData:
        return build_triplets(
            dataset if self.source == LEXICON else self.source,
            languages=self.languages,
            seen_idioms=self.seen_idioms,
            general=None if self.general is None else Path(self.general),
        )

    def _treatments(self) -> dict[str, tuple[str | None, str | None]]:
        """Return regime -> loss of the training, and the idioms that a token stands for; None where there are none."""
        treatments: dict[str, tuple[str | None, str | None]] = {}
        for choice in self.idiom_tokens:
            for loss in (None, *self.losses):
                parts = [loss or PRETRAINED]
                if choice != REPLACE_NONE:
                    parts += [choice, "tokens"]
                    parts += [] if self.pretrain_sentences is None else ["mlm"]
                treatments["-".join(parts)] = (loss, None if choice == REPLACE_NONE else choice)
        return treatments

    def _token_config(self, replacement: str) -> IdiomTokenConfig:
        settings = self.model_dump(include={"idiom_token_init", "pretrain_epochs"})
        return IdiomTokenConfig.model_validate({"idiom_tokens": replacement, **settings})

    def jobs(self, dataset: Dataset) -> Iterator[list[Cell]]:
        """Yield the cells model by model: without idiom tokens and with them, the untrained encoder, then each loss."""
        revision = self._triplets(dataset).revision
        # without anything random, every seed would give the same numbers
        has_random_tokens = self.idiom_token_init == RANDOM or self.pretrain_sentences is not None
        for model in self.models:
            for regime, (loss, replacement) in self._treatments().items():
                is_random = loss is not None or (replacement is not None and has_random_tokens)
                for seed in self.seeds if is_random else (None,):
                    yield [Cell(SIMILARITY, model, regime, seed=seed, data=revision)]

    def settings(self, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training, where its data comes from, and what decides the idiom tokens."""
        loss, replacement = self._treatments()[cell.regime]
        settings: dict[str, JsonValue] = {"source": self.source, "languages": list(self.languages)}
        if loss is None:
            settings["pooling"] = self.training.pooling
        else:
            settings |= self.training.model_dump(exclude=set(self.set_by_cells))
        if replacement is not None:
            settings["idiom_token_init"] = self.idiom_token_init
            if replacement == REPLACE_SELECTED:
                settings["idiomaticity_classifier"] = self.classifier_revision
            if self.pretrain_sentences is not None:
                settings |= self._token_config(replacement).model_dump(
                    include={"pretrain_epochs", "pretrain_learning_rate", "masked"}
                )
                settings |= {
                    "pretrain_sentences": content_digest([self.sentences]),
                    "batch_size": self.training.batch_size,  # of the masked-LM training too
                }
        return settings

    def start(self, cells: Sequence[Cell], dataset: Dataset, *, folder: Path, trust_remote_code: bool) -> Finish:
        """Build the triplets; the cells share no other work."""
        triplets = self._triplets(dataset)
        data, task = dataset, _TASKS[self.source]
        if self.source != LEXICON:
            data = PairDataset(task, self.source, triplets.test)

        def finish(cell: Cell) -> Record:
            if cell.regime != PRETRAINED:
                return self._tune(cell, dataset, DataName.of(data), triplets, trust_remote_code=trust_remote_code)
            from turkic_idiom_tasks.runs.engine import score_untuned

            # As the retrieval cells of the same model state it
            choice = self.training.pooling or NATIVE
            records = score_untuned(
                cell.model,
                data,
                [(task, subset) for subset in triplets.test],
                [choice],
                prompts=lambda loaded: loaded.prompts(task),
                trust_remote_code=trust_remote_code,
            )
            return records[choice]

        return finish

    def _tune(
        self, cell: Cell, dataset: Dataset, data: DataName, triplets: TripletData, *, trust_remote_code: bool
    ) -> Record:
        """Give an encoder idiom tokens, train it for similarity, or both, and score it."""
        from turkic_idiom_tasks.encoders.siblings.idiom_tokens import make_tokens
        from turkic_idiom_tasks.harnesses.mteb_loading import SENTENCE
        from turkic_idiom_tasks.results.scored import score_all
        from turkic_idiom_tasks.training.siblings.token_training import grow_encoder
        from turkic_idiom_tasks.training.similarity import fine_tune_similarity, similarities_of_subsets
        from turkic_idiom_tasks.training.trainee import load_trainee, sentence_prompt

        begin = time.perf_counter()
        seed = cell.seed or 0  # a cell without a seed draws nothing
        loss, replacement = self._treatments()[cell.regime]
        trainee = load_trainee(
            cell.model,
            task="T2",  # a task of retrieval; sentences have a prompt of their own
            pooling=self.training.pooling,
            revision=pinned_revision(cell.model),
            trust_remote_code=trust_remote_code,
        )
        config: dict[str, JsonValue] = {}
        outcome: dict[str, JsonValue] = {}
        if replacement is not None:
            tokens = self._token_config(replacement)
            folder = self.idiomaticity_classifier if replacement == REPLACE_SELECTED else None
            outcome["idiom_tokens"] = grow_encoder(
                trainee,
                make_tokens(
                    known_idioms(dataset if self.source == LEXICON else self.source, triplets, languages=self.languages)
                ),
                triplets,
                config=tokens,
                classifier=None if folder is None else Path(folder),
                sentences=self.sentences,
                batch_size=self.training.batch_size,
                seed=seed,
            )
        if loss is not None:
            settings = self.training.model_copy(update={"seed": seed, "loss": loss})
            tuned = fine_tune_similarity(trainee, triplets, config=settings)
            config |= settings.model_dump()
            history: list[JsonValue] = [None if math.isnan(past.score) else past.score for past in tuned.history]
            outcome |= {
                "best_epoch": tuned.kept.step,
                "development_spearman": history[tuned.kept.step],
                "history": history,
                "n_examples": tuned.n_examples,
                "diverged_at": tuned.diverged_at,
                "verdict": tuned.verdict,
            }
        config |= {
            "source": self.source,
            "seen_idioms": self.seen_idioms,
            "general": self.general,
            "revision": triplets.revision,
        }
        predictions: dict[SubsetKey, Prediction] = {}
        task = _TASKS[self.source]
        for subset, values in similarities_of_subsets(trainee.model, triplets.test).items():
            predictions[task, subset] = Similarities(task, triplets.test[subset], values)
        return build_record(
            cell.model,
            predictions,
            score_all(predictions),
            data=data,
            revision=trainee.revision,
            n_parameters=count_parameters(trainee.model),
            settings={
                "pooling": trainee.pooling,
                "dtype": "float32",
                "prompts": {SENTENCE: sentence_prompt(trainee.model)},
            },
            training=Training(regime=cell.regime, seed=cell.seed, config=config, outcome=outcome),
            seconds=time.perf_counter() - begin,
        )
