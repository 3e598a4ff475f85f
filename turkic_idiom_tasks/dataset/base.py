"""`Dataset`: the interface through which every task, experiment and leaderboard gets its data, and its kinds here."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool, RetrievalData, build_retrieval
from turkic_idiom_tasks.dataset.sentences import FoundUse, TaggedSentence, TestSentences, lexicon_sentences
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS, SentencePairs, content_digest, lexicon_pairs
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.splits import TEST

P = ParamSpec("P")
T = TypeVar("T")


def made_once(method: Callable[P, T]) -> Callable[P, T]:
    """Let a method of a `Dataset` do its work once for the same arguments, and then return the same object again."""

    @wraps(method)
    def remembered(*arguments: P.args, **options: P.kwargs) -> T:
        dataset: Any = arguments[0]
        key = (method.__name__, *arguments[1:], *options.items())
        if key not in dataset._made:
            dataset._made[key] = method(*arguments, **options)
        made: T = dataset._made[key]
        return made

    return remembered


class Dataset:
    """Data of the tasks, made from a lexicon unless a kind of data has its own; all of it is read or built once."""

    def __init__(self, path: str, revision: str, *, lexicon: Lexicon | None = None) -> None:
        self.path = path  # what it was read from, as results name it
        self.revision = revision  # content hash, or commit on the Hub; 40 hexadecimal digits
        self._lexicon = lexicon
        self._made: dict[tuple[object, ...], Any] = {}  # name of a method and its arguments -> what it returned

    def subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a retrieval task (short name) with a test query, in their usual order."""
        if self._lexicon is None:
            return ()
        return tuple(subset for subset in TASKS[task].subsets if self._find_retrieval(task, subset) is not None)

    @cached_property
    def span_languages(self) -> tuple[str, ...]:
        """Return the codes of the languages with an annotated test sentence."""
        if self._lexicon is None:
            return ()
        return tuple(code for code in LANGUAGES if self._find_sentences(code)[TEST])

    @property
    def lexicon(self) -> Lexicon:
        """Return the entries that training pairs are made of."""
        if self._lexicon is None:
            raise usage_error(
                f"{self.path}: holds test queries only (no config such as lexicon-tr); training needs a lexicon "
                "directory, or a dataset that `turkic-idiom dataset export` wrote"
            )
        return self._lexicon

    def retrieval(self, task: str, subset: str) -> RetrievalData:
        """Return the test queries, pool and judgements of one of the `subsets`."""
        data = self._find_retrieval(task, subset) if subset in self.subsets(task) else None
        if data is None:
            raise InputError(f"{self.path}: has no data for {TASKS[task].name}, {subset}")
        return data

    def sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        """Return split -> tagged sentences of a language; see `splits.SPAN_SPLITS`."""
        if language in self.span_languages:
            sentences = self._find_sentences(language)
            # A config of the Hub may have a test split without a row
            if sentences[TEST]:
                return sentences
        others = [code for code in self.span_languages if code != language]
        raise InputError(
            f"{self.path}: no annotated test sentence in {LANGUAGES[language].name} ({language}); languages that have "
            f"some: {', '.join(others) or 'none'}. A lexicon needs entries with example and spans (turkic-idiom "
            "dataset annotate adds them), a dataset in the Hub layout configs such as span-tr"
        )

    def uses(self, language: str) -> Sequence[FoundUse] | None:
        """Return the uses of idioms in found text; None if the data is no found text."""
        return None

    @made_once
    def pool(self, task: str, subset: str) -> Pool:
        """Return a retrieval subset with its ids in a fixed order; rankings are written and scored in this order."""
        return Pool(task, subset, self.retrieval(task, subset))

    @made_once
    def test_sentences(self, language: str) -> TestSentences:
        """Return the test sentences of a language in a fixed order; tags are written and scored in this order."""
        return TestSentences(language, self.sentences(language)[TEST])

    def pair_subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a similarity task (short name) that this data holds; none if it has no entries."""
        # Data of test queries alone has no entries: an error for whoever needs them, but an answer here.
        try:
            return tuple(subset for subset in SIMILARITY_TASKS[task].languages if self._find_pairs(task, subset))
        except InputError:
            return ()

    def pairs(self, task: str, subset: str) -> SentencePairs:
        """Return the sentence pairs of a subset of a similarity task (short name)."""
        pairs = self._find_pairs(task, subset)
        if pairs is None:
            raise InputError(
                f"{self.path}: nothing to evaluate for {SIMILARITY_TASKS[task].name}, {subset}: no test entry in that "
                "language has an example, a paraphrase and a literal_paraphrase, which sentence pairs are made of"
            )
        return pairs

    def check_task(self, task: str) -> None:
        """Check that this data has at least one subset of a retrieval task (short name)."""
        if self.subsets(task):
            return
        need = "at least one language with idioms and meanings among its test concepts"
        if TASKS[task].cross_lingual:
            pivot = LANGUAGES[PIVOT]
            need = f"{pivot.name} ({pivot.code}.jsonl) and at least one other language that share test concepts"
        raise InputError(f"{self.path}: nothing to evaluate for {TASKS[task].name}, which needs {need}")

    # The next three are what a kind of data overrides.

    @made_once
    def _find_retrieval(self, task: str, subset: str) -> RetrievalData | None:
        return build_retrieval(self.lexicon, task, subset)

    @made_once
    def _find_sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        return lexicon_sentences(self.lexicon, language)

    @made_once
    def _find_pairs(self, task: str, subset: str) -> SentencePairs | None:
        return lexicon_pairs(self.lexicon, SIMILARITY_TASKS[task].languages[subset]) if task == STS else None


class LexiconDataset(Dataset):
    """Data of the tasks, derived from a lexicon."""

    def __init__(self, lexicon: Lexicon, path: str | None = None) -> None:
        super().__init__(path or lexicon.source, lexicon.revision, lexicon=lexicon)


class PairDataset(Dataset):
    """Sentence pairs of one similarity task, and nothing else; its revision is a hash of the pairs."""

    def __init__(self, task: str, path: str, pairs_by_subset: Mapping[str, SentencePairs]) -> None:
        records: list[list[object]] = []
        for subset in sorted(pairs_by_subset):
            for row in pairs_by_subset[subset].rows:
                records.append(
                    [subset, row.id, row.sentence1, row.sentence2, row.kind, row.gold, row.other, row.concept]
                )
        super().__init__(path, content_digest(records))
        self._task = task
        self._by_subset = dict(pairs_by_subset)

    def _find_pairs(self, task: str, subset: str) -> SentencePairs | None:
        return self._by_subset.get(subset) if task == self._task else None
