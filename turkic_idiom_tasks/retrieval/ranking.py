"""A model's ranking of one subset: its scores, and the form in which it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.metrics.ranking import (
    RankingScores,
    ranking_groups,
    score_rankings,
    similarities_of_groups,
)
from turkic_idiom_tasks.retrieval.relevance import RetrievalData

Groups = list[str | list[str]]


class SubsetRanking:
    """A model's ranking of one subset, and its scores.

    Attributes:
        queries: ids, (Q).
        documents: ids of the whole pool, (N).
        similarities: (Q, N), higher is nearer; -inf for what was not retrieved.
        per_query: the scores of each query.
    """

    def __init__(
        self,
        queries: Sequence[str],
        documents: Sequence[str],
        *,
        similarities: npt.NDArray[np.floating],
        qrels: Mapping[str, Mapping[str, int]],
    ) -> None:
        columns = {document: column for column, document in enumerate(documents)}
        self.queries = list(queries)
        self.documents = list(documents)
        self.similarities = similarities
        relevant = [[columns[d] for d, score in qrels[query].items() if score > 0] for query in self.queries]
        self.per_query: RankingScores = score_rankings(similarities, relevant)

    @classmethod
    def from_results(
        cls,
        results: Mapping[str, Mapping[str, float]],
        documents: Sequence[str],
        *,
        qrels: Mapping[str, Mapping[str, int]],
    ) -> SubsetRanking:
        """From query id -> document id -> similarity, as mteb's search returns it."""
        columns = {document: column for column, document in enumerate(documents)}
        similarities = np.full((len(qrels), len(columns)), -np.inf)
        for row, query in enumerate(qrels):
            found = results.get(query, {})
            similarities[row, [columns[document] for document in found]] = list(found.values())
        return cls(list(qrels), documents, similarities=similarities, qrels=qrels)

    @classmethod
    def from_groups(
        cls, groups: Mapping[str, Groups], documents: Sequence[str], *, qrels: Mapping[str, Mapping[str, int]]
    ) -> SubsetRanking:
        """From what `groups` gave: the same scores, to the last bit, if the whole pool was written."""
        columns = {document: column for column, document in enumerate(documents)}
        similarities = np.stack([similarities_of_groups(groups[query], columns) for query in qrels])
        return cls(list(qrels), documents, similarities=similarities, qrels=qrels)

    def groups(self, top_k: int | None = None) -> dict[str, Groups]:
        """Query id -> document ids, best first, those that tie in a list of their own; about `top_k`, or all.

        A group of ties is never cut: the scores down to rank `top_k` can be recomputed exactly.
        """
        whole = {
            query: ranking_groups(row, self.documents)
            for query, row in zip(self.queries, self.similarities, strict=True)
        }
        if top_k is None:
            return whole
        return {query: _cut(groups, top_k) for query, groups in whole.items()}

    def scores(self) -> dict[str, float]:
        """Mean scores and sizes, as they stand in the result file."""
        return self.per_query.means() | {"n_queries": len(self.queries), "n_documents": len(self.documents)}


def rank_subset(
    vectors: npt.NDArray[np.float32],
    rows: Mapping[str, int],
    data: RetrievalData,
    *,
    prompts: Mapping[str, str],
) -> SubsetRanking:
    """The ranking of one subset by cosine similarity.

    Args:
        vectors: (texts, H) float32, rows of length 1.
        rows: text with its prompt -> its row.
        data: queries, documents and judgements.
        prompts: ``query`` and ``document`` -> what stands before the texts.
    """
    queries = vectors[[rows[prompts["query"] + text] for text in data.queries.values()]]
    documents = vectors[[rows[prompts["document"] + text] for text in data.documents.values()]]
    return SubsetRanking(list(data.queries), list(data.documents), similarities=queries @ documents.T, qrels=data.qrels)


def _cut(groups: Groups, top_k: int) -> Groups:
    kept: Groups = []
    size = 0
    for group in groups:
        if size >= top_k:
            break
        kept.append(group)
        size += 1 if isinstance(group, str) else len(group)
    return kept
