"""``turkic-idiom submit`` and ``leaderboard``: pack submissions, check them, build and publish the site."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import track

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data, Publish
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from leaderboard.scores import ScoredSubmission


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

    RESULTS are those of turkic-idiom run, finetune and grid run, of mteb run --prediction-folder, of lm-eval run
    --log_samples and of inspect eval. What they say about the model is taken from them.
    """
    from leaderboard.submit import SubmitOptions, submit
    from turkic_idiom_tasks.cli.submission_output import print_scores
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
        metadata = submission.metadata
        size = "of unknown size" if metadata.n_parameters is None else f"{metadata.n_parameters:,} parameters"
        facts = f"{metadata.name}, revision {metadata.revision}, {metadata.type}, {metadata.regime}, {size}"
        sys.stdout.write(f"{printable(str(folder))}\n  {printable(facts)}\n")
        print_scores(submission, dataset)
    sys.stdout.write("Make sure that all of this is true, then propose the folder to the leaderboard.\n")


@leaderboard_app.command()
def check(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="A submission, or a folder that holds submissions.")
    ],
    data: Data = "",
) -> None:
    """Print the faults of submissions, and for those without a fault the scores by which they are ranked.

    The exit code is 1 if one of them has a fault.
    """
    from leaderboard.scores import score_submission
    from leaderboard.submission import read_submission, submission_folders
    from turkic_idiom_tasks.cli.submission_output import print_scores
    from turkic_idiom_tasks.dataset import open_dataset

    dataset = open_dataset(data)
    has_faults = False
    for place in folders:
        for folder in submission_folders(place):
            submission, faults = read_submission(folder, dataset)
            if submission is None:
                has_faults = True
                for fault in faults:
                    sys.stdout.write(printable(f"{fault}\n"))
            else:
                sys.stdout.write(f"{printable(str(folder))}: ok\n")
                print_scores(score_submission(submission), dataset)
    if has_faults:
        raise typer.Exit(1)


@leaderboard_app.command(epilog="Example: turkic-idiom leaderboard build submissions --out site")
def build(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with one folder per submission.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SITE", help="Folder of the site.")],
    reproduced: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ids of submissions that the maintainers ran again, one per line; they get a badge."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="HTML page for maintainers, outside the site: what was left out, with every fault."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End at the first submission with a fault, and write no site.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Write into a folder that is no earlier site; only files of the site are replaced."
        ),
    ] = False,
    repository: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="GitHub repository that takes submissions; the pages link to it.  [default: no links]"
        ),
    ] = None,
    date: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="Day of the build, for the footer.  [default: SOURCE_DATE_EPOCH]"),
    ] = None,
    data: Data = "",
) -> None:
    """Compute every score and interval from the predictions, rank the models, and write a static site.

    A submission with a fault is left out and listed, and never stops the others. An earlier site in the folder is
    updated; other files in it are left alone.
    """
    from leaderboard.board import make_board
    from leaderboard.items import board_data
    from leaderboard.language_models import language_model_board
    from leaderboard.maintainers import Outcome, check_report, write_report
    from leaderboard.scores import LeftOut, OtherEdition, check_ids, extra_tasks, load_submissions, of_tasks
    from leaderboard.site import build_site, check_out, read_ids
    from leaderboard.submission import submission_folders
    from leaderboard.submit_page import site_facts
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.results.predictions import TASK_NAMES

    about = site_facts(repository, date, os.environ)
    check_out(out, submissions, overwrite=overwrite)
    if report:
        check_report(report, out, submissions)
    reproduced_ids = read_ids(reproduced) if reproduced else []
    dataset = open_dataset(data)
    scored: list[ScoredSubmission] = []
    left_out: list[LeftOut] = []
    other_editions: list[OtherEdition] = []
    n_folders = len(submission_folders(submissions))
    loaded = load_submissions(submissions, dataset)
    console = Console(stderr=True)
    for submission in track(
        loaded, "scoring submissions", total=n_folders, console=console, disable=not console.is_terminal
    ):
        if isinstance(submission, LeftOut):
            if strict:
                raise InputError(submission.reason)
            left_out.append(submission)
        elif isinstance(submission, OtherEdition):
            other_editions.append(submission)
        else:
            scored.append(submission)
    if report:
        write_report(report, Outcome(dataset.path, dataset.revision, scored, left_out, other_editions), about)
    if left_out and not scored and not other_editions:
        raise InputError(f"every submission has a fault, so no site is written; the first: {left_out[0].reason}")
    names_left_out = {entry.folder.name for entry in left_out} | {other.id for other in other_editions}
    reproduced_ids = [name for name in reproduced_ids if name not in names_left_out]
    check_ids(reproduced_ids, scored)
    encoders = of_tasks(scored, TASK_NAMES)
    of_encoders = [name for name in reproduced_ids if any(name == submission.id for submission in encoders)]
    board = make_board(
        encoders,
        board_data(dataset, extra=extra_tasks(encoders)),
        reproduced=of_encoders,
        other_editions=other_editions,
    )
    language_models = language_model_board(scored, dataset, reproduced=reproduced_ids)
    files = build_site(board, out, language_models=language_models, about=about, overwrite=overwrite)
    noun = "submission" if len(scored) == 1 else "submissions"
    sys.stdout.write(f"{len(scored)} {noun}, {len(files)} files\n")
    for other in other_editions:
        edition = f"predicts edition {other.metadata.edition} of the lexicon; listed without scores"
        sys.stdout.write(f"{printable(other.id)}: {edition}\n")
    if left_out:
        sys.stdout.write(f"left out: {len(left_out)}\n")
        for entry in left_out:
            sys.stdout.write(f"  {printable(entry.reason)}\n")
    if report:
        sys.stdout.write(f"For maintainers: {printable(str(report))}\n")
    sys.stdout.write(f"Site: {printable(str(out / 'index.html'))}\n")


@leaderboard_app.command(epilog="Example: turkic-idiom leaderboard publish site --space my-org/turkic-idioms --yes")
def publish(
    site: Annotated[Path, typer.Argument(metavar="SITE", help="Folder that leaderboard build wrote.")],
    space: Annotated[str, typer.Option(metavar="ORG/NAME", help="Created if there is none.")],
    yes: Publish = False,
) -> None:
    """Show what would change in a static Space on the Hub and, with --yes, change it in one commit.

    Nothing is deleted: files of an earlier publish that the site no longer has stay in the Space, and are listed.
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
    """Propose a model's scores to its repository on the Hub, as .eval_results/NAME.yaml.

    Without --yes the file is only shown; with --yes a pull request is opened.
    """
    from leaderboard.publish import propose_scores

    propose_scores(results, model, dataset=dataset, confirmed=yes, write=_write)


def _write(text: str) -> None:
    sys.stdout.write(printable(text))
