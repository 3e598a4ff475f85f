"""Data of the benchmark, opened by name: a lexicon, or a dataset in the Hub layout, here or on the Hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from turkic_idiom_tasks.dataset import hub_layout
from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.dataset.hub_dataset import HubDataset
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, RetrievalData, build_retrieval
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, lexicon_sentences
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import restore_folder
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon
from turkic_idiom_tasks.splits import TEST

BUNDLED_PATH = "turkic-idiom-tasks/lexicon"  # name of the bundled lexicon in results


class LexiconDataset(Dataset):
    """Data of the tasks, derived from a lexicon."""

    def __init__(self, lexicon: Lexicon, path: str | None = None) -> None:
        super().__init__(path or lexicon.source, lexicon.revision, lexicon=lexicon)

    def subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a task that have at least one test query."""
        return tuple(subset for subset in SUBSETS[task] if self._make_retrieval(task, subset) is not None)

    @cached_property
    def span_languages(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the codes of the languages with an annotated test sentence."""
        return tuple(code for code in LANGUAGES if self._make_sentences(code)[TEST])

    def _make_retrieval(self, task: str, subset: str) -> RetrievalData | None:
        return self._once("built", task, subset, make=lambda: build_retrieval(self.lexicon, task, subset))

    def _make_sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        return self._once("tagged", language, make=lambda: lexicon_sentences(self.lexicon, language))


def open_dataset(name: str = "") -> Dataset:
    """Open the data that a name stands for.

    It is a lexicon directory, a local directory in the Hub layout, ``ORG/NAME`` or ``ORG/NAME@REVISION`` on the Hub, or
    empty for the bundled lexicon.
    """
    if not name:
        return LexiconDataset(load_lexicon(BUNDLED), BUNDLED_PATH)
    try:
        directory = Path(name).expanduser()
    except RuntimeError:  # there is no such user
        directory = Path(name)
    restore_folder(directory)
    if directory.is_dir():
        expected = [f"{code}.jsonl" for code in LANGUAGES]
        if any((directory / name).is_file() for name in expected):
            return LexiconDataset(load_lexicon(directory), str(directory))
        files = hub_layout.open_local(directory)
        if files is None:
            raise InputError(
                f"{directory}: neither a lexicon (none of {', '.join(expected)}) nor a dataset in the Hub layout "
                "(no README.md with configs)"
            )
        return HubDataset(files)
    # A path such as ../x looks like ORG/NAME too.
    if hub_layout.HUB_NAME.fullmatch(name) and not name.startswith("."):
        return HubDataset(hub_layout.download(name))
    raise InputError(f"{name}: no such directory, and not a dataset on the Hub (ORG/NAME or ORG/NAME@REVISION)")
