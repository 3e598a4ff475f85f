"""Client of language models: questions to any OpenAI-compatible server, answered from a cache where possible.

The retries of the `openai` package are switched off, because they would not count in the budget, a pause that the
server asks for would hold back one thread only, and the package does not wait out a long pause.

The key is taken from OPENAI_API_KEY. It goes into the header of the requests and nowhere else: if a server repeats it
in an error, it is removed from the message.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime
from typing import Any

from hub_datasets.answer_cache import Answer, AnswerCache, answer_key
from hub_datasets.json_answers import read_answer
from hub_datasets.questions import GO_ON, TYPICAL_ANSWER, Budget, Estimate, Question, Reply, Settings
from hub_datasets.server_errors import KEY_VARIABLE, ProtocolError, Refusal, RefusalError, TryAgainError, refusal_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import MalformedError

try:
    import openai
    from openai.types.chat import ChatCompletion
except ModuleNotFoundError as error:
    raise InputError(
        f"language models need the package {error.name}: pip install 'turkic-idiom-tasks[openai]'"
    ) from error

BASE_URL_VARIABLE = "OPENAI_BASE_URL"
MOST_ATTEMPTS = 6  # at one request; the waits before them add up to 31 seconds unless the server states its own
LONGEST_WAIT = 300.0  # seconds that a server may ask for
MOST_UNANSWERED = 5  # questions in a row, from which the server is taken to be out of order
CHARACTERS_PER_TOKEN = 3  # of Turkic text in the vocabularies of today's models, roughly
_REPAIR = (
    "Your answer could not be read: {problem}. Answer the question again with nothing but the JSON object, "
    "in exactly the format that was asked for."
)

Progress = Callable[[int, int], None]


class _StoppedError(InputError):
    """A thread did not send its request because another one met the error that ends the run."""


class LanguageModel:
    """A model on a server, with the cache of its answers.

    Attributes:
        settings: how it is asked.
        n_sent: requests that were sent.
        n_repaired: questions that were asked a second time because the first answer could not be read.
        is_structured: whether the server still offers output that follows a schema.
    """

    def __init__(self, settings: Settings, cache: AnswerCache, budget: Budget) -> None:
        self.settings = settings
        self.n_sent = 0
        self.n_repaired = 0
        self.is_structured = settings.structured
        self._cache = cache
        self._budget = budget
        self._key = os.environ.get(KEY_VARIABLE, "")
        self._client: openai.OpenAI | None = None
        self._length_name = "max_tokens"  # which newer models of OpenAI refuse, and older servers need
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._not_before = 0.0  # on the monotonic clock; a server that is busy is left alone by all threads
        self._n_unanswered = 0
        self._failure: InputError | None = None  # the first error that ended the run

    def estimate(self, questions: Sequence[Question]) -> Estimate:
        """Return what these questions would cost, without sending anything."""
        missing: dict[str, Question] = {}
        for question in questions:
            key = self._answer_key(question.prompt, question.messages)
            if self._cache.get(key) is None:
                missing[key] = question
        prompt_tokens = answer_tokens = 0
        for question in missing.values():
            prompt_tokens += _estimated_tokens(question.messages)
            mean = self._cache.mean_answer_tokens(self.settings.model, question.prompt)
            answer_tokens += round(TYPICAL_ANSWER if mean is None else mean)
        return Estimate(len(questions), len(missing), prompt_tokens, answer_tokens)

    def ask(self, questions: Sequence[Question], *, progress: Progress | None = None) -> list[Reply]:
        """Return the replies to questions, in their order; equal questions are sent once.

        Args:
            questions: the questions.
            progress: called with the number of distinct questions that are done, and of all.

        Raises:
            InputError: the server cannot be used, or does not answer any more; the answers so far are in the cache.
            BudgetError: the budget is used up, likewise.
        """
        distinct: dict[str, Question] = {}
        keys = []
        for question in questions:
            keys.append(self._answer_key(question.prompt, question.messages))
            distinct.setdefault(keys[-1], question)
        replies: dict[str, Reply] = {}
        self._stopping.clear()
        self._failure = None
        with ThreadPoolExecutor(max_workers=self.settings.concurrency) as pool:
            waiting: dict[Future[Reply], str] = {}
            for key, question in distinct.items():
                waiting[pool.submit(self._answer_or_stop, question)] = key
            try:
                while waiting:
                    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        replies[waiting.pop(future)] = future.result()
                    if progress is not None:
                        progress(len(replies), len(distinct))
            except BaseException as error:
                self._stopping.set()
                pool.shutdown(wait=True, cancel_futures=True)
                if isinstance(error, _StoppedError) and self._failure is not None:
                    raise self._failure from None
                raise
        return [replies[key] for key in keys]

    def _answer_key(self, prompt: str, messages: Sequence[Mapping[str, str]]) -> str:
        settings = self.settings
        return answer_key(settings.model, prompt, parameters=settings.parameters, messages=messages)

    def _answer_or_stop(self, question: Question) -> Reply:
        """Return the reply to one question; an error that ends the run keeps the other threads from sending."""
        try:
            return self._answer(question)
        except InputError as error:
            with self._lock:
                if self._failure is None:
                    self._failure = error
            self._stopping.set()
            raise

    def _answer(self, question: Question) -> Reply:
        """Return the reply to one question: its answer, or that to a second request for what could not be read."""
        messages = list(question.messages)
        text, date = "", ""
        problem = ""
        for is_repair in (False, True):
            if is_repair:
                repair = {"role": "user", "content": _REPAIR.format(problem=problem)}
                messages = [*messages, {"role": "assistant", "content": text}, repair]
            try:
                answer, is_new = self._cached_or_sent(question, messages)
            except RefusalError as error:
                return Reply(None, error.refusal.message, text, date)
            if is_repair and is_new:
                with self._lock:
                    self.n_repaired += 1
            text, date = answer.text, answer.date
            try:
                return Reply(read_answer(text, question.answer), None, text, date)
            except MalformedError as error:
                cut = f" (it was cut at {answer.answer_tokens} tokens)" if answer.finish == "length" else ""
                problem = f"{error}{cut}"
        return Reply(None, problem, text, date)

    def _cached_or_sent(self, question: Question, messages: Sequence[Mapping[str, str]]) -> tuple[Answer, bool]:
        """Return the answer to a conversation, and whether it was sent to the server just now."""
        key = self._answer_key(question.prompt, messages)
        answer = self._cache.get(key)
        if answer is not None:
            return answer, False
        answer = self._sent(question, messages)
        self._cache.add(key, answer, model=self.settings.model, prompt=question.prompt)
        return answer, True

    def _sent(self, question: Question, messages: Sequence[Mapping[str, str]]) -> Answer:
        """Return the server's answer, asked for as often as `MOST_ATTEMPTS` if it is busy or out of order.

        Raises:
            RefusalError: it refuses this question, or did not answer it.
            InputError: it would not answer any other question either.
        """
        problem = ""
        for attempt in range(MOST_ATTEMPTS):
            self._wait_for_turn()
            self._budget.take_request()
            with self._lock:
                self.n_sent += 1
            try:
                answer = self._request(question, messages)
            except TryAgainError as error:
                problem = str(error)
                seconds = self.settings.first_wait * 2**attempt if error.wait is None else error.wait
                if seconds > LONGEST_WAIT:
                    raise InputError(
                        f"{self._place}: asks to wait {seconds:.0f} seconds; run the same command again after that"
                    ) from error
                with self._lock:
                    self._not_before = max(self._not_before, time.monotonic() + seconds)
                continue
            self._budget.add_tokens(answer)
            with self._lock:
                self._n_unanswered = 0
            return answer
        self._count_unanswered(problem)
        raise RefusalError(Refusal(f"no answer after {MOST_ATTEMPTS} attempts: {problem}"))

    def _wait_for_turn(self) -> None:
        while (seconds := self._not_before - time.monotonic()) > 0 and not self._stopping.is_set():
            self._stopping.wait(seconds)
        if self._stopping.is_set():
            raise _StoppedError("stopped because of an error in another thread")

    def _count_unanswered(self, problem: str) -> None:
        with self._lock:
            self._n_unanswered += 1
            if self._n_unanswered >= MOST_UNANSWERED:
                raise InputError(
                    f"{self._place}: {self._n_unanswered} questions in a row without an answer, the last time: "
                    f"{problem}; {GO_ON}"
                )

    def _request(self, question: Question, messages: Sequence[Mapping[str, str]]) -> Answer:
        """Send one request and return its answer."""
        client = self._connect()
        is_structured, length_name = self.is_structured, self._length_name
        settings = self.settings
        arguments: dict[str, Any] = {"model": settings.model, "messages": list(messages)}
        arguments[length_name] = settings.answer_tokens
        if settings.temperature is not None:
            arguments["temperature"] = settings.temperature
        if settings.seed is not None:
            arguments["seed"] = settings.seed
        if is_structured:
            arguments["response_format"] = _response_format(question)
        try:
            if settings.stream:
                return _joined(client.chat.completions.create(**arguments, stream=True), messages)
            return _whole(client.chat.completions.create(**arguments), messages)
        except (openai.OpenAIError, ProtocolError, ValueError) as error:
            refusal = refusal_of(error, key=self._key)
            if refusal.names("response_format", "json_schema", "guided") and is_structured:
                self.is_structured = False
                raise TryAgainError("structured output is not offered", wait=0.0) from error
            if refusal.names("max_completion_tokens") and length_name == "max_tokens":
                self._length_name = "max_completion_tokens"
                raise TryAgainError("max_tokens has another name", wait=0.0) from error
            if refusal.is_final:
                raise InputError(f"{self._place}: {refusal.message}") from error
            self._count_unanswered(refusal.message)
            raise RefusalError(refusal) from error

    def _connect(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                settings = self.settings
                try:
                    self._client = openai.OpenAI(
                        api_key=self._key or "no key",
                        base_url=settings.base_url,
                        max_retries=0,
                        timeout=settings.timeout,
                    )
                except (openai.OpenAIError, ValueError, TypeError) as error:
                    raise InputError(f"{self._place}: cannot be used ({error}); check --base-url") from error
            return self._client

    @property
    def _place(self) -> str:
        """Return the server and model for messages, without what stands in the address before an ``@``."""
        address = self.settings.base_url or os.environ.get(BASE_URL_VARIABLE) or "https://api.openai.com/v1"
        scheme, _, rest = address.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]} ({self.settings.model})"


def today() -> str:
    """Return the local date, as ``2026-11-22``."""
    return datetime.now().astimezone().date().isoformat()


def _whole(completion: object, messages: Sequence[Mapping[str, str]]) -> Answer:
    """Return the answer in a response that came at once."""
    if not isinstance(completion, ChatCompletion):  # the package returns a response that is no JSON as it is
        raise ProtocolError(str(completion))
    if not completion.choices:
        raise TryAgainError("the response has no choices")
    choice = completion.choices[0]
    text = choice.message.content if isinstance(choice.message.content, str) else ""
    return _answer_of(text, choice.finish_reason, completion.usage, messages)


def _joined(stream: Any, messages: Sequence[Mapping[str, str]]) -> Answer:
    """Return the answer in a response that came piece by piece.

    Raises:
        TryAgainError: it ended before the model had finished.
    """
    if not isinstance(stream, openai.Stream):
        raise ProtocolError(str(stream))
    parts: list[str] = []
    finish, usage = None, None
    with stream:
        for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            for choice in chunk.choices or ():
                parts.append(choice.delta.content or "")
                finish = choice.finish_reason or finish
    if finish is None:
        raise TryAgainError("the answer was cut off")
    return _answer_of("".join(parts), finish, usage, messages)


def _answer_of(text: str, finish: str | None, usage: Any, messages: Sequence[Mapping[str, str]]) -> Answer:
    prompt_tokens = getattr(usage, "prompt_tokens", None)
    answer_tokens = getattr(usage, "completion_tokens", None)
    return Answer(
        text=text.encode("utf-8", "replace").decode("utf-8"),
        finish=finish or "",
        prompt_tokens=prompt_tokens if isinstance(prompt_tokens, int) else _estimated_tokens(messages),
        answer_tokens=answer_tokens if isinstance(answer_tokens, int) else len(text) // CHARACTERS_PER_TOKEN + 1,
        date=today(),
    )


def _estimated_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(len(message["content"]) for message in messages) // CHARACTERS_PER_TOKEN + 1


def _response_format(question: Question) -> dict[str, Any]:
    schema = question.answer.model_json_schema()
    name = question.prompt.replace("-", "_")
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}
