"""Task `explain` of Inspect AI with its judge: ``inspect eval hub_datasets/explain --model-role grader=JUDGE``.

It stands here and not among the integrations, because the judge's prompt, its reading and the majority are those of
`turkic-idiom judge`. Only documented names of Inspect are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hub_datasets.json_answers import read_answer
from hub_datasets.judge import HIGH, MEDIUM, Judgement, explanation_case, majority
from hub_datasets.prompts import EXPLANATION, load_prompt
from turkic_idiom_tasks import __version__
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.io.reading import MalformedError
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.tasks.items.explain import explanations

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        Model,
        get_model,
    )
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState, generate
except ModuleNotFoundError as error:
    raise InputError(f"Inspect needs the package {error.name}: pip install 'turkic-idiom-tasks[inspect]'") from error

GRADER = "grader"  # role of the model that judges
CONCEPT = "concept"  # key of the metadata of a sample: what standard errors are clustered by
NAME = "explain"
_REPAIR = "Your answer could not be read: {problem}. Answer with nothing but the JSON object."


@task
def explain(language: str = "", judges: str | list[str] = "", prompt: int | None = None) -> Task:
    """Ask for the meaning of an idiom in free text, alone and in its sentence, and judge the answers.

    Args:
        language: code; by default every language of the data, which TURKIC_IDIOM_DATA names.
        judges: names of the models that judge, also with commas between them; by default that of the role ``grader``.
        prompt: version of the judge's prompt; by default the newest.

    Raises:
        InputError: the data is no lexicon, or has no test concept with a meaning in the language.
    """
    dataset = current_dataset()
    lexicon = dataset.lexicon
    codes = [get_language(language).code] if language else list(LANGUAGES)
    samples = []
    for code in codes:
        for row in explanations(lexicon, code) if lexicon is not None else ():
            samples.append(Sample(input=row.prompt, target=row.reference, id=row.id, metadata=row.document()))
    if not samples:
        raise InputError(f"{dataset.path}: has no test concept with a meaning in {', '.join(codes)} to explain")
    return Task(
        name=NAME,
        dataset=MemoryDataset(samples, name=dataset.path, location=dataset.path),
        solver=generate(),
        scorer=explanation_judge(judges, prompt),
        config=GenerateConfig(temperature=0.0),
        metadata={
            "data_path": dataset.path,
            "data_revision": dataset.revision,
            "turkic_idiom_tasks": __version__,
        },
    )


@scorer(
    metrics={
        "high": [mean(), stderr(cluster=CONCEPT)],
        "at_least_medium": [mean(), stderr(cluster=CONCEPT)],
    }
)
def explanation_judge(judges: str | list[str] = "", prompt: int | None = None) -> Scorer:
    """Return a scorer that rates an explanation beside the lexicon's meaning, by one model or the majority of several.

    An explanation without a readable verdict is unscored. Every vote is in the metadata of the score.

    Args:
        judges: names of models, also with commas between them; empty is the model of the role ``grader``.
        prompt: version of the judge's prompt; None is the newest.
    """
    names = judges.split(",") if isinstance(judges, str) else judges
    names = [name.strip() for name in names if name.strip()]
    text = load_prompt(EXPLANATION, prompt)

    async def score(state: TaskState, target: Target) -> Score:
        document = state.metadata
        case = explanation_case(
            str(state.sample_id),
            document[CONCEPT],
            document["language"],
            mode=document["mode"],
            texts={"idiom": document["idiom"], "reference": target.text, "answer": state.output.completion},
        )
        messages: list[ChatMessage] = []
        for message in text.messages(case.texts, plain=case.languages):
            kind = ChatMessageSystem if message["role"] == "system" else ChatMessageUser
            messages.append(kind(content=message["content"]))
        models = [get_model(name) for name in names] or [get_model(role=GRADER)]
        votes = []
        for model in models:
            votes.append({"model": str(model), "prompt": text.label, **await _vote(model, messages)})
        quality = majority([vote["quality"] for vote in votes if vote["quality"] is not None])
        if quality is None:
            return Score.unscored(
                reason="no readable verdict", answer=state.output.completion, metadata={"votes": votes}
            )
        return Score(
            value={"high": float(quality == HIGH), "at_least_medium": float(quality in (HIGH, MEDIUM))},
            answer=state.output.completion,
            explanation="; ".join(vote["analysis"] for vote in votes),
            metadata={"quality": quality, "votes": votes},
        )

    return score


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the explanations in a log of Inspect, as lines for `turkic-idiom judge`.

    Raises:
        InputError: it is no log of the task `explain`, or is damaged.
    """
    try:
        log = read_eval_log(str(path))
    except Exception as error:  # zip, JSON and pydantic errors
        raise InputError(f"{path}: is no log of Inspect that can be read ({type(error).__name__})") from error
    if log.eval.task.rpartition("/")[2] != NAME or not log.samples:
        raise InputError(f"{path}: is a log of {log.eval.task!r} with {len(log.samples or ())} samples, not of {NAME}")
    for sample in log.samples:
        if sample.epoch == 1:
            yield {**sample.metadata, "answer": sample.output.completion}


async def _vote(model: Model, messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """Return what a model says, asked once more if its answer cannot be read."""
    conversation = list(messages)
    problem = ""
    for _ in range(2):
        output = await model.generate(conversation, config=GenerateConfig(temperature=0.0))
        try:
            judgement = read_answer(output.completion, Judgement)
        except MalformedError as error:
            problem = str(error)
            conversation += [
                ChatMessageAssistant(content=output.completion),
                ChatMessageUser(content=_REPAIR.format(problem=problem)),
            ]
            continue
        return {"quality": judgement.quality, "analysis": judgement.analysis, "problem": None}
    return {"quality": None, "analysis": "", "problem": problem}
