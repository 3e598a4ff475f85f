"""Scores of answers to questions with options, and of free answers.

Accuracy counts an answer that could not be read as wrong. It is chance-corrected as (accuracy - chance) / (1 - chance),
0 for guessing and 1 for no error, where chance is the mean of 1 / number of options. Intervals are Wilson's,
clustered by concept, see `bootstrap`. A score without any cases is NaN: every score if there are no items,
the shares of trap types if nothing readable was wrong.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from turkic_idiom_tasks.metrics.bootstrap import Interval, Stratum, resample
from turkic_idiom_tasks.metrics.ranking import chance_corrected

TRAP_TYPES = ("near", "lexical", "random")  # those of `item_types`, which this layer does not know


def choice_scores(
    gold: Sequence[int],
    answers: Sequence[int | None],
    *,
    concepts: Sequence[str],
    traps: Sequence[Sequence[str | None]],
) -> dict[str, float]:
    """Return name -> score of chosen options.

    ``near_share``, ``lexical_share`` and ``random_share`` are the parts of the wrong and readable answers that chose a
    trap of that type.

    Gold and answers are positions of options, None if the answer could not be read. The concepts are what is resampled.
    The traps are the trap type of each option of an item, None for those that have none.
    """
    right = [answer == position for answer, position in zip(answers, gold, strict=True)]
    wrong_types = []
    for number, (answer, types) in enumerate(zip(answers, traps, strict=True)):
        if answer is not None and not 0 <= answer < len(types):
            raise ValueError(f"answer {answer} of item {number} is no position of its {len(types)} options")
        if answer is not None and not right[number]:
            wrong_types.append(types[answer])
    chance = _mean([1 / len(types) for types in traps])
    accuracy = _mean(right)
    interval = _interval(right, concepts)
    scores = {
        "accuracy": accuracy,
        "accuracy_corrected": chance_corrected(accuracy, chance),
        "accuracy_ci_low": interval.low,
        "accuracy_ci_high": interval.high,
    }
    # NaN rather than 0 for sets without traps, where a share would say that nobody took one
    is_typed = any(kind is not None for types in traps for kind in types)
    for trap in TRAP_TYPES:
        scores[f"{trap}_share"] = _mean([kind == trap for kind in wrong_types]) if is_typed else math.nan
    return scores | {"unreadable": _mean([answer is None for answer in answers])}


def pair_scores(right: Sequence[bool], *, concepts: Sequence[str], is_figurative: Sequence[bool]) -> dict[str, float]:
    """Return name -> score of pairs of a figurative and a literal sentence, and the accuracy on each sense (recall).

    The sequences say of each sentence whether its answer is right, which concept it belongs to (a pair are the two
    sentences of a concept, one of each sense), and whether it uses the idiom figuratively.
    """
    answers_of: dict[str, dict[bool, bool]] = {}
    recalls: dict[bool, list[bool]] = {True: [], False: []}
    for is_right, concept, sense in zip(right, concepts, is_figurative, strict=True):
        senses = answers_of.setdefault(concept, {})
        senses[sense] = is_right
        recalls[sense].append(is_right)
    # Both answers must be right, so that a constant answer scores 0, and random answers 1/4
    complete = {concept: all(senses.values()) for concept, senses in answers_of.items() if len(senses) == 2}
    interval = _interval(list(complete.values()), list(complete))
    return {
        "pair_accuracy": _mean(list(complete.values())),
        "pair_accuracy_ci_low": interval.low,
        "pair_accuracy_ci_high": interval.high,
        "recall_figurative": _mean(recalls[True]),
        "recall_literal": _mean(recalls[False]),
    }


def open_scores(judged: Mapping[str, Sequence[bool]], *, concepts: Sequence[str]) -> dict[str, float]:
    """Return the mean of each judgement (name -> what it says of each free answer), and the interval of `accepted`."""
    interval = _interval(judged["accepted"], concepts)
    scores = {name: _mean(values) for name, values in judged.items()}
    return scores | {"accepted_ci_low": interval.low, "accepted_ci_high": interval.high}


def _interval(right: Sequence[bool], concepts: Sequence[str]) -> Interval:
    if not right:
        return Interval(math.nan, math.nan)
    sums = np.array([[float(is_right), 1.0] for is_right in right])
    return resample({"items": Stratum(concepts, sums)}).interval()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
