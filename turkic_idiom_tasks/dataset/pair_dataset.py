"""Data of a similarity task that is no part of a lexicon, such as AStitchInLanguageModels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.dataset.similarity import SentencePairs, revision_of_pairs
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Lexicon


class PairDataset(Dataset):
    """Sentence pairs of one similarity task, and nothing else.

    Attributes:
        path: what results name as the data.
        revision: hash of the pairs.
    """

    def __init__(self, task: str, path: str, pairs_by_subset: Mapping[str, SentencePairs]) -> None:
        """Make a dataset of subset -> pairs; `task` is the short name."""
        super().__init__()
        self.path = path
        self.revision = revision_of_pairs(pairs_by_subset)
        self._task = task
        self._by_subset = dict(pairs_by_subset)

    def subsets(self, task: str) -> tuple[str, ...]:
        """Return no subset, because there are no queries."""
        return ()

    def retrieval(self, task: str, subset: str) -> RetrievalData:
        """Raise InputError, because there are no queries."""
        raise self._only_pairs()

    @property
    def span_languages(self) -> tuple[str, ...]:
        """Return no language, because there are no tagged sentences."""
        return ()

    def sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        """Raise InputError, because there are no tagged sentences."""
        raise self.no_sentences(language)

    @property
    def lexicon(self) -> Lexicon:
        """Raise InputError, because there are no entries."""
        raise self._only_pairs()

    def _find_pairs(self, task: str, subset: str) -> SentencePairs | None:
        return self._by_subset.get(subset) if task == self._task else None

    def _only_pairs(self) -> InputError:
        return InputError(f"{self.path}: holds only the sentence pairs of {self._task}")
