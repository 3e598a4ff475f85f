"""What reviewers sent back: checked as untrusted input, and how far the reviewers of a lexicon agree.

Agreement is that on one field of the entries, such as the meaning, among the reviewers who know the idiom: the share of
pairs of verdicts that are the same, and Krippendorff's alpha for nominal data.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import Fault, display
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import read_review_file
from turkic_idiom_tasks.lexicon.reviews import FIELDS, Review, newest_reviews

MOST_BYTES = 10 * 1024 * 1024  # of a file of reviews
ADDED, REPLACED, UNCHANGED = "reviews added", "replaced", "there already"
OUTDATED, CONFLICTING = "older than those there", "in conflict"
CHANGES = (ADDED, REPLACED, UNCHANGED, OUTDATED, CONFLICTING)
_TIME_ZONES = timedelta(days=1)  # what a reviewer's date may be ahead of ours


class Agreement(NamedTuple):
    """How far the reviewers of a language agree on one of the `FIELDS`."""

    language: str
    field: str
    entries: int  # with the verdicts of two reviewers or more who know the idiom
    share: float | None  # of the pairs of verdicts on an entry that are the same, in [0, 1]; None without pairs
    alpha: float | None  # see `krippendorff_alpha`


class Disagreement(NamedTuple):
    """Reviewers who know the idiom differ about one field of an entry."""

    language: str
    concept: str
    idiom: str
    field: str
    reviewers: Mapping[str, Sequence[str]]  # by verdict, sorted


def read_reviews(paths: Sequence[Path], lexicon: Lexicon, *, today: date) -> tuple[list[Review], list[Fault]]:
    """Return the reviews of files from outside, in their order, and everything that is wrong with them.

    The files are JSON lines, as the page of reviews exports them.
    """

    def check(review: Review) -> list[str]:
        entry = lexicon.of(review.language).get(review.concept)
        mistakes = []
        if entry is None:
            mistakes.append(f"the lexicon has no entry {display(review.concept)} in {review.language}")
        # In another revision of the lexicon an entry may have other texts, but not another idiom
        elif entry.idiom != review.idiom:
            mistakes.append(
                f"the idiom of {review.concept!r} reads {display(entry.idiom)} and was reviewed as "
                f"{display(review.idiom)}; remove the line, and have the entry reviewed again"
            )
        # Nothing newer could replace a review after today
        latest = max(review.date, review.stamp[0][: len(review.date)])
        if date.fromisoformat(latest) > today + _TIME_ZONES:
            mistakes.append(f"field 'date' or 'time': {latest} is in the future (today is {today}); correct it")
        return mistakes

    reviews: list[Review] = []
    problems: list[Fault] = []
    for path in paths:
        try:
            file_reviews, file_problems = read_review_file(path, limit=MOST_BYTES, check=check)
        except InputError as error:
            problems.append(Fault(path, str(error).removeprefix(f"{path}: ")))
            continue
        if not file_reviews and not file_problems:
            problems.append(Fault(path, "holds no reviews; export them from the page again"))
        reviews += file_reviews
        problems += file_problems
    return reviews, problems


def count_changes(lexicon: Lexicon, reviews: Iterable[Review]) -> Counter[str]:
    """Return what reviews will change before they are added to the lexicon: one of `CHANGES` -> number of reviews."""
    present: dict[tuple[str, str, str], list[Review]] = defaultdict(list)
    for review in lexicon.reviews:
        present[review.key].append(review)
    counts: Counter[str] = Counter()
    for review in reviews:
        earlier = present[review.key]
        kept = present[review.key] = newest_reviews([*earlier, review])
        if not earlier:
            counts[ADDED] += 1
        elif review in earlier:
            counts[UNCHANGED] += 1
        elif kept == earlier:
            counts[OUTDATED] += 1
        else:
            counts[REPLACED if len(kept) == 1 else CONFLICTING] += 1
    return counts


def compare_reviewers(lexicon: Lexicon) -> tuple[list[Agreement], list[Disagreement]]:
    """Return the agreement on every field, of languages that have an entry with two reviewers, and disagreements."""
    agreements, disagreements = [], []
    for language in LANGUAGES:
        units = _verdicts_by_field(lexicon, language)
        if not any(units.values()):
            continue
        for field in FIELDS:
            verdicts = [list(unit.values()) for unit in units[field].values()]
            share, alpha = pair_agreement(verdicts), krippendorff_alpha(verdicts)
            agreements.append(Agreement(language, field, len(verdicts), share, alpha))
        for concept, entry in sorted(lexicon.of(language).items()):
            for field in FIELDS:
                reviewers: dict[str, list[str]] = defaultdict(list)
                for reviewer, verdict in units[field].get(concept, {}).items():
                    reviewers[verdict].append(reviewer)
                if len(reviewers) > 1:
                    by_verdict = dict(sorted(reviewers.items()))
                    disagreements.append(Disagreement(language, concept, entry.idiom, field, by_verdict))
    return agreements, disagreements


def _verdicts_by_field(lexicon: Lexicon, language: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return field -> concept -> reviewer -> verdict, where two reviewers or more know the idiom."""
    by_field: dict[str, dict[str, dict[str, str]]] = {field: {} for field in FIELDS}
    for concept, reviews in lexicon.reviews_of(language).items():
        n_reviews = Counter(review.reviewer for review in reviews)  # of two in conflict neither counts
        known = [review for review in reviews if review.knows_idiom and n_reviews[review.reviewer] == 1]
        for field in FIELDS:
            verdicts: dict[str, str] = {row.reviewer: row.verdicts[field] for row in known if field in row.verdicts}
            if len(verdicts) > 1:
                by_field[field][concept] = verdicts
    return by_field


def pair_agreement(units: Iterable[Sequence[str]]) -> float | None:
    """Return the share of pairs of values within a unit that are the same, in [0, 1]; None without pairs."""
    n_pairs = n_same = 0
    for values in units:
        for first, second in combinations(values, 2):
            n_pairs += 1
            n_same += first == second
    return n_same / n_pairs if n_pairs else None


def krippendorff_alpha(units: Iterable[Sequence[str]]) -> float | None:
    """Return Krippendorff's alpha for nominal data: 1 is perfect agreement, 0 that of chance, below 0 is worse.

    Computed as in K. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": alpha = 1 - D_o / D_e, where
    D_o is the share of unlike pairs within units, each unit of m values counted m times, and D_e that share among all
    pairs of values, whatever their units. Values may be missing; units with fewer than two values do not count. None
    where alpha is undefined, because no unit has two values or all values are the same.
    """
    totals: Counter[str] = Counter()
    unlike_within = 0.0  # unlike ordered pairs within units, each divided by the unit's number of values less one
    for values in units:
        if len(values) < 2:
            continue
        counts = Counter(values)
        totals.update(counts)
        n_like = sum(count * (count - 1) for count in counts.values())
        n_ordered = len(values) * (len(values) - 1)
        unlike_within += (n_ordered - n_like) / (len(values) - 1)
    n = totals.total()
    unlike_at_all = n * (n - 1) - sum(count * (count - 1) for count in totals.values())
    if not unlike_at_all:
        return None
    return 1 - (n - 1) * unlike_within / unlike_at_all
