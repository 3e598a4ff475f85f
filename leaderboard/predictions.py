"""The prediction files of a submission: rankings and tags as lines of JSON, packed by gzip.

``T1.jsonl.gz`` (T2, T3): for each subset a line ``{"subset": "tur-azj", "documents": [...]}`` with the ids of the whole
pool, sorted, then one line per query, ``{"query": id, "ranking": [5, 17, [3, 9], ...]}``: positions in that list, best
first, documents that tie in a list of their own. What a ranking leaves out ties at its end.

``spans.jsonl.gz``: for each language a line ``{"language": "tr"}``, then one line per test sentence,
``{"sentence": id, "tags": "OOBIO"}`` with a letter for each word.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.gold import Pool, Sentences
from leaderboard.untrusted import RefusedError, parse_json, read_regular, shown, unpack_gzip
from turkic_idiom_tasks.spans import LABELS

MAX_PACKED = 16 * 1024 * 1024  # bytes of a file; a full set of rankings takes 1.3
MAX_UNPACKED = 64 * 1024 * 1024  # bytes
MAX_LINE = 1024 * 1024  # bytes
MAX_FAULTS = 20  # of a file that are named
LETTERS = frozenset(label[0] for label in LABELS)

Ranks = dict[str, npt.NDArray[np.int32]]  # subset -> (Q, N) rank of every document for every query
Tags = dict[str, tuple[str, ...]]  # language -> letters of every sentence
Positions = list[int | list[int]]

_PLAIN_RANKING = re.compile(rb'\{"query":"([^"\\]+)","ranking":\[([0-9,\[\]]+)\]\}')
_COMMA, _OPEN, _CLOSE = 1, 2, 3  # kinds of characters in it, besides the digits
_KINDS = np.zeros(256, dtype=np.uint8)
_KINDS[[ord(","), ord("["), ord("]")]] = _COMMA, _OPEN, _CLOSE
_FOLLOWS = np.array([[1, 1, 0, 1], [1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]], dtype=bool)  # which kind each one
_STEP = np.array([0, 0, 1, -1], dtype=np.int8)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a submission; `line` is 0 when it concerns the whole file or folder."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        path = ascii(str(self.path))[1:-1]  # a stranger may have named it
        return f"{path}:{self.line}: {self.message}" if self.line else f"{path}: {self.message}"


@dataclass(slots=True)
class _Lines:
    """The lines of a prediction file, and the faults found in it."""

    path: Path
    faults: list[Fault] = field(default_factory=list)
    number: int = 0
    complete: bool = False

    def __iter__(self) -> Iterator[bytes]:
        """The lines; a file that cannot be unpacked has none, and one of many faults ends early."""
        try:
            text = unpack_gzip(read_regular(self.path, limit=MAX_PACKED), limit=MAX_UNPACKED)
        except RefusedError as error:
            self.add(str(error))
            return
        start = 0
        while start < len(text):
            self.number += 1
            end = text.find(b"\n", start, start + MAX_LINE)
            if end < 0 and len(text) - start > MAX_LINE:
                self.add(f"a line of more than {MAX_LINE:,} bytes")
                return
            yield text[start : end if end >= 0 else len(text)]
            start = end + 1 if end >= 0 else len(text)
            if len(self.faults) >= MAX_FAULTS:
                self.add("and so on; the rest was not read")
                return
        self.number = 0
        self.complete = True

    def add(self, message: str) -> None:
        self.faults.append(Fault(self.path, self.number, message))


def read_ranks(path: Path, pools: Mapping[str, Pool]) -> tuple[Ranks, list[Fault]]:
    """Subset -> the rank of every document for every query, and everything that is wrong with the file.

    Documents that tie have one rank; those that a ranking leaves out have the last one, the number of documents.

    Args:
        path: the file.
        pools: subset -> its queries and documents.
    """
    lines = _Lines(path)
    found: dict[str, _Rankings] = {}
    current: _Rankings | None = None  # None after a head that is wrong: what follows cannot be read
    for line in lines:
        plain = _PLAIN_RANKING.fullmatch(line)
        if plain and current and current.add_whole(plain[1], plain[2]):
            continue
        try:
            row = parse_json(line)
            if _keys(row) == ["documents", "subset"]:
                current = None
                current = _Rankings(_pool(row, pools, found))
                found[current.pool.subset] = current
            elif _keys(row) == ["query", "ranking"]:
                if current:
                    current.add(row["query"], row["ranking"])
                elif not found and not lines.faults:
                    raise RefusedError('a ranking before the line {"subset": ..., "documents": [...]}')
            else:
                raise RefusedError(f'neither {{"subset", "documents"}} nor {{"query", "ranking"}}: {shown(_keys(row))}')
        except RefusedError as error:
            lines.add(str(error))
    _add_missing(lines, {name: one.missing() for name, one in found.items()}, what="query", of="subset")
    return {name: one.ranks for name, one in found.items()}, lines.faults


def read_tags(path: Path, sentences: Mapping[str, Sentences]) -> tuple[Tags, list[Fault]]:
    """Language -> the tags of its sentences, in the order of their ids, and everything that is wrong with the file.

    Args:
        path: the file.
        sentences: language -> its test sentences.
    """
    lines = _Lines(path)
    found: dict[str, list[str | None]] = {}
    current: str | None = None
    for line in lines:
        try:
            row = parse_json(line)
            if _keys(row) == ["language"]:
                current = None
                current = _known(row["language"], sentences, found, what="language")
                found[current] = [None] * len(sentences[current].rows)
            elif _keys(row) == ["sentence", "tags"]:
                if current:
                    _add_tags(row, sentences[current], found[current])
                elif not found and not lines.faults:
                    raise RefusedError('tags before the line {"language": ...}')
            else:
                raise RefusedError(f'neither {{"language"}} nor {{"sentence", "tags"}}: {shown(_keys(row))}')
        except RefusedError as error:
            lines.add(str(error))
    missing = {
        code: [one.id for one, tags in zip(sentences[code].rows, rows, strict=True) if tags is None]
        for code, rows in found.items()
    }
    _add_missing(lines, missing, what="sentence", of="language")
    return {code: tuple(tags or "" for tags in rows) for code, rows in found.items()}, lines.faults


class _Rankings:
    """The rankings of one subset, line by line."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.ranks = np.full((len(pool.queries), len(pool.documents)), -1, dtype=np.int32)
        self._seen: set[int] = set()

    def add_whole(self, query: bytes, ranking: bytes) -> bool:
        """Takes a ranking of the whole pool, as nearly all are; False, and nothing done, if it is something else.

        Faster than JSON, and sound: only a permutation of all positions, none with a leading zero, has that
        length and leaves no document without a rank.
        """
        row = self.pool.row.get(query.decode("utf-8", "replace"))
        digits = ranking.translate(None, b"[]")
        if row is None or row in self._seen or len(digits) != self.pool.text_length:
            return False
        ranks = _group_ranks(ranking)
        if ranks is None or len(ranks) != len(self.pool.documents):
            return False
        positions = np.fromstring(digits, dtype=np.int64, sep=",")
        if positions.max() >= len(ranks):
            return False
        self.ranks[row, positions] = ranks
        if self.ranks[row].min() < 0:
            self.ranks[row] = -1
            return False
        self._seen.add(row)
        return True

    def add(self, query: Any, ranking: Any) -> None:
        """Takes any ranking.

        Raises:
            RefusedError: an unknown or repeated query or document, or no ranking at all.
        """
        row = self.pool.row.get(query) if isinstance(query, str) else None
        if row is None:
            raise RefusedError(f"{self.pool.subset} has no query {shown(query)}")
        if row in self._seen:
            raise RefusedError(f"query {shown(query)} stands twice")
        self._seen.add(row)
        if not isinstance(ranking, list) or not ranking:
            raise RefusedError(f"query {shown(query)}: the ranking must be a list of positions, not {shown(ranking)}")
        groups = [group if isinstance(group, list) else [group] for group in ranking]
        positions = list(chain.from_iterable(groups))
        self._check(positions, groups, query=query)
        lengths = [len(group) for group in groups]
        self.ranks[row] = len(self.pool.documents)
        self.ranks[row, positions] = np.repeat(np.arange(len(groups), dtype=np.int32), lengths)

    def _check(self, positions: list[Any], groups: list[list[Any]], *, query: str) -> None:
        n_documents = len(self.pool.documents)
        wrong = [p for p in positions if type(p) is not int or not 0 <= p < n_documents]
        if wrong:
            last = n_documents - 1
            raise RefusedError(
                f"query {shown(query)}: no document has the position {shown(wrong[0])}; 0 to {last} are there"
            )
        if len(set(positions)) < len(positions):
            twice = next(p for p, times in zip(*np.unique(positions, return_counts=True), strict=True) if times > 1)
            raise RefusedError(f"query {shown(query)}: document {twice} is ranked twice")
        if not all(groups):
            raise RefusedError(f"query {shown(query)}: an empty list among its documents")

    def missing(self) -> list[str]:
        """The queries that have no ranking."""
        return [query for row, query in enumerate(self.pool.queries) if row not in self._seen]


