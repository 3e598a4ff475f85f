import numpy as np
import pytest
from scipy.stats import bootstrap

from turkic_idiom_tasks.metrics.statistics import bootstrap_interval


def names(n, start=0):
    return [f"c{number}" for number in range(start, start + n)]


def test_agrees_with_scipy():
    values = np.random.default_rng(1).beta(2, 3, size=120)
    ours = bootstrap_interval({"tur": values}, {"tur": names(120)})
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=3).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=0.004)
    assert ours.high == pytest.approx(theirs.high, abs=0.004)


def test_covers_the_true_mean_as_often_as_it_says():
    # 300 samples of 60 from a population with mean 0.5: 95% coverage has the standard error 1.3 points
    generator = np.random.default_rng(7)
    hits = 0
    for _ in range(300):
        interval = bootstrap_interval({"a": generator.uniform(size=60)}, {"a": names(60)})
        hits += interval.low <= 0.5 <= interval.high
    assert 0.90 <= hits / 300 <= 0.985


def test_shared_concepts_widen_the_macro_interval():
    # two languages with identical scores of the same concepts carry the information of one, not of two
    values = np.random.default_rng(2).uniform(size=80)
    alone = bootstrap_interval({"a": values}, {"a": names(80)})
    shared = bootstrap_interval({"a": values, "b": values}, {"a": names(80), "b": names(80)})
    apart = bootstrap_interval({"a": values, "b": values}, {"a": names(80), "b": names(80, start=80)})
    width = alone.high - alone.low
    assert shared.high - shared.low == pytest.approx(width, rel=0.05)
    assert apart.high - apart.low == pytest.approx(width / np.sqrt(2), rel=0.08)


def test_same_seed_same_interval_in_any_order():
    values = np.random.default_rng(3).uniform(size=40)
    order = np.random.default_rng(4).permutation(40)
    clusters = names(40)
    one = bootstrap_interval({"a": values, "b": values[:20]}, {"a": clusters, "b": clusters[:20]})
    other = bootstrap_interval(
        {"b": values[:20], "a": values[order]}, {"b": clusters[:20], "a": [clusters[i] for i in order]}
    )
    assert one.low == pytest.approx(other.low, abs=1e-12)
    assert one.high == pytest.approx(other.high, abs=1e-12)
    assert bootstrap_interval({"a": values}, {"a": clusters}, seed=5) != bootstrap_interval(
        {"a": values}, {"a": clusters}
    )


def test_no_queries_is_an_error():
    with pytest.raises(ValueError, match="at least one query"):
        bootstrap_interval({"a": np.array([])}, {"a": []})
