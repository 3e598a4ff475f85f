"""``turkic-idiom dataset review``: a page for native speakers, and what they send back."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turkic_idiom_tasks.cli.dataset import dataset_app, print_rows
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from turkic_idiom_tasks.lexicon.entries import Lexicon
    from turkic_idiom_tasks.lexicon.load import Problem

MOST_SHOWN = 50  # faults of a file
UNDEFINED = "undefined"

review_app = typer.Typer(
    name="review",
    invoke_without_command=True,
    rich_markup_mode=None,
)
dataset_app.add_typer(review_app)

Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Lexicon directory.  [default: the bundled one]")
]


@review_app.callback(
    epilog="Example: turkic-idiom dataset review --lang az --n 200 --out review.html",
)
def review(
    context: typer.Context,
    lang: Annotated[str | None, typer.Option("--lang", metavar="CODE", help="tr, az, tk, gag or uz.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE")] = Path("review.html"),
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", min=1, help="How many entries.  [default: all of the language]")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", help="Of the order among equally doubtful entries.  [default: 1]"),
    ] = None,
    data: Data = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")] = False,
) -> None:
    """Write a page on which a native speaker reviews entries; apply takes the files that reviewers send back.

    The page works from a file and on a phone, without a network. Doubtful entries come first; test concepts of
    retrieval have the share that they have in the lexicon. Send the page to a speaker, who answers with a file
    review-CODE-INITIALS.jsonl.
    """
    if context.invoked_subcommand is not None:
        for name in context.params:
            source = context.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                raise usage_error(
                    f"--{name} is an option of the page, not of apply; leave it out, or put it after apply"
                )
        return
    from hub_datasets.annotated_files import check_out
    from hub_datasets.review import SEED, review_page, sample
    from turkic_idiom_tasks.io.files import write_text
    from turkic_idiom_tasks.languages import get_language
    from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon

    if lang is None:
        raise usage_error("--lang is missing; see: turkic-idiom dataset review --help")
    check_out(out, overwrite=overwrite)
    language = get_language(lang)
    lexicon = load_lexicon(data or BUNDLED)
    entries = sample(lexicon, language.code, n=n, seed=SEED if seed is None else seed)
    write_text(out, review_page(lexicon, language.code, entries))
    sys.stdout.write(f"{out}: {len(entries)} of {len(lexicon.of(language.code))} {language.name} entries\n")


@review_app.command(epilog="Example: turkic-idiom dataset review apply review-az-AB.jsonl review-az-CD.jsonl")
def apply(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What reviewers exported from the page.")],
    data: Data = None,
) -> None:
    """Check reviews, write them beside the entries, and say how far the reviewers agree.

    Nothing is written when any file has a fault. Of two reviews of an entry by one reviewer the newer one is kept. The
    table has, for each field, the entries with two reviewers or more who know the idiom, the share of pairs of verdicts
    that are the same, and Krippendorff's alpha.
    """
    from hub_datasets.verdicts import count_changes, read_reviews
    from turkic_idiom_tasks.lexicon.load import BUNDLED, add_reviews, load_lexicon
    from turkic_idiom_tasks.lexicon.reviews import REVIEWS_FILE

    lexicon = load_lexicon(data or BUNDLED)
    reviews, problems = read_reviews(files, lexicon, today=datetime.now().astimezone().date())
    if problems:
        _print_problems(problems)
        noun = "fault" if len(problems) == 1 else "faults"
        raise InputError(f"{len(problems)} {noun}; nothing was written, correct the files and run this command again")
    directory = Path(lexicon.source)
    changes = count_changes(lexicon, reviews)
    add_reviews(directory, reviews, revision=lexicon.revision)
    sys.stdout.write(
        f"{directory / REVIEWS_FILE}: {changes.added} reviews added, {changes.replaced} replaced, "
        f"{changes.unchanged} there already, {changes.outdated} older than those there\n"
    )
    _print_agreement(load_lexicon(directory))


def _print_problems(problems: Sequence[Problem]) -> None:
    """Print the first faults of every file, one a line, and how many more there are."""
    counts: Counter[Path] = Counter()
    for problem in problems:
        counts[problem.path] += 1
        if counts[problem.path] <= MOST_SHOWN:
            sys.stderr.write(f"{printable(str(problem))}\n")
    for path, count in counts.items():
        if count > MOST_SHOWN:
            sys.stderr.write(f"{printable(str(path))}: {count - MOST_SHOWN} faults more\n")


def _print_agreement(lexicon: Lexicon) -> None:
    from hub_datasets.verdicts import agreements, disagreements

    table = []
    for row in agreements(lexicon):
        share = UNDEFINED if row.share is None else f"{row.share:.1%}"
        alpha = UNDEFINED if row.alpha is None else f"{row.alpha:.3f}"
        table.append([f"{row.language} {row.field}", row.entries, share, alpha])
    if not table:
        sys.stdout.write("agreement: no entry was judged by two reviewers yet\n")
        return
    print_rows(table, sys.stdout, head=["field", "entries", "agreement", "alpha"])
    differing = disagreements(lexicon)
    sys.stdout.write(f"disagreements: {len(differing)}\n")
    rows = []
    for difference in differing:
        sides = [f"{verdict}: {', '.join(reviewers)}" for verdict, reviewers in difference.reviewers.items()]
        rows.append([difference.language, difference.concept, difference.idiom, difference.field, "; ".join(sides)])
    print_rows(rows, sys.stdout)
