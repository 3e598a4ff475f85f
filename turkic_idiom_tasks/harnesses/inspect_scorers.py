"""Scorers and metrics of the Inspect tasks: Inspect asks and logs, our scorer computes.

A metric hands the answers of all samples to the scorer that lm-eval and the leaderboard use too
(`tasks.items.scoring`). A run over several sets has the macro scores, which weigh the sets alike, and the main
score of every set. Every epoch counts as an answer of its own. Standard errors are Inspect's own, clustered by concept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    MetricProtocol,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import TaskState

from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.inspect_samples import item_of, sentence_of
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.answers import read_letter, read_open
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.items.scoring import macro, score_items, score_open_cloze
from turkic_idiom_tasks.tasks.spans.answers import read_answer
from turkic_idiom_tasks.tasks.spans.scoring import sample, score_samples

CONCEPT = "concept"  # key of the metadata of a sample: what is resampled and clustered
UNREADABLE = "invalid_response_format"  # Inspect's word for an answer that could not be read

Compute = Callable[[Sequence[SampleScore]], Mapping[str, float]]


@metric(name="choice_scores", scores="unreduced")
def choice_scores() -> Metric:
    """Compute the scores of `scoring.score_items`."""

    def compute(group: Sequence[SampleScore]) -> dict[str, float]:
        items = [item_of(score.sample_metadata or {}) for score in group]
        letters = [score.score.answer for score in group]
        return score_items(items, [None if letter is None else LETTERS.index(letter) for letter in letters])

    return partial(_all_scores, compute=compute, main="accuracy")


@metric(name="open_cloze_scores", scores="unreduced")
def open_cloze_scores(data: str = "") -> Metric:
    """Compute the scores of `scoring.score_open_cloze`; `data` is that of the task."""

    def compute(group: Sequence[SampleScore]) -> dict[str, float]:
        items = [item_of(score.sample_metadata or {}) for score in group]
        return score_open_cloze(items, [score.score.answer for score in group], current_dataset(data).lexicon)

    return partial(_all_scores, compute=compute, main="accepted")


@metric(name="span_scores", scores="unreduced")
def span_scores() -> Metric:
    """Compute the scores of the span tasks; see `tasks.spans.scoring`."""

    def compute(group: Sequence[SampleScore]) -> dict[str, float]:
        samples = []
        n_unreadable = 0
        for score in group:
            metadata = score.sample_metadata or {}
            samples.append(sample(metadata[CONCEPT], sentence_of(metadata).tags, (score.score.answer or "").split()))
            n_unreadable += score.score.reason == UNREADABLE
        return {**score_samples(samples), "unreadable": n_unreadable / len(group)}

    return partial(_all_scores, compute=compute, main="span_f1")


def _all_scores(scores: Sequence[SampleScore], *, compute: Compute, main: str) -> Value:
    """Return the scores of the only set, or the macro scores and the main score of every set.

    The scores of a set are means over its epochs, of which the first has the first answer to every sample.
    """
    # Inspect lets a metric that takes unreduced scores see all answers in one list, which does not name their epochs
    epochs_by_set: dict[str, list[list[SampleScore]]] = {}
    n_earlier: Counter[tuple[str, str | int | None]] = Counter()
    for score in scores:
        name = (score.sample_metadata or {})["set"]
        epochs = epochs_by_set.setdefault(name, [])
        number = n_earlier[name, score.sample_id]
        n_earlier[name, score.sample_id] += 1
        if number == len(epochs):
            epochs.append([])
        epochs[number].append(score)
    computed: dict[str, Mapping[str, float]] = {}
    for name, epochs in epochs_by_set.items():
        by_epoch = {str(number): compute(epoch) for number, epoch in enumerate(epochs)}
        # `macro` leaves out the ends of intervals, which a single epoch keeps
        computed[name] = macro(by_epoch) if len(by_epoch) > 1 else by_epoch["0"]
    if len(computed) == 1:
        return dict(next(iter(computed.values())))
    return macro(computed) | {f"{main}_{name}": values[main] for name, values in computed.items()}


@metric(name="stderr", scores="unreduced")
def concept_stderr() -> Metric:
    """Compute Inspect's standard error, clustered by concept, of the mean over sets of their shares of right answers.

    With several sets the values are centred in their sets and weighted, so that their mean is the macro average and
    their deviations are those of its linear approximation.
    """
    clustered = cast(MetricProtocol, stderr(cluster=CONCEPT))

    def compute(scores: list[SampleScore]) -> Value:
        as_number = value_to_float()
        groups: dict[str, list[SampleScore]] = {}
        for score in scores:
            groups.setdefault((score.sample_metadata or {})["set"], []).append(score)
        weighted = []
        for group in groups.values():
            values = [as_number(score.score.value) for score in group]
            mean = sum(values) / len(values)
            weight = len(scores) / (len(groups) * len(group))
            for score, value in zip(group, values, strict=True):
                centred = Score(value=weight * (value - mean))
                weighted.append(score.model_copy(update={"score": centred}))
        return clustered(weighted)  # type: ignore[arg-type]  # its annotation names the scores of old versions too

    return compute


@scorer(metrics=[choice_scores(), concept_stderr()])
def idiom_choice() -> Scorer:
    """Return a scorer that reads the letter of an option; the answer is the letter, None if none can be read."""

    async def score(state: TaskState, target: Target) -> Score:
        item = item_of(state.metadata)
        position = read_letter(state.output.completion, len(item.options))
        trap = None if position is None else item.options[position].trap
        return _score(
            is_right=position == item.gold,
            answer=None if position is None else LETTERS[position],
            is_readable=position is not None,
            explanation=None if trap is None else f"a trap: {trap}",
        )

    return score


@scorer(metrics=[open_cloze_scores(), concept_stderr()])
def idiom_cloze(data: str = "") -> Scorer:
    """Return a scorer that looks in a free answer for an idiom that the lexicon of the task's data accepts."""

    async def score(state: TaskState, target: Target) -> Score:
        item = item_of(state.metadata)
        answer = read_open(state.output.completion, item.text)
        scores = score_open_cloze([item], [answer], current_dataset(data).lexicon)
        return _score(is_right=bool(scores["accepted"]), answer=answer, is_readable=answer is not None)

    return score


@scorer(metrics=[span_scores()])
def idiom_spans() -> Scorer:
    """Return a scorer that reads the idioms of a sentence; the answer is the tags of the words."""

    async def score(state: TaskState, target: Target) -> Score:
        sentence = sentence_of(state.metadata)
        language = LANGUAGES[sentence.language]
        answer = read_answer(state.output.completion, sentence.sentence, sentence.tokens, language, strict=True)
        is_right = answer.tags == sentence.tags
        return _score(is_right=is_right, answer=" ".join(answer.tags), is_readable=not answer.format_error)

    return score


def _score(*, is_right: bool, answer: str | None, is_readable: bool, explanation: str | None = None) -> Score:
    return Score(
        value=CORRECT if is_right else INCORRECT,
        answer=answer,
        reason=None if is_readable else UNREADABLE,
        explanation=explanation,
    )
