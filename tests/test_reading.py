"""The strict reader: what it takes it takes exactly, what it refuses it refuses in words."""

import csv
import gzip
import json
import os
import re
import unicodedata
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hub_datasets
import leaderboard
import turkic_idiom_tasks
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import csv_text
from turkic_idiom_tasks.io.reading import (
    MAX_DEPTH,
    SHOWN,
    MalformedError,
    display,
    first_unseen,
    inner_path,
    is_unseen,
    parse_json,
    parse_yaml,
    printable,
    read_file,
    read_json,
    read_json_lines,
    read_yaml,
    unpack_gzip,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20)


@given(VALUES, st.booleans(), st.sampled_from([None, 0, 2]))
def test_plain_json_is_read_as_the_standard_library_reads_it(value, ensure_ascii, indent):
    text = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)
    assert parse_json(text.encode()) == json.loads(text)
    assert type(parse_json(text.encode())) is type(json.loads(text))


@given(st.binary(max_size=60) | st.text(st.sampled_from('[]{}",:0123456789eE+-.\\udNantrfl \n'), max_size=60))
def test_no_bytes_make_it_fail_in_another_way(data):
    data = data if isinstance(data, bytes) else data.encode()
    try:
        value = parse_json(data)
    except MalformedError as error:
        message = str(error)
    else:
        assert value == json.loads(data)
        message = ""
    assert message.isascii()
    assert "\n" not in message


PACKED = gzip.compress(b"0" * 10_000_000)  # about 10 kB
REFUSED = [
    (parse_json, b"", "malformed JSON at column 1"),
    (parse_json, b'{"a": 1} 2', "malformed JSON at column 10: Extra data"),
    (parse_json, b'{\n "a": 1\n "b": 2}', "malformed JSON at line 3, column 2: Expecting"),
    (parse_json, b"\xff", "not UTF-8 at byte 0"),
    (parse_json, b"\xef\xbb\xbf{}", "byte order mark"),
    (parse_json, b'{"a": 1, "a": 1}', "the key 'a' appears twice"),
    (parse_json, b"NaN", "NaN is no number"),
    (parse_json, b"1e999", "'1e999' is too large a number"),
    (parse_json, b"1" * 5000, "thousands of digits"),
    (parse_json, b'[["\\ud83d\\ud83d"]]', "half of a surrogate pair"),
    (parse_json, b"[" * 100_000, "nested more than 32 deep"),
    (parse_yaml, "a: 1\na: 2\n", "repeated key 'a'"),
    (parse_yaml, "a: &x 1\nb: *x\n", "an alias"),
    (parse_yaml, "a: !!python/object/apply:os.system [true]\n", "not YAML"),
    (parse_yaml, "a: .nan\n", "nan or inf is no number"),
    (parse_yaml, "a: 2026-13-45\n", "not YAML"),
    (parse_yaml, 'a: "\\uD800"\n', "half of a surrogate pair"),
    (parse_yaml, "[" * 500, "not YAML"),
    (unpack_gzip, PACKED[:-9], "cut short"),
    (unpack_gzip, PACKED + b"x", "1 bytes after the end"),
    (unpack_gzip, b"plain", "not a gzip file"),
    (unpack_gzip, b"", "cut short"),
]


