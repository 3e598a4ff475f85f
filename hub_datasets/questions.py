"""What is asked of a language model and what came of it; how it is asked, and how much may be asked."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from hub_datasets.answer_cache import Answer
from hub_datasets.json_answers import Value
from turkic_idiom_tasks.errors import InputError

FIRST_WAIT = 1.0  # seconds before the second attempt; doubled before each further one
TYPICAL_ANSWER = 150  # tokens of an answer, where none is known
GO_ON = "the answers so far are kept; run the same command again to go on"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server is asked.

    Attributes:
        model: name of the model on the server.
        base_url: address of the server, mostly ending in ``/v1``; None is that of OPENAI_BASE_URL, then OpenAI.
        temperature: None leaves it to the server, as some models demand.
        answer_tokens: longest answer, thoughts included.
        seed: sent to the server if given; few servers promise anything for it.
        structured: whether to ask for output that follows the schema; given up if the server refuses it.
        stream: whether the answer is sent piece by piece, which keeps slow servers from timing out.
        timeout: seconds without a sign of the server.
        concurrency: requests at the same time.
        first_wait: seconds before a failed request is sent again; doubled each time.
    """

    model: str
    base_url: str | None = None
    temperature: float | None = 0.0
    answer_tokens: int = 4096
    seed: int | None = None
    structured: bool = True
    stream: bool = False
    timeout: float = 120.0
    concurrency: int = 4
    first_wait: float = FIRST_WAIT

    @property
    def parameters(self) -> dict[str, Any]:
        """What can change an answer, and so belongs to its key in the cache."""
        return {"temperature": self.temperature, "answer_tokens": self.answer_tokens, "seed": self.seed}


@dataclass(slots=True)
class Budget:
    """How much may be sent, over all models of a command, and how much was.

    Attributes:
        max_requests: None is no limit. Repairs and repeated requests count.
        max_tokens: of questions and answers together; None is no limit. Those of requests that are under way when the
            limit is reached come on top.
        requests: sent so far.
        tokens: of the answers that came so far, and of their questions.
    """

    max_requests: int | None = None
    max_tokens: int | None = None
    requests: int = 0
    tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def take_request(self) -> None:
        """Count a request that is about to be sent.

        Raises:
            BudgetError: nothing is left.
        """
        with self._lock:
            if self.max_requests is not None and self.requests >= self.max_requests:
                raise BudgetError(f"--max-requests {self.max_requests} are used up; {GO_ON}")
            if self.max_tokens is not None and self.tokens >= self.max_tokens:
                raise BudgetError(f"--max-tokens {self.max_tokens} are used up ({self.tokens:,} so far); {GO_ON}")
            self.requests += 1

    def add_tokens(self, answer: Answer) -> None:
        """Count the tokens of a request that was answered."""
        with self._lock:
            self.tokens += answer.prompt_tokens + answer.answer_tokens


class BudgetError(InputError):
    """No budget is left; every answer so far is in the cache."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        prompt: name and version of the prompt.
        messages: the conversation that asks it.
        answer: the fields of the JSON object to answer with.
    """

    prompt: str
    messages: Sequence[Mapping[str, str]]
    answer: type[BaseModel]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a question.

    Attributes:
        value: the answer; None if it could not be read, also after a second try, or the server refused the question.
        problem: why there is no value; None if there is one.
        text: what the model wrote, the last time.
        date: day of the answer; empty if there is none.
    """

    value: BaseModel | None
    problem: str | None
    text: str
    date: str

    def of(self, answer: type[Value]) -> Value | None:
        """Return the value as what it is."""
        return self.value if isinstance(self.value, answer) else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What questions would cost; tokens are estimated from characters.

    Attributes:
        questions: all of them.
        requests: those that are not in the cache; repairs come on top.
        prompt_tokens: of these requests.
        answer_tokens: of their answers, as long as those in the cache on average, or `TYPICAL_ANSWER`.
    """

    questions: int
    requests: int
    prompt_tokens: int
    answer_tokens: int
