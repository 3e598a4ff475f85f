"""What the modules that lm-eval's task files name share: splits, readings of answers, and scores of samples.

lm-eval computes a metric from the values that ``process_results`` returned for it. Our scores are computed together, so
the value of every metric is the whole sample, from which each score can be computed again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N

log = logging.getLogger("turkic_idiom_tasks")

Document = Mapping[str, Any]
Responses = Iterable[Sequence[Any]]  # for each document the responses to its requests


def open_data() -> Dataset:
    """Return the data in use; an error in it is one line where lm-eval runs as a command."""
    show_input_errors_as_one_line()  # the start-up hook does this too, but may be turned off
    return current_dataset()


def warn_if_small(task: str, n_items: int, what: str, dataset: Dataset) -> None:
    """Warn about a task with so few test items (`what`) that its score says little."""
    if n_items < SMALL_N:
        log.warning("%s: only %d test %s in %s; read the interval, not the score", task, n_items, what, dataset.path)


def read_responses(
    read: Callable[..., dict[str, Any]], responses: Responses, documents: Iterable[Document], *, strict: bool
) -> list[list[str]]:
    """Return the reading of every response as JSON, with the mark of its document; a filter of lm-eval.

    `read` returns the reading of one response from the document, the response, and the keyword `strict`.
    """
    filtered = []
    for document_responses, document in zip(responses, documents, strict=True):
        readings = []
        for response in document_responses:
            reading = {"document": _fingerprint(document), **read(document, response, strict=strict)}
            readings.append(json.dumps(reading, ensure_ascii=False))  # lm-eval logs texts
        filtered.append(readings)
    return filtered


def checked_reading(document: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the reading that `read_responses` made of the only response to a document; see `_check_mark`."""
    reading: dict[str, Any] = json.loads(results[0])
    _check_mark(document, reading["document"])
    return reading


def mark_loglikelihoods(responses: Responses, documents: Iterable[Document]) -> list[list[list[Any]]]:
    """Return the loglikelihood of the option of each request, with the mark of its document; a filter of lm-eval."""
    filtered = []
    for option_responses, document in zip(responses, documents, strict=True):
        mark = _fingerprint(document)
        filtered.append([[mark, loglikelihood] for loglikelihood, _ in option_responses])
    return filtered


def likeliest_option(document: Document, results: Sequence[Sequence[Any]]) -> int | None:
    """Return the position of the most likely option, the first of equals, by `mark_loglikelihoods`; None for NaN."""
    loglikelihoods = []
    for mark, loglikelihood in results:
        _check_mark(document, mark)
        loglikelihoods.append(float(loglikelihood))
    if any(map(math.isnan, loglikelihoods)):
        return None
    return loglikelihoods.index(max(loglikelihoods))


def metric_functions(
    names: Iterable[str], compute: Callable[[list[Any]], Mapping[str, float]]
) -> dict[str, Callable[[Sequence[Any]], float]]:
    """Return name -> function from the samples of a task to that score.

    lm-eval takes the function of a metric from an attribute of a module, so the modules of the tasks add these to their
    own. `compute` returns all scores of samples; they are kept, because lm-eval computes one metric at a time.
    """

    @lru_cache(maxsize=4)  # by text, because lists have no hash
    def scores(samples: str) -> Mapping[str, float]:
        return compute(json.loads(samples))

    def score(name: str, samples: Sequence[Any]) -> float:
        return scores(json.dumps(samples))[name]

    return {name: partial(score, name) for name in names}


def _fingerprint(document: Document) -> str:
    """Return a short hash of what a request is made of."""
    if "query" in document:
        texts = [document["id"], document["query"]]
    else:
        texts = [document["id"], document["sentence"], *document["tokens"]]
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _check_mark(document: Document, mark: str) -> None:
    """Make sure that a request was made from a document.

    The key of ``--cache_requests`` has the task, the number of examples and the tokenizer, but neither the data nor
    the prompt: after a change lm-eval would ask the old questions, and score the answers by the new documents.
    """
    if mark != _fingerprint(document):
        raise InputError(
            f"document {document['id']!r}: lm-eval took the request from its cache, which holds other data or another "
            "prompt; run it again with --cache_requests refresh"
        )
