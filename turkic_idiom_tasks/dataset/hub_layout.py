"""Datasets in the Hub layout: files that a README declares as configs and splits, in a local folder or on the Hub.

The files are read directly. The `datasets` library would keep them in a cache by the name of their folder, and could
return the content of another dataset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import HfApi, snapshot_download
from pydantic import BaseModel, ValidationError

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import read_committed
from turkic_idiom_tasks.io.hub_client import explanation, quiet_client
from turkic_idiom_tasks.io.reading import (
    MalformedError,
    decode_text,
    display,
    first_fault,
    inner_path,
    parse_json,
    parse_yaml,
    read_file,
    read_json_lines,
    relative_parts,
)

README = "README.md"
EVAL = "eval.yaml"
SUFFIXES = (".parquet", ".jsonl")
_PATTERNS = [README, EVAL, *(f"**{suffix}" for suffix in SUFFIXES)]
_COMMIT = re.compile("[0-9a-f]{40}")
HUB_NAME = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
_YAML_BLOCK = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*$", re.DOTALL | re.MULTILINE)


class _DeclaredSplit(BaseModel):
    split: str
    path: str | list[str]


class _DeclaredConfig(BaseModel):
    config_name: str
    data_files: str | list[_DeclaredSplit]


class _DeclaredConfigs(BaseModel):
    """Part of the YAML block of a README that says where the data files are; the rest of the block is ignored."""

    configs: list[_DeclaredConfig] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class HubFiles:
    """Files of a dataset in the Hub layout, in a local folder or downloaded from the Hub at one commit.

    Attributes:
        path: the folder, or the name on the Hub.
        folder: folder of the files.
        revision: the content hash of a local dataset, or the commit on the Hub; 40 hexadecimal digits.
        configs: config -> split -> its files, in parquet or JSON lines.
        digests: local file -> SHA-1 when the revision was computed; empty for a commit on the Hub, which never changes.
    """

    path: str
    folder: Path
    revision: str
    configs: Mapping[str, Mapping[str, tuple[Path, ...]]]
    digests: Mapping[Path, str] = field(default_factory=dict)

    def has(self, config: str, split: str) -> bool:
        """Return whether there are files for one split of a config."""
        return split in self.configs.get(config, {})

    def columns(
        self, config: str, split: str, wanted: Sequence[str], *, optional: Sequence[str] = ()
    ) -> dict[str, list[Any]]:
        """Return the columns of one split of a config.

        Args:
            config: its name.
            split: its name.
            wanted: names of required columns.
            optional: names of further columns, whose values are None if the column is missing.

        Raises:
            InputError: the config has no such split, cannot be read, lacks a column, or was changed meanwhile.
        """
        if not self.has(config, split):
            known = ", ".join(f"{name} ({', '.join(splits)})" for name, splits in sorted(self.configs.items()))
            raise InputError(f"{self.path}: no split {split} of config {config}; it has {display(known)}")
        values: dict[str, list[Any]] = {name: [] for name in (*wanted, *optional)}
        for path in self.configs[config][split]:
            self._check_unchanged(path)
            try:
                part = _read_parquet(path) if path.suffix == ".parquet" else _read_json_lines(path)
            except MalformedError as error:
                raise InputError(f"{self.path}: config {config} cannot be read: {error}") from error
            missing = sorted(set(wanted) - set(part.values))
            if missing:
                names = ", ".join(map(display, part.values))
                raise InputError(f"{self.path}: config {config} lacks the columns {missing}; it has {names or 'none'}")
            for name in values:
                values[name] += part.values.get(name) or [None] * part.rows
        return values

    def _check_unchanged(self, path: Path) -> None:
        """Raise InputError if a local file was changed after the dataset was opened; files are read when needed."""
        if path in self.digests and _digest(path.read_bytes()) != self.digests[path]:
            raise InputError(f"{path}: was changed since {self.path} was opened; start the command again")

    def label_names(self, config: str, split: str, column: str) -> list[str] | None:
        """Return the names of a ClassLabel column (or a list of such) as `datasets` writes them into parquet, if any.

        Raises:
            InputError: a file cannot be read.
        """
        for path in self.configs[config][split]:
            if path.suffix != ".parquet":
                continue
            try:
                metadata = pq.read_schema(path).metadata or {}
            except (OSError, ValueError, pa.ArrowException) as error:
                raise InputError(f"{self.path}: config {config} cannot be read: {_first_line(error)}") from error
            try:
                feature = parse_json(metadata.get(b"huggingface", b"{}"))["info"]["features"][column]
                names = feature.get("feature", feature)["names"]
            except (MalformedError, KeyError, TypeError, AttributeError):
                continue  # written by something else than `datasets`
            return [str(name) for name in names]
        return None


@dataclass(frozen=True, slots=True)
class _Columns:
    values: Mapping[str, list[Any]]
    rows: int


def open_local(folder: Path) -> HubFiles | None:
    """Return the dataset in a folder; None if its README declares no config whose files are there.

    Raises:
        InputError: the YAML block of the README is malformed, or names files outside the folder.
    """
    return read_committed(folder, lambda: _open_local(folder))


def _open_local(folder: Path) -> HubFiles | None:
    configs = declared_configs(folder)
    if not configs:
        return None
    files = {folder / README}
    for splits in configs.values():
        for paths in splits.values():
            files.update(paths)
    digests = {}
    revision = hashlib.sha1(usedforsecurity=False)
    for path in sorted(files):
        data = path.read_bytes()
        digests[path] = _digest(data)
        revision.update(path.relative_to(folder).as_posix().encode() + b"\0" + data + b"\0")
    return HubFiles(str(folder), folder, revision.hexdigest(), configs, digests)


def download(name: str) -> HubFiles:
    """Return a dataset from the Hub; a commit that was downloaded before needs no network.

    Args:
        name: ``ORG/NAME`` or ``ORG/NAME@REVISION``.

    Raises:
        InputError: the name is malformed, or the dataset cannot be read.
    """
    match = HUB_NAME.fullmatch(name)
    if not match:
        raise usage_error(f"{name!r}: a dataset on the Hub is named ORG/NAME or ORG/NAME@REVISION")
    repo, revision = match["repo"], match["revision"]
    try:
        with quiet_client():
            if revision and _COMMIT.fullmatch(revision):
                commit = revision
            else:
                commit = str(HfApi().dataset_info(repo, revision=revision, timeout=30).sha)
            folder = Path(snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=_PATTERNS))
    except Exception as error:  # the client raises many kinds: network, authorisation, unknown names
        raise InputError(f"{name}: cannot be read from the Hub: {explanation(error)}") from error
    return HubFiles(repo, folder, commit, declared_configs(folder, cache=folder.parent.parent / "blobs"))


def declared_configs(folder: Path, *, cache: Path | None = None) -> dict[str, dict[str, tuple[Path, ...]]]:
    """Return config -> split -> files, as the YAML block of the folder's README.md declares them.

    Files of other formats are left out, and so are splits and configs with such files only. Without a README the
    result is empty.

    Args:
        folder: of the README.
        cache: where the Hub's client keeps the contents that the files of a downloaded folder are links to; None for
            a folder of regular files.

    Raises:
        InputError: the block is malformed, or a path in it leads out of the folder or to no file.
    """
    readme = folder / README
    if not readme.is_file():
        return {}
    try:
        match = _YAML_BLOCK.search(decode_text(read_file(readme)))
        block = parse_yaml(match[1]) if match else None
        declared = _DeclaredConfigs.model_validate({} if block is None else block).configs or []
        configs: dict[str, dict[str, tuple[Path, ...]]] = {}
        for config in declared:
            if config.config_name in configs:
                raise MalformedError(f"the config {display(config.config_name)} appears twice")
            splits = _declared_splits(folder, config.data_files, cache=cache)
            if splits:
                configs[config.config_name] = splits
    except ValidationError as error:
        raise InputError(f"{readme}: its YAML block is malformed: {first_fault(error)}") from error
    except MalformedError as error:
        raise InputError(f"{readme}: its YAML block is malformed: {error}") from error
    return configs


def _declared_splits(
    folder: Path, data_files: str | list[_DeclaredSplit], *, cache: Path | None
) -> dict[str, tuple[Path, ...]]:
    declared = [_DeclaredSplit(split="test", path=data_files)] if isinstance(data_files, str) else data_files
    splits: dict[str, tuple[Path, ...]] = {}
    for part in declared:
        patterns = part.path if isinstance(part.path, list) else [part.path]
        paths = set(splits.get(part.split, ()))
        for pattern in patterns:
            paths |= _matching(folder, pattern, cache=cache)
        if paths:
            splits[part.split] = tuple(sorted(paths))
    return splits


def _matching(folder: Path, pattern: str, *, cache: Path | None) -> set[Path]:
    """Return the data files that match a pattern of the README; none may be outside the folder."""
    relative_parts(pattern)
    paths = set()
    try:
        for path in folder.glob(pattern):
            if path.suffix in SUFFIXES and path.is_file():
                _check_inside(folder, path, cache=cache)
                paths.add(path)
    except MalformedError:
        raise
    except (OSError, ValueError, NotImplementedError, RecursionError, re.error) as error:
        raise MalformedError(f"the path {display(pattern)} cannot be used: {_first_line(error)}") from error
    if not paths and pattern.endswith(SUFFIXES):
        raise MalformedError(
            f"there is no file {display(pattern)}; restore it, write or download the dataset again, or "
            f"remove its config"
        )
    return paths


def _check_inside(folder: Path, path: Path, *, cache: Path | None) -> None:
    """Raise if a file is reached through a link, except that a downloaded one may be a link into the client's cache."""
    relative = path.relative_to(folder)
    if cache is None or not path.is_symlink():
        inner_path(folder, relative.as_posix())
        return
    if relative.parent != Path():
        inner_path(folder, relative.parent.as_posix())
    if not path.resolve().is_relative_to(cache.resolve()):
        raise MalformedError(f"the path {display(relative.as_posix())} leads out of the cache of the Hub's client")


def _digest(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _read_parquet(path: Path) -> _Columns:
    try:
        table = pq.read_table(path)
        values = {}
        for name in table.column_names:
            values[name] = table.column(name).to_pylist()
    except (OSError, ValueError, ArithmeticError, KeyError, pa.ArrowException) as error:
        raise MalformedError(f"{path.name}: {_first_line(error)}") from error
    return _Columns(values, table.num_rows)


def _read_json_lines(path: Path) -> _Columns:
    rows = []
    names: dict[str, None] = {}
    for line in read_json_lines(path):
        if line.problem or not isinstance(line.value, dict):
            raise MalformedError(f"{path.name}:{line.number}: {line.problem or 'not a JSON object'}")
        rows.append(line.value)
        names |= dict.fromkeys(line.value)
    values = {}
    for name in names:
        values[name] = [row.get(name) for row in rows]
    return _Columns(values, len(rows))


def _first_line(error: Exception) -> str:
    return display((str(error).strip().splitlines() or [type(error).__name__])[0])[1:-1]
