"""How often 95% intervals hold the true figure: the interval of `metrics.bootstrap` beside five others, by simulation.

    python benchmarks/interval_coverage.py [--datasets 2000] [--only NAME ...] [--json]

Each scenario is a population of concepts whose true score or difference is known. Data sets of 30 to 400 concepts are
drawn from it, and every method gives an interval for each. Printed per scenario and size: the share of intervals that
hold the truth, in percent (the standard error is 0.5 points for 2,000 data sets), and the mean width relative to the
plain percentile interval. The last columns are about `is_reliable`: the share of data sets where it is False, and
the coverage of the others.

Where a scenario has hits in a share p of its concepts, (1 - p)^n of all data sets hold none; no method can cover then.
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy.special import ndtr, ndtri
from sklearn.feature_extraction.text import TfidfVectorizer

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import (
    LEVEL,
    SEED,
    Resampled,
    Stratum,
    difference,
    mean,
    poisson_counts,
    resample_models,
)
from turkic_idiom_tasks.metrics.ranking import score_rankings
from turkic_idiom_tasks.orthography import to_common

Floats = npt.NDArray[np.float64]
Bounds = tuple[Floats, Floats]

SIZES = (30, 80, 200, 400)
TAIL = (1 - LEVEL) / 2
NORMAL = float(ndtri(1 - TAIL))
TINY = 1e-12
MACRO_SHARES = (1.0, 0.95, 0.75, 0.33)  # of the concepts that a language has, as in the bundled lexicon


# Language -> (D, n, 2) sums of D data sets with n concepts: of the first system (None for the interval of a single
# score), and of the second or only one.
Sample = tuple[Mapping[str, Floats] | None, Mapping[str, Floats]]
# The score or difference of a whole population, and what draws from it: generator, concepts n, data sets D -> sample.
Scenario = tuple[float, Callable[[np.random.Generator, int, int], Sample]]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The data sets of a sample, resampled: all that a method may use."""

    score: Floats  # (D,) of each data set
    draws: Floats  # (D, R) the score under each draw
    influence: Floats  # (D, C) of each concept, with the sum 0
    counts: Floats  # (C, R) how often each draw holds each concept

    @property
    def n_concepts(self) -> int:
        """Concepts of each data set."""
        return int(self.influence.shape[1])

    @property
    def spread(self) -> Floats:
        """(D,) standard errors, without the correction for the mean."""
        return np.asarray(np.sqrt((self.influence**2).sum(axis=1)))


def mean_sums(scores: Floats) -> Floats:
    """Return (..., 2) sums of items whose score is a mean."""
    return np.stack([scores, np.ones_like(scores)], axis=-1)


def difference_scenario(truth: float, gains: Callable[[np.random.Generator, tuple[int, int]], Floats]) -> Scenario:
    """Return a population of differences between two means."""

    def sample(generator: np.random.Generator, n_concepts: int, n_datasets: int) -> Sample:
        second = gains(generator, (n_datasets, n_concepts))
        return {"all": mean_sums(np.zeros_like(second))}, {"all": mean_sums(second)}

    return truth, sample


