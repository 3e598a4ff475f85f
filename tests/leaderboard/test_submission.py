"""What is refused: every hostile submission that we could think of, each with a message that names the fault."""

import gzip
import os
import zlib

import pytest

from leaderboard.submission import METADATA_FILE, LeftOut, read_submission, slug, submission_files, submission_folders
from tests.leaderboard.boards_for_tests import random_rankings
from tests.leaderboard.conftest import Spoiler, faults_of, loaded, make_submission
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results import TOP_K
from turkic_idiom_tasks.results.reader import MAX_FAULTS
from turkic_idiom_tasks.results.scored import score_subset

SCRIPT = "<script>alert(1)</script>"
T1, T3, SPANS = "T1.jsonl.gz", "T3.jsonl.gz", "spans.jsonl.gz"
STS, MEANING, CLOZE_OPEN = "STS.jsonl.gz", "meaning.jsonl.gz", "cloze_open.jsonl.gz"


def linked(path, elsewhere):
    """Moves a file or folder away and links to it."""
    path.symlink_to(path.rename(elsewhere))


def pipe(spoiler):
    (spoiler.folder / T1).unlink()
    os.mkfifo(spoiler.folder / T1)


def bomb(spoiler):
    """A hundred kilobytes that would be a hundred megabytes of spaces."""
    packer = zlib.compressobj(9, wbits=31)
    part = b" " * 2**20
    spoiler.file(T1, b"".join([*(packer.compress(part) for _ in range(100)), packer.flush()]))


def swapped(rows):
    """The rankings of each of two subsets under the head of the other."""
    heads = [n for n, row in enumerate(rows) if "subset" in row]
    first, second = rows[: heads[1]], rows[heads[1] :]
    return [{**first[0], "subset": second[0]["subset"]}, *first[1:], {**second[0], "subset": "tur-azj"}, *second[1:]]


def without_task(rows):
    """The first head names no task."""
    return [{key: value for key, value in rows[0].items() if key != "task"}, *rows[1:]]


def positions(*values):
    return lambda ranking: [*values, *ranking[len(values) :]]


