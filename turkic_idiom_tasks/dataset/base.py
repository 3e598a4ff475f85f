"""`Dataset`: the interface through which every task, experiment and leaderboard gets its data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool, RetrievalData
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, TestSentences
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS, SentencePairs, lexicon_pairs
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.splits import TEST


class Dataset(ABC):
    """Data of the tasks: a lexicon, or files in the Hub layout.

    Attributes:
        path: what it was read from, as results name it.
        revision: content hash, or commit on the Hub; 40 hexadecimal digits.
    """

    path: str
    revision: str

    def __init__(self) -> None:
        self._pools: dict[tuple[str, str], Pool] = {}
        self._test_sentences: dict[str, TestSentences] = {}
        self._pairs: dict[str, SentencePairs | None] = {}

    @abstractmethod
    def subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a task (short name) that this data holds, in their usual order."""

    @abstractmethod
    def retrieval(self, task: str, subset: str) -> RetrievalData:
        """Return the test queries, pool and judgements of one of those subsets.

        Raises:
            InputError: the data does not have it, or it is malformed.
        """

    @property
    @abstractmethod
    def span_languages(self) -> tuple[str, ...]:
        """Return the codes of the languages with an annotated test sentence."""

    @abstractmethod
    def sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        """Return split -> tagged sentences of a language; see `splits.SPAN_SPLITS`.

        Raises:
            InputError: the data has no test sentence in the language, or a row is malformed.
        """

    @property
    @abstractmethod
    def lexicon(self) -> Lexicon:
        """Return the entries that training pairs are made of.

        Raises:
            InputError: this data holds test queries only.
        """

    def pool(self, task: str, subset: str) -> Pool:
        """Return a retrieval subset with its ids in a fixed order; rankings are written and scored in this order."""
        if (task, subset) not in self._pools:
            self._pools[task, subset] = Pool(task, subset, self.retrieval(task, subset))
        return self._pools[task, subset]

    def test_sentences(self, language: str) -> TestSentences:
        """Return the test sentences of a language in a fixed order; tags are written and scored in this order."""
        if language not in self._test_sentences:
            self._test_sentences[language] = TestSentences(language, self.sentences(language)[TEST])
        return self._test_sentences[language]

    def pair_subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a similarity task (short name) that this data holds; none if it has no entries."""
        try:
            return tuple(subset for subset in SIMILARITY_TASKS[task].languages if self._find_pairs(task, subset))
        except InputError:
            return ()

    def pairs(self, task: str, subset: str) -> SentencePairs:
        """Return the sentence pairs of a subset of a similarity task (short name).

        Raises:
            InputError: this data has none, or holds no entries to make them of.
        """
        pairs = self._find_pairs(task, subset)
        if pairs is None:
            raise InputError(
                f"{self.path}: nothing to evaluate for {SIMILARITY_TASKS[task].name}, {subset}: no test entry in that "
                "language has an example, a paraphrase and a literal_paraphrase, which sentence pairs are made of"
            )
        return pairs

    def _find_pairs(self, task: str, subset: str) -> SentencePairs | None:
        if task != STS:
            return None
        if subset not in self._pairs:
            self._pairs[subset] = lexicon_pairs(self.lexicon, SIMILARITY_TASKS[task].languages[subset])
        return self._pairs[subset]

    def check_task(self, task: str) -> None:
        """Check that this data has at least one subset of a retrieval task (short name).

        Raises:
            InputError: it has none; says what the task needs.
        """
        if self.subsets(task):
            return
        if TASKS[task].cross_lingual:
            pivot = LANGUAGES[PIVOT]
            need = f"{pivot.name} ({pivot.code}.jsonl) and at least one other language that share test concepts"
        else:
            need = "at least one language with idioms and meanings among its test concepts"
        raise InputError(f"{self.path}: nothing to evaluate for {TASKS[task].name}, which needs {need}")

    def no_sentences(self, language: str) -> InputError:
        """Return the error for a language without an annotated test sentence; it names the languages that have some."""
        if not self.span_languages:
            return InputError(
                f"{self.path}: no annotated test sentence in any language; a lexicon needs entries with example and "
                "spans (turkic-idiom dataset annotate adds them), a dataset in the Hub layout configs such as span-tr"
            )
        return InputError(
            f"{self.path}: no annotated test sentence in {LANGUAGES[language].name} ({language}); languages that have "
            f"some: {', '.join(self.span_languages)}"
        )
