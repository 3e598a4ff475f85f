"""``turkic-idiom submit`` and ``leaderboard``: pack submissions, check them, build and publish the site."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from turkic_idiom_tasks.cli.main import app, command_group
from turkic_idiom_tasks.cli.options import Data, Publish
from turkic_idiom_tasks.cli.output import print_line
from turkic_idiom_tasks.io.reading import decode_text, input_errors, printable, read_file

leaderboard_app = command_group("leaderboard", "Check submissions, build the site, publish it.")


@app.command(
    epilog="Example: turkic-idiom submit results --contact '@me' --training-data 'Wikipedia; no idiom of the benchmark'"
)
def submit(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Folders or files of finished runs.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where it goes.")] = Path("submissions"),
    contact: Annotated[str | None, typer.Option(metavar="TEXT", help="How to reach you; it is shown.")] = None,
    training_data: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What the model was trained on; were idioms of the benchmark among it?"),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="ORG/NAME", help="Name to show.  [default: as in results]")
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
    seed: Annotated[int | None, typer.Option(metavar="N", help="One of several.  [default: the smallest]")] = None,
    data: Data = "",
) -> None:
    """Pack the predictions of finished runs for the leaderboard, which computes every score itself.

    RESULTS are those of turkic-idiom run, finetune and grid run, of mteb run --prediction-folder, of lm-eval run
    --log_samples and of inspect eval. What they say about the model is taken from them.
    """
    from leaderboard.submit import submit
    from turkic_idiom_tasks.cli.submission_output import print_scores
    from turkic_idiom_tasks.dataset import open_dataset

    dataset = open_dataset(data)
    stated: dict[str, str | int | None] = {"contact": contact, "training_data": training_data, "name": name}
    stated |= {"type": model_type, "regime": regime, "n_parameters": parameters}
    written = submit(results, out, dataset=dataset, stated=stated, poolings=pooling or (), seed=seed)
    for folder, submission in written:
        metadata = submission.metadata
        size = "of unknown size" if metadata.n_parameters is None else f"{metadata.n_parameters:,} parameters"
        facts = f"{metadata.name}, revision {metadata.revision}, {metadata.type}, {metadata.regime}, {size}"
        print_line(f"{folder}\n  {facts}")
        print_scores(submission, dataset)
    print_line("Make sure that all of this is true, then propose the folder to the leaderboard.")


@leaderboard_app.command()
def check(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Submissions, or folders that hold some.")],
    data: Data = "",
) -> None:
    """Print the faults of submissions, and for those without a fault the scores by which they are ranked.

    The exit code is 1 if one of them has a fault.
    """
    from leaderboard.board import score_submission
    from leaderboard.submission import LeftOut, read_people, read_submission, submission_folders
    from leaderboard.tables import equal_scores
    from turkic_idiom_tasks.cli.submission_output import print_scores
    from turkic_idiom_tasks.dataset import open_dataset

    dataset = open_dataset(data)
    # A submission with a fault does not end the command, so that a reviewer of many sees all of them at once.
    has_faults = False
    scored = {}
    for place in folders:
        people, left_out = read_people(place, dataset)
        for person in people:
            print_line(f"{person.path}: ok")
        for folder in submission_folders(place):
            submission = read_submission(folder, dataset)
            if isinstance(submission, LeftOut):
                left_out.append(submission)
            else:
                print_line(f"{folder}: ok")
                scored[submission.id] = score_submission(submission)
                print_scores(scored[submission.id], dataset)
        for entry in left_out:
            has_faults = True
            for fault in entry.faults:
                print_line(str(fault))
    for name, note in equal_scores(scored.values()).items():
        print_line(f"{name}: {note}")
    if has_faults:
        raise typer.Exit(1)


@leaderboard_app.command(epilog="Example: turkic-idiom leaderboard build submissions --out site")
def build(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with one folder per submission.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SITE", help="Folder of the site.")],
    reproduced: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ids of submissions that maintainers ran again, one a line; for a badge."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Page for maintainers, outside the site: what was left out, and why."),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Write into a folder with other files; only those of a site are replaced."),
    ] = False,
    repository: Annotated[
        str | None,
        typer.Option(metavar="URL", help="GitHub repository that takes submissions, for links.  [default: none]"),
    ] = None,
    data: Data = "",
) -> None:
    """Compute every score and interval from the predictions, rank the models, and write a static site.

    A submission with a fault is left out and listed, and never stops the others. An earlier site in the folder is
    updated; other files in it are left alone. The day in the footer is that of SOURCE_DATE_EPOCH.
    """
    from leaderboard import build as build_site
    from leaderboard.tables import equal_scores

    ids = []
    if reproduced is not None:
        with input_errors(reproduced):
            lines = decode_text(read_file(reproduced, limit=2**20)).splitlines()
        ids = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    outcome = build_site(
        submissions, out, data=data, reproduced=ids, report=report, overwrite=overwrite, repository=repository
    )
    noun = "submission" if len(outcome.scored) == 1 else "submissions"
    summary = [f"{len(outcome.scored)} {noun}, {len(outcome.files)} files"]
    for name, metadata in outcome.other_editions.items():
        summary.append(f"{name}: predicts edition {metadata.edition} of the lexicon; listed without scores")
    summary += [f"{name}: {note}" for name, note in equal_scores(outcome.scored).items()]
    if outcome.left_out:
        summary.append(f"left out: {len(outcome.left_out)}")
        summary += [f"  {entry.reason}" for entry in outcome.left_out]
    if report:
        summary.append(f"For maintainers: {report}")
    summary.append(f"Site: {out / 'index.html'}")
    print_line("\n".join(summary))


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
    yes: Publish = False,
) -> None:
    """Propose a model's scores to its repository on the Hub, as .eval_results/NAME.yaml.

    Without --yes the file is only shown; with --yes a pull request is opened.
    """
    from leaderboard.publish import propose_scores

    propose_scores(results, model, dataset=dataset, confirmed=yes, write=_write)


def _write(text: str) -> None:
    sys.stdout.write(printable(text))