@pytest.mark.parametrize(("parse", "content", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(parse, content, message):
    with pytest.raises(MalformedError) as caught:
        parse(content)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_what_only_looks_deep_or_wrong_is_read():
    assert parse_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert parse_json(json.dumps("[{" * 1000).encode()) == "[{" * 1000
    assert parse_json(json.dumps({'"[\\"': "{" * 40}).encode()) == {'"[\\"': "{" * 40}
    assert parse_json(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"
    assert parse_json(b"1" * 4000) == int("1" * 4000)
    assert parse_json(b"1e-999") == 0.0
    assert parse_json(b'{"a": {"a": 1}}') == {"a": {"a": 1}}


def test_yaml_numbers_are_numbers_and_an_empty_file_is_nothing():
    assert parse_yaml("a: 2e-5\nb: 1_000\nc: [x, 1.5]\n") == {"a": 2e-5, "b": 1000, "c": ["x", 1.5]}
    assert parse_yaml("") is None


def test_a_file_that_is_no_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "bad").write_bytes(b"{")
    for name, message in [
        ("absent", "No such file"),
        ("pipe", "not a regular file"),
        ("link", "No such file"),
        ("bad", "malformed JSON"),
        (".", "directory"),
        ("x" * 300, "name too long"),
        ("a\0b", "null byte"),
    ]:
        with pytest.raises(InputError, match=message) as caught:
            read_json(tmp_path / name)
        assert str(caught.value).startswith(str(tmp_path))
    with pytest.raises(InputError, match=r"/bad: not YAML"):
        read_yaml(tmp_path / "bad")


def test_limits_and_links(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert read_file(tmp_path / "file", limit=5) == b"12345"
    assert read_file(tmp_path / "link") == b"12345"
    with pytest.raises(MalformedError, match="more than the 4 bytes"):
        read_file(tmp_path / "file", limit=4)
    with pytest.raises(MalformedError, match="cannot be read"):
        read_file(tmp_path / "link", follow_links=False)


def test_gzip_is_unpacked_up_to_a_limit():
    assert unpack_gzip(PACKED) == b"0" * 10_000_000
    with pytest.raises(MalformedError, match="more than the 1,000 bytes"):
        unpack_gzip(PACKED, limit=1000)


def test_every_line_is_read_or_has_its_problem(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"a": 1}\r\n\n  \n{"a": \n"\\ud800"\n\xff\n"\xe2\x80\xa8"\n7')
    lines = list(read_json_lines(path))
    assert [number for number, _, _ in lines] == [1, 4, 5, 6, 7, 8]
    assert lines[0] == (1, {"a": 1}, None)
    assert lines[4] == (7, "\u2028", None)  # a line separator inside a text ends no line
    assert [value for _, value, _ in lines[1:4]] == [None, None, None]
    assert all(problem for _, _, problem in lines[1:4])


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "a/../../b", "a\\..\\b", "C:/x", "a\0b", "link/x", "a/link"],
)
def test_paths_out_of_the_folder_are_refused(tmp_path, name):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "a" / "link").symlink_to("/etc/passwd")
    with pytest.raises(MalformedError) as caught:
        inner_path(tmp_path, name)
    assert str(caught.value).isascii()


def test_paths_inside_the_folder(tmp_path):
    assert inner_path(tmp_path, "data/x.jsonl") == tmp_path / "data" / "x.jsonl"
    assert inner_path(tmp_path, "./a b/..x") == tmp_path / "a b" / "..x"


@given(st.text() | VALUES)
def test_displayed_values_are_one_short_line(value):
    assert display(value).isprintable()
    assert len(display(value)) <= SHOWN + 3
    assert printable(display(value)) == display(value)
    assert "\n" not in display(value)


@given(st.text() | st.text(st.sampled_from("aöə \u3164\ufe0f\u200b\u00a0\t\u0378")))
def test_the_first_unseen_character_of_a_text(text):
    unseen = [character for character in text if is_unseen(character)]
    assert first_unseen(text) == (unseen[0] if unseen else "")


@given(st.text())
def test_printable_text_has_nothing_that_acts_on_a_terminal(text):
    safe = printable(text)
    for forbidden in "\x00\x07\x08\r\x1b\x7f\x9b\u200b\u200e\u202e\u2066\u2028\ufeff\u3164\u2800\u034f\ufe0f":
        assert forbidden not in safe
    assert printable(safe) == safe


def test_letters_stay_and_controls_become_escapes():
    assert printable("göz\tyummaq, koʻz\n") == "göz\tyummaq, koʻz\n"
    assert printable("a\u202eb\x1b[2J") == "a\\u202eb\\x1b[2J"
    assert display("göz\u202e") == "'göz\\u202e'"
    assert display("göz") == "'göz'"


@given(
    st.lists(st.sampled_from(' \u3000\uff1d\t\r\n=+-@"a1,;'), max_size=6).map("".join), st.sampled_from(["\n", "\r\n"])
)
def test_no_text_of_a_table_is_a_formula_and_all_of_it_is_there(text, line_end):
    frame = pd.DataFrame({text: [text, -1.5, None], "n": pd.array([-1, None, 2], dtype="Int64")})
    head, *rows = csv.reader(StringIO(csv_text(frame, line_end=line_end), newline=""))
    for cell in (head[0], rows[0][0]):
        assert cell.removeprefix("'") == text
        assert not unicodedata.normalize("NFKC", cell).lstrip(" ").startswith(tuple("=+-@\t\r"))
    assert [row[1] for row in rows] == ["-1", "", "2"]
    assert [row[0] for row in rows[1:]] == ["-1.5", ""]


def test_every_table_is_written_there():
    for package in (turkic_idiom_tasks, hub_datasets, leaderboard):
        for path in Path(package.__file__).parent.rglob("*.py"):
            writes = re.search(r"\.to_csv\((?!\))|csv\.writer|DictWriter|to_excel", path.read_text("utf-8"))
            assert not writes or path.name in ("csv_files.py", "pages.py"), path
