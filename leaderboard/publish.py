"""Publish a built site as a static Space on the Hub, and propose a model's scores to its repository.

Scores are proposed in a pull request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import yaml
from huggingface_hub import EvalResultEntry, errors, eval_result_entries_to_yaml, hf_hub_download
from pydantic import BaseModel, ConfigDict, ValidationError

from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import restore_folder
from turkic_idiom_tasks.io.hub_client import hub_errors
from turkic_idiom_tasks.io.hub_upload import (
    DATASET,
    MODEL,
    SPACE,
    Published,
    Target,
    folder_files,
    make_plan,
    propose,
    publish,
)
from turkic_idiom_tasks.io.reading import read_yaml
from turkic_idiom_tasks.results.harness_files import find_scores
from turkic_idiom_tasks.results.model_predictions import StatedScores

SPACE_README = """---
title: Turkic idioms leaderboard
emoji: 📚
colorFrom: blue
colorTo: green
sdk: static
pinned: false
---

Idiom understanding in Turkic languages: every score here was computed from the submitted predictions by
turkic-idiom-tasks. The pages are static files, written by `turkic-idiom leaderboard build`.
"""


class _RegisteredTask(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str


class _EvalFile(BaseModel):
    """Part of the eval.yaml of a dataset that this module needs."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    tasks: list[_RegisteredTask]


def publish_site(site: Path, repository: str, *, confirmed: bool, write: Callable[[str], object]) -> Published | None:
    """Publish a built site as a static Space in one commit; return None after a dry run.

    Args:
        site: folder that `leaderboard build` wrote.
        repository: ORG/NAME of the Space.
        confirmed: False is a dry run.
        write: takes the plan and the outcome as text.

    Raises:
        InputError: the folder is not a site, or the Hub refused or could not be reached.
    """
    restore_folder(site)
    if not (site / "index.html").is_file():
        raise InputError(f"{site}: no index.html in it; build the site first: turkic-idiom leaderboard build")
    files = {**folder_files(site), "README.md": SPACE_README.encode()}
    return publish(files, Target(repository, SPACE), message="Publish the site", confirmed=confirmed, write=write)


def propose_scores(
    results: Path, model: str, *, dataset: str, confirmed: bool, write: Callable[[str], object]
) -> str | None:
    """Propose a model's scores to its repository, as ``.eval_results/NAME.yaml`` in a pull request.

    Args:
        results: folder with the results of one model, or one of its result files, from turkic-idiom or mteb.
        model: ORG/NAME of the model's repository. The results may name the model otherwise, as those of a local folder
            do; the plan states their name.
        dataset: ORG/NAME of the dataset that the model was scored on.
        confirmed: False is a dry run.
        write: takes the plan, the file and the outcome as text.

    Returns:
        The address of the pull request; None after a dry run, or if the repository has these scores already.

    Raises:
        InputError: there are no scores, they are of several models or of other data, or the Hub refused or could not
            be reached.
    """
    target, source = Target(model, MODEL), Target(dataset, DATASET)
    scores = find_scores(results)
    if not scores:
        names = ", ".join(task.name for task in TASKS.values())
        raise InputError(f"{results}: no result of {names}; run the model with turkic-idiom run or mteb run first")
    models = sorted({score.model for score in scores if score.model is not None})
    if len(models) > 1:
        raise InputError(f"{results}: scores of several models ({', '.join(models)}); name the folder of one model")
    revisions = sorted({score.data_revision for score in scores})
    if len(revisions) > 1:
        raise InputError(f"{results}: scores of different data (revisions {', '.join(revisions)}); score all on one")
    revision = revisions[0]
    registered = _registered_tasks(results, source, revision)
    content = _entries_yaml(_scores_by_task_id(scores, registered), dataset, revision, registered=registered)
    files = {f".eval_results/{dataset.partition('/')[2]}.yaml": content.encode()}
    plan = make_plan(files, target)
    scored_model = models[0] if models else "a model that the results do not name"
    write(f"scores of {scored_model}\n{plan.text()}{content}")
    if plan.head is not None and not plan.needs_commit:
        write("The repository has these scores; there is nothing to propose.\n")
        return None
    if not confirmed:
        write("Dry run: nothing was sent; add --yes to open a pull request.\n")
        return None
    address = propose(plan, files, title=f"Scores on {dataset}")
    write(f"pull request {address}\n")
    return address


def _registered_tasks(results: Path, source: Target, revision: str) -> list[str]:
    """Return the ids of the tasks that the dataset's eval.yaml registers at the commit that was scored."""
    with hub_errors(str(source)):
        try:
            path = hf_hub_download(source.name, "eval.yaml", repo_type=source.kind, revision=revision)
        except errors.RevisionNotFoundError as error:
            raise InputError(
                f"{results}: the scores are of data with the revision {revision}, which is no commit of {source.name}; "
                f"score again with --data {source.name}@COMMIT"
            ) from error
        except errors.EntryNotFoundError as error:
            raise InputError(
                f"{source}: has no eval.yaml at {revision}, so it is not a registered benchmark; publish it with "
                "turkic-idiom dataset export --repo"
            ) from error
    try:
        return [task.id for task in _EvalFile.model_validate(read_yaml(Path(path))).tasks]
    except ValidationError as error:
        raise InputError(
            f"{source}: its eval.yaml at {revision} names no tasks; publish it with turkic-idiom dataset export --repo"
        ) from error


def _scores_by_task_id(scores: Sequence[StatedScores], registered: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Return id of a task or of one of its subsets -> its score and a note; a task needs the scores of all its subsets.

    Raises:
        InputError: two results are of the same subset.
    """
    by_id: dict[str, tuple[float, str]] = {}
    for short, task in TASKS.items():
        by_subset: dict[str, StatedScores] = {}
        for score in scores:
            if score.task != short:
                continue
            if score.subset in by_subset:
                paths = f"{by_subset[score.subset].path} and {score.path}"
                raise InputError(f"two results of {task.name}, {score.subset}: {paths}; name the folder of one model")
            by_subset[score.subset] = score
            floor = "" if score.floor is None else f"; a random ranking has {score.floor:.4f}"
            by_id[f"{task.name}-{score.subset}"] = (score.main, f"nDCG without a cut-off{floor}")
        registered_subsets = []
        for name in registered:
            if name.startswith(f"{task.name}-"):
                registered_subsets.append(name.removeprefix(f"{task.name}-"))
        if registered_subsets and set(registered_subsets) <= set(by_subset):
            mean = sum(by_subset[subset].main for subset in registered_subsets) / len(registered_subsets)
            by_id[task.name] = (mean, f"nDCG without a cut-off, mean of {len(registered_subsets)} subsets")
    return by_id


def _entries_yaml(
    scores: dict[str, tuple[float, str]], dataset: str, revision: str, *, registered: Sequence[str]
) -> str:
    """Return the content of the file, with an entry for every registered task that was scored."""
    entries = []
    for name in registered:
        if name in scores:
            value, note = scores[name]
            entry = EvalResultEntry(
                dataset_id=dataset,
                task_id=name,
                value=round(value, 6),
                dataset_revision=revision,
                notes=note,
            )
            entries.append(entry)
    if not entries:
        names = ", ".join(sorted(scores))
        raise InputError(
            f"{dataset}: its eval.yaml at {revision} registers none of {names}; publish it with turkic-idiom dataset "
            "publish"
        )
    return str(yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True))