def gaussian_gains(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return differences of which 40% are 0 and the others normal around 0.1; the mean is 0.06."""
    return np.where(generator.random(shape) < 0.4, 0.0, generator.normal(0.1, 0.3, shape))


def sparse_scenario(share: float, *, both_signs: bool = False) -> Scenario:
    """Return a population in which a few concepts gain 0.2 to 1 (or lose as often), and the others nothing."""

    def gains(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        size = generator.uniform(0.2, 1.0, shape)
        sign = generator.choice([-1.0, 1.0], shape) if both_signs else 1.0
        return np.where(generator.random(shape) < share, size * sign, 0.0)

    return difference_scenario(0.0 if both_signs else 0.6 * share, gains)


def span_scenario() -> Scenario:
    """Return idioms of 1 to 3 sentences with one span each, of which two systems find 80% and 85%.

    Of the spans that a system misses it marks 70% at a wrong place, so of s spans it marks (m + 0.7 (1 - m)) s.
    """
    shares = (0.8, 0.85)

    def sample(generator: np.random.Generator, n_concepts: int, n_datasets: int) -> Sample:
        shape = (n_datasets, n_concepts)
        sentences = generator.integers(1, 4, shape)
        systems = []
        for share in shares:
            difficulty = generator.beta(4 * share, 4 * (1 - share), shape)
            correct = generator.binomial(sentences, difficulty)
            predicted = correct + generator.binomial(sentences - correct, 0.7)
            systems.append(np.stack([2.0 * correct, 1.0 * predicted + sentences], axis=-1))
        return {"tr": systems[0]}, {"tr": systems[1]}

    scores = [2 * share / (1 + share + 0.7 * (1 - share)) for share in shares]
    return scores[1] - scores[0], sample


def macro_scenario() -> Scenario:
    """Return four languages that share concepts, the last with a third of them; gains are skewed, 40% are 0."""

    def sample(generator: np.random.Generator, n_concepts: int, n_datasets: int) -> Sample:
        of_concept = generator.normal(0.03, 0.2, (n_datasets, n_concepts))
        first = {}
        second = {}
        for language, share in enumerate(MACRO_SHARES):
            n_shared = math.ceil(share * n_concepts)
            of_language = generator.gamma(0.3, 0.3, (n_datasets, n_shared))
            is_tie = generator.random((n_datasets, n_shared)) < 0.4
            gains = np.where(is_tie, 0.0, of_concept[:, :n_shared] + of_language)
            first[f"language {language}"] = mean_sums(np.zeros_like(gains))
            second[f"language {language}"] = mean_sums(gains)
        return first, second

    return 0.6 * (0.03 + 0.3 * 0.3), sample


def high_f1_scenario() -> Scenario:
    """Return one span per concept, found in 97% of them: the interval of a score near its upper end."""

    def sample(generator: np.random.Generator, n_concepts: int, n_datasets: int) -> Sample:
        is_found = generator.random((n_datasets, n_concepts)) < 0.97
        return None, {"tr": mean_sums(is_found.astype(np.float64))}

    return 0.97, sample


@cache
def lexicon_ndcg(task: str, first: str, second: str, analyzer: str) -> Floats:
    """Return (N,) the nDCG of every idiom of the bundled lexicon under TF-IDF of words or of letters (``char_wb``).

    T1 looks for the idiom of the same concept in the second language, T2 and T3 for its meaning.
    """
    lexicon = open_dataset().lexicon
    queries = []
    documents = []
    for concept, entry in lexicon.of(second).items():
        document = entry.idiom if task == "T1" else entry.meaning
        if concept in lexicon.of(first) and document is not None:
            queries.append(to_common(lexicon.of(first)[concept].idiom, LANGUAGES[first]))
            documents.append(to_common(document, LANGUAGES[second]))
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 1) if analyzer == "word" else (2, 4))
    document_vectors = vectorizer.fit_transform(documents)
    similarities = (vectorizer.transform(queries) @ document_vectors.T).toarray()
    return score_rankings(similarities, [[column] for column in range(len(documents))])["ndcg"]


def lexicon_scenario(task: str, first: str, second: str, *, single: bool = False) -> Scenario:
    """Return the lexicon's own queries: nDCG of letter n-grams minus that of words, or that of letters alone."""
    words = lexicon_ndcg(task, first, second, "word")
    letters = lexicon_ndcg(task, first, second, "char_wb")

    def sample(generator: np.random.Generator, n_concepts: int, n_datasets: int) -> Sample:
        drawn = generator.integers(0, len(words), (n_datasets, n_concepts))
        return None if single else {"all": mean_sums(words[drawn])}, {"all": mean_sums(letters[drawn])}

    return float(letters.mean() if single else (letters - words).mean()), sample


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "Gaussian, 40% ties": lambda: difference_scenario(0.06, gaussian_gains),
    "gains in 5% of concepts": lambda: sparse_scenario(0.05),
    "gains in 2% of concepts": lambda: sparse_scenario(0.02),
    "gains and losses in 5%": lambda: sparse_scenario(0.05, both_signs=True),
    "span F1, .80 and .85 found": span_scenario,
    "macro over 4 languages": macro_scenario,
    "nDCG, T1 tr-uz": lambda: lexicon_scenario("T1", "tr", "uz"),
    "nDCG near chance, T2 az": lambda: lexicon_scenario("T2", "az", "az"),
    "nDCG near chance, T3 tr-uz": lambda: lexicon_scenario("T3", "tr", "uz"),
    "score: span F1 of .97": high_f1_scenario,
    "score: nDCG, T1 tr-uz": lambda: lexicon_scenario("T1", "tr", "uz", single=True),
    "score: nDCG near chance, T2 tr": lambda: lexicon_scenario("T2", "tr", "tr", single=True),
}


