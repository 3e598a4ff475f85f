"""Span cells: train on one language, transfer to the others (0 sentences), adapt to them with growing samples."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, JsonValue, PositiveInt

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.encoders.names import trust_setting
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import read_json
from turkic_idiom_tasks.languages import PIVOT, LanguageCode
from turkic_idiom_tasks.results.model_predictions import ALL
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.record import (
    DataName,
    Record,
    Training,
    build_record,
    count_parameters,
    installed_versions,
)
from turkic_idiom_tasks.runs.cells import (
    CHECKPOINTS,
    AtLeastOne,
    Cell,
    CellKind,
    Finish,
    Names,
    Seeds,
    Size,
    cell_name,
    content_revision,
)
from turkic_idiom_tasks.splits import TRAIN, VALIDATION
from turkic_idiom_tasks.training.config import SEEDS, SpanConfig, is_first_process

if TYPE_CHECKING:
    from turkic_idiom_tasks.tasks.spans.classifier import Prediction, TokenClassifier

log = logging.getLogger("turkic_idiom_tasks")

SPAN = "span"
SIZES = (10, 30, 50)  # the paper's samples; none (zero-shot) and all sentences are added

Sizes = Annotated[AtLeastOne[PositiveInt], AfterValidator(lambda sizes: tuple(sorted(sizes)))]


class SpanCells(CellKind):
    """Span cells of a grid."""

    name = SPAN

    models: Names  # encoders on the Hub, or folders
    language: LanguageCode = PIVOT  # the source language, on which every model is trained
    # tested on and adapted to; None is every other one of the data; the source language is tested on in any case
    targets: AtLeastOne[LanguageCode] | None = None
    sizes: Sizes = SIZES  # numbers of training sentences to adapt with, besides none and all
    adapt: bool = True  # whether to adapt to the target languages, or only to test on them
    seeds: Seeds = SEEDS  # with which every training is repeated
    training: SpanConfig = SpanConfig()

    def jobs(self, dataset: Dataset) -> Iterator[list[Cell]]:
        """Yield a job for each model and seed: the source language, then each other one by growing size."""
        trainable = [code for code in dataset.span_languages if dataset.sentences(code)[TRAIN]]
        if self.language not in trainable:
            raise InputError(
                f"{dataset.path}: no annotated {self.language} sentences to train on; found "
                f"{', '.join(trainable) or 'none in any language'}; choose another language or other data"
            )
        sizes: dict[str, list[Size]] = {}
        for target in dataset.span_languages:
            if target != self.language and (self.targets is None or target in self.targets):
                train = dataset.sentences(target)[TRAIN]
                n_with_idiom = sum(bool(sentence.spans()) for sentence in train)  # what samples are drawn from
                sizes[target] = [0]
                # a sample of all sentences would be the cell ``all`` once more
                if self.adapt and train:
                    sizes[target] += [*(size for size in self.sizes if size <= n_with_idiom and size < len(train)), ALL]
        for model in self.models:
            for seed in self.seeds:
                source = Cell(SPAN, model, f"from-{self.language}", seed=seed, target=self.language, size=ALL)
                cells = [source]
                for target, of_target in sizes.items():
                    for size in of_target:
                        cells.append(replace(source, target=target, size=size))
                # They share the training on the source language, so they are one job
                yield cells

    def settings(self, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training."""
        return self.training.model_dump()

    def start(self, cells: Sequence[Cell], dataset: Dataset, *, folder: Path, trust_remote_code: bool) -> Finish:
        """Train on the source language, or load the checkpoint that an earlier run saved."""
        from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier, predicted_tags, score_predictions
        from turkic_idiom_tasks.training.cards import SPAN_RECORD, is_whole
        from turkic_idiom_tasks.training.span import few_shot_sample, fine_tune

        model, seed = cells[0].model, cells[0].seed or 0
        revision = content_revision(model)
        # By the name of the cell of the source language, which depends on everything that decides the checkpoint
        name = cell_name(
            replace(cells[0], target=self.language, size=ALL),
            settings=self.training.model_dump() | trust_setting(trust_remote_code),
            model_revision=revision,
            data_revision=dataset.revision,
        )
        # Saved with the outcome of its training, so that a later run continues from it
        checkpoint = folder / CHECKPOINTS / name
        decides: dict[str, Any] = {"model_revision": revision, "data": {"revision": dataset.revision}}
        decides |= {"language": self.language, "seed": seed, "config": self.training.model_dump()}
        if checkpoint.is_dir() and is_first_process() and not is_whole(checkpoint, decides):
            aside = checkpoint.with_name(f"{checkpoint.name}.set-aside-{time.time_ns()}")
            log.warning("%s: damaged or of another training; it is now %s, and trained again", checkpoint, aside.name)
            checkpoint.rename(aside)
        if checkpoint.is_dir():
            record = read_json(checkpoint / SPAN_RECORD)
            classifier = TokenClassifier.load(str(checkpoint), trust_remote_code=trust_remote_code)
        else:
            classifier, record = self._train_source(
                model, decides, dataset, checkpoint=checkpoint, trust_remote_code=trust_remote_code
            )
        # Each cell changes the classifier, and the next one must not notice: all begin with these weights. They wait on
        # the CPU, which leaves the accelerator's memory to the training.
        tensors = classifier.model.state_dict().items()
        weights = {name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors}

        def finish(cell: Cell) -> Record:
            start = time.perf_counter()
            classifier.model.load_state_dict(weights)
            training_seconds = 0.0
            outcome: dict[str, Any] = {"best_epoch": None, "validation_span_f1": None, "history": []}
            if cell.target == self.language:
                training_seconds = record["seconds"]
                outcome = {name: record[name] for name in outcome}
            elif cell.size != 0:
                splits = dataset.sentences(str(cell.target))
                size = cell.size if isinstance(cell.size, int) else None
                sample = few_shot_sample(splits[TRAIN], size, seed=seed)
                outcome = fine_tune(classifier, sample, splits[VALIDATION], config=self.training, seed=seed)
            sentences = dataset.test_sentences(str(cell.target))
            predictions = _tag(classifier, sentences)
            key = (SPANS, sentences.language)
            return build_record(
                model,
                {key: predicted_tags(sentences, predictions)},
                {key: score_predictions(sentences, predictions)},
                data=DataName.of(dataset),
                revision=revision,
                n_parameters=count_parameters(classifier.model),
                settings={"dtype": "float32"},
                training=Training(
                    regime=cell.regime,
                    language=self.language,
                    seed=cell.seed,
                    size=cell.size,
                    config=self.training.model_dump(),
                    outcome=outcome,
                ),
                seconds=time.perf_counter() - start + training_seconds,
            )

        return finish

    def _train_source(
        self, model: str, decides: dict[str, Any], dataset: Dataset, *, checkpoint: Path, trust_remote_code: bool
    ) -> tuple[TokenClassifier, dict[str, Any]]:
        """Fine-tune a model on the source language and save it; return it, and its record with what decides it."""
        from turkic_idiom_tasks.tasks.spans.classifier import score_predictions
        from turkic_idiom_tasks.training.cards import save_checkpoint
        from turkic_idiom_tasks.training.span import fine_tune, load_untuned

        start, seed = time.perf_counter(), decides["seed"]
        splits = dataset.sentences(self.language)
        classifier = load_untuned(
            model, seed=seed, revision=pinned_revision(model), trust_remote_code=trust_remote_code
        )
        outcome = fine_tune(classifier, splits[TRAIN], splits[VALIDATION], config=self.training, seed=seed)
        sentences = dataset.test_sentences(self.language)
        scores = score_predictions(sentences, _tag(classifier, sentences))
        record: dict[str, Any] = {
            **decides,
            "model": model,
            "data": {"path": dataset.path, "revision": dataset.revision},
            "scores": scores,
            "versions": installed_versions(),
            **trust_setting(trust_remote_code),
            **outcome,
            "seconds": round(time.perf_counter() - start, 3),
        }
        if is_first_process():
            # A worker of Ray whose driver was killed may have saved the same one just now
            try:
                save_checkpoint(classifier, checkpoint, record)
            except InputError:
                if not checkpoint.is_dir():
                    raise
        return classifier, record


def _tag(classifier: TokenClassifier, sentences: TestSentences) -> list[Prediction]:
    tokens = [sentence.tokens for sentence in sentences.rows]
    return classifier.predict(tokens, [sentences.language] * len(tokens), progress=False)
