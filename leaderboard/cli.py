"""``turkic-idiom submit`` and ``leaderboard``: arguments and output. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse

from leaderboard.publish_cli import add_publish_parsers
from leaderboard.site_cli import add_build_parser
from leaderboard.submission_cli import add_check_parser, add_submit_arguments


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `leaderboard` and its subcommands; each sets `handler`."""
    parser = subparsers.add_parser("leaderboard", help="check submissions, build the site, publish it")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_check_parser(commands)
    add_build_parser(commands)
    add_publish_parsers(commands)


def add_submit_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `submit`."""
    parser = subparsers.add_parser(
        "submit",
        help="pack the predictions of runs for the leaderboard",
        description="Pack predictions for the leaderboard, which computes every score itself: results of turkic-idiom "
        "run, of mteb run --prediction-folder, of lm-eval run --log_samples and of turkic-idiom finetune span. What "
        "they say of the model is taken from them.",
        epilog="Example: turkic-idiom submit results/results/my__model --contact '@me' --training-data 'Wikipedia; no "
        "idiom of the benchmark'",
    )
    add_submit_arguments(parser)
