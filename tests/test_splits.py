from hypothesis import given
from hypothesis import strategies as st

from turkic_idiom_tasks.splits import retrieval_split, span_split

SLUGS = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True)


def test_splits_never_move():
    # sha256("retrieval\nturn-a-blind-eye") begins 0x… ; pinned so that no change of the hash can go unnoticed
    import hashlib

    def position(purpose, concept):
        return int(hashlib.sha256(f"{purpose}\n{concept}".encode()).hexdigest()[:16], 16) / 2**64

    for concept in ("turn-a-blind-eye", "lose-face", "burn-the-midnight-oil", "wait-on-tenterhooks", "keep-a-promise"):
        assert retrieval_split(concept) == ("test" if position("retrieval", concept) < 0.2 else "train")


@given(SLUGS)
def test_senses_stay_together(slug):
    assert retrieval_split(f"{slug}--2") == retrieval_split(slug)
    assert span_split(f"{slug}--2") == span_split(slug)


def test_shares_are_those_of_the_paper():
    concepts = [f"concept-{number}" for number in range(20_000)]
    retrieval = [retrieval_split(concept) for concept in concepts]
    spans = [span_split(concept) for concept in concepts]
    # binomial standard deviations are below 0.4 points here: 0.2 * 0.8 / 20000 has the root 0.0028
    assert abs(retrieval.count("test") / 20_000 - 0.20) < 0.012
    assert abs(spans.count("test") / 20_000 - 0.15) < 0.012
    assert abs(spans.count("validation") / 20_000 - 0.085) < 0.010  # 10% of the remaining 85%


def test_the_two_splits_are_independent():
    concepts = [f"concept-{number}" for number in range(20_000)]
    both = sum(retrieval_split(c) == "test" and span_split(c) == "test" for c in concepts) / 20_000
    assert abs(both - 0.20 * 0.15) < 0.007
