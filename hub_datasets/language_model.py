"""Asking language models through Inspect AI: whatever it has a provider for, with every answer in a file at once.

Inspect gives the providers, asks for output that follows a schema, limits connections and time, counts tokens, and
knows which errors are worth another try. It takes keys from the environment; should a server repeat one, it is removed
from messages and answers.
"""

import asyncio
import os
import re
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

from anyio.from_thread import start_blocking_portal
from pydantic import ValidationError

from hub_datasets.questions import (
    GO_ON,
    Answer,
    AnswerFile,
    Asking,
    Messages,
    Question,
    Reply,
    answer_key,
    estimated_tokens,
    name_on_server,
    read_answer,
)
from turkic_idiom_tasks.errors import InputError, check_key, strip_keys, without_keys
from turkic_idiom_tasks.io.reading import MalformedError, printable

try:
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        Model,
        ResponseSchema,
        get_model,
    )
    from inspect_ai.util import json_schema
except ModuleNotFoundError as error:
    raise InputError(
        f"language models need the package {error.name}: pip install 'turkic-idiom-tasks[openai]', or [inspect] and "
        "the package of another provider"
    ) from error

LONGEST_WAIT = 300.0  # seconds that a server may ask for
MOST_UNANSWERED = 5  # questions in a row, from which the server is taken to be out of order
OPENAI = "https://api.openai.com/v1"
_REPAIR = (
    "Your answer could not be read: {problem}. Answer the question again with nothing but the JSON object, "
    "in exactly the format that was asked for."
)
_KINDS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_SHOWN = 200  # characters of a server's message
_HTML = re.compile(r"<(!doctype|html|head|body|\?xml)", re.IGNORECASE)
_SCHEMA = re.compile("response_format|json_schema|guided")  # how servers name the parameter for structured output
_ADVICE = {  # by status, for errors that every other question would meet too
    401: "the key in {variable} is not accepted",
    403: "the key in {variable} is not accepted",
    404: "no such model, or base_url does not end in /v1",
}

Progress = Callable[[int, int], None]


class RefusedError(Exception):
    """One question is not answered; the message says why."""


class CutError(RefusedError):
    """A response holds no whole answer; the next one may."""


async def reply_to(question: Question, send: Callable[[Messages], Awaitable[Answer]]) -> Reply:
    """Return the reply to a question; an answer that cannot be read is asked for once more."""
    messages = list(question.messages)
    text = day = problem = ""
    for _ in range(2):
        try:
            answer = await send(messages)
        except RefusedError as error:
            return Reply(None, without_keys(str(error)), text, day)
        text, day = answer.text, answer.date
        try:
            return Reply(read_answer(text, question.answer), None, text, day)
        except MalformedError as error:
            # The two names that providers have for the limit of tokens; who reads this knows what to raise.
            is_cut = answer.finish in ("max_tokens", "length")
            problem = f"{error} (it was cut at {answer.answer_tokens} tokens)" if is_cut else str(error)
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": _REPAIR.format(problem=problem)})
    return Reply(None, problem, text, day)


async def generate(model: Model, prompt: str, messages: Messages, config: GenerateConfig) -> Answer:
    """Return the answer of a model of Inspect to a conversation, with tokens estimated where they were not counted.

    A RefusedError says that the conversation is refused, or that the response holds no whole answer.
    """
    output = await model.generate([_KINDS[row["role"]](content=row["content"]) for row in messages], config=config)
    if output.empty:
        raise CutError("the response has no choices")
    # Inspect takes a stream that has ended too early for a whole answer.
    if config.stream_idle_timeout and output.stop_reason == "unknown":
        raise CutError("the answer was cut off")
    # Inspect turns the status 400 of some servers into an answer without usage, whose text is the server's message.
    if output.usage is None and output.stop_reason in ("model_length", "content_filter"):
        raise RefusedError(f"refused ({output.stop_reason}): {output.completion}")
    usage = output.usage
    answer_tokens = estimated_tokens(output.completion) if usage is None else usage.output_tokens
    # Inspect's input tokens leave out those that the server had in its own cache, the total does not.
    asked = [row["content"] for row in messages]
    prompt_tokens = estimated_tokens(*asked) if usage is None else usage.total_tokens - usage.output_tokens
    return Answer(
        key="",
        model=str(model),
        prompt=prompt,
        # Without halves of surrogate pairs, and without a key that the server repeats.
        text=without_keys(output.completion.encode("utf-8", "replace").decode("utf-8")),
        finish=output.stop_reason,
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
        date=date.today().isoformat(),
    )


