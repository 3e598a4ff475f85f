"""From the predictions of a submission to its scores and intervals: those that the suite itself gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from leaderboard.gold import Gold, Pool, Sentences
from leaderboard.records import RETRIEVAL_TASKS, SPANS, Record, SubsetScore
from leaderboard.submission import Submission, load_submission, submission_folders
from turkic_idiom_tasks.metrics.ranking import score_rankings
from turkic_idiom_tasks.metrics.spans import Scores, span_counts, span_f1_interval, token_accuracy, token_scores
from turkic_idiom_tasks.metrics.statistics import bootstrap_interval
from turkic_idiom_tasks.spans import LABELS

_LABEL_OF_LETTER = {label[0]: label for label in LABELS}


def load_records(place: Path, gold: Gold) -> Iterator[Record]:
    """The submissions in a folder, one after the other, by name.

    Raises:
        InputError: one has a fault; names the first.
    """
    for folder in submission_folders(place):
        yield rescore(load_submission(folder, gold), gold)


def rescore(submission: Submission, gold: Gold) -> Record:
    """The submission with its scores."""
    subsets = [
        score_ranks(gold.pools[task][subset], submission.ranks[task][subset])
        for task in RETRIEVAL_TASKS
        for subset in gold.pools[task]
        if subset in submission.ranks.get(task, {})
    ]
    subsets += [
        score_tags(sentences, submission.tags[language])
        for language, sentences in gold.sentences.items()
        if language in submission.tags
    ]
    return Record(submission.id, submission.metadata, tuple(subsets))


def score_ranks(pool: Pool, ranks: npt.NDArray[np.int32]) -> SubsetScore:
    """The scores of one subset of a retrieval task.

    Args:
        pool: its queries and documents.
        ranks: (Q, N) rank of every document for every query, from 0; equal ones tie.
    """
    relevant = [[pool.column[document] for document in pool.qrels[query]] for query in pool.queries]
    found = score_rankings(-ranks.astype(np.float32), relevant)
    bounds = bootstrap_interval({pool.subset: found.ndcg}, {pool.subset: pool.concepts})
    n_documents = len(pool.documents)
    cuts = np.count_nonzero(ranks < n_documents, axis=1)
    return SubsetScore(
        task=pool.task,
        subset=pool.subset,
        language=pool.language,
        n=len(pool.queries),
        scores=found.means(),
        low=bounds.low,
        high=bounds.high,
        items=pool.queries,
        clusters=pool.concepts,
        values=found.ndcg[:, np.newaxis],
        cut=None if cuts.min() == n_documents else int(cuts.min()),
    )


def score_tags(sentences: Sentences, tags: tuple[str, ...]) -> SubsetScore:
    """The scores of one language of span detection.

    Args:
        sentences: the test sentences.
        tags: the predicted letters of each.
    """
    gold = [sentence.tags for sentence in sentences.rows]
    predicted = [[_LABEL_OF_LETTER[letter] for letter in letters] for letters in tags]
    counts = span_counts(gold, predicted)
    spans = Scores.of_counts(*(int(n) for n in counts.sum(axis=0)))
    bounds = span_f1_interval(gold, predicted, [sentence.idiom for sentence in sentences.rows])
    return SubsetScore(
        task=SPANS,
        subset=sentences.language,
        language=sentences.language,
        n=len(sentences.rows),
        scores={
            "span_f1": spans.f1,
            "span_precision": spans.precision,
            "span_recall": spans.recall,
            "token_f1": token_scores(gold, predicted).f1,
            "token_accuracy": token_accuracy(gold, predicted),
        },
        low=bounds.low,
        high=bounds.high,
        items=tuple(sentence.id for sentence in sentences.rows),
        clusters=sentences.clusters,
        values=counts.astype(np.float64),
    )
