"""Write the static site into a folder; other files in the folder stay as they are."""

from __future__ import annotations

import re
from pathlib import Path

from leaderboard.board import Board
from leaderboard.language_models import LanguageModelBoard
from leaderboard.pages import Pages
from leaderboard.scores import ScoredSubmission
from leaderboard.submit_page import NOTHING_KNOWN, About
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import commit_folder, foreign_names, our_files
from turkic_idiom_tasks.io.reading import MalformedError, decode_text, display, read_file

KIND = "site"  # of the folder, in its manifest

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAX_IDS = 1024 * 1024  # bytes of a list of ids


def build_site(
    board: Board,
    out: Path,
    *,
    language_models: LanguageModelBoard | None = None,
    about: About = NOTHING_KNOWN,
    overwrite: bool = False,
) -> list[Path]:
    """Write all files of the site at once, and return their paths; other files in the folder are left alone.

    Args:
        board: the leaderboard that the pages show.
        out: folder of the site.
        language_models: the board of submissions that answer items; None if there are none.
        about: repository and date of the build.
        overwrite: whether to replace a file with a name of the site that an earlier build did not write.

    Raises:
        InputError: an id cannot be a file name; the folder holds something else or cannot be written to; a package is
            missing.
    """
    _check_ids(board.submissions)
    if language_models:
        _check_ids(language_models.board.submissions)
    contents = dict(Pages(board, language_models, about=about).all())
    commit_folder(out, contents, kind=KIND, overwrite=overwrite)
    return [out / name for name in contents]


def check_out(out: Path, submissions: Path, *, overwrite: bool) -> None:
    """Check that the site can be written, before the scores are computed; `build_site` checks the folder again.

    Args:
        out: folder of the site.
        submissions: folder of the submissions.
        overwrite: whether `out` may hold files that an earlier build did not write.

    Raises:
        InputError: `out` lies in the folder of the submissions, or holds something else.
    """
    inner, outer = out.resolve(), submissions.resolve()
    if inner == outer or outer in inner.parents:
        raise usage_error(
            f"--out {out}: lies in the folder of the submissions, {submissions}, where it would be read as a "
            "submission; choose another folder"
        )
    if out.is_dir() and not overwrite and our_files(out) is None:
        others = foreign_names(out)
        if others:
            raise InputError(
                f"{out}: holds {display(others[0])} and is no site; choose an empty or new folder, or pass "
                f"--overwrite, "
                "which leaves files with other names alone"
            )


def read_ids(path: Path) -> list[str]:
    """Return the ids of a text file with one id per line; lines that begin with # are comments.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        text = decode_text(read_file(path, limit=_MAX_IDS))
    except MalformedError as error:
        raise InputError(f"{path}: {error}; give a text file with one id per line") from error
    ids = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            ids.append(line.strip())
    return ids


def _check_ids(submissions: tuple[ScoredSubmission, ...]) -> None:
    seen: dict[str, str] = {}
    for submission in submissions:
        name = submission.id
        if not _ID.fullmatch(name):
            raise InputError(
                f"submission {display(name)}: cannot be the name of a page; use letters, digits, '.', '_' and '-'"
            )
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise InputError(f"submissions {other!r} and {name!r} differ in case alone; rename one of them")
