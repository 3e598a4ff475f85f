"""``turkic-idiom submit`` and ``leaderboard``: arguments and output. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `leaderboard` and its subcommands; each sets `handler`."""
    parser = subparsers.add_parser("leaderboard", help="check submissions, build the site, publish it")
    parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_submit_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `submit`."""
