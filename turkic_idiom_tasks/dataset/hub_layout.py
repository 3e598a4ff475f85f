"""Datasets in the Hub layout: files that a README declares as configs and splits, in a local folder or on the Hub."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from huggingface_hub import HfApi, constants, snapshot_download, try_to_load_from_cache
from huggingface_hub.utils.sha import git_hash
from pydantic import BaseModel

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import read_committed
from turkic_idiom_tasks.io.hub_client import hub_errors
from turkic_idiom_tasks.io.models import model_errors, read_model_lines
from turkic_idiom_tasks.io.reading import (
    MAX_BYTES,
    MalformedError,
    decode_text,
    display,
    first_line,
    inner_path,
    parse_json,
    parse_yaml,
    read_file,
    real_path,
    relative_parts,
)
from turkic_idiom_tasks.languages import LANGUAGES_FILE, add_languages

README = "README.md"
EVAL = "eval.yaml"
SUFFIXES = (".parquet", ".jsonl")
_PATTERNS = [README, EVAL, *(f"**{suffix}" for suffix in SUFFIXES)]
_COMMIT = re.compile("[0-9a-f]{40}")
_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
HUB_NAME = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
_YAML_BLOCK = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*$", re.DOTALL | re.MULTILINE)
_MOST_VALUES = 10_000_000  # of all columns of a parquet file
# What pyarrow raises for damaged parquet files: its own errors, and several of Python's.
_FILE_ERRORS = (OSError, ValueError, ArithmeticError, KeyError, pa.ArrowException)


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
    """Files of a dataset in the Hub layout, in a local folder or downloaded from the Hub at one commit."""

    path: str  # the folder, or the name on the Hub
    folder: Path
    revision: str  # content hash of a local dataset, or the commit on the Hub; 40 hexadecimal digits
    configs: Mapping[str, Mapping[str, tuple[Path, ...]]]  # config -> split -> files, in parquet or JSON lines
    digests: Mapping[Path, str] = field(default_factory=dict)  # local file -> SHA-256 when the revision was computed

    def has(self, config: str, split: str) -> bool:
        """Return whether there are files for one split of a config."""
        return split in self.configs.get(config, {})

    def rows(
        self, config: str, split: str, wanted: Sequence[str], *, optional: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """Return the rows of one split of a config, with the wanted columns and the optional ones that are there."""
        rows = []
        for path in self.configs[config][split]:
            # Files are read when they are needed, which may be long after the revision was computed.
            if path in self.digests and hashlib.sha256(path.read_bytes()).hexdigest() != self.digests[path]:
                raise InputError(f"{path}: was changed since {self.path} was opened; start the command again")
            # The `datasets` library would keep files in a cache by the name of their folder, and could return the
            # content of another dataset.
            if path.suffix == ".parquet":
                try:
                    names, read = _parquet_rows(path, (*wanted, *optional))
                except _FILE_ERRORS as error:
                    reason = f"{path.name}: {first_line(error)}"
                    raise InputError(f"{self.path}: config {config} cannot be read: {reason}") from error
            else:
                read = list(read_model_lines(dict[str, Any], path, "write or download the dataset again"))
                names = dict.fromkeys(name for row in read for name in row)  # of the columns that any row has, in order
            missing = sorted(set(wanted) - set(names))
            if missing:
                known = ", ".join(map(display, names)) or "none"
                raise InputError(f"{self.path}: config {config} lacks the columns {missing}; it has {known}")
            columns = [name for name in (*wanted, *optional) if name in names]
            for row in read:
                rows.append({name: row.get(name) for name in columns})
        return rows

    def label_names(self, config: str, split: str, column: str) -> list[str] | None:
        """Return the names of a ClassLabel column (or a list of such) that `datasets` wrote into parquet, if any."""
        for path in self.configs[config][split]:
            if path.suffix != ".parquet":
                continue
            try:
                metadata = pq.read_schema(path).metadata or {}
                feature = parse_json(metadata.get(b"huggingface", b"{}"))["info"]["features"][column]
                return [str(name) for name in feature.get("feature", feature)["names"]]
            except (*_FILE_ERRORS, TypeError, AttributeError):
                continue  # written by something else than `datasets`, or damaged, which `rows` says
        return None


def open_local(folder: Path) -> HubFiles | None:
    """Return the dataset in a folder; None if its README declares no config whose files are there."""

    def read() -> HubFiles | None:
        configs = declared_configs(folder)
        files = {path for path in (folder / README, folder / LANGUAGES_FILE) if path.is_file()}
        for splits in configs.values():
            files.update(*splits.values())
        digests = {}
        revision = hashlib.sha1(usedforsecurity=False)
        for path in sorted(files) if configs else ():
            data = path.read_bytes()
            digests[path] = hashlib.sha256(data).hexdigest()
            # The path below the folder counts, so that a copy elsewhere is the same data; the zeros keep a path and
            # its content apart.
            revision.update(path.relative_to(folder).as_posix().encode() + b"\0" + data + b"\0")
        return HubFiles(str(folder), folder, revision.hexdigest(), configs, digests) if configs else None

    return read_committed(folder, read)


def download(name: str) -> HubFiles:
    """Return the dataset ORG/NAME or ORG/NAME@REVISION; a commit that was downloaded before needs no network."""
    repo, _, revision = name.partition("@")
    with hub_errors(f"{name}: cannot be read from the Hub"):
        commit = revision
        # A branch or a tag may have moved since it was downloaded; a commit stays what it is.
        is_commit = _COMMIT.fullmatch(revision) is not None
        # Asked once, because snapshot_download repeats its requests for minutes when the Hub never answers.
        if not is_commit or not try_to_load_from_cache(repo, README, repo_type="dataset", revision=revision):
            commit = str(HfApi().dataset_info(repo, revision=revision or None, timeout=10).sha)
        folder = Path(snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=_PATTERNS))
    for path in sorted(path for path in folder.rglob("*") if path.is_symlink()):
        # The client compares sizes only. Its cache names a content by its hash, a git blob id or SHA-256.
        content, stated = path.read_bytes(), path.readlink().name
        if _HASH.fullmatch(stated) and stated not in (hashlib.sha256(content).hexdigest(), git_hash(content)):
            # While the content is in the cache, the client would link it again rather than download it.
            real_path(path).unlink()
            path.unlink()
            raise InputError(
                f"{name}: {path.relative_to(folder)} came with another content than {constants.ENDPOINT} has stated, "
                "and was removed from the cache; run the same command again"
            )
    add_languages(folder)
    return HubFiles(repo, folder, commit, declared_configs(folder, cache=folder.parent.parent / "blobs"))


def declared_configs(folder: Path, *, cache: Path | None = None) -> dict[str, dict[str, tuple[Path, ...]]]:
    """Return config -> split -> files, as the YAML block of the folder's README.md declares them; empty without one.

    The cache is where the Hub's client keeps the contents that the files of a downloaded folder are links to.
    """
    readme = folder / README
    if not readme.is_file():
        return {}
    configs: dict[str, dict[str, tuple[Path, ...]]] = {}
    with model_errors(f"{readme}: its YAML block", "correct it, or write or download the dataset again"):
        match = _YAML_BLOCK.search(decode_text(read_file(readme)))
        block = parse_yaml(match[1]) if match else None
        for config in _DeclaredConfigs.model_validate({} if block is None else block).configs or []:
            if config.config_name in configs:
                raise MalformedError(f"the config {display(config.config_name)} appears twice")
            declared = config.data_files
            splits: dict[str, set[Path]] = {}
            for part in [_DeclaredSplit(split="test", path=declared)] if isinstance(declared, str) else declared:
                for pattern in part.path if isinstance(part.path, list) else [part.path]:
                    splits.setdefault(part.split, set()).update(_matching(folder, pattern, cache=cache))
            # Files of other formats are left out, and so are splits and configs with such files only.
            if any(splits.values()):
                configs[config.config_name] = {split: tuple(sorted(paths)) for split, paths in splits.items() if paths}
    return configs


def _parquet_rows(path: Path, wanted: Sequence[str]) -> tuple[dict[str, None], list[dict[str, Any]]]:
    """Return the names of all columns, and the rows with the wanted ones that are there."""
    # A few bytes of parquet may stand for a billion rows, so values are counted before any is read.
    metadata = pq.read_metadata(path)
    texts, n_values = set(), 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for number, chunk in enumerate(map(group.column, range(group.num_columns))):
            n_values += chunk.num_values * max(1, metadata.schema.column(number).length)  # of bytes of a fixed length
            texts |= {chunk.path_in_schema} if chunk.physical_type == "BYTE_ARRAY" else set()
    if n_values > _MOST_VALUES:
        raise MalformedError(f"more than the {_MOST_VALUES:,} values that are allowed")
    # They may also stand for a long text that all rows repeat, so texts are read as numbers in a list of distinct ones.
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        names = dict.fromkeys(file.schema_arrow.names)
        table = file.read([name for name in wanted if name in names])
    if sum(_n_bytes(chunk) for column in table.columns for chunk in column.chunks) > MAX_BYTES:
        raise MalformedError(f"more than the {MAX_BYTES:,} bytes that are allowed, once unpacked")
    return names, table.to_pylist()


def _n_bytes(values: pa.Array) -> int:
    """Return the bytes of some values, with a text counted wherever it stands."""
    if pa.types.is_dictionary(values.type):
        return pc.sum(pc.binary_length(values.dictionary).take(values.indices)).as_py() or 0
    parts = values.flatten() if pa.types.is_nested(values.type) else []
    return sum(map(_n_bytes, parts if isinstance(parts, list) else [parts]))


def _matching(folder: Path, pattern: str, *, cache: Path | None) -> set[Path]:
    """Return the data files that match a pattern of the README; none may be outside the folder."""
    relative_parts(pattern)
    try:
        matches = list(folder.glob(pattern))
    except (OSError, ValueError, NotImplementedError, RecursionError, re.error) as error:
        raise MalformedError(f"the path {display(pattern)} cannot be used: {first_line(error)}") from error
    # Files of other formats are not downloaded, so a pattern for them matches nothing.
    if not matches and PurePosixPath(pattern).suffix in ("", ".*", *SUFFIXES):
        raise MalformedError(f"there is no file {display(pattern)}")
    paths = {path for path in matches if path.suffix in SUFFIXES and path.is_file()}
    for path in sorted(paths):
        # Nothing is reached through a link, except that a downloaded file may be one into the client's cache. Otherwise
        # somebody else's dataset could name private files of its reader, or of another dataset in the same cache.
        relative = path.relative_to(folder)
        is_cached = cache is not None and path.is_symlink()
        checked = relative.parent if is_cached else relative
        if checked.parts:  # a downloaded file may lie beside the README
            inner_path(folder, checked.as_posix())
        if cache is not None and is_cached and not path.resolve().is_relative_to(cache.resolve()):
            place = display(relative.as_posix())
            raise MalformedError(f"the path {place} leads out of the cache of the Hub's client")
    return paths
