"""Which split a concept belongs to: a stable hash of its id, so that growth never moves an entry."""

import hashlib

TRAIN, DEVELOPMENT, VALIDATION, TEST = "train", "development", "validation", "test"
SPAN_SPLITS = (TRAIN, VALIDATION, TEST)

RETRIEVAL_TEST_SHARE = 0.20  # the paper: 80% training, 20% test
RETRIEVAL_DEVELOPMENT_SHARE = 0.10  # of the rest; the paper does not say how large its development set is
SPAN_TEST_SHARE = 0.15  # the paper: 15% test ...
SPAN_VALIDATION_SHARE = 0.10  # ... and of the rest 90% training, 10% validation
IDIOM_DEVELOPMENT_SHARE = 0.10  # of the training idioms of data that has no development idioms of its own
SENSE_SEPARATOR = "--"


def retrieval_split(concept: str) -> str:
    """Return ``train``, ``development`` or ``test`` of the retrieval tasks, the same for every language."""
    if _position(concept, "retrieval") < RETRIEVAL_TEST_SHARE:
        return TEST
    return DEVELOPMENT if _position(concept, "retrieval/development") < RETRIEVAL_DEVELOPMENT_SHARE else TRAIN


def is_test_concept(concept: str) -> bool:
    """Return whether the retrieval tasks test a concept."""
    return retrieval_split(concept) == TEST


def span_split(concept: str) -> str:
    """Return ``train``, ``validation`` or ``test`` of span detection, the same for every sentence of the concept."""
    if _position(concept, "spans") < SPAN_TEST_SHARE:
        return TEST
    return VALIDATION if _position(concept, "spans/validation") < SPAN_VALIDATION_SHARE else TRAIN


def is_development_idiom(idiom: str) -> bool:
    """Return whether the sentences of a training idiom of other data serve to choose among the trained weights."""
    return _position(idiom, "idioms/development") < IDIOM_DEVELOPMENT_SHARE


def _position(concept: str, purpose: str) -> float:
    """Return a number in [0, 1), uniform over concepts and independent between purposes."""
    # Senses of one idiom share the id up to the separator (`yol-vermek`, `yol-vermek--2`), and so their split.
    key = concept.split(SENSE_SEPARATOR)[0]
    digest = hashlib.sha256(f"{purpose}\n{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
