"""Strict reading of files that somebody else may have written: JSON, JSON lines, YAML and gzip, within limits.

Every file from outside goes through this module. A value is either read exactly as the text states it or refused, so
that no text has two readings.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

from turkic_idiom_tasks.errors import InputError

if TYPE_CHECKING:  # the doctor needs this module where pydantic is broken
    from pydantic import ValidationError

MAX_DEPTH = 32  # brackets inside brackets
MAX_BYTES = 512 * 1024 * 1024  # of a file, unless the caller sets another limit
SHOWN = 80  # characters of a wrong value that a message shows

# A string, also one that is never closed. The quantifiers are possessive: the places to go back to, which others keep,
# took 350 MB for a string of three million escapes.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?"?', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
# Bytes that are UTF-8 hold no half of a surrogate pair, so in JSON only an escape can make one.
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_GZIP = 31  # zlib's window bits for a gzip stream
# Control and format characters (with bidirectional ones), surrogates, private use, separators.
_UNSEEN_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# Letters and marks that draw nothing: fillers, joiners, variation selectors, the empty Braille pattern.
BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)


class MalformedError(ValueError):
    """Text or bytes that cannot be read; the message says why, and the caller adds the file and the line."""


@contextmanager
def input_errors(place: object) -> Iterator[None]:
    """Turn a MalformedError into an InputError that begins with the file, or another place, of the fault."""
    try:
        yield
    except MalformedError as error:
        raise InputError(f"{place}: {error}") from error


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake in a file."""

    path: Path
    message: str
    line: int = 0  # 0 when it concerns the whole file or folder

    def __str__(self) -> str:
        path = printable(str(self.path))  # the name may be untrusted
        return f"{path}:{self.line}: {self.message}" if self.line else f"{path}: {self.message}"


def display(value: Any) -> str:
    """Return any value for a message: on one line, cut after `SHOWN` characters, unseen characters as escapes."""
    text = printable(repr(value))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def first_fault(error: ValidationError) -> str:
    """Return the first thing that pydantic found wrong with a value, for a message: the field, then what is wrong."""
    field, wrong = _field_and_wrong(error.errors(include_url=False)[0])
    return f"{display(field)}: {wrong}" if field else wrong


def _field_and_wrong(fault: Any) -> tuple[str, str]:
    """Return the place of a fault, and what is wrong there in our validators' own words, without names of classes."""
    # Without branches of unions, which pydantic names like ``function-after[…]``
    field = ".".join(str(part) for part in fault["loc"] if "[" not in str(part))
    if fault["type"] in ("model_type", "dict_type"):
        return field, "must be an object"
    return field, str(fault["ctx"]["error"] if fault["type"] == "value_error" else fault["msg"])


def faults(error: ValidationError) -> list[str]:
    """Return everything that pydantic found wrong with an object, for messages: the field, what is wrong, the value."""
    messages = []
    for fault in error.errors(include_url=False):
        name, wrong = _field_and_wrong(fault)
        field = display(name)
        if fault["type"] == "missing":
            messages.append(f"field {field} is missing")
        elif fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            messages.append(f"unknown field {field}")
        else:
            place = f"field {field}: " if fault["loc"] else ""
            messages.append(f"{place}{wrong}; found {display(fault['input'])}")
    return messages


def first_line(error: BaseException) -> str:
    """Return the first line of what a library raised, for a message, or the name of its class if it says nothing."""
    return printable((str(error).strip().splitlines() or [type(error).__name__])[0])


def is_unseen(character: str) -> bool:
    """Return whether a character draws nothing, or changes how those around it are drawn."""
    return unicodedata.category(character) in _UNSEEN_CATEGORIES or BLANKS.fullmatch(character) is not None