def _group_ranks(ranking: bytes) -> npt.NDArray[np.int32] | None:
    """The rank of each number in the text of a list of numbers and of lists of numbers; None if it is no such text."""
    kinds = _KINDS[np.frombuffer(b"," + ranking + b",", dtype=np.uint8)]
    depth = np.cumsum(_STEP[kinds], dtype=np.int32)
    is_list = _FOLLOWS.ravel()[4 * kinds[:-1] + kinds[1:]].all()
    if not is_list or depth.min() < 0 or depth.max() > 1 or depth[-1] != 0:
        return None
    outer = depth[kinds == _COMMA][1:-1] == 0
    return np.concatenate([[0], np.cumsum(outer)]).astype(np.int32)


def _pool(row: dict[str, Any], pools: Mapping[str, Pool], found: Mapping[str, Any]) -> Pool:
    pool = pools[_known(row["subset"], pools, found, what="subset")]
    if row["documents"] != list(pool.documents):
        raise RefusedError(
            f"the documents of {pool.subset} must be the {len(pool.documents)} ids of its pool, sorted: "
            f"{shown(list(pool.documents[:2]))} and so on; its rankings were not read"
        )
    return pool


def _known(name: Any, known: Mapping[str, Any], found: Mapping[str, Any], *, what: str) -> str:
    if not isinstance(name, str) or name not in known:
        raise RefusedError(
            f"{what} {shown(name)} is not in the data for this task; it has {', '.join(known) or 'none'}"
        )
    if name in found:
        raise RefusedError(f"{what} {name} stands twice")
    return name