@dataclass(slots=True)
class LanguageModel:
    """A model with the file of its answers; its provider is not loaded before a question must be sent.

    A name that is not in Inspect's form, ``provider/model``, is that of a model on a server that speaks OpenAI's
    protocol, with the key OPENAI_API_KEY and the address ``base_url``, OPENAI_BASE_URL, or OpenAI's own.
    """

    name: str
    answers: AnswerFile
    settings: Asking
    spent: Counter[str]  # ``requests`` and ``tokens`` of all models of a command so far
    n_sent: int = 0  # requests
    n_repaired: int = 0  # questions that were asked once more because the answer could not be read
    _model: Model | None = None
    _is_structured: bool = True  # until the server refuses it
    _n_unanswered: int = 0  # questions in a row
    _failure: InputError | None = None  # the first error that ended the run
    _has_failed: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(self, questions: Sequence[Question], *, progress: Progress = lambda done, total: None) -> list[Reply]:
        """Return the replies to questions, in their order; equal questions are sent once.

        Progress is called with the number of distinct questions that are done, and of all. After an error the answers
        so far are in the file.
        """
        keys = [answer_key(self.name, row.prompt, row.messages, self.settings) for row in questions]
        distinct = dict(zip(keys, questions, strict=True))
        with warnings.catch_warnings():
            # pydantic warns of each part of a response that is not as it should be
            warnings.simplefilter("ignore")
            # In a thread of its own, because the caller's may be running a loop already, as a notebook's does.
            with start_blocking_portal() as portal:
                replies = portal.call(self._ask, distinct, progress)
        return [replies[key] for key in keys]

    async def _ask(self, questions: Mapping[str, Question], progress: Progress) -> dict[str, Reply]:
        replies: dict[str, Reply] = {}

        async def work(waiting: Iterator[tuple[str, Question]]) -> None:
            for key, question in waiting:
                # Two workers never get the same question, because they share one iterator.
                try:
                    replies[key] = await reply_to(question, partial(self._answer, question))
                except InputError as error:
                    self._failure = self._failure or error
                    self._has_failed.set()
                # The others are not cancelled, because the answers to what they have sent are paid for.
                if self._failure is not None:
                    return
                progress(len(replies), len(questions))

        shared = iter(questions.items())
        try:
            await asyncio.gather(*(work(shared) for _ in range(self.settings.concurrency)))
        finally:
            # The client belongs to this round's loop, and a later round in another loop could not use it.
            if self._model is not None:
                await self._model.api.aclose()
                self._model = None
        if self._failure is not None:
            raise self._failure
        return replies

    async def _answer(self, question: Question, messages: Messages) -> Answer:
        """Return the answer to a conversation from the file, or from the server, which is asked again while it is busy.

        A RefusedError is about this question alone; after an InputError no other one would be answered either.
        """
        key = answer_key(self.name, question.prompt, messages, self.settings)
        if key in self.answers.by_key:
            return self.answers.by_key[key]
        self.n_repaired += len(messages) > len(question.messages)
        attempt = 0
        # Inspect would repeat requests too, but waits three seconds to half an hour whatever the server asks for, and
        # its requests could not be counted in the budget.
        while True:
            if self._failure is not None:
                raise self._failure
            self._model = self._model or self._connect()
            for name, most in (("requests", self.settings.max_requests), ("tokens", self.settings.max_tokens)):
                if most is not None and self.spent[name] >= most:
                    raise InputError(f"max_{name}={most} are used up ({self.spent[name]:,} so far); {GO_ON}")
            self.spent["requests"] += 1
            self.n_sent += 1
            config = self._config(question)
            try:
                answer = await generate(self._model, question.prompt, messages, config)
                break
            except Exception as error:
                # Whatever the client of a provider raises, or a malformed response makes
                problem = self._problem(error)
                if config.response_schema is not None and _SCHEMA.search(problem):
                    self._is_structured = False
                    continue
                may_pass = isinstance(error, CutError) or self._model.should_retry(_cause(error))
                if attempt == self.settings.retries or not may_pass:
                    self._n_unanswered += 1
                    if self._n_unanswered < MOST_UNANSWERED:
                        raise RefusedError(problem) from error
                    n_lost = f"{MOST_UNANSWERED} questions in a row without an answer, the last time"
                    raise self._error(f"{n_lost}: {problem}; {GO_ON}") from error
                stated = getattr(self._model.api.should_retry(_cause(error)), "retry_after", None)
                if stated is not None and stated > LONGEST_WAIT:
                    raise self._error(f"asks to wait {stated:.0f} seconds; run the same command again then") from error
                # Not a plain sleep, because an error that ends the run ends the wait too.
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._has_failed.wait(), 2.0**attempt if stated is None else stated)
                attempt += 1
        self._n_unanswered = 0
        answer = answer.model_copy(update={"key": key, "model": name_on_server(self.name)})
        # Into the file before it is counted or read: whatever happens next, it is not paid for twice.
        self.answers.add(answer)
        self.spent["tokens"] += answer.prompt_tokens + answer.answer_tokens
        return answer

    def _config(self, question: Question) -> GenerateConfig:
        settings = self.settings
        schema = None
        if settings.structured and self._is_structured:
            name = question.prompt.replace("-", "_")
            schema = ResponseSchema(name=name, json_schema=json_schema(question.answer), strict=True)
        return GenerateConfig(
            temperature=settings.temperature,
            max_tokens=settings.answer_tokens,
            seed=settings.seed,
            response_schema=schema,
            attempt_timeout=None if settings.stream else settings.timeout,
            stream_idle_timeout=settings.timeout if settings.stream else None,  # which also asks for a stream
            max_retries=0,
            max_connections=settings.concurrency,
        )

    def _connect(self) -> Model:
        """Return the model of Inspect, with its provider, key and address checked."""
        strip_keys()
        try:
            # Not memoized: Inspect would give a later call the client of a loop that has ended.
            try:
                model = get_model(self.name, base_url=self.settings.base_url, memoize=False)
            except ValueError as error:
                if "not recognized" not in str(error) and "<api_name>" not in str(error):
                    raise
                model = get_model(
                    f"openai-api/openai/{self.name}",
                    base_url=self.settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI,
                    api_key=os.environ.get("OPENAI_API_KEY") or "none",  # which servers of one's own do not ask for
                    memoize=False,
                )
        except Exception as error:  # each provider raises its own
            raise self._error(f"cannot be used: {self._line(error)}") from error
        for variable in model.api.api_key_vars:
            check_key(variable)
        client: Any = getattr(model.api, "client", None)
        if hasattr(client, "max_retries"):
            # The clients of OpenAI and Anthropic repeat requests by themselves
            client.max_retries = 0
        return model

    def _problem(self, error: Exception) -> str:
        """Return why a request failed, in one line; raise an InputError if every other question would fail likewise."""
        assert self._model is not None
        cause, problem = _cause(error), self._line(error)
        status = getattr(error, "status_code", None)
        if _HTML.search(str(cause)):
            problem = "answers with an HTML page; check base_url, which mostly ends in /v1"
        elif status in _ADVICE:
            variable = next(iter(self._model.api.api_key_vars), "the environment")
            problem = f"{status}, {_ADVICE[status].format(variable=variable)}: {problem}"
        elif status == 400 and "temperature" in problem:
            problem = f"{problem}; pass --set temperature=default"
        elif getattr(cause, "code", None) != "insufficient_quota":
            return problem
        raise self._error(problem) from error

    def _error(self, message: str) -> InputError:
        place = f" at {self.settings.base_url}" if self.settings.base_url else ""
        return InputError(f"{self.name}{place}: {message}")

    def _line(self, error: Exception) -> str:
        """Return what an error says in one printable line, shortened, without keys, and with what helps."""
        cause = _cause(error)
        name, text = type(cause).__name__, str(getattr(cause, "message", cause))
        if "Timeout" in name:
            return "no answer within the time limit (--set timeout=SECONDS)"
        if "Connection" in name:
            text = f"no connection ({cause.__cause__ or text}); is the server running, and is --set base_url=URL right?"
        elif isinstance(cause, AttributeError | LookupError | TypeError | ValidationError):
            text = f"a malformed response ({name}: {text})"
        text = re.sub(r"\[/?(bold|blue)\]", "", without_keys(text or name))  # markup in messages of Inspect
        line = printable(" ".join(text.split()))
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _cause(error: Exception) -> Exception:
    """Return what the client of the provider raised, which Inspect wraps in errors of its own."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error
