"""Where the retrieval data comes from: the bundled lexicon, a lexicon directory, or a dataset in the Hub layout."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision, is_lexicon_directory, load_lexicon
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, TASKS, RetrievalData, build_retrieval

DATA_VARIABLE = "TURKIC_IDIOM_DATA"
BUNDLED_PATH = "turkic-idiom-tasks/lexicon"  # what results name as the dataset when nothing else is asked for
SPLIT = "test"
PARTS = ("queries", "corpus", "qrels")
_COMMIT = re.compile("[0-9a-f]{40}")
_SUFFIXES = (".parquet", ".jsonl")
_DATA_PATTERNS = ["README.md", *(f"**{suffix}" for suffix in _SUFFIXES)]
_HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


class DataSource(Protocol):
    """Something that retrieval data can be built from."""

    @property
    def path(self) -> str:
        """What it was read from, as results name it."""
        ...

    @property
    def revision(self) -> str:
        """The content hash of a lexicon or local dataset, or the commit on the Hub; 40 hexadecimal digits."""
        ...

    def subsets(self, task: str) -> tuple[str, ...]:
        """The subsets of a task (short name) that this data holds."""
        ...

    def load(self, task: str, subset: str) -> RetrievalData:
        """One of those subsets."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LexiconSource:
    """Retrieval data derived from a lexicon; `revision` is the hash of its content."""

    path: str
    revision: str
    _data: Mapping[tuple[str, str], RetrievalData]

    @classmethod
    def of(cls, lexicon: Lexicon, path: str) -> LexiconSource:
        """The data of every task and subset that the lexicon can serve."""
        built = {(task, subset): build_retrieval(lexicon, task, subset) for task in TASKS for subset in SUBSETS[task]}
        return cls(path, lexicon.revision, {key: data for key, data in built.items() if data is not None})

    def subsets(self, task: str) -> tuple[str, ...]:
        """The subsets of a task that have at least one test query."""
        return tuple(subset for subset in SUBSETS[task] if (task, subset) in self._data)

    def load(self, task: str, subset: str) -> RetrievalData:
        """One of those subsets."""
        return self._data[task, subset]


@dataclass(frozen=True, slots=True, eq=False)
class HubSource:
    """A dataset in the Hub layout, in a local directory or downloaded from the Hub at one commit.

    For each task and subset its README declares the configs ``T1-tur-azj-queries`` and ``-corpus`` (columns id, text)
    and ``-qrels`` (query-id, corpus-id, score), each with a split ``test`` in parquet or JSON lines. The files are
    read as they
    stand: the `datasets` library would keep them in a cache by folder name, and answer for one dataset with the
    content of another.
    """

    path: str
    revision: str
    configs: Mapping[str, tuple[Path, ...]]

    def subsets(self, task: str) -> tuple[str, ...]:
        """The subsets of a task whose three configs are there."""
        return tuple(s for s in SUBSETS[task] if all(f"{task}-{s}-{part}" in self.configs for part in PARTS))

    def load(self, task: str, subset: str) -> RetrievalData:
        """One of those subsets.

        Raises:
            InputError: a config cannot be read, or its ids do not fit together.
        """
        queries, corpus, judgements = (self._columns(f"{task}-{subset}-{part}") for part in PARTS)
        qrels: dict[str, dict[str, int]] = {}
        rows = zip(judgements["query-id"], judgements["corpus-id"], judgements["score"], strict=True)
        for query, document, score in rows:
            if score > 0:
                qrels.setdefault(str(query), {})[str(document)] = int(score)
        data = RetrievalData(
            queries=dict(zip(map(str, queries["id"]), queries["text"], strict=True)),
            documents=dict(zip(map(str, corpus["id"]), corpus["text"], strict=True)),
            qrels=qrels,
        )
        _check_ids(data, f"{self.path}, configs {task}-{subset}-*")
        return data

    def _columns(self, config: str) -> Mapping[str, list[Any]]:
        import pyarrow as pa
        import pyarrow.json
        import pyarrow.parquet

        try:
            tables = [
                pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else pyarrow.json.read_json(path)
                for path in self.configs[config]
            ]
            table = pa.concat_tables(tables)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.path}: config {config} cannot be read: {_first_line(error)}") from error
        wanted = ("query-id", "corpus-id", "score") if config.endswith("-qrels") else ("id", "text")
        missing = sorted(set(wanted) - set(table.column_names))
        if missing:
            raise InputError(f"{self.path}: config {config} lacks the columns {missing}; found {table.column_names}")
        return {name: table.column(name).to_pylist() for name in wanted}


def current_source() -> DataSource:
    """The data that the tasks use: what TURKIC_IDIOM_DATA names, otherwise the bundled lexicon.

    Raises:
        InputError: it cannot be used; says why.
    """
    return open_source(os.environ.get(DATA_VARIABLE, ""))


