import hashlib

from hypothesis import given
from hypothesis import strategies as st

from turkic_idiom_tasks.splits import SPAN_SPLITS, retrieval_split, span_split

SLUGS = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True)
PINNED = [f"concept-{number}" for number in range(20_000)] + ["turn-a-blind-eye", "lose-face", "burn-the-midnight-oil"]


def position(key, concept):
    """Where a concept stands in [0, 1), by the definition and not by our code."""
    return int(hashlib.sha256(f"{key}\n{concept}".encode()).hexdigest()[:16], 16) / 2**64


# Every expected split is computed here. Of so many concepts a share that changes by a thousandth moves some twenty, and
# another key or hash most of them.


def test_the_retrieval_split_never_moves():
    for concept in PINNED:
        development = "development" if position("retrieval/development", concept) < 0.10 else "train"
        assert retrieval_split(concept) == ("test" if position("retrieval", concept) < 0.20 else development)
    assert {retrieval_split(concept) for concept in PINNED} == {"train", "development", "test"}


def test_the_span_split_never_moves():
    for concept in PINNED:
        validation = "validation" if position("spans/validation", concept) < 0.10 else "train"
        assert span_split(concept) == ("test" if position("spans", concept) < 0.15 else validation)
    assert {span_split(concept) for concept in PINNED} == set(SPAN_SPLITS)


@given(SLUGS)
def test_senses_stay_together(slug):
    assert retrieval_split(f"{slug}--2") == retrieval_split(slug)
    assert span_split(f"{slug}--2") == span_split(slug)
