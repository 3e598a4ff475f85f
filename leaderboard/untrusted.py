"""Reading what strangers wrote: bytes within limits from regular files, and JSON without its surprises."""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

MAX_DEPTH = 4  # of brackets in JSON; the format needs three
SHOWN = 80  # characters of a wrong value that a message shows

_STRING = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?"?', re.DOTALL
)  # one that is not closed too, or the search would begin anew
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
_GZIP = 31  # zlib's window bits for a gzip stream


class RefusedError(ValueError):
    """Something that is not read; its text says why, without file and line."""


def shown(value: Any) -> str:
    """A stranger's value for a message: ASCII on one line, whatever it holds, and not long."""
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def read_regular(path: Path, *, limit: int) -> bytes:
    """The bytes of a file; symbolic links are not followed, and pipes and devices not opened.

    Raises:
        RefusedError: it is no regular file, has more than `limit` bytes, or cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RefusedError("not a regular file")
            data = file.read(limit + 1)
    except OSError as error:
        raise RefusedError(f"cannot be read ({error.strerror}); must be a regular file, no symbolic link") from error
    if len(data) > limit:
        raise RefusedError(f"more than the {limit:,} bytes that are allowed")
    return data


def unpack_gzip(data: bytes, *, limit: int) -> bytes:
    """What one gzip stream holds; no more than `limit` bytes are ever unpacked.

    Raises:
        RefusedError: it is no complete gzip stream, holds more, or something follows it.
    """
    decoder = zlib.decompressobj(wbits=_GZIP)
    try:
        text = decoder.decompress(data, limit + 1)
    except zlib.error as error:
        raise RefusedError(f"not a gzip file ({error})") from error
    if len(text) > limit:
        raise RefusedError(f"more than the {limit:,} bytes that are allowed, once unpacked")
    if not decoder.eof:
        raise RefusedError("a gzip file that is cut short")
    if decoder.unused_data:
        raise RefusedError(f"{len(decoder.unused_data):,} bytes after the end of the gzip stream")
    return text


def parse_json(data: bytes) -> Any:
    """The value of a JSON text in which every number is whole and every key stands once.

    Raises:
        RefusedError: it is something else, or not UTF-8, or nested more than `MAX_DEPTH` deep.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(f"not UTF-8 at byte {error.start}") from error
    if text.startswith("\ufeff"):
        raise RefusedError("begins with a byte order mark; save it as UTF-8 without one")
    if _is_deep(text):  # before the parser, which recurses
        raise RefusedError(f"brackets nested more than {MAX_DEPTH} deep, or not closed")
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_number, parse_float=_no_number)
    except json.JSONDecodeError as error:
        raise RefusedError(f"malformed JSON at column {error.colno}: {error.msg}") from error
    except RefusedError:
        raise
    except ValueError as error:  # Python's own limit for the digits of a number
        raise RefusedError("a number with thousands of digits") from error


def _is_deep(text: str) -> bool:
    """Whether brackets are left when the innermost pairs have been taken away `MAX_DEPTH` times."""
    brackets = _NO_BRACKETS.sub("", _STRING.sub("", text))
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace("[]", "").replace("{}", "")
    return bool(brackets)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise RefusedError(f"the key {shown(key)} stands twice")
    return value


def _no_number(text: str) -> Any:
    raise RefusedError(f"{shown(text)} where only whole numbers can stand")
