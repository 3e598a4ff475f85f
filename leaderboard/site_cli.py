"""``turkic-idiom leaderboard build``: arguments and output; the handler imports heavy packages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.sources import use_data


def add_build_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `build`."""
    parser = commands.add_parser(
        "build",
        help="compute every score of the submissions again and write the site",
        description="Compute every score and interval from the predictions, rank the models, and write a static site. "
        "An earlier site in the folder is brought up to date; other files in it are left alone.",
        epilog="Example: turkic-idiom leaderboard build submissions --out site",
    )
    parser.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="folder with one folder per submission")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="SITE", help="folder of the site")
    parser.add_argument("--data", metavar="DATA", help="the data that was predicted, as in `turkic-idiom run`")
    parser.add_argument(
        "--reproduced",
        type=Path,
        metavar="FILE",
        help="ids of submissions that the maintainers ran again, one a line; they get a badge",
    )
    parser.set_defaults(handler=_build)


def _build(options: argparse.Namespace) -> int:
    use_data(options.data)
    from tqdm import tqdm

    from leaderboard.data import current_data
    from leaderboard.gold import read_gold
    from leaderboard.overview import make_board
    from leaderboard.rescore import load_records
    from leaderboard.site import build_site

    reproduced = _read_ids(options.reproduced) if options.reproduced else []
    data = current_data()
    found = tqdm(load_records(options.submissions, read_gold()), desc="rescoring", unit=" submissions", disable=None)
    board = make_board(list(found), data, reproduced=reproduced)
    written = build_site(board, options.out)
    sys.stdout.write(f"{len(board.records)} submissions, {len(written)} files\nSite: {options.out / 'index.html'}\n")
    return 0


def _read_ids(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); give a text file with one id a line") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