def percentile(batch: Batch) -> Bounds:
    """Efron and Tibshirani (1993), ch. 13."""
    low, high = np.quantile(batch.draws, [TAIL, 1 - TAIL], axis=1)
    return low, high


def bca(batch: Batch) -> Bounds:
    """Efron (1987), bias-corrected and accelerated."""
    n_draws = batch.draws.shape[1]
    centre = batch.score[:, None]
    below = ((batch.draws < centre).mean(axis=1) + (batch.draws <= centre).mean(axis=1)) / 2
    bias = ndtri(np.clip(below, 1 / n_draws, 1 - 1 / n_draws))
    acceleration = (batch.influence**3).sum(axis=1) / (6 * np.maximum(batch.spread, TINY) ** 3)
    ordered = np.sort(batch.draws, axis=1)
    bounds = []
    for quantile in (-NORMAL, NORMAL):
        shifted = bias + quantile
        share = ndtr(bias + shifted / (1 - acceleration * shifted))
        places = np.clip(np.round(share * (n_draws - 1)), 0, n_draws - 1).astype(np.int64)
        bounds.append(np.take_along_axis(ordered, places[:, None], axis=1)[:, 0])
    return bounds[0], bounds[1]


def bootstrap_t(batch: Batch) -> Bounds:
    """Efron and Tibshirani (1993), ch. 12, with linearised standard errors; draws without any spread are left out."""
    sizes = batch.counts.sum(axis=0)
    means = batch.influence @ batch.counts / sizes
    squares = batch.influence**2 @ batch.counts / sizes
    errors = np.sqrt(np.maximum(squares - means**2, 0.0) / sizes)
    has_spread = errors > 1e-9 * np.maximum(batch.spread[:, None], TINY)
    ratios = np.where(has_spread, means / np.where(has_spread, errors, 1.0), np.nan)
    ratios[~has_spread.any(axis=1)] = 0.0
    low, high = np.nanquantile(ratios, [TAIL, 1 - TAIL], axis=1)
    return batch.score - high * batch.spread, batch.score - low * batch.spread


def sign_flip_inversion(batch: Batch) -> Bounds:
    """Hartigan (1969): all differences that the sign-flip test accepts are quantiles of means over random halves."""
    generator = np.random.default_rng([SEED, batch.n_concepts])
    halves = generator.integers(0, 2, batch.counts.shape).astype(np.float64)
    moved = batch.n_concepts * (batch.influence @ halves) / halves.sum(axis=0)
    low, high = np.quantile(moved, [TAIL, 1 - TAIL], axis=1)
    return batch.score + low, batch.score + high


def empirical_likelihood(batch: Batch) -> Bounds:
    """Owen (1988, 2001), on the influences: all means whose likelihood ratio the chi-square distribution accepts."""
    values = batch.influence * batch.n_concepts
    return batch.score - _likelihood_bound(-values), batch.score + _likelihood_bound(values)


def _likelihood_bound(values: Floats) -> Floats:
    """Return (D,) the highest accepted mean of (D, C) values whose mean is 0, by bisection."""
    accepted = np.zeros(len(values))
    rejected = values.max(axis=1)
    for _ in range(30):
        middle = (accepted + rejected) / 2
        shifted = values - middle[:, None]
        lowest = -1 / np.maximum(shifted.max(axis=1), TINY)
        highest = np.zeros(len(values))
        for _ in range(40):
            multiplier = (lowest + highest) / 2
            slope = (shifted / (1 + multiplier[:, None] * shifted)).sum(axis=1)
            lowest = np.where(slope > 0, multiplier, lowest)
            highest = np.where(slope > 0, highest, multiplier)
        statistic = 2 * np.log1p(highest[:, None] * shifted).sum(axis=1)
        accepted = np.where(statistic <= NORMAL**2, middle, accepted)
        rejected = np.where(statistic <= NORMAL**2, rejected, middle)
    return accepted


METHODS: dict[str, Callable[[Batch], Bounds]] = {
    "percentile": percentile,
    "BCa": bca,
    "bootstrap-t": bootstrap_t,
    "sign-flip": sign_flip_inversion,
    "likelihood": empirical_likelihood,
}
CHOSEN = "bootstrap.py"


def resample_sample(sample: Sample) -> list[Resampled]:
    """Return every data set of a sample as the package resamples it."""
    systems = []
    for sums_by_language in sample:
        by_language = []
        for sums in (sums_by_language or {}).values():
            concepts = [f"concept {number}" for number in range(sums.shape[1])]
            by_language.append(resample_models([Stratum(concepts, dataset) for dataset in sums]))
        systems.append([mean(parts) for parts in zip(*by_language, strict=True)])
    first, second = systems
    return list(map(difference, second, first)) if first else second


