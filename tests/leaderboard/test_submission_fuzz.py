"""Whatever bytes a submission is made of, it is read, or its faults are named."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from leaderboard.board import score_submission
from leaderboard.submission import METADATA_FILE, PREDICTION_FILES, LeftOut, MetadataFile, read_submission
from tests.damage import byte_damage
from tests.leaderboard.conftest import make_submission, read_lines, write_lines
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.io.reading import MalformedError, first_unseen, parse_json
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.tasks.items.item_types import MEANING

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANSWER_FILES = [PREDICTION_FILES[task] for task in (STS, MEANING)]  # of the sound submission of pairs and items
FILES = [METADATA_FILE, *(PREDICTION_FILES[task] for task in ("T1", "T2", "T3", SPANS)), *ANSWER_FILES]
TOO_LARGE = 10**400  # for a float
NUMBERS = st.integers(-3, 25) | st.integers() | st.booleans() | st.none() | st.floats() | st.text(max_size=3)
NUMBERS |= st.sampled_from([TOO_LARGE, -TOO_LARGE])
ANY_BYTES = st.binary(max_size=300) | st.binary(max_size=300).map(gzip.compress)
FIELDS = [*MetadataFile.model_fields, "extra"]
KEYS = "subset documents query ranking language sentence tags prompt method item answer pair similarity".split()  # noqa: SIM905
VALUES = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)


@pytest.fixture
def fuzzed(sound_submissions):
    """A function that changes a sound submission with this file and reads it: it is scored, or its faults are named."""

    def run(name, change):
        metadata, content, dataset = sound_submissions["answers" if name in ANSWER_FILES else "encoder"]
        with tempfile.TemporaryDirectory() as place:
            folder = make_submission(Path(place), metadata, content)
            change(folder)
            submission = read_submission(folder, dataset)
            if not isinstance(submission, LeftOut):
                score_submission(submission)
                return
            assert submission.faults
            for fault in map(str, submission.faults):
                assert not first_unseen(fault)
                assert len(fault.splitlines()) == 1

    return run


@settings(QUICK, max_examples=80)
@given(name=st.sampled_from(FILES), damage=byte_damage() | ANY_BYTES.map(lambda data: lambda content: data))
def test_any_bytes_as_a_file(fuzzed, name, damage):
    fuzzed(name, lambda folder: (folder / name).write_bytes(damage((folder / name).read_bytes())))


@QUICK
@given(field=st.sampled_from(FIELDS), value=VALUES)
def test_any_value_as_a_field(fuzzed, field, value):
    def change(folder):
        content = json.loads((folder / METADATA_FILE).read_text("utf-8")) | {field: value}
        (folder / METADATA_FILE).write_text(json.dumps(content), "utf-8")

    fuzzed(METADATA_FILE, change)


@QUICK
@given(name=st.sampled_from(FILES[1:]), number=st.integers(0, 40), value=VALUES, key=st.sampled_from([None, *KEYS]))
@example(name="STS.jsonl.gz", number=1, value=TOO_LARGE, key="similarity")
@example(name="meaning.jsonl.gz", number=1, value=TOO_LARGE, key="answer")
def test_any_value_in_a_line(fuzzed, name, number, value, key):
    def change(folder):
        rows = read_lines(folder / name)
        row = number % len(rows)
        rows[row] = value if key is None else rows[row] | {key: value}
        write_lines(folder / name, rows)

    fuzzed(name, change)


def test_the_depth_is_found_in_linear_time():
    """A megabyte of quotation marks that open nothing: a search that began anew at each would take hours."""
    for text in (b'"\\' + b'"\\' * 500_000, b'{"a' + b'\\"' * 500_000, b'"' * 1_000_001, b"[]" * 500_000):
        with pytest.raises(MalformedError):
            parse_json(text)
