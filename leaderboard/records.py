"""What the leaderboard knows of a submission: its metadata as checked, and the scores computed from its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RETRIEVAL_TASKS = ("T1", "T2", "T3")
SPANS = "spans"
TASKS = (*RETRIEVAL_TASKS, SPANS)
MAIN_SCORES = dict.fromkeys(RETRIEVAL_TASKS, "ndcg") | {SPANS: "span_f1"}

TYPES = ("baseline", "encoder", "sentence-encoder", "token-classifier", "llm")
REGIMES = ("pretrained", "tr-only", "monolingual", "cross-lingual", "few-shot", "other")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a submitter says of a model; every field is checked for form, none can be checked for truth.

    Attributes:
        name: ORG/NAME on the Hub, or a name for something that is not there.
        revision: commit of the model; None where it has none.
        n_parameters: of the model; None if not known.
        type: one of `TYPES`.
        regime: one of `REGIMES`: which supervision by idioms it had.
        training_data: disclosure in words: what it was trained on, and whether idioms of the benchmark were among it.
        pooling: one of the five, or None.
        few_shot: examples of the target language it saw; None where that means nothing.
        dataset: path of the data, as results name it.
        dataset_revision: 40 hexadecimal digits.
        versions: package -> version that made the predictions.
        contact: of the submitter, as they wish it shown.
    """

    name: str
    revision: str | None
    n_parameters: int | None
    type: str
    regime: str
    training_data: str
    pooling: str | None
    few_shot: int | None
    dataset: str
    dataset_revision: str
    versions: Mapping[str, str]
    contact: str


@dataclass(frozen=True, slots=True, eq=False)
class SubsetScore:
    """The scores of one subset of a task.

    Attributes:
        task: one of `TASKS`.
        subset: ``tur-azj`` for retrieval, the language code for spans.
        language: code of the language of the documents or sentences.
        n: number of queries or sentences.
        scores: name -> value in [0, 1] as result files name them; NaN where undefined. Retrieval: ndcg, ndcg_floor,
            ndcg_corrected, ndcg_at_10, mrr, recall_at_1, recall_at_5, recall_at_10. Spans: span_f1, span_precision,
            span_recall, token_f1, token_accuracy.
        low: lower end of the 95% interval of the main score.
        high: upper end of it.
        items: (n) ids of the queries or sentences, sorted.
        clusters: (n) concept or idiom of each, drawn as one by a bootstrap.
        values: (n, 1) nDCG of each query; or (n, 3) spans of each sentence that are right, found, and true.
        cut: the fewest documents that a query ranks, the others tying at the end; None if every query ranks all.
    """

    task: str
    subset: str
    language: str
    n: int
    scores: Mapping[str, float]
    low: float
    high: float
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    values: npt.NDArray[np.float64]
    cut: int | None = None

    @property
    def main(self) -> float:
        """nDCG, or span F1."""
        return self.scores[MAIN_SCORES[self.task]]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One submission with its recomputed scores.

    Attributes:
        id: name of its folder, a slug that is unique on the leaderboard.
        metadata: as checked.
        subsets: in the order of `TASKS` and of the languages; only what was submitted.
    """

    id: str
    metadata: Metadata
    subsets: tuple[SubsetScore, ...]

    def of_task(self, task: str) -> tuple[SubsetScore, ...]:
        """Its subsets of one task; empty if it was not submitted."""
        return tuple(one for one in self.subsets if one.task == task)
