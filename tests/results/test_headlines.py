"""The headlines: spelling alone gets chance, and a model that knows the answers gets 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import Pool, RetrievalData
from turkic_idiom_tasks.dataset.similarity import CORRECT, INCORRECT, REFERENCE, SentencePair, SentencePairs
from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.headlines import spelling_free
from turkic_idiom_tasks.results.predictions import Rankings, Similarities
from turkic_idiom_tasks.results.scored import score_subset

dataset = open_dataset()


def spelling(queries, documents, source, target):
    """Similarities of the character n-grams, (Q, N)."""
    vectors = encode_texts(list(queries), LANGUAGES[source]), encode_texts(list(documents), LANGUAGES[target])
    return vectors[0] @ vectors[1].T


@pytest.mark.parametrize(("subset", "code"), [("tur-azj", "az"), ("tur-tuk", "tk"), ("tur-uzn", "uz")])
def test_spelling_has_chance_in_the_headline_of_t1_although_it_leads_over_all_queries(subset, code):
    data, pool = dataset.retrieval("T1", subset), dataset.pool("T1", subset)
    texts = [data.queries[query] for query in pool.queries], [data.documents[document] for document in pool.documents]
    scored = score_subset(Rankings.from_similarities(pool, spelling(*texts, "tr", code)))
    interval = scored.resampled_headline(None).interval()
    # A little below chance, as no answer is among the first twentieth: in Turkmen the interval ends at -.0006
    assert -0.01 < interval.low <= 0 <= interval.high + 0.001
    assert abs(scored.headline.score) < 0.01
    assert scored.scores["ndcg_corrected"] > 0.1
    assert len(scored.headline.concepts) == scored.scores["n_spelling_free"] >= 150


def test_a_query_is_spelling_free_if_its_answers_stand_behind_the_first_twentieth():
    # 40 documents, so the first twentieth has two: the answer of q1 is spelt like it, and two documents are spelt like
    # q2 whose answer is another word
    documents = {f"d{n:02d}": "xyz" for n in range(40)} | {"d00": "göz yumdu", "d01": "baş əydi", "d02": "baş əyir"}
    qrels = {"q1": {"d00": 1}, "q2": {"d38": 1, "d39": 1}}
    pool = Pool("T1", "tur-azj", RetrievalData({"q1": "göz yummak", "q2": "baş eğmek"}, documents, qrels))
    assert spelling_free(pool).tolist() == [False, True]
    # every document in its order: that of q1 stands first, those of q2 last of all
    scored = score_subset(Rankings.from_similarities(pool, -np.tile(np.arange(40.0), (2, 1))))
    last = (1 / math.log2(40) + 1 / math.log2(41)) / (1 + 1 / math.log2(3))
    expected = {"n_spelling_free": 1, "ndcg_spelling_free": last, "ndcg_spelling_free_floor": random_ndcg(40, 2)}
    assert {name: scored.scores[name] for name in expected} == pytest.approx(expected)
    assert scored.scores["ndcg_spelt_alike"] == 1
    assert scored.headline is None  # with one spelling-free query of two there is none


@pytest.mark.parametrize(("task", "subset"), [("T1", "tur-azj"), ("T2", "gag"), ("T4", "tur")])
def test_a_model_that_ranks_the_answers_first_has_one(task, subset):
    pool = dataset.pool(task, subset)
    perfect = np.zeros((len(pool.queries), len(pool.documents)))
    for row, columns in enumerate(pool.relevant):
        perfect[row, columns] = 1.0
    assert score_subset(Rankings.from_similarities(pool, perfect)).headline.score == pytest.approx(1.0)
    if task == "T2":  # whose headline is the corrected score
        tied = score_subset(Rankings.from_similarities(pool, np.zeros_like(perfect))).headline
        floors = [random_ndcg(len(pool.documents), len(columns)) for columns in pool.relevant]
        assert (tied.score, tied.chance) == (pytest.approx(0.0, abs=1e-12), pytest.approx(np.mean(floors)))


@pytest.mark.parametrize(("task", "subset"), [("T1", "tur-uzn"), ("T2", "gag")])
def test_the_headline_is_resampled_alike_with_and_without_the_main_score(task, subset):
    pool = dataset.pool(task, subset)
    similarities = np.random.default_rng(3).random((len(pool.queries), len(pool.documents)))
    scored = score_subset(Rankings.from_similarities(pool, similarities))
    given, alone = scored.resampled_headline(scored.resampled()), scored.resampled_headline(None)
    assert given.score == pytest.approx(alone.score) == pytest.approx(scored.headline.score)
    assert given.concepts == alone.concepts
    assert np.allclose(given.draws, alone.draws)


def pairs_of(*sentences):
    """Pairs of sentences (original, figurative paraphrase, literal paraphrase)."""
    rows = []
    for number, (original, figurative, literal) in enumerate(sentences):
        rows += [
            SentencePair(f"{number}/c", original, figurative, CORRECT, 1.0, None, f"c{number}", "idiom"),
            SentencePair(f"{number}/i", original, literal, INCORRECT, None, f"{number}/r", f"c{number}", "idiom"),
            SentencePair(f"{number}/r", figurative, literal, REFERENCE, 0.0, None, f"c{number}", "idiom"),
        ]
    return SentencePairs("tur", rows)


# in the first sentence the figurative paraphrase is spelt more like the original, in the other three the literal one
SENTENCES = (
    ("Ali her gün eve erken döner", "Ali her gün eve erken döndü", "Kuşlar uçtu"),
    ("Veli bu işe göz yumdu", "Karışmadı", "Veli bu işe göz kapattı"),
    ("Ayşe ona baş eğdi", "Boyun büktü", "Ayşe ona başını eğdi"),
    ("Can onu el üstünde tuttu", "Saygı gösterdi", "Can onu elinde tuttu"),
)


def accuracy(sentences, *right):
    """The headline's accuracy of a model that is right in some of the sentences."""
    values = [value for is_right in right for value in ((0.9, 0.1, 0.5) if is_right else (0.1, 0.9, 0.5))]
    return score_subset(Similarities("STS", pairs_of(*sentences), np.array(values))).scores["sense_accuracy"]