HOSTILE = {
    # the folder
    "another model in one's directory": (lambda s: s.fields(name="Other/Model"), ["named other__model-mean-"]),
    "a folder that is a link": (lambda s: linked(s.folder, s.folder.parent.parent / "away"), ["symbolic link"]),
    "predictions that are a link": (lambda s: linked(s.folder / T1, s.folder.parent / "away"), [T1, "symbolic link"]),
    "a pipe": (pipe, ["T1.jsonl.gz", "not a regular file"]),
    "a file too many": (lambda s: s.file("index.html"), ["holds 'index.html'; only"]),
    "a file whose name is a command": (lambda s: s.file("x\n::set-output name=a::b"), [r"holds 'x\n::set-output"]),
    "a file whose name is no UTF-8": (lambda s: s.file(os.fsdecode(b"\xff.gz")), [r"holds '\udcff.gz'"]),
    "no metadata": (lambda s: (s.folder / "submission.json").unlink(), ["holds no submission.json"]),
    "no predictions": (lambda s: [path.unlink() for path in s.folder.glob("*.gz")], ["holds no predictions"]),
    # submission.json as text
    "a large file": (lambda s: s.file(METADATA_FILE, b" " * 40_000), ["more than the 32,768 bytes"]),
    "not JSON": (lambda s: s.swap(b"}", b""), ["malformed JSON"]),
    "not an object": (lambda s: s.file(METADATA_FILE, b"[1]"), ["valid dictionary"]),
    "deep and closed": (lambda s: s.file(METADATA_FILE, b"[" * 9_000 + b"]" * 9_000), ["nested more than 4 deep"]),
    "a byte order mark": (lambda s: s.file(METADATA_FILE, b"\xef\xbb\xbf{}"), ["byte order mark"]),
    "a broken letter": (lambda s: s.swap(b"Jane", b"Jan\xff"), ["not UTF-8 at byte"]),
    "NaN": (lambda s: s.swap(b"118000000", b"NaN"), ["NaN is no number"]),
    "a number too large for a float": (lambda s: s.swap(b"118000000", b"1e999"), ["'1e999' is too large a number"]),
    "a huge number": (lambda s: s.swap(b"118000000", b"9" * 30), ["'n_parameters'", "100000000000000"]),
    # its fields
    "scores": (lambda s: s.fields(ndcg=1), ["'ndcg': Extra inputs are not permitted"]),
    "a field missing": (lambda s: s.fields(contact=...), ["'contact': Field required"]),
    "another format": (lambda s: s.fields(format=2), ["'format'", "not 2"]),
    "traversal in the model": (lambda s: s.fields(name="../../etc/passwd"), ["'name'", "'../../etc/passwd'"]),
    "a line break after the model": (lambda s: s.fields(name="Org/Model\n"), ["'name'"]),
    "letters that look alike": (lambda s: s.fields(name="Оrg/Model"), ["'name'"]),
    "script in the revision": (lambda s: s.fields(revision=SCRIPT), ["'revision'"]),
    "script in the type": (lambda s: s.fields(type=SCRIPT), ["'type': Input should be 'baseline'"]),
    "script in a package": (lambda s: s.fields(versions={SCRIPT: "1"}), ["'versions"]),
    "a hundred packages": (lambda s: s.fields(versions={f"p{n}": "1" for n in range(100)}), ["at most 32"]),
    "a truth as a number": (lambda s: s.fields(n_parameters=True), ["'n_parameters'", "valid integer"]),
    "no text in a second": (lambda s: s.fields(texts_per_second=0), ["'texts_per_second'", "greater than or equal to"]),
    "an endless speed": (lambda s: s.fields(texts_per_second=1e300), ["'texts_per_second'", "less than"]),
    "a device of hundreds of letters": (lambda s: s.fields(device="x" * 201), ["'device'", "at most 200"]),
    "control characters": (lambda s: s.fields(contact="a\x1b[2Jb"), ["'contact'", r"'\x1b', which cannot be seen"]),
    "text that turns its direction": (lambda s: s.fields(contact="a\u202eb"), ["'contact'", r"'\u202e'"]),
    "half a surrogate pair": (lambda s: s.fields(contact="\ud800"), ["half of a surrogate pair"]),
    "a Hangul filler": (lambda s: s.fields(contact="a\u3164b"), ["'contact'", r"'\u3164', which cannot be seen"]),
    "no disclosure": (lambda s: s.fields(training_data=""), ["'training_data'", "is empty"]),
    "letters taken apart": (lambda s: s.fields(contact=" Go\u0308zde"), ["'contact'", "white space", "NFC"]),
    "a novel": (lambda s: s.fields(training_data="x" * 3_000), ["'training_data'", "at most 2000 characters"]),
    "another data revision": (lambda s: s.fields(dataset_revision="b" * 40), ["b" * 40, "run the model again"]),
    "no data revision": (lambda s: s.fields(dataset_revision="main"), ["'dataset_revision'"]),
    # predictions as bytes
    "not gzip": (lambda s: s.file(T1, b"{}"), ["not a gzip file"]),
    "a bomb": (bomb, ["more than the 67,108,864 bytes that are allowed, once unpacked"]),
    "a large packed file": (lambda s: s.file(T1, os.urandom(17 * 2**20)), ["more than the 16,777,216 bytes"]),
    "cut short": (lambda s: s.file(T1, (s.folder / T1).read_bytes()[:-9]), ["cut short"]),
    "a second stream": (lambda s: s.file(T1, (s.folder / T1).read_bytes() * 2), ["after the end of the gzip stream"]),
    "an empty stream": (lambda s: s.file(T1, gzip.compress(b"")), ["no subset in it"]),
    "a long line": (lambda s: s.raw(b" " * 2**20 + b"{}"), ["a line of more than the 1,048,576 bytes"]),
    "empty lines without end": (lambda s: s.raw(b"\n" * 10_000), ["and so on"]),
    # rankings
    "an unknown subset": (lambda s: s.row(0, subset="tur-kaz"), [":1: the data has no T1 subset 'tur-kaz'"]),
    "subsets swapped": (lambda s: s.rows(swapped), [":1: the documents of tur-uzn must be"]),
    "another task's file": (lambda s: s.file(T1, (s.folder / T3).read_bytes()), [":1: the head names the task 'T3'"]),
    "a head without a task": (lambda s: s.rows(without_task), [":1: the head names the task None"]),
    "a subset twice": (lambda s: s.rows(lambda rows: [*rows, rows[0]]), ["T1, tur-azj appears twice"]),
    "a query dropped": (lambda s: s.rows(lambda rows: rows[:3] + rows[4:]), ["T1, tur-azj: 1 predictions are missing"]),
    "a query twice": (lambda s: s.rows(lambda rows: [*rows[:2], *rows[1:]]), [":3: query 'tur:", "appears twice"]),
    "an unknown query": (lambda s: s.row(2, query=SCRIPT), [":3: ", "tur-azj has no query '<script>"]),
    "rankings without a head": (lambda s: s.rows(lambda rows: rows[1:]), [":1: a prediction before the head line"]),
    "a document twice": (lambda s: s.ranking(lambda r: [r[1], *r[1:]]), [":3: query 'tur:", "is ranked twice"]),
    "a document that is not there": (lambda s: s.ranking(positions(20)), ["the position 20; there are 0 to 19"]),
    "a position before the first": (lambda s: s.ranking(positions(-1)), ["the position -1; there are 0 to 19"]),
    "a truth as a position": (lambda s: s.ranking(positions(True)), ["the position True"]),
    "a tie in a tie": (lambda s: s.ranking(lambda r: [[[r[0]]], *r[1:]]), ["the position ["]),
    "an empty tie": (lambda s: s.ranking(lambda r: [*r, []]), ["an empty list"]),
    "an empty ranking": (lambda s: s.ranking(lambda r: []), ["must be a list of positions, not []"]),
    "a ranking that is a text": (lambda s: s.row(2, ranking="0,1,2"), ["must be a list of positions"]),
    "commas": (lambda s: s.raw(b'{"query":"tur:c1","ranking":[0,,1]}'), [":3: malformed JSON"]),
    "a score for a query": (lambda s: s.row(2, ndcg=1), [":3: neither", "'ndcg'"]),
    "a place that cannot be": (lambda s: s.row(2, ranking=[0], beyond=[[1, 0, 1]]), [":3: query 'tur:", "beyond"]),
    "a place behind the last": (lambda s: s.row(2, beyond=[[1, 20, 1]]), [":3: query 'tur:", "beyond"]),
    "places that are no list": (lambda s: s.row(2, beyond=SCRIPT), [":3: query 'tur:", "beyond"]),
    "a list for a line": (lambda s: s.raw(b"[1, 2]"), [":3: neither"]),
    # tags
    "an unknown language": (lambda s: s.row(0, SPANS, subset="ba"), [":1: the data has no spans subset 'ba'"]),
    "tags too few": (lambda s: s.row(1, SPANS, tags="O"), [":2: sentence 'c", "needs 6 of the letters", "not 'O'"]),
    "other letters": (lambda s: s.row(1, SPANS, tags="OXOOOO"), ["not 'OXOOOO'"]),
}  # fmt: skip

