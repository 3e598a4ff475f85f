"""Questions to language models, the file that keeps every answer, and what may be spent; nothing is sent here."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import locked
from turkic_idiom_tasks.io.reading import MalformedError, first_fault, parse_json, read_json_lines
from turkic_idiom_tasks.model_answers import without_reasoning

GO_ON = "the answers so far are kept; run the same command again to go on"
TYPICAL_ANSWER = 150  # tokens of an answer, where none is known
_CHARACTERS_PER_TOKEN = 3  # of Turkic text in the vocabularies of today's models, roughly
_LONGEST = 200_000  # characters of an answer that are looked at
_MOST_OBJECTS = 100  # braces at which an object is looked for

Messages = Sequence[Mapping[str, str]]
Value = TypeVar("Value", bound=BaseModel)


class Asking(BaseModel):
    """How models are asked, and how much: the values of ``--set``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0  # None leaves it to the server, as some models demand
    answer_tokens: PositiveInt = 4096  # longest answer, thoughts included
    seed: int | None = None
    structured: bool = True  # ask for output that follows the schema; given up if the server refuses it
    stream: bool = False  # have the answer sent piece by piece
    timeout: PositiveInt = 120  # seconds for an answer; for the next piece of it if it is streamed
    retries: Annotated[int, Field(ge=0)] = 5  # of a request; the waits before them add up to 31 seconds
    base_url: str | None = None  # of the server; None is what the provider takes from the environment
    cache: Path = Path("language-model-answers.jsonl")  # file of the answers
    prompt: int | None = None  # version; None is the newest
    max_tokens: PositiveInt | None = None  # of questions and answers of all models together
    max_requests: PositiveInt | None = None  # likewise; repairs and repeated requests count
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4  # requests at a time
    prices: Path | None = None  # of models, for a dry run
    dry_run: bool = False  # an option of its own: only the cost is printed


class AnswerFields(BaseModel):
    """Fields of the JSON object that a model answers with."""

    model_config = ConfigDict(extra="ignore", frozen=True)


@dataclass(frozen=True, slots=True)
class Question:
    """One question."""

    prompt: str  # name and version of the prompt
    messages: Messages
    answer: type[AnswerFields]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a question."""

    value: AnswerFields | None  # None if it could not be read, also after a second try, or was refused
    problem: str | None  # why there is no value
    text: str  # what the model wrote, the last time
    date: str  # day of the answer; empty if there is none


class Answer(BaseModel):
    """What a model answered: a line of the file."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    key: str
    model: str
    prompt: str
    text: str
    finish: str  # why the model stopped, such as ``stop``; empty if the server did not say
    prompt_tokens: int  # as the server counted them, or an estimate if it did not
    answer_tokens: int
    date: str


# Inspect has a cache, but it cannot promise that no answer is paid for twice (read in version 0.3.285): what it cannot
# write is lost without a word, an answer belongs to one address and to every setting that Inspect has, and no public
# name tells a dry run whether an answer is there. Its files are pickles, too, which this project does not load. So the
# answers are lines of JSON in a file that is only ever appended to.
class AnswerFile:
    """Answers in a file, which only the process that holds its lock may use; see `open_answers`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_damaged = 0  # lines that cannot be read and were skipped
        self.by_key: dict[str, Answer] = {}  # the newest answer under each key
        for _, value, _ in read_json_lines(path) if path.exists() else ():
            try:
                answer = Answer.model_validate(value)
            except ValidationError:
                self.n_damaged += 1
                continue
            self.by_key[answer.key] = answer
        # After half a line the next answer must begin on a line of its own, or both would be lost.
        self._is_cut = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
        # Answers would be appended to it, whatever it is: a lexicon, or the samples to be judged.
        if self.n_damaged > self._is_cut and not self.by_key:
            raise InputError(f"{path}: holds no answers of language models; name another file with --set cache")

    def add(self, answer: Answer) -> None:
        """Append an answer to the file; it is there when this returns, whatever happens to the process next."""
        start = "\n" if self._is_cut else ""
        data = f"{start}{json.dumps(answer.model_dump(), ensure_ascii=False)}\n".encode()
        # Unbuffered, so that the whole line is one write, which a kill cannot cut in the middle.
        try:
            with self.path.open("ab", buffering=0) as file:
                self._is_cut = file.write(data) != len(data)
            problem = "the disk is full; make room, and run the same command again" if self._is_cut else ""
        except OSError as error:
            problem = f"cannot be written ({error.strerror}); name another with --set cache"
        if problem:
            raise InputError(f"{self.path}: {problem}")
        self.by_key[answer.key] = answer


@contextmanager
def open_answers(path: Path) -> Iterator[AnswerFile]:
    """Give the answers in a file to one process at a time, because two would send the same questions."""
    busy = f"{path}: another command is using this cache; wait until it has ended, or name another with --set cache"
    with locked(path.with_name(f".{path.name}.lock"), busy=busy):
        yield AnswerFile(path)


def name_on_server(model: str) -> str:
    """Return how answers name a model: without what only says that its server speaks OpenAI's protocol."""
    # So the answers to gpt-4.1, openai/gpt-4.1 and openai-api/my-server/gpt-4.1 are the same ones
    return re.sub(r"^(openai|openai-api/[^/]+)/", "", model)


