import argparse
import json

import pytest

from hub_datasets import cli
from turkic_idiom_tasks.errors import InputError

ROWS = [
    {"id": "a", "idiom": "ayvayı yemek", "sentence": "Şimdi ayvayı mı yiyeceğiz?", "source": "ours"},
    {"id": "b", "idiom": "göz yummak", "sentence": "Hava güzel."},
    {"id": 3, "idiom": "sözü uzatmak", "sentence": "Lafı uzatma!", "variants": ["lafı uzatmak"]},
    {"id": 4, "idiom": "göz yummak", "sentence": "Yağmur yağdı."},
]


def run(*arguments):
    parser = argparse.ArgumentParser()
    cli.add_parser(parser.add_subparsers(required=True))
    options = parser.parse_args([str(argument) for argument in ("dataset", "annotate", *arguments)])
    return options.handler(options)


def write(tmp_path, *lines):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogatepass")
    return path


def write_rows(tmp_path, rows=ROWS):
    return write(tmp_path, *(json.dumps(row, ensure_ascii=False) for row in rows))


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_rows_come_out_tagged_or_with_a_reason(tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert run("--lang", "tr", "--in", write_rows(tmp_path), "--out", out) == 0
    first, second, third, fourth = read(out)
    # "Şimdi ayvayı mı yiyeceğiz?": ayvayı is 6 to 12, yiyeceğiz 16 to 25; each fragment begins with its own B
    assert first == ROWS[0] | {
        "tokens": ["Şimdi", "ayvayı", "mı", "yiyeceğiz", "?"],
        "ner_tags": ["O", "B-IDIOM", "O", "B-IDIOM", "O"],
        "spans": [[6, 12], [16, 25]],
    }
    assert second == ROWS[1] | {"dropped": "a word of the idiom is missing"}
    assert third["ner_tags"] == ["B-IDIOM", "I-IDIOM", "O"]
    assert third["spans"] == [[0, 11]]
    assert fourth["dropped"] == second["dropped"]
    captured = capsys.readouterr()
    assert captured.out == f"{out}: 2 of 4 rows annotated\n"
    assert captured.err.splitlines() == [
        "4 rows = 2 annotated + 2 dropped",
        "  dropped      2  a word of the idiom is missing",
    ]


def test_an_annotated_file_can_be_annotated_again(tmp_path):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    run("--lang", "tr", "--in", write_rows(tmp_path), "--out", first)
    run("--lang", "tr", "--in", first, "--out", second)
    assert read(first) == read(second)
    rows = [row | {"sentence": "Yine ayvayı yedik."} if row["id"] == "a" else row for row in read(second)]
    run("--lang", "tr", "--in", write_rows(tmp_path, rows), "--out", first, "--overwrite")
    assert read(first)[0]["spans"] == [[5, 17]]


def test_languages_have_the_names_of_the_harnesses_too(tmp_path):
    path = write_rows(tmp_path, [{"id": 1, "idiom": "joniga tegmoq", "sentence": "Bu gap jonimga tekkan."}])
    run("--lang", "uzn-Latn", "--in", path, "--out", tmp_path / "out.jsonl")
    assert read(tmp_path / "out.jsonl")[0]["spans"] == [[7, 21]]


def row(**changes):
    return json.dumps({"id": 2, "idiom": "göz yummak", "sentence": "Göz yumdu."} | changes)


BAD = [
    ('{"id": 1', r"in.jsonl:3: malformed JSON at column \d+.*one JSON object on each line"),
    ("[1, 2]", r"in.jsonl:3: \[1, 2\] is not a JSON object; write \{id, idiom, sentence\}"),
    ('{"id": 1, "idiom": "x", "text": "y"}', r"in.jsonl:3: the keys sentence are missing; found id, idiom, text;"),
    ("{}", "in.jsonl:3: the keys id, idiom, sentence are missing; found none;"),
    (row(sentence=7), "in.jsonl:3: sentence 7 is not a text, or an empty one"),
    (row(idiom="  "), "in.jsonl:3: idiom '  ' is not a text, or an empty one"),
    (row(sentence="go\u0308z"), r"in.jsonl:3: sentence .* is not in NFC; .*normalize\('NFC', text\)"),
    (row(idiom="go\u0308z yummak"), "in.jsonl:3: idiom .* is not in NFC"),
    (row(variants="göz"), "in.jsonl:3: variants 'göz' is not a list"),
    (row(variants=[None]), "in.jsonl:3: variants null is not a text"),
    (row(id=None), "in.jsonl:3: id null is neither a text nor a whole number"),
    (row(id=True), "in.jsonl:3: id true is neither"),
    (row(id=1), "in.jsonl:3: id 1 is also that of line 1; give every row its own"),
    (row(score=float("nan")), "in.jsonl:3: unusable JSON"),
    (row(note="\ud800"), "in.jsonl:3: half of a surrogate pair"),
    ("[" * 100_000, "in.jsonl:3: "),
    ('{"id": 1' + "0" * 10_000 + "}", "in.jsonl:3: unusable JSON"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_bad_row_is_named_and_nothing_is_written(tmp_path, line, message):
    path = write(tmp_path, row(id=1), "", line)
    with pytest.raises(InputError, match=message) as caught:
        run("--lang", "tr", "--in", path, "--out", tmp_path / "out.jsonl")
    assert caught.value.exit_code == 1
    assert len(str(caught.value)) < 400
    assert sorted(tmp_path.iterdir()) == [path]


def test_files_that_cannot_be_used(tmp_path):
    path = write_rows(tmp_path)
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    with pytest.raises(InputError, match="exists; choose another --out, or add --overwrite"):
        run("--lang", "tr", "--in", path, "--out", out)
    assert out.read_text() == "mine"
    with pytest.raises(InputError, match="is a directory"):
        run("--lang", "tr", "--in", path, "--out", tmp_path, "--overwrite")
    with pytest.raises(InputError, match="no such file"):
        run("--lang", "tr", "--in", tmp_path / "absent", "--out", tmp_path / "new")
    path.write_bytes(b'{"id": 1, "idiom": "g\xf6z"}\n')
    with pytest.raises(InputError, match=r"in.jsonl:1: not UTF-8"):
        run("--lang", "tr", "--in", path, "--out", tmp_path / "new")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--lang is missing"),
        (("--lang", "tr"), "--in is missing"),
        (("--lang", "tr", "--in", "x"), "--out is missing"),
        (("--lang", "fi", "--in", "x", "--out", "y"), "unknown language 'fi'; known: tr"),
        (("--evaluate", "parseme", "x"), "unknown corpus 'parseme'; known: dodiom"),
        (("--evaluate", "dodiom", "x", "--lang", "tr"), "--evaluate goes without"),
    ],
)
def test_wrong_usage(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        run(*arguments)
    assert caught.value.exit_code == 2


def test_the_installed_command(command, tmp_path):
    run_ = command(
        "turkic-idiom", "dataset", "annotate", "--lang", "tr", "--in", write_rows(tmp_path), "--out", "o.jsonl"
    )
    assert (run_.returncode, run_.stdout) == (0, "o.jsonl: 2 of 4 rows annotated\n")
    again = command("turkic-idiom", "dataset", "annotate", "--lang", "tr", "--in", "in.jsonl", "--out", "o.jsonl")
    assert again.returncode == 1
    assert again.stderr == "turkic-idiom: error: o.jsonl: exists; choose another --out, or add --overwrite\n"
