"""``turkic-idiom leaderboard publish`` and ``eval-results``: arguments and output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_publish_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the commands that write to the Hub; each sets `handler`."""
    site = commands.add_parser(
        "publish",
        help="send a built site to a static Space on the Hub",
        description="Show what would change in a Space and, with --yes, change it in one commit. Files that an earlier "
        "publish sent and that the site no longer has are deleted in it; nothing else is.",
        epilog="Example: turkic-idiom leaderboard publish site --space my-org/turkic-idioms --yes",
    )
    site.add_argument("site", type=Path, metavar="SITE", help="folder that leaderboard build wrote")
    site.add_argument("--space", required=True, metavar="ORG/NAME", help="created if there is none")
    site.add_argument("--yes", action="store_true", help="publish; without it only the plan is shown")
    site.set_defaults(handler=_publish)
    scores = commands.add_parser(
        "eval-results",
        help="propose a model's scores for its own repository on the Hub",
        description="Write a model's scores on a published dataset as .eval_results/NAME.yaml and, with --yes, open a "
        "pull request with it at the model's repository.",
        epilog="Example: turkic-idiom leaderboard eval-results results/results/org__model --model org/model --dataset "
        "my-org/turkic-idioms",
    )
    scores.add_argument("results", type=Path, metavar="RESULTS", help="folder of one model, from turkic-idiom or mteb")
    scores.add_argument("--model", required=True, metavar="ORG/NAME", help="the model's repository")
    scores.add_argument("--dataset", required=True, metavar="ORG/NAME", help="the dataset that it was scored on")
    scores.add_argument("--yes", action="store_true", help="open the pull request; without it, it is only shown")
    scores.set_defaults(handler=_eval_results)


def _publish(options: argparse.Namespace) -> int:
    from leaderboard.publish import publish_site

    publish_site(options.site, options.space, confirmed=options.yes, write=sys.stdout.write)
    return 0


def _eval_results(options: argparse.Namespace) -> int:
    from leaderboard.publish import propose_scores

    propose_scores(
        options.results, options.model, dataset=options.dataset, confirmed=options.yes, write=sys.stdout.write
    )
    return 0
