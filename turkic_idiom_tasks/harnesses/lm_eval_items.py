"""What the task files in ``lm_eval_tasks/items/`` name: documents, reading of answers, and scores.

A document is one item under one prompt. A sample is what a score is computed from, ``{"kind", "item", "prompt",
"answer"}``; lm-eval logs it, so every score can be computed again. The answer is the position of the chosen option, the
words of the open cloze, or None if the response could not be read. All scores come from `tasks.items.scoring`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypedDict

from datasets import Dataset as HarnessDataset
from datasets import Features, List, Value
from lm_eval.api.samplers import ContextSampler
from lm_eval.api.task import ConfigurableTask

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.metrics.choice import CHOICE_SCORES, CLOZE_SCORES, PAIR_SCORES
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items import prompts
from turkic_idiom_tasks.tasks.items.answers import read_letter, read_open
from turkic_idiom_tasks.tasks.items.cloze import surface_form
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, KINDS, USAGE, Item
from turkic_idiom_tasks.tasks.items.items import build_items, item_sets
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN
from turkic_idiom_tasks.tasks.items.scoring import score_prompts

log = logging.getLogger("turkic_idiom_tasks")

ALL_PROMPTS = "all"

Document = Mapping[str, Any]


_CHOICE = (*CHOICE_SCORES, "accuracy_spread")
METRICS: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, _CHOICE)  # kind of a task -> names of its scores
METRICS[USAGE] = (*(name for name in _CHOICE if not name.endswith("_share")), *PAIR_SCORES)  # it has no traps
METRICS[CLOZE_OPEN] = (*CLOZE_SCORES, "accepted_spread")


class Sample(TypedDict):
    """One answer, ready to be scored."""

    kind: str
    item: str
    prompt: str
    answer: int | str | None


_FEATURES = Features(
    {
        "id": Value("string"),
        "kind": Value("string"),  # of the task: `cloze_open` is apart from `cloze`
        "concept": Value("string"),  # unit of the resampling for the interval
        "lang": Value("string"),
        "target_lang": Value("string"),
        "idiom": Value("string"),
        "text": Value("string"),
        "options": List(Value("string")),
        "traps": List(Value("string")),
        "gold": Value("int32"),
        "prompt": Value("string"),
        "query": Value("string"),
        "letters": List(Value("string")),
        "answer": Value("string"),
    }
)


class _Splits(dict[str, HarnessDataset]):
    """Splits of a task, each built when it is first asked for."""

    def __init__(self, build: Callable[[str], HarnessDataset]) -> None:
        super().__init__()
        self._build = build

    def __missing__(self, split: str) -> HarnessDataset:
        self[split] = self._build(split)
        return self[split]


class ItemTask(ConfigurableTask):
    """A task whose examples (`--num_fewshot`) are training items under the prompt of the question itself.

    The training items are only built if examples are wanted.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._samplers: dict[str, ContextSampler] = {}
        self._seed: int | None = None
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    def fewshot_docs(self) -> None:
        """Return nothing, so that lm-eval builds no sampler of its own."""

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Begin to draw examples anew."""
        self._seed = seed
        self._samplers.clear()

    def fewshot_context(self, doc: Document, num_fewshot: int, *args: Any, **options: Any) -> Any:
        """Return the prompt of a document with its examples; see lm-eval."""
        if num_fewshot:
            if not self._samplers:
                self._make_samplers()
            self.sampler = self._samplers[doc["prompt"]]
        return super().fewshot_context(doc, num_fewshot, *args, **options)

    def _make_samplers(self) -> None:
        examples: dict[str, list[Document]] = {}
        for example in self.dataset[TRAIN]:
            examples.setdefault(example["prompt"], []).append(example)
        for variant, documents in examples.items():
            self._samplers[variant] = ContextSampler(documents, rnd=self._seed)


def load(
    kind: str, language: str, target: str = "", prompt: str = prompts.EN1, all_prompts: bool = False, **_metadata: Any
) -> Mapping[str, HarnessDataset]:
    """Return the splits of a task.

    Args:
        kind: a kind of items, or `CLOZE_OPEN`.
        language: code of the language of the idiom.
        target: code of the language of the options; only for `equivalent`.
        prompt: one of `prompts.VARIANTS`, or `ALL_PROMPTS`; given by the user as ``--metadata '{"prompt": "en2"}'``.
        all_prompts: whether every item is asked under every prompt.
        _metadata: other values of the task file and of ``--metadata``; not used.

    Raises:
        InputError: the data has no such test item or cannot be used, or there is no such prompt.
    """
    show_input_errors_as_one_line()  # the start-up hook does this too, but may be turned off
    variants = prompts.VARIANTS if all_prompts or prompt == ALL_PROMPTS else (prompt,)
    dataset = current_dataset()

    def build(split: str) -> HarnessDataset:
        items = items_of(dataset, kind, language, target, split=split)
        columns: dict[str, list[Any]] = {name: [] for name in _FEATURES}
        for item in items:
            for variant in variants:
                document = _document(dataset, item, kind=kind, variant=variant)
                for name, column in columns.items():
                    column.append(document[name])
        return HarnessDataset.from_dict(columns, features=_FEATURES)

    n_items = len(items_of(dataset, kind, language, target))
    name = "_".join(part for part in (kind, language, target) if part)
    if not n_items:
        raise InputError(f"{dataset.path}: has no test item for {name}; `turkic-idiom lm stats` lists what it has")
    if n_items < SMALL_N:
        log.warning("%s: only %d test items in %s; read the interval, not the score", name, n_items, dataset.path)
    if not dataset.lexicon.equivalents:
        log.warning(
            "%s: %s has no judged equivalents, so traps are only kept apart from the answer by how close they are",
            name,
            dataset.path,
        )
    return _Splits(build)


def items_of(dataset: Dataset, kind: str, language: str, target: str = "", *, split: str = TEST) -> tuple[Item, ...]:
    """Return the items that a task asks."""
    return build_items(dataset, CLOZE if kind == CLOZE_OPEN else kind, language, target or None, split=split)


def filter_loglikelihood(responses: Iterable[Sequence[Any]], documents: Iterable[Document]) -> list[list[list[Any]]]:
    """Return the loglikelihoods of the option of each request, with the fingerprint of its document."""
    filtered = []
    for option_responses, document in zip(responses, documents, strict=True):
        mark = _fingerprint(document)
        filtered.append([[mark, loglikelihood] for loglikelihood, _ in option_responses])
    return filtered


def filter_strict(responses: Iterable[Sequence[Any]], documents: Iterable[Document]) -> list[list[str]]:
    """Return the strict reading of each response as JSON; see `tasks.items.answers`."""
    return _read(responses, documents, strict=True)


def filter_flexible(responses: Iterable[Sequence[Any]], documents: Iterable[Document]) -> list[list[str]]:
    """Return the flexible reading of each response as JSON; see `tasks.items.answers`."""
    return _read(responses, documents, strict=False)


def process_loglikelihoods(document: Document, results: Sequence[Sequence[Any]]) -> dict[str, Sample]:
    """Return the sample for every metric; see `likeliest_option`.

    Raises:
        InputError: the requests were made from another document; see `_check`.
    """
    return _samples(document, likeliest_option(document, results))


def process_results(document: Document, results: Sequence[str]) -> dict[str, Sample]:
    """Return the sample for every metric.

    Raises:
        InputError: the request was made from another document; see `_check`.
    """
    return _samples(document, read_answer(document, results))


def likeliest_option(document: Document, results: Sequence[Sequence[Any]]) -> int | None:
    """Return the position of the most likely letter, the first one of equally likely ones; None for NaN.

    Args:
        document: what was asked.
        results: what `filter_loglikelihood` has returned for it.

    Raises:
        InputError: the requests were made from another document; see `_check`.
    """
    loglikelihoods = []
    for mark, loglikelihood in results:
        _check(document, mark)
        loglikelihoods.append(float(loglikelihood))
    if any(map(math.isnan, loglikelihoods)):
        return None
    return loglikelihoods.index(max(loglikelihoods))


def read_answer(document: Document, results: Sequence[str]) -> int | str | None:
    """Return the position of the option that was written, or the words of the open cloze; None if unreadable.

    Args:
        document: what was asked.
        results: what `filter_strict` or `filter_flexible` has returned for it.

    Raises:
        InputError: the request was made from another document; see `_check`.
    """
    reading = json.loads(results[0])
    _check(document, reading["document"])
    answer: int | str | None = reading["answer"]
    return answer


def score_samples(samples: Iterable[Sample]) -> dict[str, float]:
    """Return name -> score of the samples of one task.

    Raises:
        InputError: an item is not in the data in use.
    """
    dataset = current_dataset()
    by_prompt: dict[str, tuple[list[Item], list[Any]]] = {}
    kind = ""
    for sample in samples:
        kind = sample["kind"]
        items, answers = by_prompt.setdefault(sample["prompt"], ([], []))
        items.append(_item(dataset, sample["item"]))
        answers.append(sample["answer"])

    return score_prompts(by_prompt, lexicon=dataset.lexicon if kind == CLOZE_OPEN else None)


def _samples(document: Document, answer: int | str | None) -> dict[str, Sample]:
    sample = Sample(kind=document["kind"], item=document["id"], prompt=document["prompt"], answer=answer)
    return dict.fromkeys(METRICS[document["kind"]], sample)


def _document(dataset: Dataset, item: Item, *, kind: str, variant: str) -> dict[str, Any]:
    if kind == CLOZE_OPEN:
        query = prompts.open_prompt(item, variant)
        answer = surface_form(dataset.lexicon.of(item.language)[item.concept], item.language)
    else:
        query = prompts.prompt(item, variant)
        answer = prompts.letters(item)[item.gold]
    return {
        "id": item.id,
        "kind": kind,
        "concept": item.concept,
        "lang": item.language,
        "target_lang": item.target,
        "idiom": item.idiom,
        "text": item.text,
        "options": [option.text for option in item.options],
        "traps": [option.trap for option in item.options],
        "gold": item.gold,
        "prompt": variant,
        "query": query,
        "letters": list(prompts.letters(item)),
        "answer": answer,
    }


def _read(responses: Iterable[Sequence[Any]], documents: Iterable[Document], *, strict: bool) -> list[list[str]]:
    filtered = []
    for document_responses, document in zip(responses, documents, strict=True):
        rows = []
        for response in document_responses:
            answer: int | str | None
            if document["kind"] == CLOZE_OPEN:
                answer = read_open(response, document["text"], strict=strict)
            else:
                answer = read_letter(response, len(document["letters"]), strict=strict)
            row = {"document": _fingerprint(document), "answer": answer}
            rows.append(json.dumps(row, ensure_ascii=False))  # lm-eval logs texts
        filtered.append(rows)
    return filtered


def _fingerprint(document: Document) -> str:
    """Return a short hash of the document that a request is made from."""
    text = f"{document['id']}\n{document['query']}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _check(document: Document, mark: str) -> None:
    """Make sure that a request was made from a document, because lm-eval's cache of requests ignores the data."""
    if mark != _fingerprint(document):
        raise InputError(
            f"item {document['id']!r}: lm-eval took the request from its cache, which holds other data or another "
            "prompt; run it again with --cache_requests refresh"
        )


