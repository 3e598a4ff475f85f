import hashlib

import pytest

from turkic_idiom_tasks.splits import retrieval_split, span_split

PINNED = [f"concept-{number}" for number in range(20_000)] + ["turn-a-blind-eye", "lose-face", "burn-the-midnight-oil"]


def position(key, concept):
    """Where a concept stands in [0, 1), by the definition and not by our code."""
    return int(hashlib.sha256(f"{key}\n{concept}".encode()).hexdigest()[:16], 16) / 2**64


# Every expected split is computed here. Of so many concepts a share that changes by a thousandth moves some twenty, and
# another key or hash most of them.


@pytest.mark.parametrize(
    ("split_of", "name", "test_share", "held_out"),
    [(retrieval_split, "retrieval", 0.20, "development"), (span_split, "spans", 0.15, "validation")],
)
def test_a_split_never_moves(split_of, name, test_share, held_out):
    for concept in PINNED:
        other = held_out if position(f"{name}/{held_out}", concept) < 0.10 else "train"
        expected = "test" if position(name, concept) < test_share else other
        assert split_of(concept) == split_of(f"{concept}--2") == expected  # senses stay together
