"""A built site to a static Space on the Hub, and a model's scores to its own repository as a pull request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.compared_results import ResultFile, find_results
from turkic_idiom_tasks.hub_client import hub_errors
from turkic_idiom_tasks.hub_upload import (
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
from turkic_idiom_tasks.retrieval.relevance import TASKS

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
_SPLIT = "test"
_TASK_NAMES = tuple(task.name for task in TASKS.values())


def publish_site(site: Path, repository: str, *, confirmed: bool, write: Callable[[str], object]) -> Published | None:
    """Publishes a built site as a static Space in one commit; None after a dry run.

    Args:
        site: folder that `leaderboard build` wrote.
        repository: ORG/NAME of the Space.
        confirmed: False is a dry run.
        write: takes the plan and the outcome as text.

    Raises:
        InputError: the folder is no site, or the Hub refused or could not be reached.
    """
    if not (site / "index.html").is_file():
        raise InputError(f"{site}: no index.html in it; build the site first: turkic-idiom leaderboard build")
    files = {**folder_files(site), "README.md": SPACE_README.encode()}
    return publish(files, Target(repository, SPACE), message="Publish the site", confirmed=confirmed, write=write)


def propose_scores(
    results: Path, model: str, *, dataset: str, confirmed: bool, write: Callable[[str], object]
) -> str | None:
    """Proposes a model's scores for its own repository: ``.eval_results/NAME.yaml``, in a pull request.

    Args:
        results: folder of one model, or a result file of it, in mteb's format.
        model: ORG/NAME of the model's repository.
        dataset: ORG/NAME of the dataset that it was scored on.
        confirmed: False is a dry run.
        write: takes the plan, the file and the outcome as text.

    Returns:
        The address of the pull request; None after a dry run, or when the repository has these scores.

    Raises:
        InputError: no such scores, they are of other data, or the Hub refused or could not be reached.
    """
    target, source = Target(model, MODEL), Target(dataset, DATASET)
    found = [result for result in find_results(results) if result.task in _TASK_NAMES]
    if not found:
        raise InputError(f"{results}: no result of {', '.join(_TASK_NAMES)}; turkic-idiom run and mteb run write them")
    revision = _common_revision(results, found)
    content = _entries_yaml(found, dataset, revision, registered=_registered_tasks(results, source, revision))
    files = {f".eval_results/{dataset.partition('/')[2]}.yaml": content.encode()}
    plan = make_plan(files, target)
    write(plan.text() + content)
    if plan.head is not None and not plan.needs_commit:
        write("The repository has these scores; there is nothing to propose.\n")
        return None
    if not confirmed:
        write("Dry run: nothing was sent; add --yes to open a pull request.\n")
        return None
    address = propose(plan, files, title=f"Scores on {dataset}")
    write(f"pull request {address}\n")
    return address


def _common_revision(results: Path, found: Sequence[ResultFile]) -> str:
    revisions = sorted({result.revision for result in found})
    if len(revisions) > 1:
        raise InputError(f"{results}: scores of different data (revisions {', '.join(revisions)}); score all on one")
    return revisions[0]


def _registered_tasks(results: Path, source: Target, revision: str) -> list[str]:
    """The ids of the tasks that the dataset's eval.yaml registers at the commit that was scored."""
    import yaml
    from huggingface_hub import errors, hf_hub_download

    with hub_errors(str(source)):
        try:
            path = hf_hub_download(source.name, "eval.yaml", repo_type=source.kind, revision=revision)
        except errors.RevisionNotFoundError as error:
            raise InputError(
                f"{results}: scores of data with the revision {revision}, which is no commit of {source.name}; score "
                f"again with --data {source.name}@COMMIT"
            ) from error
        except errors.EntryNotFoundError as error:
            raise InputError(
                f"{source}: has no eval.yaml at {revision}, so it is no registered benchmark; publish it with "
                "turkic-idiom dataset publish"
            ) from error
        try:
            return [str(task["id"]) for task in yaml.safe_load(Path(path).read_text("utf-8"))["tasks"]]
        except (yaml.YAMLError, TypeError, KeyError) as error:
            raise InputError(f"{source}: its eval.yaml at {revision} names no tasks") from error


def _entries_yaml(found: Sequence[ResultFile], dataset: str, revision: str, *, registered: Sequence[str]) -> str:
    """The entries of every registered task that was scored; of a whole task only if all its subsets were."""
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    scores: dict[str, tuple[float, str]] = {}
    for result in found:
        rows = {row["hf_subset"]: row for row in result.record["scores"][_SPLIT]}
        wanted = {name.removeprefix(f"{result.task}-") for name in registered if name.startswith(f"{result.task}-")}
        if wanted and wanted <= set(rows):
            mean = sum(rows[subset]["main_score"] for subset in wanted) / len(wanted)
            scores[result.task] = (mean, f"nDCG without a cut-off, mean of {len(wanted)} subsets")
        scores |= {f"{result.task}-{subset}": _score(row) for subset, row in rows.items()}
    entries = [
        EvalResultEntry(
            dataset_id=dataset,
            task_id=name,
            value=round(scores[name][0], 6),
            dataset_revision=revision,
            notes=scores[name][1],
        )
        for name in registered
        if name in scores
    ]
    if not entries:
        raise InputError(f"{dataset}: its eval.yaml at {revision} registers none of {', '.join(sorted(scores))}")
    return str(yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True))


def _score(row: Mapping[str, Any]) -> tuple[float, str]:
    floor = f"; a random ranking has {row['ndcg_floor']:.4f}" if "ndcg_floor" in row else ""
    return row["main_score"], f"nDCG without a cut-off{floor}"
