"""Where the data comes from: the bundled lexicon, a lexicon directory, or a dataset in the Hub layout."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.hub_client import explanation, quiet_client
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, is_lexicon_directory, load_lexicon

DATA_VARIABLE = "TURKIC_IDIOM_DATA"
BUNDLED_PATH = "turkic-idiom-tasks/lexicon"  # what results name as the dataset when nothing else is asked for
_COMMIT = re.compile("[0-9a-f]{40}")
_SUFFIXES = (".parquet", ".jsonl")
_DATA_PATTERNS = ["README.md", "eval.yaml", *(f"**{suffix}" for suffix in _SUFFIXES)]
_HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True, slots=True, eq=False)
class HubDataset:
    """A dataset in the Hub layout, in a local directory or downloaded from the Hub at one commit.

    The files are read as they stand: the `datasets` library would keep them in a cache by folder name, and answer for
    one dataset with the content of another.

    Attributes:
        path: the directory, or the name on the Hub.
        revision: the content hash of a local dataset, or the commit on the Hub; 40 hexadecimal digits.
        configs: config -> split -> its files, in parquet or JSON lines.
    """

    path: str
    revision: str
    configs: Mapping[str, Mapping[str, tuple[Path, ...]]]

    def columns(self, config: str, split: str, wanted: Sequence[str]) -> dict[str, list[Any]]:
        """The wanted columns of one split of a config.

        Raises:
            InputError: the config has no such split, cannot be read, or lacks a column.
        """
        import pyarrow as pa
        import pyarrow.json
        import pyarrow.parquet

        if split not in self.configs.get(config, {}):
            found = ", ".join(f"{name}/{part}" for name, parts in sorted(self.configs.items()) for part in parts)
            raise InputError(f"{self.path}: no split {split} of config {config}; found {found[:200] or 'none'}")
        try:
            tables = [
                pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else pyarrow.json.read_json(path)
                for path in self.configs[config][split]
            ]
            table = pa.concat_tables(tables)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.path}: config {config} cannot be read: {_first_line(error)}") from error
        missing = sorted(set(wanted) - set(table.column_names))
        if missing:
            raise InputError(f"{self.path}: config {config} lacks the columns {missing}; found {table.column_names}")
        return {name: table.column(name).to_pylist() for name in wanted}

    def label_names(self, config: str, split: str, column: str) -> list[str] | None:
        """The names of a ClassLabel column (or a list of such) as `datasets` writes them into parquet; None without."""
        import json

        import pyarrow.parquet

        for path in self.configs[config][split]:
            if path.suffix == ".parquet":
                metadata = pyarrow.parquet.read_schema(path).metadata or {}
                info = json.loads(metadata.get(b"huggingface", b"{}"))
                feature = info.get("info", {}).get("features", {}).get(column, {})
                feature = feature.get("feature", feature) if isinstance(feature, dict) else {}
                if isinstance(feature, dict) and feature.get("names"):
                    return [str(name) for name in feature["names"]]
        return None


def use_data(data: str | None) -> None:
    """Makes `data` what every task of this process uses; None leaves it as it is."""
    if data is not None:
        os.environ[DATA_VARIABLE] = data


def asked_data() -> str:
    """What TURKIC_IDIOM_DATA names; empty for the bundled lexicon."""
    return os.environ.get(DATA_VARIABLE, "")


def open_data(name: str) -> tuple[str, Lexicon | HubDataset]:
    """The data that `name` stands for, and the path that results call it by.

    Args:
        name: a lexicon directory, a local directory in the Hub layout, ``ORG/NAME`` or ``ORG/NAME@REVISION`` on the
            Hub, or empty for the bundled lexicon.

    Raises:
        InputError: there is no such data, it is malformed, or the Hub cannot be reached.
    """
    if not name:
        return BUNDLED_PATH, load_lexicon(BUNDLED)
    directory = Path(name).expanduser()
    if directory.is_dir():
        if is_lexicon_directory(directory):
            return str(directory), load_lexicon(directory)
        return str(directory), _local_hub_layout(directory)
    hub = _HUB_ID.fullmatch(name)
    if hub and not name.startswith((".", "/")):
        return hub["repo"], download(name)[0]
    raise InputError(f"{name}: no such directory, and not a dataset on the Hub (ORG/NAME or ORG/NAME@REVISION)")


def _local_hub_layout(directory: Path) -> HubDataset:
    configs = _declared_configs(directory)
    if not configs:
        expected = ", ".join(f"{code}.jsonl" for code in LANGUAGES)
        raise InputError(
            f"{directory}: neither a lexicon (none of {expected}) nor a dataset in the Hub layout "
            "(no README.md with configs)"
        )
    files = {path for splits in configs.values() for paths in splits.values() for path in paths}
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted({directory / "README.md", *files}):
        digest.update(path.relative_to(directory).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return HubDataset(str(directory), digest.hexdigest(), configs)


def download(name: str) -> tuple[HubDataset, Path]:
    """A dataset in the Hub layout from the Hub, and the folder in the client's cache that its files stand in.

    Args:
        name: ``ORG/NAME`` or ``ORG/NAME@REVISION``.

    Raises:
        InputError: it is no such name, or cannot be read.
    """
    from huggingface_hub import HfApi, snapshot_download

    hub = _HUB_ID.fullmatch(name)
    if not hub:
        raise usage_error(f"{name!r}: a dataset on the Hub is named ORG/NAME or ORG/NAME@REVISION")
    repo, revision = hub["repo"], hub["revision"]
    try:
        with quiet_client():
            if revision and _COMMIT.fullmatch(revision):
                commit = revision  # needs no network once downloaded
            else:
                commit = str(HfApi().dataset_info(repo, revision=revision, timeout=30).sha)
            folder = Path(snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=_DATA_PATTERNS))
            configs = _declared_configs(folder)
    except Exception as error:  # the client raises many kinds: network, authorisation, unknown names
        raise InputError(f"{name}: cannot be read from the Hub: {explanation(error)}") from error
    return HubDataset(repo, commit, configs), folder


def _declared_configs(directory: Path) -> dict[str, dict[str, tuple[Path, ...]]]:
    """Config -> split -> files, as the YAML block of the directory's README.md declares them."""
    from huggingface_hub import DatasetCard

    readme = directory / "README.md"
    if not readme.is_file():
        return {}
    try:
        card = DatasetCard(readme.read_text("utf-8"), ignore_metadata_errors=True)
        configs = {}
        for config in card.data.to_dict().get("configs") or []:
            files = config["data_files"]
            declared = files if isinstance(files, list) else [{"split": "test", "path": files}]
            splits = {str(split["split"]): _matching(directory, split["path"]) for split in declared}
            splits = {split: paths for split, paths in splits.items() if paths}
            if splits:
                configs[str(config["config_name"])] = splits
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{readme}: its YAML block is malformed: {_first_line(error)}") from error
    return configs


def _matching(directory: Path, patterns: str | list[str]) -> tuple[Path, ...]:
    patterns = [patterns] if isinstance(patterns, str) else patterns
    return tuple(sorted(p for pattern in patterns for p in directory.glob(pattern) if p.suffix in _SUFFIXES))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