# The same of a submission of sentence pairs and of items for language models
HOSTILE_ANSWERS = {
    "a similarity above the largest": (lambda s: s.row(1, STS, similarity=1.01), [":2: pair '", "-1 to 1, not 1.01"]),
    "a similarity below the smallest": (lambda s: s.row(2, STS, similarity=-1.01), [":3: pair '", "not -1.01"]),
    "a similarity as a truth": (lambda s: s.row(1, STS, similarity=True), [":2: pair '", "not True"]),
    "no similarity": (lambda s: s.row(1, STS, similarity=None), [":2: pair '", "not None"]),
    "an unknown pair": (lambda s: s.row(1, STS, pair="nobody/correct"), [":2: ", "no pair 'nobody/correct'"]),
    "an answer before the first": (lambda s: s.row(1, MEANING, answer=-1), [":2: item 'meaning_tr/", "not -1"]),
    "an answer that is no option": (lambda s: s.row(1, MEANING, answer=4), [":2: item '", "0 to 3, or null, not 4"]),
    "an answer as a truth": (lambda s: s.row(1, MEANING, answer=True), [":2: item '", "position of an option"]),
    "an unknown item": (lambda s: s.row(1, MEANING, item="meaning_tr/x"), [":2: ", "no item 'meaning_tr/x'"]),
    "an item that is no text": (lambda s: s.row(1, MEANING, item=["a"]), [":2: ", "no item ['a']"]),
    "another set of items": (lambda s: s.row(0, MEANING, subset="gag"), [":1: ", "no meaning subset 'gag'; it has tr"]),
    "an unknown method": (lambda s: s.row(0, MEANING, method="luck"), [":1: the method 'luck' is unknown"]),
    "an unknown prompt": (lambda s: s.row(0, MEANING, prompt="en9"), [":1: the prompt 'en9' is unknown"]),
    "items of another version": (lambda s: s.row(0, MEANING, items="0" * 12), [":1: ", "another version"]),
    "an item twice": (lambda s: s.rows(lambda rows: [*rows[:2], *rows[1:]], MEANING), [":3: item '", "twice"]),
    "a position as the words": (lambda s: s.row(1, CLOZE_OPEN, answer=1), [":2: item '", "text or null, not 1"]),
    "no words": (lambda s: s.row(2, CLOZE_OPEN, answer=" "), [":3: item '", "needs a text or null"]),
    "words without end": (lambda s: s.row(1, CLOZE_OPEN, answer="a" * 201), [":2: item '", "201 characters"]),
    "invisible words": (lambda s: s.row(1, CLOZE_OPEN, answer="göz\u200b"), [":2: item '", r"'\u200b', which cannot"]),
}  # fmt: skip