@lru_cache(maxsize=128)
def _items_by_id(dataset: Dataset, set_name: str) -> Mapping[str, Item]:
    for item_set in item_sets():
        if item_set.name == set_name:
            target = item_set.target if item_set.kind == EQUIVALENT else ""
            return {item.id: item for item in items_of(dataset, item_set.kind, item_set.language, target)}
    return {}


def _item(dataset: Dataset, item_id: str) -> Item:
    items = _items_by_id(dataset, item_id.partition("/")[0])
    if item_id not in items:
        raise InputError(f"{dataset.path}: has no test item {item_id!r}; score answers with the data that was asked")
    return items[item_id]


@lru_cache(maxsize=4)  # lm-eval computes one metric at a time
def _scores(samples: tuple[tuple[Any, ...], ...]) -> Mapping[str, float]:
    rows = []
    for kind, item, variant, answer in samples:
        rows.append(Sample(kind=kind, item=item, prompt=variant, answer=answer))
    return score_samples(rows)


def _score(name: str, samples: Sequence[Sample]) -> float:
    rows = [(sample["kind"], sample["item"], sample["prompt"], sample["answer"]) for sample in samples]
    return _scores(tuple(rows))[name]


# Functions that the task files name, one for each metric.
Score = Callable[[Sequence[Sample]], float]
accuracy: Score = partial(_score, "accuracy")
accuracy_corrected: Score = partial(_score, "accuracy_corrected")
accuracy_ci_low: Score = partial(_score, "accuracy_ci_low")
accuracy_ci_high: Score = partial(_score, "accuracy_ci_high")
accuracy_spread: Score = partial(_score, "accuracy_spread")
near_share: Score = partial(_score, "near_share")
lexical_share: Score = partial(_score, "lexical_share")
random_share: Score = partial(_score, "random_share")
pair_accuracy: Score = partial(_score, "pair_accuracy")
pair_accuracy_ci_low: Score = partial(_score, "pair_accuracy_ci_low")
pair_accuracy_ci_high: Score = partial(_score, "pair_accuracy_ci_high")
recall_figurative: Score = partial(_score, "recall_figurative")
recall_literal: Score = partial(_score, "recall_literal")
exact: Score = partial(_score, "exact")
accepted: Score = partial(_score, "accepted")
accepted_ci_low: Score = partial(_score, "accepted_ci_low")
accepted_ci_high: Score = partial(_score, "accepted_ci_high")
accepted_spread: Score = partial(_score, "accepted_spread")
lemma: Score = partial(_score, "lemma")
unreadable: Score = partial(_score, "unreadable")
n_items: Score = partial(_score, "n_items")
n_concepts: Score = partial(_score, "n_concepts")
small_sample: Score = partial(_score, "small_sample")
