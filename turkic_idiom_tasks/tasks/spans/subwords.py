"""Conversion of tags of words to labels of a tokenizer's sub-words, and back."""

from collections.abc import Sequence
from typing import Literal

from turkic_idiom_tasks.spans import INSIDE, LABELS, OUTSIDE

IGNORED = -100  # label of a sub-word that adds nothing to the loss
Labelling = Literal["all", "first"]  # sub-words of a word that have its label in training; all in the paper


def project_tags(tags: Sequence[str], owners: Sequence[int]) -> list[str]:
    """Return the tag of every sub-word by the paper's rule; the owner of a sub-word is the position of its word."""
    projected = []
    for position, owner in enumerate(owners):
        is_first = position == 0 or owners[position - 1] != owner
        projected.append(tags[owner] if is_first or tags[owner] == OUTSIDE else INSIDE)
    return projected


def subword_labels(tags: Sequence[str], word_ids: Sequence[int | None], *, labelling: Labelling = "all") -> list[int]:
    """Return the training label of every sub-word; special tokens, and with ``first`` later sub-words, are `IGNORED`.

    The word ids are those of a fast tokenizer: the position of the word of each sub-word, None for a special token.
    """
    projected = iter(project_tags(tags, [owner for owner in word_ids if owner is not None]))
    labels = []
    previous = None
    for owner in word_ids:
        label = IGNORED if owner is None else LABELS.index(next(projected))
        labels.append(IGNORED if labelling == "first" and owner == previous else label)
        previous = owner
    return labels


def word_tags(labels: Sequence[str], owners: Sequence[int], n_words: int) -> list[str | None]:
    """Return the tag of every word, which is that of its first sub-word; None for a word without a sub-word."""
    tags: list[str | None] = [None] * n_words
    for label, owner in zip(labels, owners, strict=True):
        if tags[owner] is None:
            tags[owner] = label
    return tags
