"""Functions that the task files in ``lm_eval_tasks/`` name: documents, prompts, filters, and results of a sample."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from datasets import ClassLabel, DatasetDict, Features, List, Value
from datasets import Dataset as HarnessDataset

from turkic_idiom_tasks.dataset.sentences import TaggedSentence, idiom_clusters
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.spans import prompts
from turkic_idiom_tasks.tasks.spans.answers import read_answer
from turkic_idiom_tasks.tasks.spans.scoring import SUBWORD_METRICS, WORD_METRICS, sample
from turkic_idiom_tasks.tasks.spans.subwords import project_tags

log = logging.getLogger("turkic_idiom_tasks")

Document = Mapping[str, Any]

_SPAN = {"start": Value("int32"), "end": Value("int32"), "text": Value("string")}
_FEATURES = Features(
    {
        "id": Value("string"),
        "concept": Value("string"),  # unit of the resampling for the interval
        "lang": Value("string"),
        "idiom": Value("string"),
        "sentence": Value("string"),
        "tokens": List(Value("string")),
        "ner_tags": List(ClassLabel(names=list(LABELS))),
        "spans": List(_SPAN),
    }
)


def load(language: str, **_metadata: Any) -> DatasetDict:
    """Return the splits of a language; few-shot examples come from ``train``.

    Args:
        language: code.
        _metadata: values of ``--metadata``, which lm-eval passes; not used.

    Raises:
        InputError: the data has no test sentence in the language, or cannot be used.
    """
    show_input_errors_as_one_line()  # the start-up hook does this too, but may be turned off
    dataset = current_dataset()
    splits = dataset.sentences(language)
    n_test = len(splits[TEST])
    if n_test < SMALL_N:
        log.warning(
            "turkic_idiom_span_%s: only %d test sentences in %s; read the interval, not the score",
            language,
            n_test,
            dataset.path,
        )
    harness_splits = DatasetDict()
    for split, sentences in splits.items():
        concepts = idiom_clusters(sentences)
        columns: dict[str, list[Any]] = {name: [] for name in _FEATURES}
        for sentence in sentences:
            document = sentence.document() | {"concept": concepts[sentence.id]}
            for name, column in columns.items():
                column.append(document[name])
        harness_splits[split] = HarnessDataset.from_dict(columns, features=_FEATURES)
    return harness_splits


load_tr, load_az, load_tk, load_gag, load_uz = (partial(load, code) for code in ("tr", "az", "tk", "gag", "uz"))


def text_json(document: Document) -> str:
    """Return the English prompt for a JSON answer."""
    return prompts.json_prompt(document["sentence"], document["lang"])


def text_xml(document: Document) -> str:
    """Return the English prompt for a tagged sentence."""
    return prompts.xml_prompt(document["sentence"], document["lang"])


def text_native(document: Document) -> str:
    """Return the prompt in the sentence's own language, for a JSON answer."""
    return prompts.native_prompt(document["sentence"], document["lang"])


def target_json(document: Document) -> str:
    """Return the right JSON answer."""
    return prompts.json_answer(_sentence(document))


def target_xml(document: Document) -> str:
    """Return the right tagged sentence."""
    return prompts.xml_answer(_sentence(document))


def filter_strict(responses: Iterable[Sequence[Any]], documents: Iterable[Document]) -> list[list[str]]:
    """Return the strict reading of each response as JSON; see `answers`."""
    return _read(responses, documents, strict=True)


def filter_flexible(responses: Iterable[Sequence[Any]], documents: Iterable[Document]) -> list[list[str]]:
    """Return the flexible reading of each response as JSON; see `answers`."""
    return _read(responses, documents, strict=False)


def process_results(document: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the values of one sample for every metric: concept, gold and predicted tags of words and sub-words.

    Raises:
        InputError: the request was made from another document, because lm-eval's cache of requests ignores the data.
    """
    answer = json.loads(results[0])
    if answer["document"] != _fingerprint(document):
        raise InputError(
            f"{document['lang']}, sentence {document['id']!r}: lm-eval took the request from its cache, which holds "
            "other data; run it again with --cache_requests refresh"
        )
    gold = [LABELS[number] for number in document["ner_tags"]]
    words = sample(document["concept"], gold, answer["tags"])
    subwords = None
    if answer["subwords"] is not None:
        labels, owners = answer["subwords"]["labels"], answer["subwords"]["words"]
        subwords = sample(document["concept"], project_tags(gold, owners), labels)
    errors = {"format_error": float(answer["format_error"]), "unmatched_spans": float(answer["unmatched_spans"])}
    return dict.fromkeys(WORD_METRICS, words) | dict.fromkeys(SUBWORD_METRICS, subwords) | errors


def _sentence(document: Document) -> TaggedSentence:
    return TaggedSentence(
        id=document["id"],
        language=document["lang"],
        idiom=document["idiom"],
        sentence=document["sentence"],
        tokens=tuple(document["tokens"]),
        tags=tuple(LABELS[number] for number in document["ner_tags"]),
    )


def _fingerprint(document: Document) -> str:
    """Return a short hash of the document that a request is made from."""
    text = "\n".join([document["id"], document["sentence"], *document["tokens"]])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _read(responses: Iterable[Sequence[Any]], documents: Iterable[Document], *, strict: bool) -> list[list[str]]:
    answers_by_document = []
    for document_responses, document in zip(responses, documents, strict=True):
        language = LANGUAGES[document["lang"]]
        rows = []
        for response in document_responses:
            answer = read_answer(response, document["sentence"], document["tokens"], language, strict=strict)
            row = {
                "document": _fingerprint(document),
                "tags": answer.tags,
                "format_error": int(answer.format_error),
                "unmatched_spans": answer.unmatched_spans,
                "subwords": None if answer.format_error else _subwords(response, len(document["tokens"])),
            }
            rows.append(json.dumps(row))  # lm-eval logs texts
        answers_by_document.append(rows)
    return answers_by_document


def _subwords(response: str, n_words: int) -> dict[str, list[Any]] | None:
    """Return the labels of the sub-words and the word of each; None unless a token classifier answered."""
    if not response.startswith('{"bio"'):
        return None
    try:
        value = json.loads(response)["subwords"]
        labels, owners = value["labels"], value["words"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not (isinstance(labels, list) and isinstance(owners, list) and len(labels) == len(owners)):
        return None
    are_tags = all(label in LABELS for label in labels)
    are_words = all(type(owner) is int and 0 <= owner < n_words for owner in owners)
    return {"labels": labels, "words": owners} if are_tags and are_words else None
