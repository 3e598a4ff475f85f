"""What the modules that lm-eval's task files name share: the task class, readings of answers, and metrics."""

import hashlib
import json
import logging
import math
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from lm_eval.api.task import ConfigurableTask

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.harnesses import FOUND_VARIABLE
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Stratum, standard_error
from turkic_idiom_tasks.tasks.items.answers import likeliest

log = logging.getLogger("turkic_idiom_tasks")

Document = Mapping[str, Any]
Responses = Iterable[Sequence[Any]]  # for each document the responses to its requests
Ratios = Sequence[tuple[float, float]]  # parts in the numerator and the denominator of each ratio of a score

# A model that continues a text writes one line. A chat model may think first: it has the settings of the task files.
_CHAT = {"max_gen_toks": 256, "until": []}
_LINE = {"max_gen_toks": 64, "until": ["\n"]}


class Part(float):
    """What one answer adds to a metric: the number that lm-eval logs, and what the mean over all answers needs."""

    concept: str  # answers on one concept depend on each other
    ratios: Ratios
    pair: Hashable  # that the answer belongs to; None where answers count one by one


def part(concept: str, value: float, *, ratios: Ratios = (), pair: Hashable = None) -> Part:
    """Return the part of an answer in a metric, which is the mean of its values unless there are `ratios`."""
    result = Part(value)
    result.concept, result.ratios, result.pair = concept, ratios or ((value, 1.0),), pair
    return result


# Only what a mean over answers can say stands here: `turkic-idiom lm report` computes all other scores from the log
class Mean:
    """Score of a metric from its parts, the mean of its ratios; None is an answer that the metric leaves out."""

    def __call__(self, parts: Sequence[Part | None]) -> float:
        """Return the score; NaN if there is nothing to score."""
        ratios = []
        for stratum in self._strata(parts):
            numerator, denominator = stratum.sums.sum(axis=0)
            ratios.append(numerator / denominator)
        return float(np.mean(ratios)) if ratios else math.nan

    def standard_error(self, parts: Sequence[Part | None]) -> float:
        """Return the standard error, clustered by concept: that of lm-eval where every concept has one answer."""
        return standard_error(self._strata(parts))

    @staticmethod
    def _strata(parts: Sequence[Part | None]) -> list[Stratum]:
        """Return what is summed up for each ratio; nothing if one of them has no case."""
        counted = [one for one in parts if one is not None]
        pairs: dict[Hashable, list[Part]] = {}
        for one in counted:
            pairs.setdefault(one.pair, []).append(one)
        if None not in pairs:
            # A pair counts if both answers are there, and is right if both are
            counted = [min(both) for both in pairs.values() if len(both) == 2]
        sums = np.array([one.ratios for one in counted], dtype=np.float64)
        if not len(sums) or not sums[:, :, 1].any(axis=0).all():
            return []
        concepts = [one.concept for one in counted]
        return [Stratum(concepts, sums[:, number]) for number in range(sums.shape[1])]


mean = Mean()  # named by the task files


class IdiomTask(ConfigurableTask):
    """A task of ours: short answers of a model that continues a text, and no warning about ``--metadata``."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        # lm-eval hands over the key by which it found this class; its own configuration has no such field
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    def download(self, dataset_kwargs: Mapping[str, Any] | None = None, **_options: Any) -> None:
        """Load the data by the function of the task file."""
        # Without the check of lm-eval, which would warn for each task that this function takes metadata
        self.dataset = self.config.custom_dataset(**(self.config.metadata or {}), **(dataset_kwargs or {}))

    def construct_requests(self, doc: Document, ctx: Any, **options: Any) -> Any:
        """Return the requests of a document; see lm-eval."""
        settings = self.config.generation_kwargs
        # Without a chat template a model would go on after its answer, but max_gen_toks and until of the user count
        if settings and not options.get("apply_chat_template") and _CHAT.items() <= settings.items():
            settings.update(_LINE)
        return super().construct_requests(doc, ctx, **options)


def open_data(*, found: bool = False) -> Dataset:
    """Return the data in use, or that of found text; an error in it is one line where lm-eval runs as a command."""
    # The start-up hook does this too, but may be turned off
    show_input_errors_as_one_line()
    if found and not os.environ.get(FOUND_VARIABLE):
        raise usage_error(
            f"{FOUND_VARIABLE} is not set: name the folder that `turkic-idiom dataset found --fetch --corpora corpora "
            "--out FOLDER` makes"
        )
    return current_dataset(os.environ[FOUND_VARIABLE] if found else "")


def warn_if_small(task: str, n_items: int, what: str, dataset: Dataset) -> None:
    """Warn about a task with so few test items (`what`) that its score says little."""
    if n_items < SMALL_N:
        log.warning("%s: only %d test %s in %s; read the interval, not the score", task, n_items, what, dataset.path)


def read_responses(
    read: Callable[..., dict[str, Any]], responses: Responses, documents: Iterable[Document], *, strict: bool
) -> list[list[str]]:
    """Return the reading of every response as JSON, with the mark of its document; a filter of lm-eval."""
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
    return likeliest(loglikelihoods)


def _fingerprint(document: Document) -> str:
    """Return a short hash of what a request is made of."""
    if "query" in document:
        texts = [document["id"], document["query"]]
    else:
        texts = [document["id"], document["sentence"], *document["tokens"]]
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _check_mark(document: Document, mark: str) -> None:
    """Make sure that a request was made from a document."""
    # The key of --cache_requests has the task, the number of examples and the tokenizer, but neither the data nor the
    # prompt: after a change lm-eval would ask the old questions, and score the answers by the new documents
    if mark != _fingerprint(document):
        raise InputError(
            f"document {document['id']!r}: lm-eval took the request from its cache, which holds other data or another "
            "prompt; run it again with --cache_requests refresh"
        )
