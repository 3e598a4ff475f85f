"""Reading, checking and writing of lexicon directories."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import (
    MANIFEST,
    commit_folder,
    finish_commit,
    foreign_names,
    is_committing,
    our_files,
    read_committed,
    update_file,
)
from turkic_idiom_tasks.io.reading import MAX_BYTES, MalformedError, display, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.lexicon.entries import (
    CONCEPT_ID,
    JUDGEMENTS,
    PARTS_OF_SPEECH,
    Concept,
    Entry,
    Lexicon,
    parse_entry,
    unseen_problem,
)
from turkic_idiom_tasks.lexicon.reviews import REVIEWS_FILE, Review, newest_reviews, parse_review

BUNDLED = Path(__file__).parent / "data"
CONCEPTS_FILE = "concepts.jsonl"
EQUIVALENTS_FILE = "equivalents.jsonl"
FILES = (*(f"{code}.jsonl" for code in LANGUAGES), CONCEPTS_FILE, EQUIVALENTS_FILE, REVIEWS_FILE)
KIND = "lexicon"  # in the manifest of a lexicon directory that we wrote


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a lexicon file; `line` is 0 when it concerns the whole file."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.message}"


def load_lexicon(directory: Path = BUNDLED) -> Lexicon:
    """Return the lexicon in a directory.

    Raises:
        InputError: the directory is not a lexicon or has a mistake; names the first one and how to list them all.
    """
    lexicon, problems = read_lexicon(directory)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{problems[0]}{more}; list all with: turkic-idiom dataset check {directory}")
    return lexicon


def read_lexicon(directory: Path) -> tuple[Lexicon, list[Problem]]:
    """Return the lexicon in a directory, without the lines that have a mistake, and every mistake in it.

    Raises:
        InputError: the directory does not exist or holds no language file, or others write to it all the time.
    """
    return read_committed(directory, lambda: _read_files(directory))


def _read_files(directory: Path) -> tuple[Lexicon, list[Problem]]:
    files = lexicon_files(directory)
    problems = _missing_files(directory)
    concepts, mistakes = _read_concepts(directory / CONCEPTS_FILE)
    problems += mistakes
    is_declared = bool(concepts)
    entries: dict[str, dict[str, Entry]] = {}
    for code, path in files.items():
        entries[code], mistakes = _read_entries(path, code, concepts if is_declared else None)
        problems += mistakes
        for concept in entries[code]:
            concepts.setdefault(concept, Concept(concept, ""))
        if not entries[code] and not mistakes:
            problems.append(Problem(path, 0, "no entries; add some or delete the file"))
    equivalents, mistakes = _read_equivalents(directory / EQUIVALENTS_FILE, concepts)
    problems += mistakes
    reviews, mistakes = _read_reviews(directory / REVIEWS_FILE)
    problems += mistakes
    lexicon = Lexicon(
        concepts,
        entries,
        revision=content_revision(directory),
        source=str(directory),
        equivalents=equivalents,
        reviews=reviews,
    )
    return lexicon, problems


def lexicon_files(directory: Path) -> dict[str, Path]:
    """Return language code -> file of a lexicon directory, in the order of `LANGUAGES`.

    Raises:
        InputError: the directory does not exist, holds no language file or one of an unknown language.
    """
    if not directory.is_dir():
        raise InputError(f"{directory}: no such lexicon directory")
    for path in sorted(directory.glob("*.jsonl")):
        if path.name not in FILES and not path.name.startswith("."):
            raise InputError(f"{path}: not the file of a known language; expected {', '.join(FILES)}")
    files = {}
    for code in LANGUAGES:
        path = directory / f"{code}.jsonl"
        if path.is_file():
            files[code] = path
    if not files:
        expected = ", ".join(f"{code}.jsonl" for code in LANGUAGES)
        raise InputError(f"{directory}: not a lexicon directory, none of {expected} is in it")
    return files


def _missing_files(directory: Path) -> list[Problem]:
    """Return a problem for each file that we wrote and that is gone, and for each one that is not a regular file."""
    problems = []
    written = our_files(directory) or {}
    for name in FILES:
        path = directory / name
        if path.is_file():
            continue
        if path.exists() or path.is_symlink():
            problems.append(Problem(path, 0, "is not a regular file; put the file here, or remove what is here"))
        elif name in written:
            message = f"is missing; write the lexicon again, or delete {MANIFEST} beside it if you removed it yourself"
            problems.append(Problem(path, 0, message))
    return problems


def is_lexicon_directory(directory: Path) -> bool:
    """Return whether a directory holds at least one language file of a lexicon."""
    return any((directory / f"{code}.jsonl").is_file() for code in LANGUAGES)


def line_numbers(directory: Path) -> dict[str, dict[str, int]]:
    """Return language code -> concept -> line of its file, for the lines that can be read."""
    numbers: dict[str, dict[str, int]] = {}
    for code, path in lexicon_files(directory).items():
        numbers[code] = {}
        for line in read_json_lines(path):
            if isinstance(line.value, dict) and isinstance(line.value.get("concept"), str):
                numbers[code][line.value["concept"]] = line.number
    return numbers


def content_revision(directory: Path) -> str:
    """Return the SHA-1 of the lexicon's lines, 40 hexadecimal digits; order, line ends and blank lines do not matter.

    Reviews are left out, because they change no score.
    """
    digest = hashlib.sha1(usedforsecurity=False)
    paths = [*lexicon_files(directory).values(), directory / CONCEPTS_FILE, directory / EQUIVALENTS_FILE]
    for path in sorted(path for path in paths if path.is_file()):
        lines = sorted(line.strip() for line in path.read_bytes().splitlines())
        digest.update(path.name.encode() + b"\0" + b"\n".join(filter(None, lines)) + b"\0")
    return digest.hexdigest()


def check_target(directory: Path, *, overwrite: bool) -> None:
    """Check, before any work is done, that a lexicon may be written to a directory.

    A write that was cut off by a kill is allowed in it: `write_lexicon` completes it.

    Raises:
        InputError: it is not empty and `overwrite` is off, or it is not a directory.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: is not a directory; choose another --out")
    names = foreign_names(directory) if directory.is_dir() else []
    if names and not overwrite and not is_committing(directory):
        raise _not_empty(directory, names[0])
    for name in names:
        if name.endswith(".jsonl") and name not in FILES:
            raise InputError(f"{directory}: holds {display(name)}, which is no lexicon file; choose another --out")