@lru_cache(maxsize=8)
def open_source(name: str) -> DataSource:
    """The data that `name` stands for, read once per process.

    Args:
        name: a lexicon directory, a local directory in the Hub layout, ``ORG/NAME`` or ``ORG/NAME@REVISION`` on the
            Hub, or empty for the bundled lexicon.

    Raises:
        InputError: there is no such data, it is malformed, or the Hub cannot be reached.
    """
    if not name:
        return LexiconSource.of(load_lexicon(BUNDLED), BUNDLED_PATH)
    directory = Path(name).expanduser()
    if directory.is_dir():
        if is_lexicon_directory(directory):
            return LexiconSource.of(load_lexicon(directory), str(directory))
        return _local_hub_layout(directory)
    hub = _HUB_ID.fullmatch(name)
    if hub and not name.startswith((".", "/")):
        return _hub_dataset(hub["repo"], hub["revision"])
    raise InputError(f"{name}: no such directory, and not a dataset on the Hub (ORG/NAME or ORG/NAME@REVISION)")


def bundled_revision() -> str:
    """Content hash of the bundled lexicon, without parsing it."""
    return content_revision(BUNDLED)


def subsets_or_error(source: DataSource, task: str) -> tuple[str, ...]:
    """The subsets of a task that the data holds.

    Raises:
        InputError: there is none; says what the task would need.
    """
    subsets = source.subsets(task)
    if subsets:
        return subsets
    spec = TASKS[task]
    if spec.cross_lingual:
        pivot = LANGUAGES[PIVOT]
        need = f"{pivot.name} ({pivot.code}.jsonl) and at least one other language that share test concepts"
    else:
        need = "at least one language with idioms and meanings among its test concepts"
    raise InputError(f"{source.path}: nothing to evaluate for {spec.name}, which needs {need}; leave it out with -t")


def _local_hub_layout(directory: Path) -> HubSource:
    configs = _declared_configs(directory)
    if not configs:
        expected = ", ".join(f"{code}.jsonl" for code in LANGUAGES)
        raise InputError(
            f"{directory}: neither a lexicon (none of {expected}) nor a dataset in the Hub layout "
            "(no README.md with configs)"
        )
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted({directory / "README.md", *(path for paths in configs.values() for path in paths)}):
        digest.update(path.relative_to(directory).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return _with_configs(HubSource(str(directory), digest.hexdigest(), configs))


def _hub_dataset(repo: str, revision: str | None) -> HubSource:
    from huggingface_hub import HfApi, snapshot_download

    try:
        if revision and _COMMIT.fullmatch(revision):
            commit = revision  # needs no network once downloaded
        else:
            commit = str(HfApi().dataset_info(repo, revision=revision, timeout=30).sha)
        folder = snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=_DATA_PATTERNS)
        configs = _declared_configs(Path(folder))
    except Exception as error:  # the client raises many kinds: network, authorisation, unknown names
        where = f"{repo}@{revision}" if revision else repo
        raise InputError(f"{where}: cannot be read from the Hub: {_first_line(error)}") from error
    return _with_configs(HubSource(repo, commit, configs))


def _declared_configs(directory: Path) -> dict[str, tuple[Path, ...]]:
    """Config -> files of its split ``test``, as the YAML block of the directory's README.md declares them."""
    from huggingface_hub import DatasetCard

    readme = directory / "README.md"
    if not readme.is_file():
        return {}
    try:
        declared = (
            DatasetCard(readme.read_text("utf-8"), ignore_metadata_errors=True).data.to_dict().get("configs") or []
        )
        configs = {}
        for config in declared:
            files = config["data_files"]
            splits = files if isinstance(files, list) else [{"split": SPLIT, "path": files}]
            patterns = [split["path"] for split in splits if split["split"] == SPLIT]
            patterns = [pattern for group in patterns for pattern in ([group] if isinstance(group, str) else group)]
            paths = sorted(path for pattern in patterns for path in directory.glob(pattern) if path.suffix in _SUFFIXES)
            if paths:
                configs[str(config["config_name"])] = tuple(paths)
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{readme}: its YAML block is malformed: {_first_line(error)}") from error
    return configs


def _with_configs(source: HubSource) -> HubSource:
    if not any(source.subsets(task) for task in TASKS):
        example = "T1-tur-azj-queries, T1-tur-azj-corpus, T1-tur-azj-qrels"
        found = ", ".join(sorted(source.configs)[:6]) or "none"
        raise InputError(f"{source.path}: no config of a retrieval task; expected such as {example}; found {found}")
    return source


def _check_ids(data: RetrievalData, place: str) -> None:
    for query, documents in data.qrels.items():
        if query not in data.queries:
            raise InputError(f"{place}: qrels name the query {query!r}, which is not among the queries")
        for document in documents:
            if document not in data.documents:
                raise InputError(
                    f"{place}: query {query!r} names the document {document!r}, which is not in the corpus"
                )
    without = next((query for query in data.queries if query not in data.qrels), None)
    if without is not None or not data.queries:
        raise InputError(f"{place}: " + (f"query {without!r} has no relevant document" if without else "no queries"))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
