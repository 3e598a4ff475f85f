"""Scores of predictions, and a check that a record states the scores that its predictions give."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.dataset.retrieval import LITERAL_FIELDS, TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.bootstrap import Resampled, Stratum, resample
from turkic_idiom_tasks.metrics.ranking import mean_scores
from turkic_idiom_tasks.metrics.similarity import resampled_spearman, similarity_scores
from turkic_idiom_tasks.metrics.spans import f1_sums, span_counts, word_scores
from turkic_idiom_tasks.results.headlines import Headline, ranking_headline, similarity_headline, spelling_free
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, ItemAnswers
from turkic_idiom_tasks.results.predictions import (
    SPANS,
    Prediction,
    Predictions,
    Rankings,
    Similarities,
    SubsetKey,
    Tags,
)
from turkic_idiom_tasks.results.record import Record
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENTS
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.scoring import judge_open, score_items, score_open

MAIN_SCORES = {"T1": "ndcg", "T2": "ndcg", "T3": "ndcg", "T4": "ndcg", SPANS: "span_f1"}
MAIN_SCORES |= dict.fromkeys(SIMILARITY_TASKS, "spearman")
MAIN_SCORES |= dict.fromkeys(ITEM_TASKS, "accuracy") | dict.fromkeys(OPEN_TASKS, "accepted")
_TOLERANCE = 1e-9  # between a stored score and the same score computed again


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSubset:
    """Scores of one subset, and what each of its items adds to the main score.

    The main score is the sum of the numerators over the sum of the denominators: a mean of nDCG (each query adds its
    nDCG and 1), a micro-averaged span F1 (each sentence adds twice its correct spans, and its predicted plus gold
    spans), or an accuracy (each item adds 1 if it is right, and 1). Spearman's correlation of similarities is no such
    ratio: it has no sums, and `resampled` is the one way to its interval.
    """

    task: str  # short name
    subset: str  # ``tur-azj`` for retrieval, ``tr-uz`` for `equivalent`, else the language code
    language: str  # code of the language of the documents, sentences or options
    items: tuple[str, ...]  # (n,) ids of the queries, sentences, items (sorted) or scored pairs
    concepts: tuple[str, ...]  # (n,) the concept of each; items of one concept are resampled together
    sums: npt.NDArray[np.float64]  # (n, 2) numerator and denominator of each item; (0, 2) for similarities
    floor: float  # main score of a random ranking or choice; 0 for spans, open answers and similarities
    headline: Headline | None  # None where there is none: few spelling-free queries, or data of a sibling task
    scores: Mapping[str, float]  # as result files name them; NaN where undefined
    cut: int | None = None  # number of documents that the shortest ranking lists; None if every one lists all
    answers: ItemAnswers | None = None  # of a language model
    similarities: Similarities | None = None  # of sentence pairs
    spearman: Resampled | None = None  # the main score of similarities, resampled by concepts
    # (n,) True if a relevant document ranks first and no irrelevant one ties with it; None if that is not known, and
    # for everything but rankings
    firsts: npt.NDArray[np.bool_] | None = None
    wrong_firsts: Sequence[str | None] = ()  # of rankings: the document that stands alone in the first place if wrong

    @property
    def solved(self) -> npt.NDArray[np.bool_]:
        """Return (n,) whether the right document is first, all spans are exact, the answer is right; (0,) for pairs."""
        # Where `firsts` is not known, a ranking counts only if all relevant documents stand first: nDCG is 1
        return self.sums[:, 0] == self.sums[:, 1] if self.firsts is None else self.firsts

    @property
    def main(self) -> float:
        """Return uncut nDCG, span F1, accuracy, the share of accepted answers, or Spearman's correlation."""
        return self.scores[MAIN_SCORES[self.task]]

    @property
    def n(self) -> int:
        """Return the number of queries, sentences, items or scored pairs."""
        return len(self.items)

    def resampled(self) -> Resampled:
        """Return the main score, resampled by concepts."""
        if self.spearman is not None:
            return self.spearman
        return resample({self.subset: Stratum(self.concepts, self.sums)})

    def resampled_headline(self, main: Resampled | None) -> Resampled | None:
        """Return the headline, resampled by concepts; None if there is none."""
        if self.headline is None or math.isnan(self.headline.score):
            return None
        # Nothing is drawn again where the headline is the main score, corrected for chance
        if main is not None and self.headline.sums is self.sums:
            return main.corrected(self.headline.chance)
        drawn = resample({self.subset: Stratum(self.headline.concepts, self.headline.sums)})
        return drawn.corrected(self.headline.chance)


def score_subset(predictions: Prediction) -> ScoredSubset:
    """Return the scores of a model's predictions for one subset."""
    if isinstance(predictions, ItemAnswers):
        return _score_answers(predictions)
    if isinstance(predictions, Similarities):
        return _score_similarities(predictions)
    return _score_tags(predictions) if isinstance(predictions, Tags) else _score_rankings(predictions)


def score_all(predictions: Predictions) -> dict[SubsetKey, Mapping[str, float]]:
    """Return (task, subset) -> name -> score."""
    return {key: score_subset(of_subset).scores for key, of_subset in predictions.items()}


def score_record(record: Record) -> list[ScoredSubset]:
    """Return the scores of every subset of a record from its predictions, which must give the scores that it states."""
    scored = []
    for (task, subset), predictions in record.predictions.items():
        computed = score_subset(predictions)
        stated = record.header.scores(task, subset)
        # Scores that an earlier version stated and this one does not compute are no contradiction.
        for name in sorted({MAIN_SCORES[task], *stated} & set(computed.scores)):
            found, value = stated.get(name, math.inf), computed.scores[name]
            are_undefined = math.isnan(found) and math.isnan(value)
            if not are_undefined and not math.isclose(found, value, rel_tol=0, abs_tol=_TOLERANCE):
                raise InputError(
                    f"{record.path}: {task}, {subset}: the predictions give {name} {value:.6f}, the file states "
                    f"{stated.get(name)}; delete the file and compute it again"
                )
        scored.append(computed)
    return scored