def test_pairs_in_which_spelling_is_right_count_as_much_as_those_in_which_it_is_wrong():
    assert accuracy(SENTENCES, True, True, True, True) == 1.0
    assert accuracy(SENTENCES, True, False, False, False) == pytest.approx(0.5)  # as spelling
    assert accuracy(SENTENCES, False, True, True, True) == pytest.approx(0.5)
    assert accuracy(SENTENCES, True, True, False, False) == pytest.approx((1 + 1 / 3) / 2)


def test_a_sentence_in_which_spelling_does_not_decide_counts_once():
    undecided = ("Ece buna kulak astı", "Dinledi sözünü", "Sözünü dinledi")  # n-grams of words know no order
    sentences = (*SENTENCES, undecided)
    # of the four others, one in which spelling is right has the weight 2, and three in which it is wrong 2 / 3 each
    assert accuracy(sentences, False, False, False, False, True) == pytest.approx(1 / 5)
    assert accuracy(sentences, True, False, False, False, False) == pytest.approx(2 / 5)
    assert accuracy(sentences, False, True, True, True, False) == pytest.approx(2 / 5)


@pytest.mark.parametrize("sentences", [SENTENCES[:1], SENTENCES[1:]])
def test_there_is_no_headline_if_spelling_is_right_in_every_sentence_or_in_none(sentences):
    pairs = pairs_of(*sentences)
    assert score_subset(Similarities("STS", pairs, np.full(len(pairs.rows), 0.5))).headline is None


@pytest.mark.parametrize("subset", ["tur", "tuk"])
def test_t4_and_sts_ask_the_same_of_one_model(subset):
    """With one vector for each sentence, the paraphrase ranks before the literal one if it is more similar."""
    language = {"tur": "tr", "tuk": "tk"}[subset]
    data, pool, pairs = dataset.retrieval("T4", subset), dataset.pool("T4", subset), dataset.pairs("STS", subset)
    texts = [data.queries[query] for query in pool.queries], [data.documents[document] for document in pool.documents]
    rankings = Rankings.from_similarities(pool, spelling(*texts, language, language).astype(np.float64))
    first, second = zip(*((row.sentence1, row.sentence2) for row in pairs.rows), strict=True)
    similarities = np.diagonal(spelling(first, second, language, language)).astype(np.float64)
    of_pairs = score_subset(Similarities("STS", pairs, similarities))
    of_ranking = score_subset(rankings)
    assert of_pairs.headline.score == pytest.approx(0.0, abs=1e-9)
    assert of_ranking.headline.score == pytest.approx(0.0, abs=1e-9)
    assert len(of_ranking.headline.concepts) == len(of_pairs.headline.concepts) == of_pairs.scores["n_idioms"]
