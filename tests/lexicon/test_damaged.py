"""Lexicon directories with any part of any file damaged: the right answer, or one line and exit code 1 or 2."""

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.damage import byte_damage, line_damage
from tests.dataset.conftest import concepts_of
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.io.files import MANIFEST
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import CONCEPTS_FILE, EQUIVALENTS_FILE, load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split

TEST = concepts_of("test", 3, of=retrieval_split)
FILES = ("tr.jsonl", "az.jsonl", CONCEPTS_FILE, EQUIVALENTS_FILE, MANIFEST)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A lexicon with every file that there can be, three test concepts and two languages."""
    folder = tmp_path_factory.mktemp("damaged") / "whole"
    entries = {"tr": [], "az": []}
    for concept, word, word_az in zip(TEST, ("göz", "baş", "dil"), ("göz", "baş", "ağız"), strict=True):
        example, spans = f"Buna {word} tuttu.", (Span(5, 11 + len(word)),)
        entries["tr"].append(Entry(concept, f"{word} tutmak", f"{word} anlamı", example, spans, variants=("el açmak",)))
        entries["az"].append(Entry(concept, f"{word_az} tutmaq", f"{word_az} mənası"))
    concepts = [Concept(concept, "to hold", "verb", (f"{concept}-old",)) for concept in TEST]
    equivalents = {(TEST[0], TEST[1]): "same", (TEST[1], TEST[2]): "near"}
    write_lexicon(folder, concepts, entries, equivalents=equivalents)
    return folder


def damaged_lines(change):
    """The change of lines as one of the bytes of a file."""
    return lambda content: b"".join(line + b"\n" for line in change(content.splitlines()))


DAMAGED_LINES = line_damage().map(damaged_lines)


def rows_of(path):
    """Return the rows of a JSON lines file as Python's own reader reads them; none where there is no file."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


def by_concept(rows):
    """Return concept -> row without the optional fields that say nothing; a concept that appears twice fails."""
    found = {}
    for row in rows:
        assert row["concept"] not in found
        found[row["concept"]] = {key: value for key, value in row.items() if value not in (None, [], "", {}, False)}
    return found


@pytest.fixture
def check_answer(capsys):
    """A function that runs a command and returns its exit code; what it says must be right to print."""

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        shown = output.out + output.err
        assert code in (0, 1, 2)
        assert "Traceback" not in shown
        assert printable(shown.replace("\n", "")) == shown.replace("\n", "")
        if code and arguments[1] != "check":
            assert len(output.err.splitlines()) == 1
        return code

    return run


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.sampled_from(FILES), damage=st.one_of(st.none(), byte_damage(), DAMAGED_LINES, DAMAGED_LINES))
def test_a_damaged_lexicon_is_read_as_it_stands_or_named(whole, tmp_path, check_answer, name, damage):
    folder = tmp_path / "lexicon"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    content = (folder / name).read_bytes()
    if name == MANIFEST:
        content = json.dumps(json.loads(content)).encode()  # as one row
    (folder / name).unlink()
    if damage is not None:
        (folder / name).write_bytes(damage(content))
    output = tmp_path / "results"
    shutil.rmtree(output, ignore_errors=True)
    run = ("run", "-m", "turkic-idiom/char-ngrams", "-t", "T1", "--data", folder, "--out", output)
    if check_answer("dataset", "check", folder, "--format-only") != 0:
        assert check_answer(*run) in (1, 2)
        assert not output.exists()
        return
    lexicon = load_lexicon(folder)  # every row of every file is in it, and nothing else
    for code in ("tr", "az"):
        entries = [json.loads(entry.to_json()) for entry in lexicon.of(code).values()]
        assert by_concept(entries) == by_concept(rows_of(folder / f"{code}.jsonl"))
    concepts = {row["id"]: row["gloss"] for row in rows_of(folder / CONCEPTS_FILE)}
    assert not concepts or {concept.id: concept.gloss for concept in lexicon.concepts.values()} == concepts
    judged = {tuple(sorted(row["concepts"])): row["judgement"] for row in rows_of(folder / EQUIVALENTS_FILE)}
    assert lexicon.equivalents == judged
    has_task = any(concept in lexicon.of("az") for concept in lexicon.of("tr"))
    assert (check_answer(*run) == 0) == has_task
