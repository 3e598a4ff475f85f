"""Scores of answers to items: one scorer for lm-eval, Inspect and the leaderboard."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.metrics.choice import (
    CHOICE_SCORES,
    CLOZE_SCORES,
    PAIR_SCORES,
    choice_scores,
    cloze_scores,
    pair_scores,
)
from turkic_idiom_tasks.orthography import clean, fold
from turkic_idiom_tasks.tasks.items.cloze import BLANK, blanked, blanked_form, can_be_blanked
from turkic_idiom_tasks.tasks.items.item_types import FIGURATIVE, USAGE, Item
from turkic_idiom_tasks.tasks.items.items import KINDS
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN

_CHOICE = (*CHOICE_SCORES, "accuracy_spread")
SCORES = {  # kind of a task -> names of its scores
    **dict.fromkeys(KINDS, _CHOICE),
    USAGE: (*(name for name in _CHOICE if not name.endswith("_share")), *PAIR_SCORES),  # it has no traps
    CLOZE_OPEN: (*CLOZE_SCORES, "accepted_spread"),
}
SUMMED = ("n_items", "n_concepts")
NO_MACRO = ("_ci_low", "_ci_high")  # the mean of interval ends is the end of no interval


@dataclass(frozen=True, slots=True)
class OpenClozeJudgement:
    """How an idiom that was filled into a blank is judged; what is exact has the lemma, and that is accepted."""

    is_exact: bool  # it is the form that stood in the sentence, whatever its letter case
    has_lemma: bool  # its words have the stems of that form, one by one
    is_accepted: bool  # the annotator places it, a variant or an idiom judged to mean the same where the blank is


def score_items(items: Sequence[Item], answers: Sequence[int | None]) -> dict[str, float]:
    """Return name -> score of the items of one set; see `metrics.choice`. `usage` has the scores of pairs besides.

    An answer is the position of the chosen option, or None if it could not be read; anything else is a ValueError.
    """
    return _choice_scores(items, answers, pairs=[item.concept for item in items])


def score_open_cloze(items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon) -> dict[str, float]:
    """Return name -> score of idioms that were filled into the blanks of `cloze` items; see `metrics.choice`.

    Arguments and errors are those of `judge_open_cloze`.
    """
    judgements = judge_open_cloze(items, answers, lexicon)
    return cloze_scores(
        [judgement.is_exact for judgement in judgements],
        [judgement.is_accepted for judgement in judgements],
        [judgement.has_lemma for judgement in judgements],
        unreadable=[answer is None for answer in answers],
        concepts=[item.concept for item in items],
    )


def judge_open_cloze(
    items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon
) -> list[OpenClozeJudgement]:
    """Return the judgement of each text that was filled into the blank of a `cloze` item; None could not be read.

    Another number of answers than of items is a ValueError; a lexicon that the items were not made from, an InputError.
    """
    same = lexicon.judged(SAME)
    judgements = []
    for item, answer in zip(items, answers, strict=True):
        entries, language = lexicon.of(item.language), LANGUAGES[item.language]
        entry = entries.get(item.concept)
        if entry is None or not can_be_blanked(entry) or blanked(entry) != item.text:
            raise InputError(
                f"{lexicon.source or 'the lexicon'}: has no example for {item.id!r} with the text {item.text!r}; score "
                "answers with the data that the items were made from"
            )
        text = clean(answer, language) if answer is not None else ""
        alike = [entry, *(entries[concept] for concept in sorted(same.get(item.concept, ())) if concept in entries)]
        is_exact = fold(text, language) == fold(blanked_form(entry), language)
        # The annotator does not know every form of every idiom, so what has the same stems is accepted without it
        has_lemma = is_exact or _has_stems(text, blanked_form(entry), item.language)
        is_accepted = has_lemma or any(_is_placed(text, item, other) for other in alike)
        judgements.append(OpenClozeJudgement(is_exact, has_lemma, is_accepted))
    return judgements


def macro(scores_by_set: Mapping[str, Mapping[str, float] | None]) -> dict[str, float]:
    """Return name -> mean over sets, each with the same weight; NaN where a set has no such score.

    Numbers of items and concepts are added up, `small_sample` is 1 if any set is small. Ends of intervals are left out.
    A set without scores (None) belongs to the mean but was not answered.
    """
    names: dict[str, None] = {}
    for scores in scores_by_set.values():
        names |= dict.fromkeys(scores or ())
    means = {}
    for name in names:
        if name.endswith(NO_MACRO):
            continue
        values = [math.nan if scores is None else scores.get(name, math.nan) for scores in scores_by_set.values()]
        if name == "small_sample":
            means[name] = math.nan if any(map(math.isnan, values)) else max(values)
        else:
            means[name] = sum(values) if name in SUMMED else sum(values) / len(values)
    return means


def score_prompts(
    answers_by_prompt: Mapping[str, tuple[Sequence[Item], Sequence[Any]]], *, lexicon: Lexicon | None = None
) -> dict[str, float]:
    """Return name -> score of the same items asked under one or several prompts.

    With one prompt these are its scores. With several they are the means over the prompts; ``accuracy_spread`` (open
    cloze: ``accepted_spread``) is the highest minus the lowest of them. Intervals are those of the means and resample
    concepts, each with all its answers.
    Answers are as `score_items` and `score_open_cloze` take them; the lexicon of the items is given for the open cloze.
    """
    scores_by_prompt: dict[str, dict[str, float]] = {}
    all_items: list[Item] = []
    all_answers: list[Any] = []
    pairs: list[tuple[str, str]] = []  # prompt and concept of each item
    for prompt, (items, answers) in answers_by_prompt.items():
        scores_by_prompt[prompt] = (
            score_items(items, answers) if lexicon is None else score_open_cloze(items, answers, lexicon)
        )
        all_items.extend(items)
        all_answers.extend(answers)
        pairs.extend((prompt, item.concept) for item in items)
    main = "accuracy" if lexicon is None else "accepted"
    if len(scores_by_prompt) == 1:
        (scores,) = scores_by_prompt.values()
        return scores | {f"{main}_spread": math.nan}
    # Pooled for the intervals, which resample a concept with its answers under all prompts
    if lexicon is None:
        pooled = _choice_scores(all_items, all_answers, pairs=pairs)
    else:
        pooled = score_open_cloze(all_items, all_answers, lexicon)
    mains = [scores[main] for scores in scores_by_prompt.values()]
    sizes = {
        "n_items": max(scores["n_items"] for scores in scores_by_prompt.values()),
        "n_concepts": pooled["n_concepts"],
    }
    return pooled | macro(scores_by_prompt) | {f"{main}_spread": max(mains) - min(mains)} | sizes


def _choice_scores(
    items: Sequence[Item], answers: Sequence[int | None], *, pairs: Sequence[Hashable]
) -> dict[str, float]:
    """Return the scores of choices, those of `usage` with the scores of pairs."""
    traps = []
    for item in items:
        traps.append([option.trap for option in item.options])
    concepts = [item.concept for item in items]
    scores = choice_scores([item.gold for item in items], answers, concepts=concepts, traps=traps)
    if items and all(item.kind == USAGE for item in items):
        right = [answer == item.gold for item, answer in zip(items, answers, strict=True)]
        is_figurative = [item.options[item.gold].text == FIGURATIVE for item in items]
        scores |= pair_scores(right, pairs=pairs, concepts=concepts, is_figurative=is_figurative)
    return scores


def _has_stems(answer: str, form: str, language: str) -> bool:
    """Return whether each word of an answer shares a stem with the word at its place in the form that was blanked."""
    texts: list[list[tuple[str, set[str]]]] = []  # of the answer and of the form: each word and its stems
    for text in (answer, form):
        stemmed = []
        for span in words(text):
            word = normalise(span.of(text), LANGUAGES[language])
            if word[:1].isalnum():
                stemmed.append((word, {stem for stem, cost in stems(word, language).items() if not cost}))
        texts.append(stemmed)
    ours, others = texts
    if len(ours) != len(others) or not ours:
        return False
    for (word, word_stems), (other, other_stems) in zip(ours, others, strict=True):
        if word != other and word_stems.isdisjoint(other_stems):
            return False
    return True


def _is_placed(answer: str, item: Item, entry: Entry) -> bool:
    """Return whether an idiom stands in the sentence where the answer was filled in, from its first word to its last.

    A span may not reach out of the answer, so an answer that repeats half of the sentence is not accepted.
    """
    if not answer:
        return False
    start = item.text.index(BLANK)
    end = start + len(answer)
    sentence = item.text.replace(BLANK, answer, 1)
    spans = annotate(entry.idiom, sentence, LANGUAGES[item.language], variants=entry.variants).spans
    if not spans or not all(start <= span.start and span.end <= end for span in spans):
        return False
    answer_words = words(answer)
    first, last = answer_words[0].start + start, max(span.end for span in answer_words) + start
    # A model ends its answer like a sentence, and the annotator's spans have no signs at their ends
    n_closing_signs = len(answer) - len(answer.rstrip(" .,;:!?…\"'»”)"))
    return spans[0].start == first and spans[-1].end >= last - n_closing_signs