def test_a_submission_of_the_bundled_data_is_small_and_keeps_its_scores(tmp_path, submission_metadata):
    dataset, whole = open_dataset(), {}
    for task in PAPER_TASKS:
        for subset in dataset.subsets(task):
            whole[task, subset] = random_rankings(dataset, task, subset, seed=3)
    metadata = submission_metadata.model_copy(update={"dataset_revision": dataset.revision})
    content = submission_files(metadata, whole)
    assert sum(map(len, content.values())) < 850_000  # random rankings are the largest there are
    submission = loaded(make_submission(tmp_path, metadata, content), dataset)
    for key, rankings in whole.items():
        read = submission.predictions[key]
        assert read.n_listed.min() == TOP_K
        assert score_subset(read).scores == score_subset(rankings).scores


@pytest.mark.parametrize(
    ("kind", "case"), [*(("encoder", one) for one in HOSTILE), *(("answers", one) for one in HOSTILE_ANSWERS)]
)
def test_a_hostile_submission_is_refused(tmp_path, sound_submissions, kind, case):
    metadata, content, dataset = sound_submissions[kind]
    spoiler = Spoiler(make_submission(tmp_path / "submissions", metadata, content))
    spoil, parts = (HOSTILE | HOSTILE_ANSWERS)[case]
    spoil(spoiler)
    submission = read_submission(spoiler.folder, dataset)
    assert isinstance(submission, LeftOut)
    assert submission.metadata is None
    said = "\n".join(map(str, submission.faults))
    for part in parts:
        assert part in said
    assert all(len(str(fault)) < 800 and str(fault).isprintable() for fault in submission.faults)
    assert "list all with: turkic-idiom leaderboard check" in submission.reason