def to_batch(resampled: list[Resampled]) -> Batch:
    """Return data sets of the same concepts as arrays, without the draws that are NaN."""
    draws = np.stack([dataset.draws for dataset in resampled])
    is_defined = ~np.isnan(draws).any(axis=0)
    counts = poisson_counts(resampled[0].concepts).astype(np.float64)
    return Batch(
        score=np.array([dataset.score for dataset in resampled]),
        draws=draws[:, is_defined],
        influence=np.stack([dataset.influence for dataset in resampled]),
        counts=counts[:, is_defined],
    )


def measure(name: str, n_concepts: int, n_datasets: int) -> list[dict[str, Any]]:
    """Return how every method does on one scenario and size.

    Of the intervals, ``coverage``, ``above`` and ``below`` are the shares that hold the truth or lie above or below it,
    and ``width`` is the mean width over that of the percentile interval. For the interval of the package, ``flagged``
    is the share that is not reliable, and ``coverage_unflagged`` the coverage of the others if there are 100 of them.
    """
    truth, draw = SCENARIOS[name]()
    generator = np.random.default_rng([SEED, zlib.crc32(name.encode()), n_concepts])
    bounds: dict[str, list[Bounds]] = {method: [] for method in (CHOSEN, *METHODS)}
    flags: list[bool] = []
    while len(flags) < n_datasets:
        resampled = resample_sample(draw(generator, n_concepts, min(100, n_datasets - len(flags))))
        intervals = [dataset.interval() for dataset in resampled]
        flags.extend(not interval.is_reliable for interval in intervals)
        ends = np.array([(interval.low, interval.high) for interval in intervals])
        bounds[CHOSEN].append((ends[:, 0], ends[:, 1]))
        batch = to_batch(resampled)
        has_spread = batch.spread > TINY
        for method, interval_of in METHODS.items():
            low, high = interval_of(batch)
            bounds[method].append((np.where(has_spread, low, batch.score), np.where(has_spread, high, batch.score)))
    is_flagged = np.array(flags)
    joined = {}
    for method, batches in bounds.items():
        joined[method] = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    usual_width = float((joined["percentile"][1] - joined["percentile"][0]).mean())
    rows = []
    for method, (low, high) in joined.items():
        is_above, is_below = low > truth + TINY, high < truth - TINY
        covers = ~is_above & ~is_below
        row: dict[str, Any] = {
            "scenario": name,
            "n_concepts": n_concepts,
            "method": method,
            "coverage": float(covers.mean()),
            "above": float(is_above.mean()),
            "below": float(is_below.mean()),
            "width": float((high - low).mean()) / usual_width,
            "flagged": None,
            "coverage_unflagged": None,
        }
        if method == CHOSEN:
            row["flagged"] = float(is_flagged.mean())
            if (~is_flagged).sum() >= 100:
                row["coverage_unflagged"] = float(covers[~is_flagged].mean())
        rows.append(row)
    return rows


def show(rows: list[dict[str, Any]], n_datasets: int) -> None:
    """Print a table with a line per scenario and size."""
    table = Table(title=f"coverage in % and relative width of 95% intervals, {n_datasets:,} data sets each")
    table.add_column("scenario")
    for title in ("C", CHOSEN, *METHODS, "unreliable", "others"):
        table.add_column(title, justify="right")
    n_methods = len(METHODS) + 1
    for start in range(0, len(rows), n_methods):
        line = rows[start : start + n_methods]
        figures = [f"{100 * row['coverage']:.1f} {row['width']:.2f}" for row in line]
        chosen = line[0]
        others = "-" if chosen["coverage_unflagged"] is None else f"{100 * chosen['coverage_unflagged']:.1f}"
        cells = (str(chosen["n_concepts"]), *figures, f"{100 * chosen['flagged']:.0f}", others)
        table.add_row(chosen["scenario"], *cells)
    Console(width=180).print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=2000, help="per scenario and size")
    parser.add_argument("--only", nargs="+", choices=list(SCENARIOS), metavar="NAME", help="scenarios; default: all")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = []
    for name in options.only or SCENARIOS:
        for n_concepts in SIZES:
            rows.extend(measure(name, n_concepts, options.datasets))
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        show(rows, options.datasets)


if __name__ == "__main__":
    main()
