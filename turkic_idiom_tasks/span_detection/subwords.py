"""Words to sub-words and back: how tags become the labels of a tokenizer's pieces, and its labels become tags."""

from __future__ import annotations

from collections.abc import Sequence

from turkic_idiom_tasks.spans import INSIDE, LABELS, OUTSIDE

IGNORED = -100  # label of a piece that adds nothing to the loss
LABELLING = ("all", "first")  # which pieces of a word carry its label in training; the paper: all


def project_tags(tags: Sequence[str], owners: Sequence[int]) -> list[str]:
    """The tag of every piece: that of its word on the word's first piece; on later ones I where the word is inside.

    The paper's rule: B on the first sub-token of an idiom, I on all later ones.

    Args:
        tags: of the words.
        owners: for each piece the position of its word.
    """
    found = []
    for position, owner in enumerate(owners):
        is_first = position == 0 or owners[position - 1] != owner
        found.append(tags[owner] if is_first or tags[owner] == OUTSIDE else INSIDE)
    return found


def piece_labels(tags: Sequence[str], word_ids: Sequence[int | None], *, labelling: str = "all") -> list[int]:
    """The training label of every piece, `IGNORED` for special tokens and, with ``first``, for a word's later pieces.

    Args:
        tags: of the words.
        word_ids: what a fast tokenizer says of each piece: the position of its word, None for a special token.
        labelling: one of `LABELLING`.
    """
    owners = [owner for owner in word_ids if owner is not None]
    projected = iter(project_tags(tags, owners))
    labels = []
    previous = None
    for owner in word_ids:
        if owner is None:
            labels.append(IGNORED)
        else:
            tag = next(projected)
            labels.append(IGNORED if labelling == "first" and owner == previous else LABELS.index(tag))
        previous = owner
    return labels


def word_tags(labels: Sequence[str], owners: Sequence[int], n_words: int) -> list[str | None]:
    """The tag of every word: that of its first piece; None for one without a piece (cut off, or tokenised to nothing).

    Args:
        labels: tag of each piece.
        owners: for each piece the position of its word.
        n_words: how many words the sentence has.
    """
    tags: list[str | None] = [None] * n_words
    for label, owner in zip(labels, owners, strict=True):
        if tags[owner] is None:
            tags[owner] = label
    return tags