@pytest.mark.parametrize("kind", ["encoder", "answers"])
@pytest.mark.parametrize(
    "stated",
    [
        {"texts_per_second": ..., "device": ...},  # left out, as in submissions of earlier versions
        {"texts_per_second": 812.25, "device": "NVIDIA H100"},
        {"texts_per_second": 812},
        {"contact": SCRIPT, "training_data": f"{SCRIPT} &amp; \"'", "dataset": "../../etc/passwd"},  # no more than text
    ],
)
def test_what_may_be_stated(tmp_path, sound_submissions, kind, stated):
    metadata, content, dataset = sound_submissions[kind]
    folder = make_submission(tmp_path, metadata, content)
    Spoiler(folder).fields(**stated)
    expected = {field: None if value is ... else value for field, value in stated.items()}
    assert loaded(folder, dataset).metadata == metadata.model_copy(update=expected)


def test_every_fault_is_told_with_its_line_up_to_twenty_a_file(submission_folder, submission_dataset):
    spoiler = Spoiler(submission_folder)
    spoiler.swap(b'"encoder"', b'"best"')
    spoiler.swap(b'"few_shot": null', b'"few_shot": -2')
    faults = faults_of(submission_folder, submission_dataset)
    lines = (submission_folder / "submission.json").read_text().splitlines()
    assert [fault.message.split(":")[0] for fault in faults] == ["'type'", "'few_shot'"]
    assert ['"best"' in lines[faults[0].line - 1], "-2" in lines[faults[1].line - 1]] == [True, True]
    spoiler.fields(type="encoder", few_shot=None)
    spoiler.rows(lambda rows: [row | {"ranking": [99]} if "query" in row else row for row in rows])
    spoiler.row(1, SPANS, tags="")
    lines = [(fault.path.name, fault.line) for fault in faults_of(submission_folder, submission_dataset)]
    n_queries = len(submission_dataset.pool("T1", "tur-azj").queries)
    assert lines[:n_queries] == [(T1, line) for line in range(2, n_queries + 2)]
    assert len([name for name, _ in lines if name == T1]) == MAX_FAULTS + 1
    assert lines[-1] == (SPANS, 2)


def test_a_folder_is_named_by_what_tells_it_apart(submission_metadata):
    name = slug(submission_metadata)
    assert name.startswith("org__model-mean-pretrained-")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    for changes in ({"name": "org/Model"}, {"name": "Org__Model"}, {"revision": "b" * 40}, {"pooling": None},
                    {"regime": "tr-only"}, {"few_shot": 0}, {"type": "baseline"}):  # fmt: skip
        assert slug(submission_metadata.model_copy(update=changes)) != name
    for changes in ({"contact": "x"}, {"training_data": "x"}, {"n_parameters": None}, {"versions": {}},
                    {"texts_per_second": 5.0}):  # fmt: skip
        assert slug(submission_metadata.model_copy(update=changes)) == name
    longest = submission_metadata.model_copy(update={"name": "A" * 96 + "/" + "B" * 96})
    assert len(slug(longest)) < 100


def test_which_folders_are_submissions(submission_folder, tmp_path):
    assert submission_folders(submission_folder) == [submission_folder]
    (submission_folder.parent / "README.md").write_text("what this is")
    (submission_folder.parent / "another").mkdir()
    (submission_folder.parent / "link").symlink_to(submission_folder)
    (submission_folder.parent / ".ipynb_checkpoints").mkdir()
    names = [path.name for path in submission_folders(submission_folder.parent)]
    assert names == sorted(["another", "link", submission_folder.name])  # to be refused, not overlooked
    (tmp_path / "all").symlink_to(submission_folder.parent)
    (tmp_path / "empty").mkdir()
    for place, message in (("all", "no submission"), ("empty", "no submission"), ("absent", "no such folder")):
        with pytest.raises(InputError, match=message):
            submission_folders(tmp_path / place)