def first_unseen(text: str) -> str:
    """Return the first character of a text for which `is_unseen` holds; empty if there is none."""
    if text.isprintable() and not BLANKS.search(text):  # nearly every text, and much faster
        return ""
    return next(filter(is_unseen, text), "")


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing, because it holds only white space and characters that cannot be seen."""
    return all(character.isspace() or is_unseen(character) for character in text)


def printable(text: str) -> str:
    """Return text that is safe to print: control, bidirectional and other unseen characters become escapes."""
    # A text from a file could otherwise clear the terminal, hide a part of itself, or show its words in another order.
    if not first_unseen(text):
        return text
    return "".join(
        ascii(character)[1:-1] if is_unseen(character) and character not in "\n\t" else character for character in text
    )


def read_file(path: Path, *, limit: int = MAX_BYTES, follow_links: bool = True) -> bytes:
    """Return the bytes of a regular file; a pipe, a device, or more than `limit` bytes is a MalformedError."""
    # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            # Up to the limit, rather than the size that the system states, which may grow meanwhile
            data = file.read(limit + 1) if is_regular else b""
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise MalformedError(f"cannot be read ({getattr(error, 'strerror', error)})") from error
    if not is_regular:
        raise MalformedError("not a regular file")
    if len(data) > limit:
        raise MalformedError(f"more than the {limit:,} bytes that are allowed")
    return data


def unpack_gzip(data: bytes, *, limit: int = MAX_BYTES) -> bytes:
    """Return what one gzip stream holds; MalformedError if it is not whole, or holds more than `limit` bytes."""
    decoder = zlib.decompressobj(wbits=_GZIP)
    try:
        text = decoder.decompress(data, limit + 1)  # zeros unpack to a thousand times their size
    except zlib.error as error:
        raise MalformedError(f"not a gzip file ({error})") from error
    if len(text) > limit:
        raise MalformedError(f"more than the {limit:,} bytes that are allowed, once unpacked")
    if not decoder.eof:
        raise MalformedError("a gzip file that is cut short")
    if decoder.unused_data:
        raise MalformedError(f"{len(decoder.unused_data):,} bytes after the end of the gzip stream")
    return text


def parse_json(data: bytes, *, max_depth: int = MAX_DEPTH, special_numbers: bool = False) -> Any:
    """Return the value of a JSON text in UTF-8, with at most `max_depth` brackets inside brackets.

    Special numbers are NaN and infinity as Python's json module writes them; the score files of the stock harnesses
    have such values. Besides a text that is no JSON, a repeated key is a MalformedError, and so is a number or text
    that cannot be kept exactly (NaN, infinity, thousands of digits, half of a surrogate pair).
    """
    text = decode_text(data)
    # Python's parser calls itself for each bracket and fails with a RecursionError at some depth. The first count,
    # which is fast, settles nearly every text.
    if text.count("[") + text.count("{") > max_depth:
        brackets = _NO_BRACKETS.sub("", _STRING.sub("", text))
        for _ in range(max_depth):  # the innermost pairs go
            brackets = brackets.replace("[]", "").replace("{}", "")
        if brackets:
            raise MalformedError(f"brackets nested more than {max_depth} deep, or not closed")
    read_number = None if special_numbers else _finite
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=read_number, parse_float=read_number)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""  # a line of JSON lines is named by its reader
        raise MalformedError(f"malformed JSON at {line}column {error.colno}: {error.msg}") from error
    except MalformedError:
        raise
    except ValueError as error:  # Python's own limit for the digits of a number
        raise MalformedError("a number with thousands of digits") from error
    if _ESCAPED_SURROGATE.search(text):
        _check_values(value, special_numbers=special_numbers)
    return value


def decode_text(data: bytes) -> str:
    """Return bytes as text; raise MalformedError if they are not UTF-8, or begin with a byte order mark."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedError(f"not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    if text.startswith("\ufeff"):
        raise MalformedError("begins with a byte order mark; save it as UTF-8 without one")
    return text


def read_json(path: Path, *, special_numbers: bool = False) -> Any:
    """Return the value of a JSON file; see `parse_json`."""
    with input_errors(path):
        return parse_json(read_file(path), special_numbers=special_numbers)


