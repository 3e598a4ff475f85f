"""Reading, checking and writing lexicon directories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import write_text
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.lexicon.entries import CONCEPT_ID, Concept, Entry, Lexicon, parse_entry

BUNDLED = Path(__file__).parent / "data"
CONCEPTS_FILE = "concepts.jsonl"


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
    """The lexicon in a directory.

    Raises:
        InputError: the directory is not a lexicon or has a mistake; names the first one and how to list them all.
    """
    lexicon, problems = read_lexicon(directory)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{problems[0]}{more}; list all with: turkic-idiom dataset check {directory}")
    return lexicon


def read_lexicon(directory: Path) -> tuple[Lexicon, list[Problem]]:
    """The lexicon in a directory, mistaken lines left out, and every mistake in it.

    Raises:
        InputError: the directory does not exist or holds no language file.
    """
    files = lexicon_files(directory)
    concepts, problems = _read_concepts(directory / CONCEPTS_FILE)
    declared = bool(concepts)
    entries: dict[str, dict[str, Entry]] = {}
    for code, path in files.items():
        entries[code] = {}
        first_line: dict[str, int] = {}
        for number, row, problem in _json_lines(path):
            if problem:
                problems.append(Problem(path, number, problem))
                continue
            entry, mistakes = parse_entry(row, LANGUAGES[code])
            problems += [Problem(path, number, mistake) for mistake in mistakes]
            if entry is None:
                continue
            if entry.concept in first_line:
                first = first_line[entry.concept]
                problems.append(Problem(path, number, f"duplicate concept {entry.concept!r}, first on line {first}"))
                continue
            if declared and entry.concept not in concepts:
                message = f"concept {entry.concept!r} is not in {CONCEPTS_FILE}; add it there"
                problems.append(Problem(path, number, message))
                continue
            first_line[entry.concept] = number
            entries[code][entry.concept] = entry
            concepts.setdefault(entry.concept, Concept(entry.concept, ""))
        if not first_line and not any(problem.path == path for problem in problems):
            problems.append(Problem(path, 0, "no entries; add some or delete the file"))
    lexicon = Lexicon(concepts, entries, revision=content_revision(directory), source=str(directory))
    return lexicon, problems


def lexicon_files(directory: Path) -> dict[str, Path]:
    """Language code -> file of a lexicon directory, in the order of `LANGUAGES`.

    Raises:
        InputError: the directory does not exist, holds no language file or one of an unknown language.
    """
    if not directory.is_dir():
        raise InputError(f"{directory}: no such lexicon directory")
    for path in sorted(directory.glob("*.jsonl")):
        if path.name != CONCEPTS_FILE and path.stem not in LANGUAGES:
            known = ", ".join(f"{code}.jsonl" for code in LANGUAGES)
            raise InputError(f"{path}: not the file of a known language; expected {known} or {CONCEPTS_FILE}")
    files = {code: directory / f"{code}.jsonl" for code in LANGUAGES}
    files = {code: path for code, path in files.items() if path.is_file()}
    if not files:
        expected = ", ".join(f"{code}.jsonl" for code in LANGUAGES)
        raise InputError(f"{directory}: not a lexicon directory, none of {expected} is in it")
    return files


def is_lexicon_directory(directory: Path) -> bool:
    """Whether a directory holds at least one language file of a lexicon."""
    return any((directory / f"{code}.jsonl").is_file() for code in LANGUAGES)


def line_numbers(directory: Path) -> dict[str, dict[str, int]]:
    """Language code -> concept -> line of its file, for the lines that can be read."""
    return {
        code: {row["concept"]: number for number, row, problem in _json_lines(path) if problem is None}
        for code, path in lexicon_files(directory).items()
    }


def content_revision(directory: Path) -> str:
    """SHA-1 of the lexicon's lines, 40 hexadecimal digits; line order, line ends and blank lines do not count."""
    digest = hashlib.sha1(usedforsecurity=False)
    paths = [*lexicon_files(directory).values(), directory / CONCEPTS_FILE]
    for path in sorted(path for path in paths if path.is_file()):
        lines = sorted(line.strip() for line in path.read_bytes().splitlines())
        digest.update(path.name.encode() + b"\0" + b"\n".join(filter(None, lines)) + b"\0")
    return digest.hexdigest()


def write_lexicon(directory: Path, concepts: list[Concept], entries: dict[str, list[Entry]]) -> None:
    """Writes a lexicon directory, every file atomically, entries and concepts in the order of concept ids.

    Args:
        directory: created when missing.
        concepts: every concept that an entry names.
        entries: language code -> entries; languages without entries are not written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for code, rows in entries.items():
        get_language(code)
        if rows:
            lines = [entry.to_json() for entry in sorted(rows, key=lambda entry: entry.concept)]
            write_text(directory / f"{code}.jsonl", "".join(f"{line}\n" for line in lines))
    ordered = sorted(concepts, key=lambda concept: concept.id)
    lines = [json.dumps({"id": concept.id, "gloss": concept.gloss}, ensure_ascii=False) for concept in ordered]
    write_text(directory / CONCEPTS_FILE, "".join(f"{line}\n" for line in lines))


def _read_concepts(path: Path) -> tuple[dict[str, Concept], list[Problem]]:
    concepts: dict[str, Concept] = {}
    problems = []
    for number, row, problem in _json_lines(path) if path.is_file() else ():
        if problem is None:
            problem = _concept_problem(row, concepts)
        if problem:
            problems.append(Problem(path, number, problem))
        else:
            concepts[row["id"]] = Concept(row["id"], row["gloss"])
    return concepts, problems


def _concept_problem(row: Any, known: dict[str, Concept]) -> str | None:
    if not isinstance(row, dict) or set(row) != {"id", "gloss"}:
        return 'expected {"id": …, "gloss": …}'
    if not isinstance(row["id"], str) or not CONCEPT_ID.fullmatch(row["id"]):
        return f"concept id {row['id']!r} must be lower-case letters, digits and hyphens"
    if not isinstance(row["gloss"], str):
        return f"gloss of {row['id']!r} must be text"
    if row["id"] in known:
        return f"duplicate concept {row['id']!r}"
    return None


def _json_lines(path: Path) -> Iterator[tuple[int, Any, str | None]]:
    """(line number, decoded value, what is wrong with the line or None) for every line that is not blank."""
    for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
        if not raw.strip():
            continue
        try:
            yield number, json.loads(raw.decode("utf-8")), None
        except UnicodeDecodeError as error:
            yield number, None, f"not UTF-8 at byte {error.start}; save the file as UTF-8"
        except json.JSONDecodeError as error:
            yield number, None, f"malformed JSON at column {error.colno}: {error.msg}"