def answer_key(model: str, prompt: str, messages: Messages, settings: Asking) -> str:
    """Return what names an answer: a hash of the model, the version of the prompt, the parameters and the texts."""
    # Without the address of the server, because a model keeps its name when its server moves
    parameters = settings.model_dump(include={"temperature", "answer_tokens", "seed"})
    parts = {"model": name_on_server(model), "prompt": prompt, "parameters": parameters, "messages": list(messages)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode("utf-8")).hexdigest()


def estimated_tokens(*texts: str) -> int:
    """Return about how many tokens texts have."""
    return sum(map(len, texts)) // _CHARACTERS_PER_TOKEN + 1


class Estimate(NamedTuple):
    """What the questions with one prompt would cost; repairs come on top."""

    prompt: str
    questions: int
    requests: int  # for questions whose answer is not in the file
    prompt_tokens: int
    answer_tokens: int


def estimate(model: str, questions: Sequence[Question], settings: Asking, answers: AnswerFile) -> list[Estimate]:
    """Return what questions would cost, for each prompt."""
    by_prompt: dict[str, list[Question]] = {}
    for question in questions:
        by_prompt.setdefault(question.prompt, []).append(question)
    estimates = []
    for prompt, own in by_prompt.items():
        missing: dict[str, int] = {}  # key of the answer -> tokens of the question; equal questions are sent once
        for question in own:
            key = answer_key(model, prompt, question.messages, settings)
            if key not in answers.by_key:
                missing[key] = estimated_tokens(*(message["content"] for message in question.messages))
        # What the model wrote to this prompt before says how long its answers are.
        source = (name_on_server(model), prompt)
        lengths = [row.answer_tokens for row in answers.by_key.values() if (row.model, row.prompt) == source]
        length = round(mean(lengths)) if lengths else TYPICAL_ANSWER
        estimates.append(Estimate(prompt, len(own), len(missing), sum(missing.values()), len(missing) * length))
    return estimates


def read_answer(text: str, answer: type[Value]) -> Value:
    """Return the JSON object in what a model wrote, read strictly; none, or several that differ: MalformedError."""
    # Models put JSON into fences, think aloud before it, or explain it afterwards; none of that changes what is read
    spoken = without_reasoning(text[:_LONGEST])
    values: list[Value] = []
    problem = "no JSON object in the answer" if text.strip() else "the answer is empty"
    decoder = json.JSONDecoder()
    start = spoken.find("{")
    # A limit, because each of 100,000 braces could be decoded to the end of the text.
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            break
        try:
            _, end = decoder.raw_decode(spoken, start)
        except (ValueError, RecursionError):
            start = spoken.find("{", start + 1)
            continue
        candidate = spoken[start:end]
        start = spoken.find("{", end)
        # Read again by the strict reader, which refuses what the decoder lets pass, such as repeated keys and NaN.
        try:
            value = answer.model_validate(parse_json(candidate.encode("utf-8", "surrogatepass")))
        except ValidationError as error:
            problem = f"field {first_fault(error)}"
        except MalformedError as error:
            problem = str(error)
        else:
            if value not in values:
                values.append(value)
    if len(values) != 1:
        raise MalformedError(f"the answer has {len(values)} JSON objects that differ" if values else problem)
    return values[0]
