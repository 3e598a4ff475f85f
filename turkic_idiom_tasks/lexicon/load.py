"""Reading, checking and writing of lexicon directories."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from turkic_idiom_tasks.errors import InputError, refuse_faults
from turkic_idiom_tasks.io.files import (
    MANIFEST,
    commit_folder,
    foreign_names,
    locked_folder,
    read_committed,
    read_manifest,
    restore_folder,
    write_bytes,
)
from turkic_idiom_tasks.io.reading import MAX_BYTES, Fault, display, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES, LANGUAGES_FILE, add_languages, get_language, own_records
from turkic_idiom_tasks.lexicon.entries import (
    Concept,
    Entry,
    Lexicon,
    parse_concept,
    parse_entry,
    parse_equivalent,
    parse_row,
)
from turkic_idiom_tasks.lexicon.reviews import REVIEW, REVIEWS_FILE, Review, newest_reviews

BUNDLED = Path(__file__).parent / "data"
CONCEPTS_FILE = "concepts.jsonl"
EQUIVALENTS_FILE = "equivalents.jsonl"
KIND = "lexicon"  # in the manifest of a lexicon directory that we wrote
T = TypeVar("T")


def file_names() -> tuple[str, ...]:
    """Return the names of all files that a lexicon directory may have."""
    return (*(f"{code}.jsonl" for code in LANGUAGES), CONCEPTS_FILE, EQUIVALENTS_FILE, REVIEWS_FILE, LANGUAGES_FILE)


def load_lexicon(directory: Path = BUNDLED) -> Lexicon:
    """Return the lexicon in a directory."""
    lexicon, problems = read_lexicon(directory)
    refuse_faults(problems, advice=f"list all with: turkic-idiom dataset check {directory}")
    return lexicon


def read_lexicon(directory: Path) -> tuple[Lexicon, list[Fault]]:
    """Return the lexicon in a directory, without the lines that have a mistake, and every mistake in it."""
    return read_committed(directory, lambda: _read_files(directory))


def _read_files(directory: Path) -> tuple[Lexicon, list[Fault]]:
    files = lexicon_files(directory)
    problems = _missing_files(directory)
    path = directory / CONCEPTS_FILE
    rows, mistakes = _read_lines(path, parse_concept, lambda concept: concept.id)
    problems += mistakes
    concepts = {concept.id: concept for concept in rows}
    for concept in rows:
        for alias in concept.aliases:
            if alias in concepts:
                problems.append(Fault(path, f"alias {alias!r} of {concept.id!r} is a concept itself; remove one"))
    declared = frozenset(concepts)  # a lexicon without concepts.jsonl declares none, and then its entries may name any
    entries: dict[str, dict[str, Entry]] = {}
    for code, path in files.items():
        parse = partial(parse_entry, language=LANGUAGES[code], declared=declared)
        own, mistakes = _read_lines(path, parse, lambda entry: entry.concept)
        problems += mistakes
        entries[code] = {entry.concept: entry for entry in own}
        for name in entries[code]:
            concepts.setdefault(name, Concept(name, ""))  # so that code need not ask whether a concept was declared
        if not own and not mistakes:  # otherwise its mistakes are the better message
            problems.append(Fault(path, "no entries; add some or delete the file"))
    judged, mistakes = _read_lines(
        directory / EQUIVALENTS_FILE,
        lambda row: parse_equivalent(row, concepts),
        lambda pair: " and ".join(pair.concepts),
    )
    problems += mistakes
    reviews, mistakes = read_review_file(directory / REVIEWS_FILE)
    problems += mistakes
    lexicon = Lexicon(
        concepts,
        entries,
        revision=content_revision(directory),
        source=str(directory),
        equivalents=dict(sorted((pair.concepts, pair.judgement) for pair in judged)),
        reviews=newest_reviews(reviews),
    )
    return lexicon, problems


def _read_lines(
    path: Path,
    parse: Callable[[Any], tuple[T | None, list[str]]],
    name: Callable[[T], str],
    *,
    identity: Callable[[T], object] | None = None,
    limit: int = MAX_BYTES,
    is_optional: bool = True,
) -> tuple[list[T], list[Fault]]:
    """Return what the lines of a file state, and its mistakes, among them lines of the same identity, or name."""
    if is_optional and not path.is_file():
        return [], []
    rows = []
    problems = []
    first_line: dict[object, int] = {}
    for number, value, problem in read_json_lines(path, limit=limit):
        row, mistakes = (None, [problem]) if problem else parse(value)
        if row is not None:
            earlier = first_line.setdefault((identity or name)(row), number)
            if earlier == number:
                rows.append(row)
            else:
                mistakes = [f"{name(row)}: is on line {earlier} too; remove one"]
        problems += [Fault(path, mistake, number) for mistake in mistakes]
    return rows, problems


def read_review_file(
    path: Path, *, limit: int = MAX_BYTES, check: Callable[[Review], list[str]] | None = None
) -> tuple[list[Review], list[Fault]]:
    """Return the reviews of a file of JSON lines in its order, and everything that is wrong with it.

    `check`, which files from outside need, returns why a review cannot be used.
    """

    def parse(row: Any) -> tuple[Review | None, list[str]]:
        parsed = parse_row(REVIEW, row)
        if parsed[0] is None or check is None:
            return parsed
        mistakes = check(parsed[0])
        return (None if mistakes else parsed[0]), mistakes

    # A file from outside has one line for each entry and reviewer; that of a lexicon may be missing or have conflicts.
    return _read_lines(
        path,
        parse,
        lambda review: f"{review.reviewer} on {review.concept!r} in {review.language}",
        identity=lambda review: (review.key, "" if check else review.statement),
        limit=limit,
        is_optional=check is None,
    )


def lexicon_files(directory: Path) -> dict[str, Path]:
    """Return language code -> file of a lexicon directory, in the order of `LANGUAGES`."""
    add_languages(directory)
    names = file_names()
    # A file such as kk.jsonl would otherwise be left out without a word.
    others = sorted(path.name for path in directory.glob("[!.]*.jsonl") if path.name not in names)
    paths = {code: directory / f"{code}.jsonl" for code in LANGUAGES}
    files = {code: path for code, path in paths.items() if path.is_file()}
    problem = ""
    if others:
        problem = f"holds {display(others[0])}, not {', '.join(names)}; CONTRIBUTING.md says how to add a language"
    elif not files:
        problem = f"no lexicon directory; none of {', '.join(names)} is in it"
    if problem:
        raise InputError(f"{directory}: {problem}")
    return files


def _missing_files(directory: Path) -> list[Fault]:
    """Return a problem for each file that we wrote and that is gone, and for each one that is not a regular file."""
    problems = []
    manifest = read_manifest(directory)
    written = manifest.files if manifest else {}
    for name in file_names():
        path = directory / name
        if path.is_file():
            continue
        if path.exists() or path.is_symlink():
            problems.append(Fault(path, "is not a regular file; put the file here, or remove what is here"))
        elif name in written:
            message = f"is missing; write the lexicon again, or delete {MANIFEST} beside it if you removed it yourself"
            problems.append(Fault(path, message))
    return problems


def content_revision(directory: Path) -> str:
    """Return the SHA-1 of the lexicon's lines, 40 hexadecimal digits; order, line ends, blank lines do not matter."""
    digest = hashlib.sha1(usedforsecurity=False)
    # Reviews are left out, because they change no score.
    paths = list(lexicon_files(directory).values())
    paths += [directory / name for name in (CONCEPTS_FILE, EQUIVALENTS_FILE, LANGUAGES_FILE)]
    for path in sorted(path for path in paths if path.is_file()):
        # Lines are sorted, so that moving an entry within its file does not make it look like other data.
        lines = sorted(line.strip() for line in path.read_bytes().splitlines())
        digest.update(path.name.encode() + b"\0" + b"\n".join(filter(None, lines)) + b"\0")
    return digest.hexdigest()


