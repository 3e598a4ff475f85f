"""`reviews.jsonl`: what a line may say, which reviews count, and what keeps them."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.killing import every_kill
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import MANIFEST, read_manifest
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import add_reviews, content_revision, load_lexicon, write_lexicon
from turkic_idiom_tasks.lexicon.reviews import REVIEWS_FILE, Review, newest_reviews

ROW = {
    "format": 1,
    "lexicon_revision": "a" * 40,
    "language": "tr",
    "concept": "a",
    "idiom": "baş olmak",
    "verdicts": {"form": "ok", "meaning": "wrong", "concept": "ok", "example": "ok"},
    "comment": "",
    "correction": "",
    "reviewer": "AB",
    "date": "2026-01-31",
}
UNKNOWN = {"form": "unknown", "meaning": "unknown", "concept": "unknown"}


def review(**changes):
    return Review.model_validate(ROW | changes)


def reviewers(directory):
    return [review.reviewer for review in load_lexicon(directory).reviews]


def write(directory, *reviews, idiom="baş olmak", **options):
    write_lexicon(directory, [Concept("a", "")], {"tr": [Entry("a", idiom)]}, reviews=reviews, **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lexicon_revision": "a" * 40 + "\n"}, "field 'lexicon_revision'"),
        ({"language": "ba"}, "field 'language': must be one of tr, az"),
        ({"idiom": "baş\u202eolmak"}, r"field 'idiom': has U\+202E"),
        ({"verdicts": {}}, "field 'verdicts': has no verdict on 'form'"),
        ({"verdicts": {"form": "ok", "concept": "unknown"}}, ".*unknown for every field or for none"),
        ({"verdicts": {"form": "ok", "concept": "ok", "x\u202e": "ok"}}, "field 'verdicts.x"),
        ({"comment": "a" * 1001}, "field 'comment': .* at most 1000"),
        ({"comment": "a\nb"}, r"field 'comment': has U\+000A"),
        ({"reviewer": "ab"}, "field 'reviewer'"),
        ({"reviewer": "АВ"}, "field 'reviewer'"),  # Cyrillic
        ({"date": "2026-02-30"}, "field 'date'"),
        ({"time": "2026-01-31T25:30:00Z"}, "field 'time'"),
        ({"x\u202e": 1}, "unknown field 'x"),
    ],
)
def test_each_wrong_field_is_named_in_one_printable_line(tmp_path, changes, message):
    write(tmp_path / "lex")
    (tmp_path / "lex" / REVIEWS_FILE).write_text(json.dumps(ROW | changes) + "\n")
    with pytest.raises(InputError, match=rf"{REVIEWS_FILE}:1: {message}") as raised:
        load_lexicon(tmp_path / "lex")
    assert printable(str(raised.value)) == str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"time": "2026-01-31T09:30:00Z"}, {"time": "2026-01-31T09:30:01Z"}),
        ({"time": "2026-01-31T09:30:00Z", "sequence": 9}, {"time": "2026-01-31T09:30:00Z", "sequence": 10}),
        ({}, {"time": "2026-01-31T00:00:00Z"}),
        ({"time": "2026-01-31T23:59:59Z"}, {"date": "2026-02-01"}),
    ],
)
def test_of_two_reviews_of_one_day_the_newer_one_stays_in_whatever_order(older, newer):
    first, second = review(comment="first", **older), review(comment="second", **newer)
    assert newest_reviews([first, second]) == newest_reviews([second, first]) == [second]


def test_reviews_are_read_but_are_no_part_of_the_revision(tmp_path):
    write(tmp_path / "bare")
    write(tmp_path / "lex", review(reviewer="CD"), review())
    assert reviewers(tmp_path / "lex") == ["AB", "CD"]
    assert content_revision(tmp_path / "lex") == content_revision(tmp_path / "bare")
    assert REVIEWS_FILE in read_manifest(tmp_path / "lex").files
    assert not (tmp_path / "bare" / REVIEWS_FILE).exists()


def test_a_review_counts_while_the_idiom_reads_the_same(tmp_path):
    write(tmp_path / "lex", review(), review(reviewer="CD", idiom="baş eğmek"), review(concept="gone"))
    lexicon = load_lexicon(tmp_path / "lex")
    assert {concept: len(rows) for concept, rows in lexicon.reviews_of("tr").items()} == {"a": 1}
    assert lexicon.reviewed("tr") == {"a"}
    assert lexicon.is_reviewed
    assert lexicon.reviewed("az") == set()
    write(tmp_path / "other", review(verdicts=UNKNOWN))  # who does not know the idiom has not reviewed it
    lexicon = load_lexicon(tmp_path / "other")
    assert (list(lexicon.reviews_of("tr")), lexicon.reviewed("tr"), lexicon.is_reviewed) == (["a"], set(), False)


def test_reviews_outlive_a_lexicon_that_is_overwritten(tmp_path):
    write(tmp_path / "lex", review())
    write(tmp_path / "lex", review(reviewer="CD"), idiom="baş eğmek", overwrite=True)
    assert reviewers(tmp_path / "lex") == ["AB", "CD"]
    assert load_lexicon(tmp_path / "lex").reviewed("tr") == set()  # both are of the earlier idiom
    (tmp_path / "lex" / REVIEWS_FILE).write_text("{\n")
    with pytest.raises(InputError, match=rf"{REVIEWS_FILE}:1: .*correct the line or remove it"):
        write(tmp_path / "lex", overwrite=True)


def test_reviews_are_added_to_a_lexicon_with_and_without_a_manifest(tmp_path):
    write(tmp_path / "lex")
    (tmp_path / "by hand").mkdir()
    (tmp_path / "by hand" / "tr.jsonl").write_bytes((tmp_path / "lex" / "tr.jsonl").read_bytes())
    for directory in (tmp_path / "lex", tmp_path / "by hand"):
        revision = content_revision(directory)
        with pytest.raises(InputError, match="changed by another command"):
            add_reviews(directory, [review()], revision="0" * 40)
        assert not (directory / REVIEWS_FILE).exists()
        add_reviews(directory, [review()], revision=revision)
        add_reviews(directory, [review(reviewer="CD"), review(date="2025-01-01", comment="old")], revision=revision)
        assert load_lexicon(directory).reviews == [review(), review(reviewer="CD")]
        assert (directory / MANIFEST).exists() is (directory.name == "lex")
    write(tmp_path / "lex", overwrite=True)  # what was added is kept
    assert len(load_lexicon(tmp_path / "lex").reviews) == 2


@pytest.mark.long
@pytest.mark.usefixtures("no_flushing")
def test_a_kill_leaves_the_reviews_that_were_there_or_all(tmp_path):
    directory = tmp_path / "lex"

    def prepare():
        shutil.rmtree(directory, ignore_errors=True)
        write(directory, review())

    def add():
        add_reviews(directory, [review(reviewer="CD")], revision=content_revision(directory))

    seen = []
    for _ in every_kill(prepare, add, below=tmp_path):
        seen.append(reviewers(directory))
        add()
        assert len(load_lexicon(directory).reviews) == 2
    assert seen == sorted(seen)
    assert {tuple(names) for names in seen} == {("AB",), ("AB", "CD")}


def test_reviews_that_are_added_at_the_same_time_are_all_kept(tmp_path):
    write(tmp_path / "lex")
    revision = content_revision(tmp_path / "lex")
    names = [f"A{letter}" for letter in "ABCDEFGH"]

    def add(name):
        add_reviews(tmp_path / "lex", [review(reviewer=name)], revision=revision)

    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(add, names))
    assert reviewers(tmp_path / "lex") == names
