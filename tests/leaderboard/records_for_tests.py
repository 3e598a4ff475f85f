"""A small data set and records of it, for tests of what is made of records."""

from __future__ import annotations

import numpy as np

from leaderboard.data import Data, Subset
from leaderboard.records import RETRIEVAL_TASKS, SPANS, Metadata, Record, SubsetScore
from turkic_idiom_tasks.languages import LANGUAGES, TARGETS
from turkic_idiom_tasks.metrics.ranking import chance_corrected, random_ndcg
from turkic_idiom_tasks.metrics.statistics import bootstrap_interval, interval_of_ratio

REVISION = "0123456789abcdef0123456789abcdef01234567"
POOL = 200
FLOOR = random_ndcg(POOL, 1)


def make_data(n=40, *, languages=tuple(LANGUAGES), text="{language} idiom {concept}", few=None):
    """The four tasks with `n` concepts in each language; `few` maps a language to its own number."""
    few = few or {}
    subsets = []
    for task in (*RETRIEVAL_TASKS, SPANS):
        for code in languages:
            crosses = task in ("T1", "T3")
            if crosses and code not in TARGETS:
                continue
            asked = "tr" if crosses else code
            name = code if task == SPANS else "-".join(dict.fromkeys(LANGUAGES[c].subset for c in (asked, code)))
            concepts = [f"c{number:03d}" for number in range(few.get(code, n))]
            prefix = "" if task == SPANS else f"{LANGUAGES[asked].subset}:"
            subsets.append(
                Subset(
                    task=task,
                    name=name,
                    language=code,
                    floor=0.0 if task == SPANS else FLOOR,
                    pool=None if task == SPANS else POOL,
                    texts={f"{prefix}{c}": text.format(language=LANGUAGES[asked].name, concept=c) for c in concepts},
                    answers={f"{prefix}{c}": text.format(language=LANGUAGES[code].name, concept=c) for c in concepts},
                    n_relevant={} if task == SPANS else {f"{prefix}{c}": 1 for c in concepts},
                )
            )
    return Data("tests/data", REVISION, tuple(subsets))


def make_metadata(**values):
    """Metadata with everything filled in; some of it replaced by `values`."""
    usual = {
        "name": "org/model",
        "revision": "a" * 40,
        "n_parameters": 110_000_000,
        "type": "encoder",
        "regime": "pretrained",
        "training_data": "Wikipedia; no idioms of the benchmark",
        "pooling": "mean",
        "few_shot": None,
        "dataset": "tests/data",
        "dataset_revision": REVISION,
        "versions": {"mteb": "2.10.0", "torch": "2.6.0"},
        "contact": "someone",
    }
    return Metadata(**(usual | values))


def make_record(key, data, *, skill=0.3, seed=0, tasks=(*RETRIEVAL_TASKS, SPANS), intervals=True, **metadata):
    """A record whose ranks are drawn so that a higher `skill` in [0, 1] scores higher."""
    generator = np.random.default_rng(seed)
    subsets = []
    for subset in data.subsets:
        if subset.task not in tasks:
            continue
        if subset.task == SPANS:
            right = (generator.random(subset.n) < skill).astype(float)
            found = np.maximum(right, generator.random(subset.n) < 0.8)
            subsets.append(span_score(subset, np.stack([right, found, np.ones(subset.n)], axis=1), intervals=intervals))
        else:
            ranks = np.ceil((POOL + 1) ** ((1 - skill) * generator.random(subset.n)))
            subsets.append(retrieval_score(subset, 1 / np.log2(1 + ranks), intervals=intervals))
    return Record(key, make_metadata(**({"name": f"org/{key}"} | metadata)), tuple(subsets))


def retrieval_score(subset, ndcg, *, intervals=True):
    """The score of one subset with these nDCG."""
    concepts = tuple(item.partition(":")[2] for item in subset.texts)
    main = float(np.mean(ndcg))
    scores = {
        "ndcg": main,
        "ndcg_floor": subset.floor,
        "ndcg_corrected": chance_corrected(main, subset.floor),
        "ndcg_at_10": float(np.mean(np.where(ndcg > 0.28, ndcg, 0))),
        "mrr": float(np.mean(1 / (2 ** (1 / ndcg) - 1))),
        "recall_at_1": float(np.mean(ndcg == 1)),
        "recall_at_5": float(np.mean(ndcg > 0.38)),
        "recall_at_10": float(np.mean(ndcg > 0.28)),
    }
    bounds = bootstrap_interval({"": ndcg}, {"": concepts}) if intervals else None
    return _score(subset, scores, concepts, np.asarray(ndcg, dtype=float)[:, None], bounds)


def span_score(subset, counts, *, intervals=True):
    """The score of one subset with these spans right, found and true."""
    right, found, true = counts.sum(axis=0)
    scores = {
        "span_f1": 2 * right / (found + true),
        "span_precision": right / found if found else float("nan"),
        "span_recall": right / true,
        "token_f1": 2 * right / (found + true),
        "token_accuracy": 0.9,
    }
    concepts = tuple(subset.texts)
    bounds = None
    if intervals:
        bounds = interval_of_ratio(2 * counts[:, 0], counts[:, 1] + counts[:, 2], clusters=concepts)
    return _score(subset, scores, concepts, counts.astype(float), bounds)


def _score(subset, scores, concepts, values, bounds):
    main = scores["span_f1" if subset.task == SPANS else "ndcg"]
    low, high = (bounds.low, bounds.high) if bounds else (main - 0.05, main + 0.05)
    return SubsetScore(
        task=subset.task,
        subset=subset.name,
        language=subset.language,
        n=subset.n,
        scores=scores,
        low=low,
        high=high,
        items=tuple(subset.texts),
        clusters=concepts,
        values=values,
    )
