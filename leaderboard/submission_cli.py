"""``turkic-idiom submit`` and ``leaderboard check``: arguments and output; the handlers import heavy packages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from turkic_idiom_tasks.lexicon.sources import use_data

if TYPE_CHECKING:
    from leaderboard.gold import Gold
    from leaderboard.records import Record


def add_submit_arguments(parser: argparse.ArgumentParser) -> None:
    """Gives `submit` its arguments and its handler."""
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="folders (or single files) that runs have written"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("submissions"),
        metavar="DIR",
        help="where its folder goes (default: %(default)s)",
    )
    parser.add_argument("--contact", metavar="TEXT", help="how you want to be reached; it is shown")
    parser.add_argument(
        "--training-data",
        metavar="TEXT",
        help="what the model was trained on, and whether idioms of the benchmark were among it",
    )
    parser.add_argument("--name", metavar="ORG/NAME", help="what to call the model (default: as in the results)")
    parser.add_argument("--type", help="baseline, encoder, sentence-encoder, token-classifier or llm")
    parser.add_argument(
        "--regime",
        help="supervision by idioms: pretrained (none), tr-only, monolingual, cross-lingual, few-shot or other",
    )
    parser.add_argument("--parameters", type=int, dest="n_parameters", metavar="N", help="how many the model has")
    parser.add_argument(
        "--pooling",
        action="append",
        metavar="POOLING",
        help="only this one; may be repeated (default: one submission each)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of span results (default: the smallest there is)")
    parser.add_argument("--data", metavar="DATA", help="the data that was predicted, as in `turkic-idiom run`")
    parser.set_defaults(handler=_submit)


def add_check_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `check`."""
    parser = commands.add_parser(
        "check",
        help="say what is wrong with submissions",
        description="Read submissions as the leaderboard does, print everything that is wrong with them, and the "
        "scores of those that are sound. Exit code 1 if one is not.",
    )
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="DIR", help="a submission, or a folder that holds submissions"
    )
    parser.add_argument("--data", metavar="DATA", help="the data of the leaderboard, as in `turkic-idiom run`")
    parser.set_defaults(handler=_check)


def _submit(options: argparse.Namespace) -> int:
    use_data(options.data)
    from leaderboard.gold import read_gold
    from leaderboard.submit import SubmitOptions, submit

    said = SubmitOptions(
        out=options.out,
        contact=options.contact,
        training_data=options.training_data,
        name=options.name,
        type=options.type,
        regime=options.regime,
        n_parameters=options.n_parameters,
        poolings=tuple(options.pooling or ()),
        seed=options.seed,
    )
    for folder, record in submit(options.results, said, gold=read_gold()):
        about = record.metadata
        parameters = "of unknown size" if about.n_parameters is None else f"{about.n_parameters:,} parameters"
        sys.stdout.write(
            f"{folder}\n  {about.name}, revision {about.revision}, {about.type}, {about.regime}, {parameters}\n"
            f"{_scores(record)}"
        )
    sys.stdout.write("Make sure that all of this is true, then propose the folder to the leaderboard.\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    use_data(options.data)
    from leaderboard.gold import read_gold
    from leaderboard.submission import submission_folders

    gold = read_gold()
    folders = [folder for place in options.folders for folder in submission_folders(place)]
    sound = [_is_sound(folder, gold) for folder in folders]
    return 0 if all(sound) else 1


def _is_sound(folder: Path, gold: Gold) -> bool:
    """Checks one submission and prints what comes of it."""
    from leaderboard.rescore import rescore
    from leaderboard.submission import read_submission

    submission, faults = read_submission(folder, gold)
    if submission is None:
        sys.stdout.write("".join(f"{fault}\n" for fault in faults))
        return False
    sys.stdout.write(f"{folder}: ok\n{_scores(rescore(submission, gold))}")
    return True


def _scores(record: Record) -> str:
    """The main score of every subset, a line a task."""
    from leaderboard.records import MAIN_SCORES, TASKS

    lines = []
    for task in TASKS:
        subsets = record.of_task(task)
        cut = min((one.cut for one in subsets if one.cut is not None), default=None)
        note = "" if cut is None else f"  (cut: some queries rank only {cut} documents, the others tie)"
        cells = "  ".join(f"{one.subset} {one.main:.4f} [{one.low:.4f}, {one.high:.4f}]" for one in subsets)
        lines += [f"  {task} {MAIN_SCORES[task]}: {cells}{note}\n"] if subsets else []
    return "".join(lines)
