"""The static site in a folder: from records to files."""

from __future__ import annotations

import re
from pathlib import Path

from leaderboard.overview import Board
from leaderboard.pages import Pages
from leaderboard.records import Record
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import check_writable, write_bytes

OWN_FOLDERS = ("figures", "models", "scores", "static")  # what an earlier build left in them is deleted

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def build_site(board: Board, out: Path) -> list[Path]:
    """Writes the site and returns its files; files that did not change are left alone.

    Nothing else in the folder is touched, except that `OWN_FOLDERS` hold nothing but the site afterwards.

    Raises:
        InputError: an id that cannot be a file name, the folder cannot be written to, or a package is missing.
    """
    _check_ids(board.records)
    check_writable(out)
    written = []
    for name, content in Pages(board).all():
        path = out / name
        if not path.is_file() or path.read_bytes() != content:
            write_bytes(path, content)
        written.append(path)
    kept = set(written)
    for folder in OWN_FOLDERS:
        for path in sorted((out / folder).glob("*")):
            if path not in kept and path.is_file():
                path.unlink()
    return written


def _check_ids(records: tuple[Record, ...]) -> None:
    seen: dict[str, str] = {}
    for record in records:
        if not _ID.fullmatch(record.id):
            raise InputError(
                f"submission {record.id!r}: cannot be the name of a page; use letters, digits, '.', '_' and '-'"
            )
        other = seen.setdefault(record.id.lower(), record.id)
        if other != record.id:
            raise InputError(f"submissions {other!r} and {record.id!r} differ in case alone; rename one")
