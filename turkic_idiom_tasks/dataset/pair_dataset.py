"""Data of a similarity task that is no part of a lexicon, such as AStitchInLanguageModels."""

from __future__ import annotations

from collections.abc import Mapping

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.dataset.similarity import SentencePairs, revision_of_pairs


class PairDataset(Dataset):
    """Sentence pairs of one similarity task, and nothing else; its revision is a hash of the pairs."""

    def __init__(self, task: str, path: str, pairs_by_subset: Mapping[str, SentencePairs]) -> None:
        """Make a dataset of subset -> pairs; `task` is the short name."""
        super().__init__(path, revision_of_pairs(pairs_by_subset))
        self._task = task
        self._by_subset = dict(pairs_by_subset)

    def _find_pairs(self, task: str, subset: str) -> SentencePairs | None:
        return self._by_subset.get(subset) if task == self._task else None
