"""What the task files of the spans in ``lm_eval_tasks/`` name: documents, prompts, filters and metrics."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from datasets import Dataset as HarnessDataset

from turkic_idiom_tasks.dataset.sentences import TaggedSentence, idiom_clusters
from turkic_idiom_tasks.harnesses import lm_eval_bridge as bridge
from turkic_idiom_tasks.harnesses.lm_eval_bridge import Document, Part
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.spans import f1_sums, span_counts, token_counts
from turkic_idiom_tasks.results.item_answers import row_digest
from turkic_idiom_tasks.spans import LABELS, OUTSIDE
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.spans.answers import read_answer
from turkic_idiom_tasks.tasks.spans.prompts import question, right_answer
from turkic_idiom_tasks.tasks.spans.subwords import project_tags


def load(language: str, *, found: bool = False, **_metadata: Any) -> dict[str, HarnessDataset]:
    """Return the splits of a language; few-shot examples come from ``train``, which found text lacks."""
    dataset = bridge.open_data(found=found)
    sentences_by_split = dataset.sentences(language)
    task = f"turkic_idiom_span_{'found_' if found else ''}{language}"
    bridge.warn_if_small(task, len(sentences_by_split[TEST]), "sentences", dataset)
    splits = {}
    for split, sentences in sentences_by_split.items():
        concepts = idiom_clusters(sentences)
        documents = []
        for sentence in sentences:
            about = {"concept": concepts[sentence.id], "digest": row_digest(sentence)}
            documents.append(sentence.document() | about)
        splits[split] = HarnessDataset.from_list(documents)
    return splits


def _text(document: Document, *, prompt: str) -> str:
    return question(document["sentence"], document["lang"], prompt=prompt)


def _target(document: Document, *, prompt: str) -> str:
    sentence = TaggedSentence(
        id=document["id"],
        language=document["lang"],
        idiom=document["idiom"],
        sentence=document["sentence"],
        tokens=tuple(document["tokens"]),
        tags=tuple(LABELS[number] for number in document["ner_tags"]),
    )
    return right_answer(sentence, prompt=prompt)


def _read(document: Document, response: str, *, strict: bool) -> dict[str, Any]:
    language, tokens = LANGUAGES[document["lang"]], document["tokens"]
    tags = read_answer(response, document["sentence"], tokens, language, strict=strict)
    return {
        "tags": [OUTSIDE] * len(tokens) if tags is None else tags,
        "format_error": int(tags is None),
        "subwords": None if tags is None else _subwords(response, len(tokens)),
        "strict": strict,
    }


def _subwords(response: str, n_words: int) -> dict[str, list[Any]] | None:
    """Return the labels of the sub-words and the word of each; None unless a token classifier answered."""
    if not response.startswith('{"bio"'):
        return None
    # A language model may begin its answer in the same way, so nothing in it is taken for granted
    try:
        value = json.loads(response)["subwords"]
        labels, owners = value["labels"], value["words"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not (isinstance(labels, list) and isinstance(owners, list) and len(labels) == len(owners)):
        return None
    are_tags = all(label in LABELS for label in labels)
    # bool is a kind of int, and a language model may write `true` where a classifier has a number
    are_words = all(type(owner) is int and 0 <= owner < n_words for owner in owners)
    return {"labels": labels, "words": owners} if are_tags and are_words else None


def process_results(document: Document, results: Sequence[str]) -> dict[str, Part | None]:
    """Return metric -> part of the sentence; the flexible reading has the span F1 only."""
    reading = bridge.checked_reading(document, results)
    concept = document["concept"]
    gold = [LABELS[number] for number in document["ner_tags"]]
    metrics = {"f1": _f1(concept, span_counts([gold], [reading["tags"]]))}
    if not reading["strict"]:
        return metrics
    metrics |= {
        "token_f1": _f1(concept, token_counts([gold], [reading["tags"]])),
        "exact_match": bridge.part(concept, gold == reading["tags"]),
        "unreadable": bridge.part(concept, reading["format_error"]),
    }
    if reading["subwords"] is not None:  # of a token classifier
        labels, owners = reading["subwords"]["labels"], reading["subwords"]["words"]
        metrics["subword_f1"] = _f1(concept, token_counts([project_tags(gold, owners)], [labels]))
    return metrics


def _f1(concept: str, counts: npt.NDArray[np.int64]) -> Part | None:
    """Return the F1 of one sentence, by which it has its part in the F1 of all; None if nothing is there or found."""
    ((numerator, denominator),) = f1_sums(counts)
    return bridge.part(concept, numerator / denominator, ratios=[(numerator, denominator)]) if denominator else None


# What the task files name: a loader for each language, texts of each prompt, and filters
globals().update({f"load_{code}": partial(load, code) for code in LANGUAGES})
text_json, text_xml, text_native = (partial(_text, prompt=prompt) for prompt in ("json", "xml", "native"))
target_json, target_xml = (partial(_target, prompt=prompt) for prompt in ("json", "xml"))
filter_strict = partial(bridge.read_responses, _read, strict=True)
filter_flexible = partial(bridge.read_responses, _read, strict=False)
