"""The check of a submission in the page "Submit": the faults that `leaderboard check` finds, in the same lines."""

import re
from contextlib import ExitStack

import pytest

from leaderboard.board import make_board
from leaderboard.data import board_data
from leaderboard.site import write_site
from leaderboard.submission import METADATA_FILE, submission_folders
from tests.browser_pages import watched_pages
from tests.leaderboard.conftest import Spoiler, faults_of, make_submission
from tests.leaderboard.test_submission import HOSTILE, HOSTILE_ANSWERS
from turkic_idiom_tasks.lexicon.editions import EDITIONS

# Cases that a page cannot see: it gets no links and devices, and no names that are no text
NOT_FILES = {
    "a folder that is a link", "predictions that are a link", "a pipe",
    "a file whose name is a command", "a file whose name is no UTF-8",
}  # fmt: skip
# Cases that the page leaves to the command: ids, and the number of words
NOT_FORM = {
    "an unknown query", "an unknown pair", "an unknown item", "an item that is no text", "another set of items",
    "items of another version", "tags too few", "an answer that is no option",
}  # fmt: skip
OTHER_LINE = {"a number too large for a float", "half a surrogate pair"}  # told of the file, or at the field
ALL = [case for case in HOSTILE if case not in NOT_FILES]


@pytest.fixture(scope="module")
def submit_pages(browser, sound_submissions, tmp_path_factory):
    """Kind -> the page "Submit" of a site of its data; at the end no script may have failed, nothing was requested."""
    with ExitStack() as stack:
        pages = {}
        for kind, (_, _, dataset) in sound_submissions.items():
            folder = tmp_path_factory.mktemp("check")
            write_site(make_board([], board_data(dataset)), folder)
            open_page = stack.enter_context(watched_pages(browser, f"file://{folder}/submit.html"))
            pages[kind] = open_page()
        yield pages


def checked(page, label, place):
    """(file, line) -> message of the faults that the page shows for a folder or files."""
    page.evaluate("delete document.documentElement.dataset.checked")
    page.get_by_label(label, exact=True).set_input_files(place)
    page.wait_for_selector("html[data-checked]", state="attached")
    rows = page.locator("#report .fault").evaluate_all(
        "all => all.map(one => [one.dataset.file, Number(one.dataset.line), one.textContent])"
    )
    return {(file, line): text for file, line, text in rows}


@pytest.mark.parametrize("kind", ["encoder", "answers"])
def test_a_sound_submission_has_no_fault(submit_pages, sound_submissions, tmp_path, kind):
    metadata, content, _ = sound_submissions[kind]
    metadata = metadata.model_copy(update={"texts_per_second": 812.25, "device": "NVIDIA H100"})
    page, folder = submit_pages[kind], make_submission(tmp_path, metadata, content)
    assert checked(page, "Folder", folder) == {}
    report = page.locator("#report").inner_text()
    assert folder.name in report
    assert set(content) == set(re.findall(r"[\w.]+\.(?:gz|json)", report.partition("No fault in its form: ")[2]))
    assert checked(page, "Files", list(folder.iterdir())) == {}
    assert f"belong in a folder named {folder.name}" in page.locator("#report").inner_text()


@pytest.mark.parametrize(
    ("kind", "cases"),
    [
        pytest.param("encoder", ALL[::4], id="some"),
        pytest.param("encoder", [case for case in ALL if case not in ALL[::4]], id="others", marks=pytest.mark.long),
        pytest.param("answers", list(HOSTILE_ANSWERS), id="answers"),
    ],
)
def test_the_page_finds_the_faults_that_the_command_finds(submit_pages, sound_submissions, tmp_path, kind, cases):
    metadata, content, dataset = sound_submissions[kind]
    different = {}
    for number, case in enumerate(cases):
        folder = make_submission(tmp_path / str(number), metadata, content)
        spoil, _ = (HOSTILE | HOSTILE_ANSWERS)[case]
        spoil(Spoiler(folder))
        faults = faults_of(folder, dataset)
        expected = {("" if fault.path == folder else fault.path.name, fault.line) for fault in faults}
        shown = checked(submit_pages[kind], "Folder", folder)
        if case in NOT_FORM:
            agrees = shown.keys() <= expected
        elif case in OTHER_LINE:
            agrees = {file for file, _ in shown} == {file for file, _ in expected}
        else:
            agrees = shown.keys() == expected
        if not agrees:
            different[case] = (shown, [str(fault) for fault in faults])
    assert different == {}


def test_several_submissions_are_checked_apart(submit_pages, submission_folder, add_submission):
    page, folder = submit_pages["encoder"], submission_folder
    Spoiler(folder).row(2, ranking=[])
    first_edition, edition = next(iter(EDITIONS.items()))
    add_submission(name="a/b")
    add_submission(name="c/d", dataset_revision=first_edition)
    for name in (".DS_Store", "README.md", "T1.jsonl.gz", ".git/submission.json", "empty-of-metadata/T1.jsonl.gz"):
        (folder.parent / name).parent.mkdir(exist_ok=True)
        (folder.parent / name).write_bytes(b"x")
    found = checked(page, "Folder", folder.parent)
    names = sorted(page.locator("#report h3").all_text_contents())
    assert names == [path.name for path in submission_folders(folder.parent)]
    assert (len(names), page.locator("#report .sound").count()) == (4, 1)
    assert set(found) == {("T1.jsonl.gz", 3), (METADATA_FILE, 0), ("", 0)}
    assert found["T1.jsonl.gz", 3].startswith("T1.jsonl.gz, line 3: query ")
    assert f"(edition {edition} of the lexicon)" in found[METADATA_FILE, 0]
    assert "holds no submission.json" in found["", 0]
    (folder / ".DS_Store").write_bytes(b"x")
    for label, place in (("Folder", folder), ("Files", list(folder.iterdir()))):
        assert 'holds ".DS_Store"' in checked(page, label, place)["", 0]