def read_json_lines(path: Path, *, limit: int = MAX_BYTES) -> Iterator[tuple[int, Any, str | None]]:
    """Yield number from 1, value, and problem of each line that is not blank; a malformed one has None as its value."""
    with input_errors(path):
        data = read_file(path, limit=limit)
    # Of bytes, because splitlines of a text would also end a line at U+2028, which a JSON string may hold.
    for number, raw in enumerate(data.splitlines(), start=1):
        if not raw.strip():
            continue
        try:
            yield number, parse_json(raw), None
        except MalformedError as error:
            yield number, None, str(error)


def read_yaml(path: Path) -> Any:
    """Return the value of a YAML file, read by the safe loader without repeated keys, aliases or special numbers."""
    with input_errors(path):
        return parse_yaml(decode_text(read_file(path)))


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text; raise MalformedError if it is malformed; see `read_yaml`."""
    try:
        value = yaml.load(text, _StrictLoader)  # noqa: S506  # a subclass of the safe loader
    except RecursionError as error:
        raise MalformedError("not YAML: nested too deep") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2026-13-45
        raise MalformedError(f"not YAML: {printable(' '.join(str(error).split()))}") from error
    _check_values(value, special_numbers=False)
    return value


def relative_parts(name: str) -> tuple[str, ...]:
    """Return the parts of a path that a file states; raise MalformedError unless it stays below its folder."""
    parts = PurePosixPath(name).parts
    # A backslash separates parts on Windows, and a colon follows a drive there.
    is_plain = bool(parts) and not name.startswith("/") and "\\" not in name and "\0" not in name
    if not is_plain or ".." in parts or ":" in parts[0]:
        raise MalformedError(f"the path {display(name)} is not one inside the folder")
    return parts


def real_path(path: Path) -> Path:
    """Return a path without links; a loop of links, for which `Path.resolve` raises a RuntimeError, stays one."""
    return Path(os.path.realpath(path))


def inner_path(folder: Path, name: str) -> Path:
    """Return the path that a name in a file stands for; one out of the folder or through a link is a MalformedError."""
    path = folder
    for part in relative_parts(name):
        path = path / part
        try:
            problem = "leads through a symbolic link" if path.is_symlink() else ""
        except OSError as error:
            problem = f"cannot be used ({error.strerror})"
        if problem:
            raise MalformedError(f"the path {display(name)} {problem}")
    return path


class _StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader, changed: repeated keys and aliases are errors, and 2e-5 is a number rather than a text."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        # Aliases of aliases make a value of any size from a few lines.
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.MarkedYAMLError(None, None, "an alias (*name) is not allowed here", event.start_mark)
        return super().compose_node(parent, index)

    def compose_mapping_node(self, anchor: Any) -> Any:
        # PyYAML itself takes the last of two equal keys without a word.
        node = super().compose_mapping_node(anchor)
        names: set[str] = set()
        for key, _ in node.value:
            name = key.value if isinstance(key.value, str) else str(key.value)
            if name in names:
                raise yaml.MarkedYAMLError(None, None, f"repeated key {display(name)}", key.start_mark)
            names.add(name)
        return node


# YAML 1.1, which PyYAML reads, asks for a point in a number with an exponent: a learning rate of 2e-5 would be a text.
_StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+\Z"), list("-+0123456789")
)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):  # json.loads would take the last of two equal keys
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise MalformedError(f"the key {display(key)} appears twice")
    return value


def _finite(text: str) -> float:
    value = float(text)  # 1e999 becomes infinity
    if not math.isfinite(value):
        is_special = not text[-1].isdigit()  # NaN or infinity
        raise MalformedError(
            f"{text} is no number that can be used" if is_special else f"{display(text)} is too large a number"
        )
    return value


def _check_values(value: Any, *, special_numbers: bool) -> None:
    """Raise if a text in a value holds half of a surrogate pair, which UTF-8 cannot write, or a number is special."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=special_numbers, default=str, skipkeys=True).encode()
    except UnicodeEncodeError as error:
        raise MalformedError("half of a surrogate pair in a text") from error
    except ValueError as error:
        raise MalformedError("nan or inf is no number that can be used") from error
