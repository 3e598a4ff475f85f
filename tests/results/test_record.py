"""Records: whole or not there, and read as the right answer or refused with one line."""

import gzip
import json
import math
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.damage import byte_damage, line_damage
from tests.killing import every_kill
from tests.results.conftest import header_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.predictions import to_lines
from turkic_idiom_tasks.results.record import (
    RESULT_FORMAT,
    SUFFIX,
    OtherFormatError,
    Throughput,
    Training,
    find_records,
    read_header,
    read_record,
    write_record,
)
from turkic_idiom_tasks.results.scored import score_record, score_subset

KEY = ("T1", "tur-azj")


@pytest.fixture
def path(tmp_path):
    return tmp_path / f"x{SUFFIX}"


def scores_of(record):
    """All that a record says in the end."""
    return [
        (scored.task, scored.subset, dict(scored.scores), scored.items, scored.concepts, scored.sums.tolist())
        for scored in score_record(record)
    ]


def repacked(path, change):
    """Write the lines of a record again after a change to them."""
    lines = gzip.decompress(path.read_bytes()).splitlines()
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in change(lines))))


def restated(path, **fields):
    """Write a record again with other fields in its header."""
    repacked(path, lambda lines: [json.dumps(json.loads(lines[0]) | fields).encode(), *lines[1:]])


@pytest.mark.parametrize("top_k", [None, 2])
def test_a_record_comes_back_as_it_was(dataset, predictions, path, top_k):
    training = Training(regime="tr-only", seed=42, size="all", config={"epochs": 3}, outcome={"best_epoch": None})
    throughput = Throughput(n_texts=300, seconds=1.5, device="some processor, 2 threads")
    header = header_of(predictions, dataset, training=training, throughput=throughput)
    write_record(path, header, predictions, top_k=top_k)
    assert read_header(path) == header
    record = read_record(path, dataset)
    assert record.header == header
    assert list(to_lines(record.predictions)) == list(to_lines(predictions, top_k=top_k))
    for scored in score_record(record):
        assert dict(header.scores(scored.task, scored.subset)) == pytest.approx(dict(scored.scores))
    before = path.read_bytes()
    write_record(path, header, predictions, top_k=top_k)
    assert path.read_bytes() == before  # no clock in it
    assert find_records(path.parent) == find_records(path) == [path]


def test_a_record_without_its_speed_is_read_and_a_speed_that_cannot_be_is_refused(dataset, predictions, path):
    write_record(path, header_of(predictions, dataset), predictions)
    repacked(path, lambda lines: [lines[0].replace(b',"throughput":null', b""), *lines[1:]])  # as earlier versions did
    assert b"throughput" not in gzip.decompress(path.read_bytes())
    assert read_header(path).throughput is None
    speed = {"n_texts": 300, "seconds": 1.5, "device": "d"}
    restated(path, throughput=speed)
    assert read_header(path).throughput == Throughput(**speed)
    for wrong in ({"n_texts": 0}, {"seconds": 0}, {"seconds": -1.5}, {"device": ""}, {"device": "d" * 201}):
        restated(path, throughput=speed | wrong)
        with pytest.raises(InputError, match=next(iter(wrong))):
            read_header(path)


def test_an_undefined_score_stays_undefined(dataset, predictions):
    header = header_of(predictions, dataset, scores={KEY: {"ndcg": 0.5, "ndcg_corrected": math.nan}})
    assert header.subsets[0].scores["ndcg_corrected"] is None
    assert math.isnan(header.scores(*KEY)["ndcg_corrected"])
    with pytest.raises(KeyError):
        header.scores("T2", "tur")


def test_other_data_another_format_and_no_record(dataset, other_dataset, predictions, path):
    write_record(path, header_of(predictions, dataset), predictions)
    with pytest.raises(InputError, match="a result of other data"):
        read_record(path, other_dataset)
    restated(path, format=RESULT_FORMAT + 1)
    for read in (read_header, lambda path: read_record(path, dataset)):
        with pytest.raises(OtherFormatError, match=f"a result of format {RESULT_FORMAT + 1}"):
            read(path)
    source = path.with_name("release.jsonl")
    source.write_text("{}")
    with pytest.raises(InputError, match="no result of turkic-idiom") as caught:
        read_header(source)
    assert "delete" not in str(caught.value)
    path.unlink()
    path.symlink_to(path.name)  # a record that cannot be opened, but may be whole
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_header(path)
    assert "delete" not in str(caught.value)
    for place in (path.parent / "absent", path.parent / "empty"):
        (path.parent / "empty").mkdir(exist_ok=True)
        with pytest.raises(InputError, match=r"no such file or folder|no result in it"):
            find_records(place)


@pytest.mark.parametrize("name", ["ndcg", "mrr", "ndcg_corrected", "n_queries", None])
def test_a_score_that_the_predictions_do_not_give_is_refused(dataset, predictions, path, name):
    of_subset = {KEY: predictions[KEY]}
    scores = score_subset(predictions[KEY]).scores
    if name is None:
        del scores["ndcg"]  # the main score must be there
    else:
        scores[name] += 0.001
    write_record(path, header_of(of_subset, dataset, scores={KEY: scores}), of_subset)
    with pytest.raises(InputError, match=f"the predictions give {name or 'ndcg'} "):
        score_record(read_record(path, dataset))


def right_or_refused(path, dataset, expected):
    """Whether a damaged record is read: the same answer, or one line."""
    try:
        assert scores_of(read_record(path, dataset)) == expected
    except InputError as error:
        message = str(error)
    else:
        return
    assert str(path) in message
    assert message.isprintable()  # one line, without control characters


@pytest.mark.parametrize("is_packed_again", [False, True])
@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top_k=st.sampled_from([None, 1, 3]), data=st.data())
def test_damaged_bytes_or_lines_give_the_right_answer_or_one_line(
    dataset, predictions, path, is_packed_again, top_k, data
):
    write_record(path, header_of(predictions, dataset), predictions, top_k=top_k)
    expected = scores_of(read_record(path, dataset))
    if is_packed_again:
        repacked(path, data.draw(line_damage()))
    else:
        path.write_bytes(data.draw(byte_damage() | st.just(gzip.decompress))(path.read_bytes()))
    right_or_refused(path, dataset, expected)


def test_a_kill_at_any_point_leaves_the_old_record_or_the_new_one(dataset, predictions, path, tmp_path):
    old, new = (header_of(predictions, dataset, seconds=seconds) for seconds in (1.0, 2.0))
    write_old, write_new = (partial(write_record, path, header, predictions) for header in (old, new))
    for _ in every_kill(write_old, write_new, below=tmp_path):
        assert read_record(path, dataset).header in (old, new)
    assert read_record(path, dataset).header == new
