"""From submissions on disk to a static site: score them, rank them, write the pages; `build` does all of it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from leaderboard.board import Board, ScoredSubmission, make_board, of_tasks, score_submission
from leaderboard.data import board_data, item_board_data
from leaderboard.pages import Pages, environment
from leaderboard.submission import LeftOut, Metadata, Submission, read_people, read_submission, submission_folders
from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.errors import InputError, stated_day, usage_error
from turkic_idiom_tasks.io.files import check_folder, check_writable, commit_folder
from turkic_idiom_tasks.io.output_files import check_outputs, write_output
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.io.reading import display, printable, real_path
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS
from turkic_idiom_tasks.results.people import score_people
from turkic_idiom_tasks.results.predictions import TASK_NAMES

KIND = "site"  # of the folder, in its manifest
_REPOSITORY = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """What became of the submissions of a build."""

    scored: list[ScoredSubmission]  # on the leaderboard
    left_out: list[LeftOut]  # those with a fault
    other_editions: dict[str, Metadata]  # id -> metadata of those for another edition, listed without scores
    files: list[Path]  # of the site


def build(
    submissions: Path,
    out: Path,
    *,
    data: str | Dataset = "",
    reproduced: Collection[str] = (),
    report: Path | None = None,
    overwrite: bool = False,
    repository: str | None = None,
) -> Built:
    """Compute every score and interval from the predictions, rank the models, and write a static site.

    A submission with a fault is left out, and never stops the others; if all have one, there is an InputError. An
    earlier site in the folder is updated; other files in it are left alone. SOURCE_DATE_EPOCH states its day.

    Args:
        submissions: folder with one folder for each submission; answers of people to items are in its folder people.
        out: folder of the site.
        data: the data that were predicted: a dataset, or its name for `open_dataset`; "" is the bundled lexicon.
        reproduced: ids of submissions that the maintainers ran again; they get a badge.
        report: HTML page for maintainers, outside the site: what was left out, with every fault.
        overwrite: whether to replace a file with a name of the site that an earlier build did not write.
        repository: address of the GitHub repository that takes submissions; the pages link to it.
    """
    repository = repository.rstrip("/") if repository is not None else None
    day = stated_day()
    _check_options(out, submissions, report, repository, overwrite=overwrite)
    dataset = open_dataset(data) if isinstance(data, str) else data
    scored: list[ScoredSubmission] = []
    people, left_out = read_people(submissions, dataset)
    other_editions: dict[str, Metadata] = {}
    for folder in track(submission_folders(submissions), "scoring submissions"):
        submission = read_submission(folder, dataset)
        if isinstance(submission, Submission):
            # Scores alone are kept: the predictions of hundreds of submissions need not fit in memory
            scored.append(score_submission(submission))
        elif submission.metadata:
            other_editions[folder.name] = submission.metadata
        else:
            left_out.append(submission)
    # Before anything is refused, because the report names every fault
    if report:
        _write_report(report, Built(scored, left_out, other_editions, []), dataset, day)
    problems = []
    known = {submission.id for submission in scored} | {entry.folder.name for entry in left_out} | set(other_editions)
    unknown = sorted(set(reproduced) - known)
    if unknown:
        problems.append(f"reproduced: no submission {display(unknown[0])}; correct or delete that line")
    if left_out and not scored and not other_editions:
        problems.append(f"every submission has a fault, so no site is written; the first: {left_out[0].reason}")
    if problems:
        raise InputError("; ".join(problems))
    # Two boards: tasks and chance levels of encoders and of language models differ, so their ranks do not compare
    encoders, models = of_tasks(scored, TASK_NAMES), of_tasks(scored, ITEM_TASKS)
    submitted = {score.task for submission in encoders for score in submission.subsets}
    data_of_encoders = board_data(dataset, submitted=submitted)
    board = make_board(encoders, data_of_encoders, reproduced=reproduced, other_editions=other_editions)
    board_of_models = None
    if models:
        items = item_board_data(dataset)
        board_of_models = make_board(models, items, reproduced=reproduced, people=score_people(people))
    files = write_site(board, out, models=board_of_models, repository=repository, built=day, overwrite=overwrite)
    return Built(scored, left_out, other_editions, files)


def write_site(
    board: Board,
    out: Path,
    *,
    models: Board | None = None,
    repository: str | None = None,
    built: date | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write all files of a site at once, and return their paths; see `build`."""
    # All at once: of a build that is killed either the old site or the new one is left, and no mixture
    contents = dict(Pages(board, models, repository=repository, built=built).files())
    commit_folder(out, contents, kind=KIND, overwrite=overwrite)
    return [out / name for name in contents]


def _check_options(
    out: Path, submissions: Path, report: Path | None, repository: str | None, *, overwrite: bool
) -> None:
    """Check the repository's address and the places to write to, before the scores are computed."""
    faults = []
    if repository is not None and not _REPOSITORY.fullmatch(repository):
        faults.append(f"--repository {repository}: give an address like https://github.com/ORG/NAME")
    # What lies among the submissions would be read as one, and what lies in the site would be published
    places = [("--out", out, submissions, "submissions")]
    if report:
        places += [("--report", report, out, "site"), ("--report", report, submissions, "submissions")]
    for option, path, parent, what in places:
        if real_path(parent) in (real_path(path), *real_path(path).parents):
            faults.append(f"{option} {path}: lies in the folder of the {what}, {parent}; choose a place elsewhere")
    if faults:
        raise usage_error("; ".join(faults))
    # To score hundreds of submissions takes minutes, so what would be refused at the end is refused now
    check_folder(out, {}, kind=KIND, overwrite=overwrite)
    check_writable(out.parent, shown=out)
    if report:
        check_outputs({"--report": report}, command="build")


def _write_report(report: Path, outcome: Built, dataset: Dataset, built: date | None) -> None:
    left_out = []
    for entry in outcome.left_out:
        faults = []
        # Without the path of the folder, which the page names once
        for fault in entry.faults:
            line = f", line {fault.line}" if fault.line else ""
            place = "" if fault.path == entry.folder else f"{fault.path.name}{line}: "
            faults.append(printable(f"{place}{fault.message}"))
        left_out.append((entry.folder.name, faults))
    page = environment().get_template("maintainers.html")
    text = page.render(outcome=outcome, left_out=left_out, data=dataset, built=built)
    write_output(report, text, command="build")
