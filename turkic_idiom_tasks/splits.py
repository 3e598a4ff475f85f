"""Which split a concept belongs to: a stable hash of its id, so that growth never moves an entry."""

from __future__ import annotations

import hashlib

RETRIEVAL_TEST_SHARE = 0.20  # the paper: 80% training, 20% test
SPAN_TEST_SHARE = 0.15  # the paper: 15% test ...
SPAN_VALIDATION_SHARE = 0.10  # ... and of the rest 90% training, 10% validation
SENSE_SEPARATOR = "--"


def retrieval_split(concept: str) -> str:
    """``train`` or ``test`` of the retrieval tasks, the same for every language of the concept."""
    return "test" if _position(concept, "retrieval") < RETRIEVAL_TEST_SHARE else "train"


def span_split(concept: str) -> str:
    """``train``, ``validation`` or ``test`` of span detection, the same for every sentence of the concept."""
    if _position(concept, "spans") < SPAN_TEST_SHARE:
        return "test"
    return "validation" if _position(concept, "spans/validation") < SPAN_VALIDATION_SHARE else "train"


def _position(concept: str, purpose: str) -> float:
    """A number in [0, 1), uniform over concepts and independent between purposes.

    Senses of one idiom share the id up to ``--`` (``yol-vermek``, ``yol-vermek--2``), and so their split.
    """
    key = concept.split(SENSE_SEPARATOR)[0]
    digest = hashlib.sha256(f"{purpose}\n{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
