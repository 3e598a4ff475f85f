"""Publish a built site as a static Space on the Hub, and propose a model's scores to its repository."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import yaml
from huggingface_hub import EvalResultEntry, errors, eval_result_entries_to_yaml, hf_hub_download

from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import restore_folder
from turkic_idiom_tasks.io.hub_client import hub_errors
from turkic_idiom_tasks.io.hub_upload import DATASET, MODEL, SPACE, Target, folder_files, make_plan, propose, publish
from turkic_idiom_tasks.io.reading import read_yaml
from turkic_idiom_tasks.results.harness_files import find_scores
from turkic_idiom_tasks.results.model_predictions import StatedScores
from turkic_idiom_tasks.results.predictions import SubsetKey

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


def publish_site(site: Path, repository: str, *, confirmed: bool, write: Callable[[str], object]) -> str | None:
    """Publish the folder of a site as a static Space in one commit, and return it; None after a dry run."""
    # A build that was killed may have left it aside
    restore_folder(site)
    if not (site / "index.html").is_file():
        raise InputError(f"{site}: no index.html in it; build the site first: turkic-idiom leaderboard build")
    files = {**folder_files(site), "README.md": SPACE_README.encode()}
    return publish(files, Target(repository, SPACE), message="Publish the site", confirmed=confirmed, write=write)


def propose_scores(
    results: Path, model: str, *, dataset: str, confirmed: bool, write: Callable[[str], object]
) -> str | None:
    """Propose a model's scores to its repository, as ``.eval_results/NAME.yaml`` in a pull request.

    Return the address of the pull request; None after a dry run, or if the repository has these scores already.
    """
    target, source = Target(model, MODEL), Target(dataset, DATASET)
    scores = find_scores(results)
    models = sorted({score.model for score in scores if score.model is not None})
    revisions = sorted({score.data_revision for score in scores})
    problems = []
    if not scores:
        names = ", ".join(task.name for task in TASKS.values())
        problems.append(f"no result of {names}; run the model with turkic-idiom run or mteb run first")
    if len(models) > 1:
        problems.append(f"scores of several models ({', '.join(models)}); name the folder of one model")
    if len(revisions) > 1:
        problems.append(f"scores of different data (revisions {', '.join(revisions)}); score all on one")
    paths: dict[SubsetKey, list[str]] = {}
    for score in scores:
        paths.setdefault((score.task, score.subset), []).append(str(score.path))
    for (task, subset), of_subset in paths.items():
        # The mean of a task would count the subset twice, and it is not known which score is the model's. Where several
        # models or data are named above, they are the cause.
        if len(of_subset) > 1 and not problems:
            problems.append(f"two results of {task}, {subset}: {' and '.join(of_subset)}; name the folder of one model")
    if problems:
        raise InputError(f"{results}: {'; '.join(problems)}")
    (revision,) = revisions
    registered = _registered_tasks(results, source, revision)
    scores_by_id = _scores_by_task_id(scores, registered)
    entries = []
    for name in registered:
        if name in scores_by_id:
            value, notes = scores_by_id[name]
            entry = EvalResultEntry(
                dataset_id=dataset, task_id=name, value=round(value, 6), dataset_revision=revision, notes=notes
            )
            entries.append(entry)
    if not entries:
        raise InputError(
            f"{dataset}: no eval.yaml at {revision} that registers one of {', '.join(sorted(scores_by_id))}; publish "
            "the data with turkic-idiom dataset export --repo"
        )
    content = str(yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True))
    files = {f".eval_results/{dataset.partition('/')[2]}.yaml": content.encode()}
    plan = make_plan(files, target)
    # Results of a local folder name the model otherwise than the Hub does, so the plan states both
    scored_model = models[0] if models else "a model that the results do not name"
    write(f"scores of {scored_model}\n{plan.text()}{content}")
    if plan.head is not None and not plan.to_send():
        write("The repository has these scores; there is nothing to propose.\n")
        return None
    if not confirmed:
        write("Dry run: nothing was sent; add --yes to open a pull request.\n")
        return None
    address = propose(plan, files, title=f"Scores on {dataset}")
    write(f"pull request {address}\n")
    return address


def _registered_tasks(results: Path, source: Target, revision: str) -> list[str]:
    """Return the ids of the tasks that the dataset's eval.yaml registers at the scored commit, perhaps none."""
    with hub_errors(str(source)):
        try:
            # Not at the newest commit, because the proposed scores name the scored one as their source
            path = hf_hub_download(source.name, "eval.yaml", repo_type=source.kind, revision=revision)
        except errors.RevisionNotFoundError as error:
            raise InputError(
                f"{results}: the scores are of data with the revision {revision}, which is no commit of {source.name}; "
                f"score again with --data {source.name}@COMMIT"
            ) from error
        except errors.EntryNotFoundError:
            return []
    content = read_yaml(Path(path))
    # An eval.yaml of another form registers none of our tasks
    with suppress(KeyError, TypeError):
        return [str(task["id"]) for task in content["tasks"]]
    return []


def _scores_by_task_id(scores: Sequence[StatedScores], registered: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Return id of a task or subset -> its score and a note; a task needs the scores of all its subsets."""
    by_id: dict[str, tuple[float, str]] = {}
    for short, task in TASKS.items():
        by_subset = {score.subset: score for score in scores if score.task == short}
        for score in by_subset.values():
            floor = "" if score.floor is None else f"; a random ranking has {score.floor:.4f}"
            by_id[f"{task.name}-{score.subset}"] = (score.main, f"nDCG without a cut-off{floor}")
        prefix = f"{task.name}-"
        # The mean is that of the subsets which the dataset registers; over fewer it would be another score
        subsets = [name.removeprefix(prefix) for name in registered if name.startswith(prefix)]
        if subsets and set(subsets) <= set(by_subset):
            mean = sum(by_subset[subset].main for subset in subsets) / len(subsets)
            by_id[task.name] = (mean, f"nDCG without a cut-off, mean of {len(subsets)} subsets")
    return by_id
