"""Task `explain` of Inspect AI with its judge: ``inspect eval hub_datasets/explain --model-role grader=JUDGE``.

It stands here and not among the harnesses, because the judge is that of `turkic-idiom judge`: the same prompt, the same
second try after an answer that cannot be read, the same vote. Only documented names of Inspect are used.
"""

from functools import partial

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from hub_datasets.judge import HIGH, MEDIUM, Explanation, majority, vote_of
from hub_datasets.language_model import generate as generate_answer
from hub_datasets.language_model import reply_to
from turkic_idiom_tasks import __version__
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.inspect_tasks import TEMPERATURE
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.tasks.items.explain import EXPLAIN, explanations

GRADER = "grader"  # role of the model that judges
CONCEPT = "concept"  # key of the metadata of a sample: what standard errors are clustered by


@task
def explain(language: str = "", judges: str | list[str] = "", prompt: int | None = None) -> Task:
    """Ask for the meaning of an idiom in free text, alone and in its sentence, and judge the answers.

    By default every language of the data that TURKIC_IDIOM_DATA names is asked for, the newest prompt is used, and the
    model of the role ``grader`` judges. Several judges are a list, or names with commas between them.
    """
    dataset = current_dataset()
    codes = [get_language(language).code] if language else list(LANGUAGES)
    samples = []
    for code in codes:
        for row in explanations(dataset.lexicon, code):
            samples.append(Sample(input=row["prompt"], target=row["reference"], id=row["id"], metadata={**row}))
    if not samples:
        raise InputError(f"{dataset.path}: has no test concept with a meaning in {', '.join(codes)} to explain")
    return Task(
        name=EXPLAIN,
        dataset=MemoryDataset(samples, name=dataset.path, location=dataset.path),
        solver=generate(),
        scorer=explanation_judge(judges, prompt),
        config=GenerateConfig(temperature=TEMPERATURE),
        metadata={"data_path": dataset.path, "data_revision": dataset.revision, "turkic_idiom_tasks": __version__},
    )


@scorer(metrics={"high": [mean(), stderr(cluster=CONCEPT)], "at_least_medium": [mean(), stderr(cluster=CONCEPT)]})
def explanation_judge(judges: str | list[str] = "", prompt: int | None = None) -> Scorer:
    """Return a scorer that rates an explanation beside the lexicon's meaning, by one model or the majority of several.

    An explanation without a readable verdict is unscored. Every vote is in the metadata of the score. The arguments are
    those of `explain`.
    """
    names = judges.split(",") if isinstance(judges, str) else judges
    names = [name.strip() for name in names if name.strip()]

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        case = Explanation.model_validate({**state.metadata, "answer": answer}).case()
        question = case.question(prompt)
        votes = []
        # The models are looked up with each sample, because the role is known only while a task runs.
        for model in [get_model(name) for name in names] or [get_model(role=GRADER)]:
            send = partial(generate_answer, model, question.prompt, config=GenerateConfig(temperature=0.0))
            votes.append(vote_of(await reply_to(question, send), model=str(model), prompt=question.prompt))
        quality = majority(votes)
        metadata = {"quality": quality, "votes": votes}
        # Unscored and not 0: an answer that no judge could rate says nothing about the model that gave it.
        if quality is None:
            return Score.unscored(reason="no readable verdict", answer=answer, metadata=metadata)
        return Score(
            value={"high": float(quality == HIGH), "at_least_medium": float(quality in (HIGH, MEDIUM))},
            answer=answer,
            explanation="; ".join(vote["analysis"] for vote in votes),
            metadata=metadata,
        )

    return score
