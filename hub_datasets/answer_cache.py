"""A file of every answer that a language model gave, so that no question is sent, or paid for, twice.

The file has one JSON object a line and is only ever appended to, each line in one write. A process that is killed can
leave one line cut off at the end, which is skipped from then on. Keys do not have the address of the server, because a
model keeps its name when its server moves to another port.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import locked
from turkic_idiom_tasks.io.reading import read_json_lines

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered.

    Attributes:
        text: the answer, unchanged.
        finish: why the model stopped, such as ``stop`` or ``length``; empty if the server did not say.
        prompt_tokens: tokens of the question, as the server counted them, or an estimate if it did not.
        answer_tokens: tokens of the answer, likewise.
        date: day of the answer, as ``2026-11-22``.
    """

    text: str
    finish: str
    prompt_tokens: int
    answer_tokens: int
    date: str


class _Line(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(extra="ignore", strict=True)

    key: str
    model: str
    prompt: str
    text: str
    finish: str
    prompt_tokens: int
    answer_tokens: int
    date: str


def answer_key(model: str, prompt: str, *, parameters: Mapping[str, Any], messages: Messages) -> str:
    """Return what names an answer: a SHA-256 of the model, the version of the prompt, the parameters and the texts.

    Args:
        model: name of the model on its server.
        prompt: name and version, such as ``verify-2``.
        parameters: what else can change an answer, such as the temperature.
        messages: the conversation so far.
    """
    asked = {"model": model, "prompt": prompt, "parameters": dict(parameters), "messages": list(messages)}
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode("utf-8")).hexdigest()


class AnswerCache:
    """Answers in a file, which only the process that holds its lock may use; see `open_cache`.

    Attributes:
        path: the file.
        n_damaged: lines of it that cannot be read and were skipped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_damaged = 0
        self._answers: dict[str, Answer] = {}
        self._lengths: dict[tuple[str, str], list[int]] = {}  # model, prompt -> tokens of its answers
        self._lock = threading.Lock()
        if path.exists():
            self._read()
        self._ends_cleanly = not path.exists() or path.stat().st_size == 0 or _last_byte(path) == b"\n"

    def get(self, key: str) -> Answer | None:
        """Return the newest answer under a key; None if there is none."""
        return self._answers.get(key)

    def add(self, key: str, answer: Answer, *, model: str, prompt: str) -> None:
        """Append an answer to the file; it is there when this returns, whatever happens to the process next.

        Raises:
            InputError: the file cannot be written.
        """
        line = json.dumps({"key": key, "model": model, "prompt": prompt, **asdict(answer)}, ensure_ascii=False) + "\n"
        with self._lock:
            start = "" if self._ends_cleanly else "\n"
            self._append((start + line).encode("utf-8"))
            self._ends_cleanly = True
            self._keep(key, answer, model=model, prompt=prompt)

    def mean_answer_tokens(self, model: str, prompt: str) -> float | None:
        """Return the mean length of a model's answers to a prompt, in tokens; None if there are none."""
        lengths = self._lengths.get((model, prompt))
        return sum(lengths) / len(lengths) if lengths else None

    def _read(self) -> None:
        for line in read_json_lines(self.path):
            try:
                row = _Line.model_validate(line.value)
            except ValidationError:
                self.n_damaged += 1
                continue
            answer = Answer(row.text, row.finish, row.prompt_tokens, row.answer_tokens, row.date)
            self._keep(row.key, answer, model=row.model, prompt=row.prompt)

    def _keep(self, key: str, answer: Answer, *, model: str, prompt: str) -> None:
        self._answers[key] = answer
        self._lengths.setdefault((model, prompt), []).append(answer.answer_tokens)

    def _append(self, data: bytes) -> None:
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                written = os.write(handle, data)
            finally:
                os.close(handle)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror}); choose another --cache") from error
        if written != len(data):
            self._ends_cleanly = False
            raise InputError(f"{self.path}: the disk is full; make room, and run the same command again")


@contextmanager
def open_cache(path: Path) -> Iterator[AnswerCache]:
    """Give the cache in a file to one process at a time, because two would send the same questions.

    Raises:
        InputError: another process uses the file, it cannot be read, or its folder cannot be written.
    """
    busy = f"{path}: another command is using this cache; wait until it has ended, or choose another --cache"
    with locked(path.with_name(f".{path.name}.lock"), busy=busy):
        yield AnswerCache(path)


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