def _add_tags(row: dict[str, Any], sentences: Sentences, found: list[str | None]) -> None:
    key, tags = row["sentence"], row["tags"]
    position = sentences.row.get(key) if isinstance(key, str) else None
    if position is None:
        raise RefusedError(f"{sentences.language} has no test sentence {shown(key)}")
    if found[position] is not None:
        raise RefusedError(f"sentence {shown(key)} stands twice")
    n_words = len(sentences.rows[position].tokens)
    is_sound = isinstance(tags, str) and len(tags) == n_words and set(tags) <= LETTERS
    found[position] = tags if is_sound else ""
    if not is_sound:
        raise RefusedError(f"sentence {shown(key)} needs {n_words} of the letters O, B and I, not {shown(tags)}")


def _add_missing(lines: _Lines, missing: Mapping[str, Sequence[str]], *, what: str, of: str) -> None:
    """What a file leaves out, unless it was not read to its end."""
    if not lines.complete:
        return
    if not missing and not lines.faults:
        lines.add(f"no {of} in it; leave the file out")
    for name, ids in missing.items():
        if ids:
            lines.add(f"{name}: {len(ids)} of its {what} ids are missing, such as {shown(ids[0])}; all must be there")


def _keys(row: Any) -> list[str]:
    return sorted(row) if isinstance(row, dict) else []


def pack_ranks(rankings: Mapping[str, Mapping[str, Positions]], pools: Mapping[str, Pool]) -> bytes:
    """A file of rankings; the same rankings are the same bytes.

    Args:
        rankings: subset -> query -> positions of documents, best first.
        pools: subset -> its queries and documents.
    """
    rows: list[dict[str, Any]] = []
    for subset in (name for name in pools if name in rankings):
        rows.append({"subset": subset, "documents": list(pools[subset].documents)})
        rows += [{"query": query, "ranking": ranking} for query, ranking in sorted(rankings[subset].items())]
    return _packed(rows)


def pack_tags(tags: Mapping[str, Mapping[str, str]]) -> bytes:
    """A file of tags: language -> sentence -> letters; the same tags are the same bytes."""
    rows: list[dict[str, Any]] = []
    for language in sorted(tags):
        rows.append({"language": language})
        rows += [{"sentence": key, "tags": letters} for key, letters in sorted(tags[language].items())]
    return _packed(rows)


def _packed(rows: Sequence[Mapping[str, Any]]) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return gzip.compress("".join(f"{line}\n" for line in lines).encode("utf-8"), mtime=0)