def check_target(directory: Path, *, overwrite: bool | None = None) -> None:
    """Check before any work is done that a lexicon may be written; `overwrite` is None if nothing can be replaced."""
    restore_folder(directory)
    names = foreign_names(directory) if directory.is_dir() else []
    # It would stay beside the new lexicon, and `lexicon_files` would refuse the directory because of it.
    strange = [name for name in names if name.endswith(".jsonl") and name not in file_names()]
    problem = ""
    if directory.exists() and not directory.is_dir():
        problem = "is not a directory; choose another --out"
    elif names and not overwrite:
        advice = "remove it" if overwrite is None else "add --overwrite, which replaces the lexicon there"
        problem = f"not empty (holds {display(names[0])}); choose another --out, or {advice}"
    elif strange:
        problem = f"holds {display(strange[0])}, which is no lexicon file; choose another --out"
    if problem:
        raise InputError(f"{directory}: {problem}")


def write_lexicon(
    directory: Path,
    concepts: Sequence[Concept],
    entries: Mapping[str, Sequence[Entry]],
    *,
    equivalents: Mapping[tuple[str, str], str] | None = None,
    reviews: Sequence[Review] = (),
    others: Mapping[str, bytes] | None = None,  # name -> content of further files, such as the report of an import
    overwrite: bool = False,
) -> None:
    """Write a lexicon directory, all files in one step, entries and concepts in the order of concept ids."""
    files: dict[str, bytes] = dict(others or {})
    for code, rows in entries.items():
        get_language(code)  # or an InputError
        if rows:
            files[f"{code}.jsonl"] = _as_lines(entry.to_json() for entry in sorted(rows, key=lambda row: row.concept))
    files[CONCEPTS_FILE] = _as_lines(concept.to_json() for concept in sorted(concepts, key=lambda row: row.id))
    if equivalents:
        judged = sorted(equivalents.items())
        files[EQUIVALENTS_FILE] = _as_lines(json.dumps({"concepts": pair, "judgement": how}) for pair, how in judged)
    check_target(directory, overwrite=overwrite)
    # The reviews of a lexicon that is replaced are kept, because they are the work of people; those that do not fit the
    # new entries are not counted.
    review_lines = _review_lines(directory, reviews)
    if own_languages := own_records(code for code, rows in entries.items() if rows):
        files[LANGUAGES_FILE] = own_languages
    if review_lines:
        files[REVIEWS_FILE] = review_lines
    # A file of a language that has no entries any more could otherwise stay from the lexicon that is replaced.
    commit_folder(directory, files, kind=KIND, overwrite=overwrite, obsolete=file_names() if overwrite else ())


def add_reviews(directory: Path, reviews: Sequence[Review], *, revision: str) -> None:
    """Add reviews to a lexicon directory; of two by one reviewer on one entry, the newer one stays."""
    with locked_folder(directory):  # or of two commands that add reviews at once, one would lose the other's
        # The reviews were checked against the entries of this revision.
        if content_revision(directory) != revision:
            raise InputError(f"{directory}: was changed by another command meanwhile; run the same command again")
        write_bytes(directory / REVIEWS_FILE, _review_lines(directory, reviews))


def _review_lines(directory: Path, reviews: Sequence[Review]) -> bytes:
    """Return the lines of reviews and of those that a directory has; InputError if one of the latter is malformed."""
    earlier, problems = read_review_file(directory / REVIEWS_FILE)
    refuse_faults(problems, advice="correct the line or remove it")
    return _as_lines(review.to_json() for review in newest_reviews([*earlier, *reviews]))


def _as_lines(rows: Iterable[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode("utf-8")