def _score_rankings(rankings: Rankings) -> ScoredSubset:
    pool = rankings.pool
    scores = rankings.query_scores()
    ndcg, floors = scores["ndcg"], scores["ndcg_floor"]
    means = mean_scores(scores)
    strict = mean_scores(rankings.query_scores(strict=True))
    means |= {"ndcg_strict": strict["ndcg"], "ndcg_strict_floor": strict["ndcg_floor"]}
    sums = np.stack([ndcg, np.ones(len(pool.queries))], axis=1)
    headline = ranking_headline(rankings, floors, sums)
    chosen = spelling_free(pool)
    if chosen is not None:
        means["n_spelling_free"] = int(chosen.sum())
        if chosen.any():
            means["ndcg_spelling_free"] = float(ndcg[chosen].mean())
            means["ndcg_spelling_free_floor"] = float(floors[chosen].mean())
        if not chosen.all():
            means["ndcg_spelt_alike"] = float(ndcg[~chosen].mean())  # of the other queries
    if TASKS[pool.task].query == "original":
        # the share of queries whose first document has the literal words of an idiom; expected value over ties
        literal = np.array([document.rpartition("/")[2] in LITERAL_FIELDS for document in pool.documents])
        means["sense_accuracy"] = headline.raw if headline else math.nan
        means["literal_first"] = float(np.mean([literal[above == 0].mean() for above in rankings.above]))
    wrong_firsts: list[str | None] = []
    for above, relevant in zip(rankings.above, pool.relevant, strict=True):
        first = np.flatnonzero(above == 0)
        is_wrong = len(first) == 1 and first[0] not in relevant
        wrong_firsts.append(pool.documents[first[0]] if is_wrong else None)
    return ScoredSubset(
        task=pool.task,
        subset=pool.subset,
        language=pool.language,
        items=pool.queries,
        concepts=pool.concepts,
        sums=sums,
        floor=means["ndcg_floor"],
        headline=headline,
        scores=means | {"n_queries": len(pool.queries), "n_documents": len(pool.documents)},
        cut=None if rankings.n_listed is None else int(rankings.n_listed.min()),
        firsts=scores["mrr"] == 1.0,
        wrong_firsts=wrong_firsts,
    )


def _score_tags(tags: Tags) -> ScoredSubset:
    sentences = tags.sentences
    gold = [sentence.tags for sentence in sentences.rows]
    predicted = [[TAG_LETTERS[letter] for letter in letters] for letters in tags.letters]
    scores = word_scores(gold, predicted) | {
        "n_sentences": len(sentences.rows),
        "n_idioms": len(set(sentences.concepts)),
    }
    sums = f1_sums(span_counts(gold, predicted))
    return ScoredSubset(
        task=SPANS,
        subset=sentences.language,
        language=sentences.language,
        items=tuple(sentence.id for sentence in sentences.rows),
        concepts=sentences.concepts,
        sums=sums,
        floor=0.0,
        headline=Headline(sentences.concepts, sums),
        scores=scores,
    )


def _score_answers(answers: ItemAnswers) -> ScoredSubset:
    items = answers.items
    # Of an open task, an answer that is accepted is right
    if items.task in OPEN_TASKS:
        texts = [answer if isinstance(answer, str) else None for answer in answers.answers]
        scores = score_open(items.task, items.rows, texts, items.lexicon)
        judgements = judge_open(items.task, items.rows, texts, items.lexicon)
        are_right = [judgement["accepted"] for judgement in judgements]
    else:
        positions = [answer if isinstance(answer, int) else None for answer in answers.answers]
        scores = score_items(items.rows, positions)
        are_right = [position == item.gold for item, position in zip(items.rows, positions, strict=True)]
    sums = np.stack([np.array(are_right, dtype=np.float64), np.ones(len(are_right))], axis=1)
    headline = Headline(items.concepts, sums, items.chance)
    # An equivalent that shares a word with the idiom can be told by its letters
    if items.task in EQUIVALENTS:
        counted = [place for place, item in enumerate(items.rows) if not item.shares_stem]
        headline = Headline(tuple(items.concepts[place] for place in counted), sums[counted], items.chance)
    return ScoredSubset(
        task=items.task,
        subset=items.subset,
        language=items.language,
        items=tuple(item.id for item in items.rows),
        concepts=items.concepts,
        sums=sums,
        floor=items.chance,
        headline=headline,
        scores=scores,
        answers=answers,
    )


def _score_similarities(similarities: Similarities) -> ScoredSubset:
    pairs = similarities.pairs
    resampled = resampled_spearman(pairs, similarities.values)
    scored = [row for row, is_scored in zip(pairs.rows, pairs.is_scored, strict=True) if is_scored]
    language = SIMILARITY_TASKS[similarities.task].languages[pairs.subset]
    scores = similarity_scores(pairs, similarities.values, resampled)
    headline = None
    if similarities.task == STS:
        headline = similarity_headline(similarities, language=language)
        scores["sense_accuracy"] = headline.raw if headline else math.nan
    return ScoredSubset(
        task=similarities.task,
        subset=pairs.subset,
        language=language,
        items=tuple(row.id for row in scored),
        concepts=tuple(row.concept for row in scored),
        sums=np.zeros((0, 2)),
        floor=0.0,
        headline=headline,
        scores=scores,
        similarities=similarities,
        spearman=resampled,
    )
