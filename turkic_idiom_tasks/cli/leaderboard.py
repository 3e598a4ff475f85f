"""``turkic-idiom submit`` and ``leaderboard``: pack submissions, check them, build and publish the site."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data
from turkic_idiom_tasks.reading import printable

if TYPE_CHECKING:
    from leaderboard.board import Board
    from leaderboard.scores import ScoredSubmission
    from turkic_idiom_tasks.dataset import Dataset
    from turkic_idiom_tasks.metrics.bootstrap import Interval

_Item = TypeVar("_Item")
WIDE = 120  # columns of a terminal from which the table of scores has all its columns

leaderboard_app = typer.Typer(
    name="leaderboard",
    help="Check submissions, build the site, publish it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(leaderboard_app)


@app.command(
    epilog="Example: turkic-idiom submit results --contact '@me' --training-data 'Wikipedia; no idiom of the benchmark'"
)
def submit(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Folders or single files that runs have written.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where its folder goes.")] = Path(
        "submissions"
    ),
    contact: Annotated[
        str | None, typer.Option(metavar="TEXT", help="How you want to be reached; it is shown.")
    ] = None,
    training_data: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What the model was trained on, and whether idioms of the benchmark were among it.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="ORG/NAME", help="What to call the model.  [default: as in the results]")
    ] = None,
    model_type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="baseline, encoder, sentence-encoder, token-classifier or llm."),
    ] = None,
    regime: Annotated[
        str | None,
        typer.Option(
            metavar="REGIME",
            help="Supervision by idioms: pretrained (none), tr-only, monolingual, cross-lingual, few-shot or other.",
        ),
    ] = None,
    parameters: Annotated[int | None, typer.Option(metavar="N", help="Number of parameters of the model.")] = None,
    pooling: Annotated[
        list[str] | None,
        typer.Option(metavar="POOLING", help="Only this one; may be repeated.  [default: one submission each]"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Which of several seeds.  [default: the smallest]")
    ] = None,
    data: Data = "",
) -> None:
    """Pack the predictions of finished runs for the leaderboard, which computes every score itself.

    RESULTS are those of turkic-idiom run, finetune and grid run, of mteb run --prediction-folder and of lm-eval run
    --log_samples. What they say of the model is taken from them.
    """
    from leaderboard.submit import SubmitOptions, submit
    from turkic_idiom_tasks.dataset import open_dataset

    options = SubmitOptions(
        out=out,
        contact=contact,
        training_data=training_data,
        name=name,
        type=model_type,
        regime=regime,
        n_parameters=parameters,
        poolings=tuple(pooling or ()),
        seed=seed,
    )
    dataset = open_dataset(data)
    for folder, submission in submit(results, options, dataset=dataset):
        about = submission.metadata
        size = "of unknown size" if about.n_parameters is None else f"{about.n_parameters:,} parameters"
        facts = f"{about.name}, revision {about.revision}, {about.type}, {about.regime}, {size}"
        sys.stdout.write(f"{printable(str(folder))}\n  {printable(facts)}\n")
        _print_scores(submission, dataset)
    sys.stdout.write("Make sure that all of this is true, then propose the folder to the leaderboard.\n")


@leaderboard_app.command()
def check(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="A submission, or a folder that holds submissions.")
    ],
    data: Data = "",
) -> None:
    """Print everything that is wrong with submissions, and the scores that rank those that are sound.

    The exit code is 1 if one of them has a fault.
    """
    from leaderboard.scores import score_submission
    from leaderboard.submission import read_submission, submission_folders
    from turkic_idiom_tasks.dataset import open_dataset

    dataset = open_dataset(data)
    is_sound = True
    for place in folders:
        for folder in submission_folders(place):
            submission, faults = read_submission(folder, dataset)
            if submission is None:
                is_sound = False
                for fault in faults:
                    sys.stdout.write(f"{fault}\n")
            else:
                sys.stdout.write(f"{printable(str(folder))}: ok\n")
                _print_scores(score_submission(submission), dataset)
    if not is_sound:
        raise typer.Exit(1)


@leaderboard_app.command(epilog="Example: turkic-idiom leaderboard build submissions --out site")
def build(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with one folder per submission.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SITE", help="Folder of the site.")],
    reproduced: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ids of submissions that the maintainers ran again, one a line; they get a badge."
        ),
    ] = None,
    skip_faulty: Annotated[
        bool, typer.Option("--skip-faulty", help="Leave out submissions with a fault, and list them.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Write into a folder that is not ours; only the site's own files are replaced."
        ),
    ] = False,
    data: Data = "",
) -> None:
    """Compute every score and interval from the predictions, rank the models, and write a static site.

    An earlier site in the folder is brought up to date; other files in it are left alone.
    """
    from leaderboard.board import make_board
    from leaderboard.items import board_data
    from leaderboard.scores import LeftOut, OtherEdition, load_submissions
    from leaderboard.site import build_site, check_out, read_ids
    from leaderboard.submission import submission_folders
    from turkic_idiom_tasks.dataset import open_dataset

    check_out(out, submissions, overwrite=overwrite)
    reproduced_ids = read_ids(reproduced) if reproduced else []
    dataset = open_dataset(data)
    scored: list[ScoredSubmission] = []
    left_out: list[LeftOut] = []
    other_editions: list[OtherEdition] = []
    n_folders = len(submission_folders(submissions))
    loaded = load_submissions(submissions, dataset, skip_faulty=skip_faulty)
    for submission in _with_progress(loaded, n_folders, "scoring submissions"):
        if isinstance(submission, LeftOut):
            left_out.append(submission)
        elif isinstance(submission, OtherEdition):
            other_editions.append(submission)
        else:
            scored.append(submission)
    names_left_out = {entry.folder.name for entry in left_out} | {other.id for other in other_editions}
    reproduced_ids = [name for name in reproduced_ids if name not in names_left_out]
    board = make_board(scored, board_data(dataset), reproduced=reproduced_ids, other_editions=other_editions)
    files = build_site(board, out, overwrite=overwrite)
    sys.stdout.write(f"{len(board.submissions)} submissions, {len(files)} files\n")
    for other in other_editions:
        edition = f"predicts edition {other.metadata.edition} of the lexicon; listed without scores"
        sys.stdout.write(f"{printable(other.id)}: {edition}\n")
    if left_out:
        sys.stdout.write(f"left out: {len(left_out)}\n")
        for entry in left_out:
            sys.stdout.write(f"  {printable(entry.reason)}\n")
    sys.stdout.write(f"Site: {printable(str(out / 'index.html'))}\n")


@leaderboard_app.command(epilog="Example: turkic-idiom leaderboard publish site --space my-org/turkic-idioms --yes")
def publish(
    site: Annotated[Path, typer.Argument(metavar="SITE", help="Folder that leaderboard build wrote.")],
    space: Annotated[str, typer.Option(metavar="ORG/NAME", help="Created if there is none.")],
    yes: Annotated[bool, typer.Option("--yes", help="Publish; without it only the plan is shown.")] = False,
) -> None:
    """Show what would change in a static Space on the Hub and, with --yes, change it in one commit.

    Files that an earlier publish sent and that the site no longer has are deleted in it; nothing else is.
    """
    from leaderboard.publish import publish_site

    publish_site(site, space, confirmed=yes, write=_write)


@leaderboard_app.command(
    "eval-results",
    epilog="Example: turkic-idiom leaderboard eval-results results --model org/model --dataset my-org/turkic-idioms",
)
def eval_results(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Folder of one model, from turkic-idiom or mteb.")],
    model: Annotated[str, typer.Option(metavar="ORG/NAME", help="The model's repository.")],
    dataset: Annotated[str, typer.Option(metavar="ORG/NAME", help="The dataset that it was scored on.")],
    yes: Annotated[bool, typer.Option("--yes", help="Open the pull request; without it, it is only shown.")] = False,
) -> None:
    """Propose a model's scores for its own repository on the Hub, as .eval_results/NAME.yaml.

    Without --yes the file is only shown; with it a pull request is opened.
    """
    from leaderboard.publish import propose_scores

    propose_scores(results, model, dataset=dataset, confirmed=yes, write=_write)


def _write(text: str) -> None:
    sys.stdout.write(printable(text))


def _with_progress(items: Iterable[_Item], total: int, title: str) -> Iterable[_Item]:
    """Return items with a progress bar on stderr, if that is a terminal."""
    console = Console(stderr=True)
    return track(items, description=title, total=total, console=console, disable=not console.is_terminal)


def _print_scores(submission: ScoredSubmission, dataset: Dataset) -> None:
    """Print the chance-corrected scores by which a submission is ranked, a row for each task."""
    from leaderboard.board import make_board
    from leaderboard.items import board_data
    from turkic_idiom_tasks.metrics.bootstrap import UNRELIABLE_NOTE

    board = make_board([submission], board_data(dataset))
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(_score_table(submission, board, width=console.width))
    notes = ["Chance-corrected scores, 0 for a random ranking; below each its 95% interval."]
    if not board.overall:
        lacks = [task for task in board.data.tasks if not board.by_task[task]]
        notes.append(f"No rank over all tasks: not every language of {', '.join(lacks)} is there.")
    if any(not interval.is_reliable for interval in board.intervals[submission.id].values()):
        notes.append(f"* {UNRELIABLE_NOTE}.")
    cuts = [score.cut for score in submission.subsets if score.cut is not None]
    if cuts:
        notes.append(f"Some queries list only their first {min(cuts)} documents.")
    for note in notes:
        console.print(Text(note))
    console.print()


def _score_table(submission: ScoredSubmission, board: Board, *, width: int) -> Table:
    from leaderboard.tables import TASK_LABELS

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Task", no_wrap=True)
    table.add_column("Score", no_wrap=True, justify="right")
    for code in board.data.languages:
        table.add_column(code, no_wrap=True, justify="right")
    if width >= WIDE:
        table.add_column("uncorrected", no_wrap=True, justify="right")
        table.add_column("items", no_wrap=True, justify="right")
    standings = {"All": board.overall, "T1-T3": board.retrieval}
    for title, by_id in standings.items():
        if by_id:
            standing = by_id[submission.id]
            table.add_row(title, _shown(standing.score, standing.interval))
    for task in board.data.tasks:
        if submission.of_task(task):
            table.add_row(TASK_LABELS[task], *_task_fields(submission, board, task, is_wide=width >= WIDE))
    return table


def _task_fields(submission: ScoredSubmission, board: Board, task: str, *, is_wide: bool) -> list[str]:
    """Return the fields of one task: its score, one per language, and with `is_wide` the uncorrected mean and n."""
    from leaderboard.scores import corrected
    from turkic_idiom_tasks.metrics.bootstrap import Interval

    standing = board.by_task[task].get(submission.id)
    fields = ["-" if standing is None else _shown(standing.score, standing.interval)]
    scores = {score.language: score for score in submission.of_task(task)}
    for code in board.data.languages:
        if code not in scores:
            fields.append("")
            continue
        score = scores[code]
        raw = board.interval(submission, score)
        scale = 1 - score.floor
        interval = Interval((raw.low - score.floor) / scale, (raw.high - score.floor) / scale, raw.is_reliable)
        fields.append(_shown(corrected(score), interval))
    if is_wide:
        means = [score.main for score in scores.values()]
        fields.append(_plain(sum(means) / len(means)))
        fields.append(str(sum(score.n for score in scores.values())))
    return fields


def _shown(score: float, interval: Interval) -> str:
    """Return a score with its interval below it; a star marks a score whose interval is not reliable."""
    star = "" if interval.is_reliable else "*"
    return f"{_plain(score)}{star}\n{_plain(interval.low)} {_plain(interval.high)}"


def _plain(score: float) -> str:
    """Return a score as the site shows it, but in ASCII, which every terminal can print."""
    from leaderboard.tables import shown_score

    return shown_score(score).replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-")