def write_lexicon(
    directory: Path,
    concepts: Sequence[Concept],
    entries: Mapping[str, Sequence[Entry]],
    *,
    equivalents: Mapping[tuple[str, str], str] | None = None,
    reviews: Sequence[Review] = (),
    others: Mapping[str, bytes] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a lexicon directory, all files in one step, entries and concepts in the order of concept ids.

    The reviews of a lexicon that is replaced are kept, because they are the work of people; those that do not fit the
    new entries are not counted.

    Args:
        directory: created when missing.
        concepts: every concept that an entry names.
        entries: language code -> entries; languages without entries are not written.
        equivalents: as in `Lexicon`; without any, the file is not written.
        reviews: as in `Lexicon`; added to those that are kept.
        others: name -> content of further files of the directory, such as the report of an import.
        overwrite: whether an earlier lexicon in the directory is replaced.

    Raises:
        InputError: see `check_target`; the earlier reviews are damaged, or the directory cannot be written.
    """
    files: dict[str, bytes] = dict(others or {})
    for code, rows in entries.items():
        get_language(code)
        if rows:
            files[f"{code}.jsonl"] = _as_lines(entry.to_json() for entry in sorted(rows, key=lambda row: row.concept))
    files[CONCEPTS_FILE] = _as_lines(concept.to_json() for concept in sorted(concepts, key=lambda row: row.id))
    if equivalents:
        equivalent_lines = []
        for pair, judgement in sorted(equivalents.items()):
            equivalent_lines.append(json.dumps({"concepts": pair, "judgement": judgement}))
        files[EQUIVALENTS_FILE] = _as_lines(equivalent_lines)
    check_target(directory, overwrite=overwrite)
    kept_reviews = _kept_reviews(directory) if overwrite else []
    if kept_reviews or reviews:
        files[REVIEWS_FILE] = _review_lines([*kept_reviews, *reviews])
    if is_committing(directory) and not overwrite:
        finish_commit(directory)
        if our_files(directory) == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}:
            return  # the same command was killed after it had written everything
        raise _not_empty(directory, next(iter(files)))
    commit_folder(directory, files, kind=KIND, overwrite=overwrite, obsolete=FILES if overwrite else ())


def add_reviews(directory: Path, reviews: Sequence[Review], *, revision: str) -> None:
    """Add reviews to a lexicon directory; of two by one reviewer on one entry, the newer one stays.

    Args:
        directory: a lexicon; only its reviews are written.
        reviews: reviews that were checked against the entries.
        revision: revision of the lexicon that they were checked against.

    Raises:
        InputError: the lexicon was changed meanwhile, its reviews are damaged, or it cannot be written.
    """

    def updated() -> bytes:
        if content_revision(directory) != revision:
            raise InputError(f"{directory}: was changed by another command meanwhile; run the same command again")
        return _review_lines([*_valid_reviews(directory), *reviews])

    update_file(directory, REVIEWS_FILE, updated, kind=KIND)


def _kept_reviews(directory: Path) -> list[Review]:
    """Return the reviews of a lexicon that is about to be replaced."""
    if not directory.is_dir():
        return []
    with contextlib.suppress(InputError):  # a write that was cut off and whose files are lost is replaced too
        finish_commit(directory)
    return _valid_reviews(directory)


def _valid_reviews(directory: Path) -> list[Review]:
    """Return the reviews of a lexicon directory.

    Raises:
        InputError: a line is damaged; names the first one.
    """
    reviews, problems = _read_reviews(directory / REVIEWS_FILE)
    if problems:
        raise InputError(f"{problems[0]}; correct the line or remove it")
    return reviews


def _review_lines(reviews: Iterable[Review]) -> bytes:
    return _as_lines(review.to_json() for review in newest_reviews(reviews))


def _as_lines(rows: Iterable[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode("utf-8")


def _not_empty(directory: Path, name: str) -> InputError:
    return InputError(
        f"{directory}: not empty (holds {display(name)}); choose another --out, or add --overwrite, which replaces the "
        "lexicon there"
    )


def _read_entries(
    path: Path, code: str, declared: Mapping[str, Concept] | None
) -> tuple[dict[str, Entry], list[Problem]]:
    """Return concept -> entry of one language file, and its mistakes; `declared` is what concepts.jsonl names."""
    entries: dict[str, Entry] = {}
    first_line: dict[str, int] = {}
    problems = []
    for line in read_json_lines(path):
        if line.problem:
            problems.append(Problem(path, line.number, line.problem))
            continue
        entry, mistakes = parse_entry(line.value, LANGUAGES[code])
        for mistake in mistakes:
            problems.append(Problem(path, line.number, mistake))
        if entry is None:
            continue
        if entry.concept in first_line:
            message = f"duplicate concept {entry.concept!r}, first on line {first_line[entry.concept]}"
            problems.append(Problem(path, line.number, message))
        elif declared is not None and entry.concept not in declared:
            message = f"concept {entry.concept!r} is not in {CONCEPTS_FILE}; add it there"
            problems.append(Problem(path, line.number, message))
        else:
            first_line[entry.concept] = line.number
            entries[entry.concept] = entry
    return entries, problems


def _read_concepts(path: Path) -> tuple[dict[str, Concept], list[Problem]]:
    concepts: dict[str, Concept] = {}
    problems: list[Problem] = []
    if not path.is_file():
        return concepts, problems
    for line in read_json_lines(path):
        problem = line.problem or concept_problem(line.value, concepts)
        if problem:
            problems.append(Problem(path, line.number, problem))
        else:
            row = line.value
            concepts[row["id"]] = Concept(row["id"], row["gloss"], row.get("pos"), tuple(row.get("aliases") or ()))
    for concept in list(concepts.values()):
        for alias in concept.aliases:
            if alias in concepts:
                problems.append(Problem(path, 0, f"alias {alias!r} of {concept.id!r} is a concept itself; remove one"))
    return concepts, problems


def _read_equivalents(path: Path, concepts: Mapping[str, Concept]) -> tuple[dict[tuple[str, str], str], list[Problem]]:
    """Return sorted pair of concepts -> judgement, in sorted order, and the mistakes of the file."""
    judgements: dict[tuple[str, str], str] = {}
    problems: list[Problem] = []
    if not path.is_file():
        return judgements, problems
    for line in read_json_lines(path):
        problem = line.problem or equivalent_problem(line.value, concepts)
        if not problem:
            first, second = sorted(line.value["concepts"])
            if (first, second) in judgements:
                problem = f"{first!r} and {second!r} are judged twice; remove one"
            else:
                judgements[first, second] = line.value["judgement"]
        if problem:
            problems.append(Problem(path, line.number, problem))
    return dict(sorted(judgements.items())), problems


def _read_reviews(path: Path) -> tuple[list[Review], list[Problem]]:
    """Return the reviews of a lexicon, sorted, and the mistakes of the file; entries that are gone may have reviews."""
    if not path.is_file():
        return [], []
    reviews, problems = read_review_file(path)
    return newest_reviews(reviews), problems


def read_review_file(
    path: Path, *, limit: int = MAX_BYTES, check: Callable[[Review], None] | None = None
) -> tuple[list[Review], list[Problem]]:
    """Return the reviews of a file in its order, and everything that is wrong with it.

    Args:
        path: JSON lines, a review a line.
        limit: bytes; a larger file is refused.
        check: raises MalformedError if a review cannot be used.

    Raises:
        InputError: the file cannot be read; names it.
    """
    first_line: dict[tuple[str, str, str], int] = {}
    reviews: list[Review] = []
    problems: list[Problem] = []
    for line in read_json_lines(path, limit=limit):
        if line.problem:
            problems.append(Problem(path, line.number, line.problem))
            continue
        try:
            review = parse_review(line.value)
            if check is not None:
                check(review)
        except MalformedError as error:
            problems.append(Problem(path, line.number, str(error)))
            continue
        if review.key in first_line:
            message = f"{review.reviewer} reviewed {review.concept!r} on line {first_line[review.key]} too; remove one"
            problems.append(Problem(path, line.number, message))
        else:
            first_line[review.key] = line.number
            reviews.append(review)
    return reviews, problems


def equivalent_problem(row: Any, concepts: Mapping[str, Concept]) -> str | None:
    """Return what is wrong with a decoded line of ``equivalents.jsonl``, or None."""
    if not isinstance(row, dict) or set(row) != {"concepts", "judgement"}:
        return 'expected {"concepts": [two ids], "judgement": "same" or "near"}'
    pair = row["concepts"]
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        return f"field 'concepts' must be a list of two concept ids, found {display(pair)}"
    if pair[0] == pair[1]:
        return f"concept {display(pair[0])} is paired with itself"
    for name in pair:
        if name not in concepts:
            return f"concept {display(name)} is not in the lexicon; add it, or remove the pair"
    if row["judgement"] not in JUDGEMENTS:
        return f"judgement {display(row['judgement'])} must be one of {', '.join(JUDGEMENTS)}"
    return None


def concept_problem(row: Any, known: Mapping[str, Concept]) -> str | None:
    """Return what is wrong with a decoded line of ``concepts.jsonl``, or None; `known` holds those before it."""
    if not isinstance(row, dict) or not {"id", "gloss"} <= set(row) <= {"id", "gloss", "pos", "aliases"}:
        return 'expected {"id": …, "gloss": …}, and "pos" and "aliases" if they are known'
    if not isinstance(row["id"], str) or not CONCEPT_ID.fullmatch(row["id"]):
        return f"concept id {display(row['id'])} must be lower-case letters, digits and hyphens"
    if not isinstance(row["gloss"], str):
        return f"gloss of {row['id']!r} must be text, found {display(row['gloss'])}"
    if row["id"] in known:
        return f"duplicate concept {row['id']!r}"
    if row.get("pos") is not None and row["pos"] not in PARTS_OF_SPEECH:
        return f"pos of {row['id']!r} is {display(row['pos'])}; known: {', '.join(PARTS_OF_SPEECH)}"
    aliases = row.get("aliases")
    if aliases is not None and not (
        isinstance(aliases, list) and all(isinstance(name, str) and CONCEPT_ID.fullmatch(name) for name in aliases)
    ):
        return f"aliases of {row['id']!r} must be a list of concept ids, found {display(aliases)}"
    return unseen_problem("gloss", row["gloss"])
