"""``turkic-idiom dataset review``: a page for native speakers, and what they send back."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from turkic_idiom_tasks.cli.dataset import Data, dataset_app, print_rows
from turkic_idiom_tasks.cli.output import print_line
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import get_language
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, add_reviews, load_lexicon
from turkic_idiom_tasks.lexicon.reviews import Review

MOST_SHOWN = 50  # faults of a file
UNDEFINED = "undefined"


@dataset_app.command(epilog="Example: turkic-idiom dataset review --lang az --n 200 --out review.html")
def review(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="What reviewers sent back.")] = None,
    lang: Annotated[str | None, typer.Option(metavar="CODE", help="Of the entries.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="A new file.")] = Path("review.html"),
    n: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many entries.  [default: all of the language]")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the order among equally doubtful entries.")] = 1,
    found: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Review the uses in this output of dataset found; FILES: its annotations."),
    ] = None,
    data: Data = BUNDLED,
) -> None:
    """Write a page on which a native speaker reviews entries of --lang, or take the FILES that reviewers send back.

    The page works from a file and on a phone, without a network. Doubtful entries come first; test concepts of
    retrieval have the share that they have in the lexicon. Send the page to a speaker, who answers with a file
    review-CODE-INITIALS.jsonl.

    FILES are checked and added to the reviews beside the entries; nothing is written when any of them has a fault. Of
    two reviews of an entry by one reviewer the newer one is kept; where that is not known, both are. The table has, for
    each field, the entries with two reviewers or more who know the idiom, the share of pairs of verdicts that are the
    same, and Krippendorff's alpha. FILES on uses in found text give the status of their annotations: confirmed, or
    rejected where a reviewer found a fault.
    """
    from hub_datasets.found import native
    from hub_datasets.review import review_page, sample
    from turkic_idiom_tasks.dataset import open_dataset

    if bool(files) == (lang is not None):
        raise usage_error("give either --lang, for a page of its entries, or the FILES that reviewers sent back")
    lexicon = load_lexicon(data)
    if lang is None and found is not None:
        counts = native.add_verdicts(found, _read(files or [], native.annotated_uses(found, lexicon)))
        print_line(f"{found}: {counts['confirmed']} annotations confirmed, {counts['rejected']} rejected")
        return
    if lang is None:
        _apply(files or [], lexicon)
        return
    check_outputs({"--out": out}, inputs=[data, found])
    language = get_language(lang)
    if found is not None:
        lexicon = native.uses_to_review(open_dataset(str(found)), language.code, lexicon)
    # By hashes, so that all reviewers of a language get the same entries, and their verdicts can be compared.
    entries = sample(lexicon, language.code, n=n, seed=seed)
    write_text(out, review_page(lexicon, language.code, entries, native.TEXTS if found else None))
    kind = "uses" if found else "entries"
    print_line(f"{out}: {len(entries)} of {len(lexicon.of(language.code))} {language.name} {kind}")


def _read(files: list[Path], lexicon: Lexicon) -> list[Review]:
    from hub_datasets.verdicts import read_reviews

    reviews, problems = read_reviews(files, lexicon, today=datetime.now().astimezone().date())
    if problems:
        counts: Counter[Path] = Counter()
        for problem in problems:
            counts[problem.path] += 1
            if counts[problem.path] <= MOST_SHOWN:
                sys.stderr.write(f"{printable(str(problem))}\n")
        for path, count in counts.items():
            if count > MOST_SHOWN:
                sys.stderr.write(f"{printable(str(path))}: {count - MOST_SHOWN} faults more\n")
        noun = "fault" if len(problems) == 1 else "faults"
        raise InputError(f"{len(problems)} {noun}; nothing was written, correct the files and run this command again")
    return reviews


def _apply(files: list[Path], lexicon: Lexicon) -> None:
    from hub_datasets.verdicts import CHANGES, compare_reviewers, count_changes
    from turkic_idiom_tasks.lexicon.reviews import REVIEWS_FILE

    reviews = _read(files, lexicon)
    directory = Path(lexicon.source)
    changes = count_changes(lexicon, reviews)
    add_reviews(directory, reviews, revision=lexicon.revision)
    parts = ", ".join(f"{changes[change]} {change}" for change in CHANGES)
    print_line(f"{directory / REVIEWS_FILE}: {parts}")
    # Read again, because agreement is over all reviews, those that were added among them
    lexicon = load_lexicon(directory)
    for (language, concept, reviewer), count in Counter(review.key for review in lexicon.reviews).items():
        conflict = "two reviews differ, and neither is the newer one; both are kept, and count when a newer one is sent"
        if count > 1:
            print_line(f"{reviewer} on {concept!r} in {language}: {conflict}")
    agreements, disagreements = compare_reviewers(lexicon)
    table = []
    for row in agreements:
        share = UNDEFINED if row.share is None else f"{row.share:.1%}"
        alpha = UNDEFINED if row.alpha is None else f"{row.alpha:.3f}"
        table.append([f"{row.language} {row.field}", row.entries, share, alpha])
    if not table:
        print_line("agreement: no entry was judged by two reviewers yet")
        return
    print_rows(table, sys.stdout, head=["field", "entries", "agreement", "alpha"])
    print_line(f"disagreements: {len(disagreements)}")
    rows = []
    for difference in disagreements:
        sides = [f"{verdict}: {', '.join(reviewers)}" for verdict, reviewers in difference.reviewers.items()]
        rows.append([difference.language, difference.concept, difference.idiom, difference.field, "; ".join(sides)])
    print_rows(rows, sys.stdout)
