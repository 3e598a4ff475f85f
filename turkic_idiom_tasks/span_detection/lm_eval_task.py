"""What the task files in `harness/` name: documents, prompts, filters and what a sample adds to the scores."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from turkic_idiom_tasks.errors import InputError, for_command_line
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.statistics import SMALL_N
from turkic_idiom_tasks.span_detection import prompts
from turkic_idiom_tasks.span_detection.answers import read_answer
from turkic_idiom_tasks.span_detection.scoring import SUBWORD_SCORES, WORD_SCORES, sample
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence, current_spans
from turkic_idiom_tasks.span_detection.subwords import project_tags
from turkic_idiom_tasks.spans import LABELS

log = logging.getLogger("turkic_idiom_tasks")

_DOCUMENT_KEYS = ("id", "lang", "idiom", "sentence", "tokens", "ner_tags")


def load(language: str, **_metadata: Any) -> Any:
    """The splits of a language as a `datasets.DatasetDict`; few-shot examples come from ``train``.

    Args:
        language: code.
        _metadata: what lm-eval passes along from ``--metadata``; not used.

    Raises:
        InputError: the data has no test sentence in the language (SystemExit under the stock command).
    """
    from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value

    try:
        source = current_spans()
        splits = source.load(language)
    except InputError as error:
        raise for_command_line(error) from None
    n_test = len(splits["test"])
    if n_test < SMALL_N:
        log.warning(
            "turkic_idiom_span_%s: only %d test sentences in %s; read the interval, not the score",
            language,
            n_test,
            source.path,
        )
    span = {"start": Value("int32"), "end": Value("int32"), "text": Value("string")}
    features = Features(
        dict.fromkeys(("id", "lang", "idiom", "sentence"), Value("string"))
        | {"tokens": List(Value("string")), "ner_tags": List(ClassLabel(names=list(LABELS))), "spans": List(span)}
    )
    return DatasetDict({split: Dataset.from_dict(_columns(rows), features=features) for split, rows in splits.items()})


def _columns(rows: Sequence[TaggedSentence]) -> dict[str, list[Any]]:
    documents = [row.document() for row in rows]
    return {name: [document[name] for document in documents] for name in (*_DOCUMENT_KEYS, "spans")}


load_tr, load_az, load_tk, load_gag, load_uz = (partial(load, code) for code in ("tr", "az", "tk", "gag", "uz"))


def sentence_of(document: Mapping[str, Any]) -> TaggedSentence:
    """The tagged sentence that a document was made from."""
    key, language, idiom, text, tokens, numbers = (document[name] for name in _DOCUMENT_KEYS)
    return TaggedSentence(key, language, idiom, text, tuple(tokens), tuple(LABELS[number] for number in numbers))


def text_json(document: Mapping[str, Any]) -> str:
    """The English prompt for a JSON answer."""
    return prompts.json_prompt(document["sentence"], document["lang"])


def text_xml(document: Mapping[str, Any]) -> str:
    """The English prompt for a tagged sentence."""
    return prompts.xml_prompt(document["sentence"], document["lang"])


def text_native(document: Mapping[str, Any]) -> str:
    """The prompt in the sentence's own language, for a JSON answer."""
    return prompts.native_prompt(document["sentence"], document["lang"])


def target_json(document: Mapping[str, Any]) -> str:
    """The right JSON answer."""
    return prompts.json_answer(sentence_of(document))


def target_xml(document: Mapping[str, Any]) -> str:
    """The right tagged sentence."""
    return prompts.xml_answer(sentence_of(document))


def filter_strict(responses: Iterable[Sequence[Any]], documents: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """What the strict reading makes of each response; see `answers`."""
    return _read(responses, documents, strict=True)


def filter_flexible(responses: Iterable[Sequence[Any]], documents: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """What the flexible reading makes of each response; see `answers`."""
    return _read(responses, documents, strict=False)


def process_results(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """What one sample adds to every metric: idiom, gold tags and predicted tags, and those of the sub-words."""
    answer = json.loads(results[0])
    gold = [LABELS[number] for number in document["ner_tags"]]
    words = sample(document["idiom"], gold, answer["tags"])
    pieces = None
    if answer["subwords"] is not None:
        labels, owners = answer["subwords"]["labels"], answer["subwords"]["words"]
        pieces = sample(document["idiom"], project_tags(gold, owners), labels)
    errors = {name: float(answer[name]) for name in ("format_error", "unmatched_spans")}
    return dict.fromkeys(WORD_SCORES, words) | dict.fromkeys(SUBWORD_SCORES, pieces) | errors


def _read(responses: Iterable[Sequence[Any]], documents: Iterable[Mapping[str, Any]], *, strict: bool) -> list[Any]:
    found = []
    for answers, document in zip(responses, documents, strict=True):
        language = LANGUAGES[document["lang"]]
        rows = []
        for response in answers:
            answer = read_answer(response, document["sentence"], document["tokens"], language, strict=strict)
            row = {
                "tags": answer.tags,
                "format_error": int(answer.format_error),
                "unmatched_spans": answer.unmatched_spans,
                "subwords": None if answer.format_error else _subwords(response, len(document["tokens"])),
            }
            rows.append(json.dumps(row))  # as text, which is how lm-eval logs it
        found.append(rows)
    return found


def _subwords(response: str, n_words: int) -> dict[str, list[Any]] | None:
    """The labels of the sub-words, which only a token classifier answers, and the word that each belongs to."""
    if not response.startswith('{"bio"'):
        return None
    try:
        value = json.loads(response)["subwords"]
        labels, owners = value["labels"], value["words"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not (isinstance(labels, list) and isinstance(owners, list) and len(labels) == len(owners)):
        return None
    is_sound = all(label in LABELS for label in labels) and all(type(n) is int and 0 <= n < n_words for n in owners)
    return {"labels": labels, "words": owners} if is_sound else None
