"""One cell of the retrieval grid: an encoder, a regime of supervision, a language and a seed, under every pooling.

The untuned encoder is scored under all poolings from one pass. Otherwise the encoder is trained once per pooling, as
pooled vectors are what the loss sees, and each time from the same untrained weights. The record of a cell holds the
score of every query, so that every table and test can be computed from records alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.experiments.grid_file import PRETRAINED, RetrievalPart
from turkic_idiom_tasks.finetuning.regimes import CROSS_LINGUAL, MONOLINGUAL, build_regime
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.retrieval.ranking import SubsetRanking, rank_subset
from turkic_idiom_tasks.retrieval.relevance import TASKS, RetrievalData
from turkic_idiom_tasks.retrieval.source import LexiconSource

if TYPE_CHECKING:
    from turkic_idiom_tasks.finetuning.retrieval import RetrievalConfig, TunedEncoder
    from turkic_idiom_tasks.finetuning.trainee import Trainee

RETRIEVAL = "retrieval"  # kind of the records
RECORD_FORMAT = 1
TEST_BATCH = 32  # texts per forward pass, as in `turkic-idiom run`
_DECIMALS = 8  # of a query's score in a record
_PACKAGES = ("turkic-idiom-tasks", "sentence-transformers", "transformers", "torch")

Subsets = Mapping[str, Mapping[str, RetrievalData]]


@dataclass(frozen=True, slots=True)
class RetrievalCell:
    """What a record is of.

    Attributes:
        model: as the grid file names it.
        regime: ``pretrained`` or one of `regimes.REGIMES`.
        language: code of the language of the meanings; None for pretrained and tr-only.
        seed: of order, negatives and dropout; None for pretrained.
    """

    model: str
    regime: str
    language: str | None
    seed: int | None


def retrieval_cells(part: RetrievalPart) -> Iterator[RetrievalCell]:
    """The cells of a part, model by model; what no seed changes is there once."""
    for model in part.models:
        if PRETRAINED in part.regimes:
            yield RetrievalCell(model, PRETRAINED, None, None)
        for seed in part.seeds:
            for regime in part.regimes:
                if regime != PRETRAINED:
                    repeats = part.languages if regime in (MONOLINGUAL, CROSS_LINGUAL) else (None,)
                    yield from (RetrievalCell(model, regime, language, seed) for language in repeats)


def run_retrieval_cell(
    cell: RetrievalCell, part: RetrievalPart, lexicon: Lexicon, *, source: LexiconSource, revision: str | None
) -> dict[str, Any]:
    """Trains and scores a cell, and returns its record; nothing is written.

    Args:
        cell: which.
        part: its poolings and training settings.
        lexicon: whose training concepts are trained on.
        source: whose test queries are scored: the same lexicon's.
        revision: Hub commit of the model; None is the one that mteb pins, otherwise the newest.

    Raises:
        InputError: the model cannot be loaded or trained, or the data is too small for the regime.
    """
    start = time.perf_counter()
    subsets = _subsets(source, cell.language)
    run = _Run(cell, part.training, lexicon, subsets, revision)
    if cell.regime == PRETRAINED:
        model_revision, poolings = run.pretrained(part.poolings)
    else:
        model_revision, poolings = run.tuned(part.poolings)
    return {
        "format": RECORD_FORMAT,
        "kind": RETRIEVAL,
        **asdict(cell),
        "model_revision": model_revision,
        "config": asdict(part.training),
        "data": {"path": source.path, "revision": source.revision},
        "poolings": poolings,
        "seconds": round(time.perf_counter() - start, 3),
        "versions": {package: version(package) for package in _PACKAGES},
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    cell: RetrievalCell
    training: RetrievalConfig
    lexicon: Lexicon
    subsets: Subsets
    revision: str | None

    def pretrained(self, poolings: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
        """The model's revision, and the scores of every pooling from one pass."""
        from turkic_idiom_tasks.finetuning.trainee import load_trainee

        trainee = load_trainee(self.cell.model, task="T2", revision=self.revision)
        scores = _scores(trainee, self.subsets, poolings)
        return trainee.revision, {pooling: {"tuning": None} | scores[pooling] for pooling in poolings}

    def tuned(self, poolings: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
        """The model's revision, and what training under each pooling gave."""
        from turkic_idiom_tasks.finetuning.retrieval import fine_tune_retrieval
        from turkic_idiom_tasks.finetuning.trainee import load_trainee

        data = build_regime(self.lexicon, self.cell.regime, language=self.cell.language)
        found: dict[str, Any] = {}
        model_revision = None
        for pooling in poolings:
            start = time.perf_counter()
            trainee = load_trainee(self.cell.model, task=data.task, pooling=pooling, revision=self.revision)
            loaded = time.perf_counter()
            config = replace(self.training, pooling=pooling, seed=self.cell.seed or 0)
            tuned = fine_tune_retrieval(trainee, data, config=config)
            trained = time.perf_counter()
            scores = _scores(trainee, self.subsets, (pooling,))[pooling]
            seconds = {"load": loaded - start, "train": trained - loaded, "test": time.perf_counter() - trained}
            tuning = _tuning(tuned) | {name: round(value, 3) for name, value in seconds.items()}
            found[pooling] = {"tuning": tuning} | scores
            model_revision = trainee.revision
        return model_revision, found


def _subsets(source: LexiconSource, language: str | None) -> Subsets:
    """Task -> subset -> data; with a language only where documents are in it."""
    found = {
        short: {
            subset: source.load(short, subset)
            for subset in source.subsets(short)
            if language in (None, TASKS[short].subsets[subset][1].code)
        }
        for short in TASKS
    }
    return {short: subsets for short, subsets in found.items() if subsets}


def _scores(trainee: Trainee, subsets: Subsets, poolings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Pooling -> the part of a record with the scores of every subset and query, from one pass over the texts."""
    from turkic_idiom_tasks.encoders.pooled import PooledEncoder

    prompts = trainee.task_prompts
    rows: dict[str, int] = {}
    for short, of_task in subsets.items():
        for data in of_task.values():
            for role, texts in (("query", data.queries), ("document", data.documents)):
                for text in texts.values():
                    rows.setdefault(prompts[short][role] + text, len(rows))
    encoder = PooledEncoder.from_sentence_transformer(trainee.model, model_id=trainee.name, revision=trainee.revision)
    vectors = encoder.encode(list(rows), poolings=poolings, batch_size=TEST_BATCH, progress=False)
    found: dict[str, dict[str, Any]] = {}
    for pooling in poolings:
        rankings = {
            short: {
                subset: rank_subset(vectors[pooling], rows, data, prompts=prompts[short])
                for subset, data in of_task.items()
            }
            for short, of_task in subsets.items()
        }
        found[pooling] = {
            "scores": {short: {s: one.scores() for s, one in of.items()} for short, of in rankings.items()},
            "per_query": {short: {s: _per_query(one) for s, one in of.items()} for short, of in rankings.items()},
        }
    return found


def _per_query(ranking: SubsetRanking) -> dict[str, float]:
    return {
        query: round(float(score), _DECIMALS)
        for query, score in zip(ranking.queries, ranking.per_query.ndcg, strict=True)
    }


def _tuning(tuned: TunedEncoder) -> dict[str, Any]:
    return {
        "untuned_ndcg": tuned.untuned.ndcg,
        "tuned_ndcg": tuned.tuned.ndcg if tuned.tuned else None,
        "kept_step": tuned.kept.step,
        "steps": tuned.n_steps,
        "diverged_at": tuned.diverged_at,
        "verdict": tuned.verdict,
        "loss": tuned.loss,
    }
