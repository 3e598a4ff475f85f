"""Data of the benchmark, opened by name: a lexicon, or a dataset in the Hub layout, here or on the Hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from turkic_idiom_tasks.dataset import hub_layout
from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.dataset.hub_dataset import HubDataset
from turkic_idiom_tasks.dataset.hub_layout import HUB_NAME
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, TASKS, RetrievalData, build_retrieval
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, lexicon_sentences
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import finish_commit
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, is_lexicon_directory, load_lexicon
from turkic_idiom_tasks.splits import TEST

BUNDLED_PATH = "turkic-idiom-tasks/lexicon"  # name of the bundled lexicon in results


class LexiconDataset(Dataset):
    """Data of the tasks, derived from a lexicon."""

    def __init__(self, lexicon: Lexicon, path: str | None = None) -> None:
        super().__init__()
        self.path = path or lexicon.source
        self.revision = lexicon.revision
        self._lexicon = lexicon

    @property
    def lexicon(self) -> Lexicon:
        """Return the entries that training pairs are made of."""
        return self._lexicon

    def subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a task that have at least one test query."""
        return tuple(subset for subset in SUBSETS[task] if (task, subset) in self._retrieval)

    def retrieval(self, task: str, subset: str) -> RetrievalData:
        """Return one of those subsets."""
        if (task, subset) not in self._retrieval:
            raise InputError(f"{self.path}: has no data for {TASKS[task].name}, {subset}")
        return self._retrieval[task, subset]

    @property
    def span_languages(self) -> tuple[str, ...]:
        """Return the codes of the languages with an annotated test sentence."""
        return tuple(code for code, splits in self._sentences.items() if splits[TEST])

    def sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        """Return split -> tagged sentences of a language."""
        if language not in self.span_languages:
            raise self.no_sentences(language)
        return self._sentences[language]

    @cached_property
    def _retrieval(self) -> dict[tuple[str, str], RetrievalData]:
        built = {}
        for task, subsets in SUBSETS.items():
            for subset in subsets:
                data = build_retrieval(self._lexicon, task, subset)
                if data is not None:
                    built[task, subset] = data
        return built

    @cached_property
    def _sentences(self) -> dict[str, dict[str, list[TaggedSentence]]]:
        return {code: lexicon_sentences(self._lexicon, code) for code in LANGUAGES}


def open_dataset(name: str = "") -> Dataset:
    """Open the data that a name stands for.

    Args:
        name: a lexicon directory, a local directory in the Hub layout, ``ORG/NAME`` or ``ORG/NAME@REVISION`` on the
            Hub, or empty for the bundled lexicon.

    Raises:
        InputError: there is no such data, it is malformed, or the Hub cannot be reached.
    """
    if not name:
        return LexiconDataset(load_lexicon(BUNDLED), BUNDLED_PATH)
    directory = _expanded(name)
    if directory.is_dir():
        finish_commit(directory)
        if is_lexicon_directory(directory):
            return LexiconDataset(load_lexicon(directory), str(directory))
        files = hub_layout.open_local(directory)
        if files is None:
            expected = ", ".join(f"{code}.jsonl" for code in LANGUAGES)
            raise InputError(
                f"{directory}: neither a lexicon (none of {expected}) nor a dataset in the Hub layout "
                "(no README.md with configs)"
            )
        return HubDataset(files)
    if HUB_NAME.fullmatch(name) and not name.startswith((".", "/")):
        return HubDataset(hub_layout.download(name))
    raise InputError(f"{name}: no such directory, and not a dataset on the Hub (ORG/NAME or ORG/NAME@REVISION)")


def _expanded(name: str) -> Path:
    """Return the path that a name stands for, ``~`` resolved where there is such a user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)
