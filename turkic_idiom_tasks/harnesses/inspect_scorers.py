"""Scorers and metrics of the Inspect tasks; ``turkic-idiom lm report`` computes all other scores from the log."""

import numpy as np
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
    value_to_float,
)
from inspect_ai.solver import TaskState
from pydantic import TypeAdapter

from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import Stratum, standard_error
from turkic_idiom_tasks.metrics.spans import f1_sums, span_counts
from turkic_idiom_tasks.spans import OUTSIDE
from turkic_idiom_tasks.tasks.items.answers import read_letter, read_open
from turkic_idiom_tasks.tasks.items.item_types import LETTERS, Item
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS, RECALL
from turkic_idiom_tasks.tasks.items.scoring import judge_open
from turkic_idiom_tasks.tasks.spans.answers import read_answer

UNREADABLE = "invalid_response_format"  # Inspect's word for an answer that could not be read
UNJUDGED = "unjudged"  # a free answer that nobody has judged
# What the metadata of a sample hold; a log is JSON, whose lists become tuples again
_ITEM, _SENTENCE = TypeAdapter(Item), TypeAdapter(TaggedSentence)


# Unreduced, so that every epoch counts as an answer of its own
@metric(name="idiom_scores", scores="unreduced")
def idiom_scores(main: str = "accuracy", has_unjudged: bool = False) -> Metric:
    """Compute accuracy or span F1, its standard error clustered by concept, and the share of unreadable answers."""

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:  # before the first sample
            return {}
        groups: dict[str, list[SampleScore]] = {}
        for score in scores:
            groups.setdefault((score.sample_metadata or {})["set"], []).append(score)
        strata, by_set = [], {}
        for name, group in groups.items():
            concepts, sums = [], []  # of each answer its parts in the numerator and the denominator of the score
            for score in group:
                metadata = score.sample_metadata or {}
                concepts.append(metadata["concept"])
                if "sentence" in metadata:
                    gold = _SENTENCE.validate_python(metadata["sentence"]).tags
                    sums.append(f1_sums(span_counts([gold], [(score.score.answer or "").split()]))[0])
                else:
                    sums.append(np.array([value_to_float()(score.score.value), 1.0]))
            strata.append(Stratum(concepts, np.array(sums)))
            by_set[name] = float(strata[-1].sums[:, 0].sum() / strata[-1].sums[:, 1].sum())
        # The sets weigh alike, whatever their sizes
        values = {main: float(np.mean(list(by_set.values()))), "stderr": standard_error(strata)}
        for share, reason in {"unreadable": UNREADABLE, **({"unjudged": UNJUDGED} if has_unjudged else {})}.items():
            of_sets = [np.mean([score.score.reason == reason for score in group]) for group in groups.values()]
            values[share] = float(np.mean(of_sets))
        return values | ({f"{main}_{name}": score for name, score in by_set.items()} if len(by_set) > 1 else {})

    return compute


@scorer(metrics=[idiom_scores()])
def idiom_choice() -> Scorer:
    """Return a scorer that reads the letter of an option; the answer is the letter, None if none can be read."""

    async def score(state: TaskState, target: Target) -> Score:
        item = _ITEM.validate_python(state.metadata["item"])
        position = read_letter(state.output.completion, len(item.options))
        trap = None if position is None else item.options[position].trap
        return Score(
            value=CORRECT if position == item.gold else INCORRECT,
            answer=None if position is None else LETTERS[position],
            reason=UNREADABLE if position is None else None,
            explanation=None if trap is None else f"a trap: {trap}",
        )

    return score


@scorer(metrics=[idiom_scores(has_unjudged=True)])
def idiom_recall(data: str = "", task: str = RECALL) -> Scorer:
    """Return a scorer that compares a free answer to an open task with its idiom and with judged answers."""

    async def score(state: TaskState, target: Target) -> Score:
        item = _ITEM.validate_python(state.metadata["item"])
        answer = read_open(state.output.completion, item.text, n_answers=OPEN_TASKS[task].n_answers)
        (judgement,) = judge_open(task, [item], [answer], current_dataset(data).lexicon)
        reason = UNREADABLE if answer is None else UNJUDGED if judgement["unjudged"] else None
        return Score(value=CORRECT if judgement["accepted"] else INCORRECT, answer=answer, reason=reason)

    return score


@scorer(metrics=[idiom_scores("f1")])
def idiom_spans() -> Scorer:
    """Return a scorer that reads the idioms of a sentence; the answer is the tags of the words."""

    async def score(state: TaskState, target: Target) -> Score:
        sentence = _SENTENCE.validate_python(state.metadata["sentence"])
        language = LANGUAGES[sentence.language]
        tags = read_answer(state.output.completion, sentence.sentence, sentence.tokens, language, strict=True)
        reason = UNREADABLE if tags is None else None
        tags = tags or (OUTSIDE,) * len(sentence.tokens)
        value = CORRECT if tags == sentence.tags else INCORRECT
        return Score(value=value, answer=" ".join(tags), reason=reason)

    return score
