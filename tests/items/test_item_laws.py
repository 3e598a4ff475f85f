"""Laws of items on small lexicons, and of balanced numbers, by hypothesis."""

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.items.conftest import small_lexicon
from turkic_idiom_tasks.dataset.dataset import LexiconDataset
from turkic_idiom_tasks.tasks.items.balance import balanced
from turkic_idiom_tasks.tasks.items.items import build_items

N_CONCEPTS = 24
PAIRS = st.tuples(st.integers(0, N_CONCEPTS - 1), st.integers(0, N_CONCEPTS - 1)).filter(lambda pair: pair[0] < pair[1])
JUDGEMENTS = st.dictionaries(PAIRS, st.sampled_from(["same", "near"]), max_size=20)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JUDGEMENTS, st.permutations(range(N_CONCEPTS)))
def test_options_are_never_judged_alike_and_do_not_depend_on_the_order(judgements, order):
    lexicon = small_lexicon(N_CONCEPTS, judgements=judgements)
    items = build_items(LexiconDataset(lexicon, "small"), "meaning", "tr")
    for item in items:
        concepts = [option.concept for option in item.options]
        assert len(set(concepts)) == len({option.text for option in item.options}) == 4
        for first in concepts:
            for second in concepts:
                assert (first, second) not in lexicon.equivalents
    permuted = small_lexicon(N_CONCEPTS, judgements=judgements, order=order)
    assert build_items(LexiconDataset(permuted, "small"), "meaning", "tr") == items


@settings(max_examples=50, deadline=None)
@given(st.sets(st.text(min_size=1, max_size=8), min_size=2, max_size=60), st.integers(2, 4))
def test_balanced_numbers(keys, n_values):
    """Every number is as frequent as any other, up to one, in any order of keys; one key more moves few others."""
    ordered = sorted(keys)
    numbers = balanced(ordered, n_values, purpose="test")
    counts = Counter(dict.fromkeys(range(n_values), 0) | Counter(numbers.values()))
    assert max(counts.values()) - min(counts.values()) <= 1
    assert balanced(ordered[::-1], n_values, purpose="test") == numbers
    fewer = balanced(ordered[1:], n_values, purpose="test")
    assert sum(numbers[key] != number for key, number in fewer.items()) <= 2 * n_values
