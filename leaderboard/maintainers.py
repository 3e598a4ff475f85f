"""A page for maintainers of a leaderboard, no part of the site: submissions that were left out, with every fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.scores import LeftOut, OtherEdition, ScoredSubmission
from leaderboard.submission import SubmissionFault
from leaderboard.submit_page import About
from leaderboard.templating import environment
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.reading import MalformedError, printable, read_file

_MARK = b'<meta name="generator" content="turkic-idiom leaderboard build">'


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the submissions of a build.

    Attributes:
        data: the name of the data in results.
        revision: its revision.
        scored: submissions on the leaderboard.
        left_out: submissions with a fault.
        other_editions: submissions that are listed without scores.
    """

    data: str
    revision: str
    scored: Sequence[ScoredSubmission]
    left_out: Sequence[LeftOut]
    other_editions: Sequence[OtherEdition]


def check_report(report: Path, site: Path, submissions: Path) -> None:
    """Check that the page can be written where it is asked for.

    Raises:
        InputError: it would be published with the site, lie among the submissions, or replace another file.
    """
    for folder, what in ((site, "site, which is published"), (submissions, "submissions")):
        if folder.resolve() in report.resolve().parents:
            raise usage_error(f"--report {report}: lies in the folder of the {what}; choose a file elsewhere")
    if report.exists():
        try:
            is_ours = _MARK in read_file(report)
        except MalformedError as error:
            raise InputError(f"{report}: {error}; choose another file with --report") from error
        if not is_ours:
            raise InputError(f"{report}: was not written by this command; choose another file with --report")


def write_report(report: Path, outcome: Outcome, about: About) -> None:
    """Write the page.

    Raises:
        InputError: it cannot be written.
    """
    left_out = [(entry.folder.name, [_shown(fault, entry) for fault in entry.faults]) for entry in outcome.left_out]
    template = environment().get_template("maintainers.html")
    write_text(report, template.render(outcome=outcome, left_out=left_out, about_site=about))


def _shown(fault: SubmissionFault, entry: LeftOut) -> str:
    """Return a fault without the path of the folder, which the page names once."""
    place = "" if fault.path == entry.folder else fault.path.name
    line = f", line {fault.line}" if fault.line else ""
    return printable(f"{place}{line}: {fault.message}" if place else fault.message)
