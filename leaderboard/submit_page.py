"""What the site says about itself and about submitting a model: commands, citation, repository, date of the build."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from leaderboard.items import BoardData
from leaderboard.scores import RETRIEVAL_TASKS
from turkic_idiom_tasks.errors import usage_error

BIBTEX = """@software{turkic_idiom_tasks,
  title = {turkic-idiom-tasks: idiom understanding in Turkic languages, as plugins for evaluation harnesses},
  author = {{The turkic-idiom-tasks authors}},
  version = {VERSION},
}

@article{aslantas2026turkic,
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval Across Five Turkic
           Languages},
  author = {Aslanta{\\c{s}}, G{\\"o}zde and G{\\"u}ng{\\"o}r, Tunga},
  year = {2026},
}"""

_REPOSITORY = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Step:
    """A command to copy, and what it does."""

    does: str
    command: str


STEPS = (
    Step("Run the model on all retrieval tasks.", "turkic-idiom run -m ORG/NAME"),
    Step(
        "Pack its predictions. What the results do not say of the model you add here; both texts are shown.",
        "turkic-idiom submit results/results/ORG__NAME --contact 'YOU' --training-data 'WHAT IT WAS TRAINED ON'",
    ),
    Step(
        "Check the submission and see the scores that the leaderboard will show.",
        "turkic-idiom leaderboard check submissions",
    ),
)


@dataclass(frozen=True, slots=True)
class About:
    """Facts about the site.

    Attributes:
        repository: address of the GitHub repository that takes submissions; None if it is not known, and then no page
            links to it.
        built: the day of the build; None leaves it out.
    """

    repository: str | None = None
    built: date | None = None


NOTHING_KNOWN = About()


def site_facts(repository: str | None, built: str | None, environment: Mapping[str, str]) -> About:
    """Return the facts about a site from the options of the command and the environment.

    Args:
        repository: address of a GitHub repository.
        built: ``2026-11-30``; None takes the day of SOURCE_DATE_EPOCH, and none without that either.
        environment: variables of the process.

    Raises:
        InputError: the address or a date is malformed.
    """
    if repository is not None:
        repository = repository.rstrip("/")
        if not _REPOSITORY.fullmatch(repository):
            raise usage_error(f"--repository {repository}: give an address like https://github.com/ORG/NAME")
    epoch = environment.get("SOURCE_DATE_EPOCH")
    try:
        if built is not None:
            return About(repository, date.fromisoformat(built))
        if epoch is not None:
            return About(repository, datetime.fromtimestamp(int(epoch), tz=UTC).date())
    except (ValueError, OverflowError, OSError) as error:
        source = f"--date {built}" if built is not None else f"SOURCE_DATE_EPOCH={epoch}"
        raise usage_error(f"{source}: not a date; give --date YYYY-MM-DD, or seconds since 1970") from error
    return About(repository)


def bibtex(version: str) -> str:
    """Return the BibTeX entries of the software and of the paper."""
    return BIBTEX.replace("VERSION", version)


def count_texts(data: BoardData) -> int:
    """Return about how many texts a model encodes for retrieval.

    Equal queries are counted once. So are the pools of idioms and of meanings of each language, of which the largest
    counts; a query that is also a candidate is counted twice.
    """
    queries: set[str] = set()
    pools: dict[tuple[str, str], int] = {}
    for subset in data.subsets:
        if subset.task in RETRIEVAL_TASKS and subset.pool is not None:
            queries.update(subset.texts.values())
            field = "idiom" if subset.task == "T1" else "meaning"
            pools[field, subset.language] = max(subset.pool, pools.get((field, subset.language), 0))
    return len(queries) + sum(pools.values())
