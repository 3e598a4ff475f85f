import json
import re
import shutil
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leaderboard.board import make_board
from leaderboard.items import board_data
from leaderboard.site import KIND, build_site, check_out
from leaderboard.submit_page import About, count_texts, site_facts
from tests.killing import all_at_once, every_kill
from tests.leaderboard.boards_for_tests import FLOOR, POOL, make_data, make_scored
from turkic_idiom_tasks.dataset import BUNDLED_PATH, LexiconDataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import commit_folder, restore_folder
from turkic_idiom_tasks.lexicon.reviews import parse_review

OUTSIDE = (
    "https://huggingface.co/",
    "https://github.com/org/idioms",
    "https://github.com/evaleval/every_eval_ever",
    "https://www.apache.org/licenses/LICENSE-2.0",
    "https://creativecommons.org/licenses/by/4.0/",
    "data:,",
)


@pytest.fixture
def site(shared_site):
    return shared_site.folder


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Links(HTMLParser):
    """Collects what a page refers to, its ids, and its elements."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.tags = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append((tag, values))
        self.links += [values[name] for name in ("href", "src") if name in values]
        self.ids.add(values.get("id"))


def test_two_builds_in_another_order_are_byte_identical(shared_site, tmp_path):
    board = shared_site.board
    again = make_board(
        board.submissions[::-1], board.data, reproduced=board.reproduced, other_editions=board.other_editions
    )
    build_site(again, tmp_path / "again", about=About("https://github.com/org/idioms", date(2026, 11, 30)))
    assert content(tmp_path / "again") == content(shared_site.folder)


def test_a_second_build_deletes_what_is_gone_and_nothing_of_others(small_board, tmp_path):
    build_site(small_board, tmp_path)
    others = (".git/config", "CNAME", "models/notes.html", "scores/mine.json", "static/own.css")
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    unchanged = (tmp_path / "static/site.css").stat().st_mtime_ns
    written = build_site(make_board(small_board.submissions[1:], small_board.data), tmp_path)
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == ["b.html", "notes.html"]
    assert sorted(path.name for path in (tmp_path / "scores").iterdir()) == ["b.js", "b.json", "mine.json"]
    assert {(tmp_path / name).read_text() for name in others} == {"mine"}
    assert (tmp_path / "static/site.css").stat().st_mtime_ns == unchanged
    assert all(path.is_file() for path in written)


@pytest.fixture(scope="module")
def small_board():
    """As few charts as can be, which take most of the time of a build."""
    data = make_data(3, languages=("tr", "az"))
    return make_board([make_scored("a", data, tasks=("T1",)), make_scored("b", data, tasks=("T2",))], data)


def test_a_folder_that_is_not_ours_is_refused_and_overwriting_touches_our_files_alone(small_board, tmp_path):
    for name in ("index.html", "models/a.html", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=r"was not written by this command.*--overwrite"):
        build_site(small_board, tmp_path)
    assert {path.read_text() for path in tmp_path.rglob("*") if path.suffix in (".html", ".txt")} == {"mine"}
    build_site(small_board, tmp_path, overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert "Which models understand" in (tmp_path / "index.html").read_text("utf-8")


def test_a_file_of_ours_that_somebody_changed_is_not_lost(small_board, tmp_path):
    build_site(small_board, tmp_path)
    (tmp_path / "index.html").write_text("mine now")
    with pytest.raises(InputError, match=r"index.html: was changed since it was written"):
        build_site(small_board, tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine now"


@pytest.mark.long
def test_a_build_that_was_killed_leaves_one_site_or_the_other_and_the_next_completes_it(small_board, tmp_path):
    build_site(small_board, tmp_path / "fresh")
    new = pages(tmp_path / "fresh")
    old = new | {Path("index.html"): b"old", Path("models/gone.html"): b"old"}
    old_files, new_files = ({str(path): data for path, data in site.items()} for site in (old, new))
    site = tmp_path / "site"

    def prepare():
        shutil.rmtree(site, ignore_errors=True)
        commit_folder(site, old_files, kind=KIND)

    n_kills = 0
    for _ in every_kill(prepare, lambda: commit_folder(site, new_files, kind=KIND), below=tmp_path):
        n_kills += 1
        if n_kills % 5 == 0:
            build_site(small_board, site)
            assert pages(site) == new
        else:
            restore_folder(site)
            assert pages(site) in (old, new)
    assert n_kills > 8


def pages(folder):
    """Path -> content of what a visitor can see."""
    return {path: data for path, data in content(folder).items() if not path.parts[0].startswith(".")}


def test_two_builds_at_once_leave_one_whole_site(small_board, tmp_path):
    """The pages are made once, here: the library that draws the figures has threads, which no forked child has."""
    build_site(small_board, tmp_path / "alone")
    expected = pages(tmp_path / "alone")
    contents = {str(path): data for path, data in expected.items()}
    exit_codes = all_at_once([lambda: commit_folder(tmp_path / "site", contents, kind=KIND) for _ in range(3)])
    assert 0 in exit_codes
    assert pages(tmp_path / "site") == expected


def test_a_site_does_not_go_among_the_submissions(tmp_path):
    (tmp_path / "submissions").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "submissions")
    for out in ("submissions", "submissions/site", "link/site", "submissions/../submissions/x"):
        with pytest.raises(InputError, match="lies in the folder of the submissions"):
            check_out(tmp_path / out, tmp_path / "submissions", overwrite=True)
    check_out(tmp_path / "site", tmp_path / "submissions", overwrite=False)
    (tmp_path / "site").mkdir()
    check_out(tmp_path / "site", tmp_path / "submissions", overwrite=False)
    (tmp_path / "site" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'thesis.tex' and is no site"):
        check_out(tmp_path / "site", tmp_path / "submissions", overwrite=False)
    check_out(tmp_path / "site", tmp_path / "submissions", overwrite=True)


def test_every_link_leads_somewhere_and_only_to_the_site(site):
    for page in site.rglob("*.html"):
        for link in Links(page.read_text("utf-8")).links:
            if link.startswith(OUTSIDE):
                continue
            path, _, fragment = link.partition("?")[0].partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f"{page.name}: {link}"
            fragment = link.partition("#")[2]
            if target.name == "items.html" and fragment.startswith("c-"):  # its script makes the sections from the data
                assert f'{{"id":"{fragment.removeprefix("c-")}",' in (site / "concepts.js").read_text("utf-8")
                continue
            assert not fragment or fragment in Links(target.read_text("utf-8")).ids, f"{page.name}: {link}"


def test_hostile_text_is_text_on_every_page(site):
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        parsed = Links(text)
        scripts = [values for tag, values in parsed.tags if tag == "script"]
        ours = ("static/", "../static/", "concepts.js")
        assert all(values.get("src", "").startswith(ours) for values in scripts if "src" in values)
        assert all(values.get("type") == "application/json" for values in scripts if "src" not in values)
        assert "<script>window" not in text
        policy = next(values["content"] for tag, values in parsed.tags if values.get("http-equiv"))
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src")
    assert "&lt;script&gt;window" in (site / "models/hostile-1.html").read_text("utf-8")


def test_only_names_of_the_hub_become_links_to_it(site):
    assert '<a href="https://huggingface.co/org/middle"' in (site / "models/model-1.html").read_text("utf-8")
    assert "huggingface.co" not in (site / "models/hostile-1.html").read_text("utf-8")


def test_a_built_in_baseline_has_no_link_to_the_hub(small_board, tmp_path):
    data = small_board.data
    baseline = make_scored("ngrams", data, tasks=("T1",), name="turkic-idiom/char-ngrams", revision="1")
    build_site(make_board([baseline], data), tmp_path)
    assert "huggingface.co" not in (tmp_path / "models/ngrams.html").read_text("utf-8")


def test_the_footer_names_repository_and_date_where_they_are_known(site, small_board, tmp_path):
    text = (site / "t1.html").read_text("utf-8")
    assert 'href="https://github.com/org/idioms/blob/main/CHANGELOG.md"' in text
    assert "2026-11-30" in text
    assert 'href="https://github.com/org/idioms/compare"' in (site / "submit.html").read_text("utf-8")
    build_site(make_board([], small_board.data), tmp_path)
    for page in tmp_path.glob("*.html"):
        assert "github.com" not in page.read_text("utf-8")
        assert "built on" not in page.read_text("utf-8")


def test_the_date_of_a_build_comes_from_the_option_or_the_environment():
    assert site_facts(None, None, {}) == About(None, None)
    assert site_facts(None, None, {"SOURCE_DATE_EPOCH": "86400"}).built == date(1970, 1, 2)
    given = site_facts("https://github.com/org/idioms/", "2026-11-30", {"SOURCE_DATE_EPOCH": "86400"})
    assert given == About("https://github.com/org/idioms", date(2026, 11, 30))
    for repository, built, epoch in (
        ("javascript:alert(1)", None, "0"),
        ("https://github.com/org", None, "0"),
        (None, "30.11.2026", "0"),
        (None, None, "soon"),
        (None, None, "9" * 30),
    ):
        with pytest.raises(InputError, match="give"):
            site_facts(repository, built, {"SOURCE_DATE_EPOCH": epoch})


def test_the_texts_that_a_model_encodes_are_counted_once():
    # queries: 3 Turkish idioms for T1 to T3, 3 Azerbaijani ones for T2; pools: idioms az, meanings tr and az
    assert count_texts(make_data(3, languages=("tr", "az"))) == 6 + 3 * POOL


def test_a_model_page_says_what_was_disclosed_and_where_it_stands(site):
    text = (site / "models/model-1.html").read_text("utf-8")
    for told in (
        "Wikipedia; no idioms of the benchmark",
        "a" * 40,
        "mteb 2.10.0",
        "someone",
        "recomputed",
        "reproduced",
    ):
        assert told in text
    assert re.search(r"rank \d of 4", text)
    assert "Throughput" not in text  # it was not measured
    assert "1,234 texts per second on &lt;img src=x" in (site / "models/hostile-0.html").read_text("utf-8")
    part = (site / "models/shots-1.html").read_text("utf-8")
    assert "not all tasks were submitted" in part
    assert "1 examples" in part
    assert ">reproduced<" not in part


def test_task_pages_show_n_floor_and_small_samples(site):
    text = (site / "t2.html").read_text("utf-8")
    assert "n = 40" in text
    assert "n = 12" in text
    assert text.count('class="small-n"') == 1  # the column of Gagauz
    assert re.search(r"<tfoot>.*Floor.*<td>\.174</td>", text)  # nDCG of a random ranking of 200 documents


def test_ticks_stand_at_the_floor_of_each_group_of_queries(site):
    text = (site / "t1.html").read_text("utf-8")
    table = text[text.index('class="split"') :]
    places = {f"{FLOOR:.3f}".removeprefix("0")}  # every query has one right answer, so both groups have one floor
    assert set(re.findall(r"--f:([.\d]+)", table[: table.index("</table>")])) == places


def test_scores_for_download_can_be_read_back(shared_site, site):
    submission = next(one for one in shared_site.board.submissions if one.id == "model-1")
    told = json.loads((site / "scores/model-1.json").read_text("utf-8"))
    ids = json.loads((site / told["items"].removeprefix("../")).read_text("utf-8"))
    (score,) = (one for one in submission.of_task("T2") if one.subset == "gag")
    assert ids["items"]["T2/gag"] == list(score.items)
    assert told["values"]["T2/gag"] == score.sums[:, 0].tolist()


def test_an_empty_leaderboard_is_a_site_too(small_board, tmp_path):
    build_site(make_board([], small_board.data), tmp_path)
    assert "No submissions yet" in (tmp_path / "index.html").read_text("utf-8")
    assert "paper-reported" in (tmp_path / "index.html").read_text("utf-8")


def test_the_page_of_the_bundled_data_says_how_many_entries_speakers_have_reviewed(submission_dataset, tmp_path):
    lexicon = submission_dataset.lexicon
    row = {"language": "tr", "lexicon_revision": "a" * 40, "verdicts": {"form": "ok", "concept": "ok"}}
    row |= {"reviewer": "AB", "date": "2026-01-31"}
    reviews = []
    for entry in list(lexicon.of("tr").values())[:2]:
        reviews.append(parse_review(row | {"concept": entry.concept, "idiom": entry.idiom}))
    n_entries = sum(len(entries) for entries in lexicon.entries.values())
    texts = []
    for number, some in enumerate(([], reviews)):
        data = board_data(LexiconDataset(replace(lexicon, reviews=some), BUNDLED_PATH))
        build_site(make_board([], data), tmp_path / str(number))
        texts.append((tmp_path / str(number) / "data.html").read_text("utf-8"))
    assert "native speakers have not reviewed them yet" in texts[0]
    assert f"native speakers have reviewed 2 of the {n_entries} entries" in texts[1]


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\nb", "a" * 101, "ü", "a b"])
def test_ids_that_are_no_file_names_are_refused(small_board, name, tmp_path):
    data = small_board.data
    with pytest.raises(InputError, match="cannot be the name of a page"):
        build_site(make_board([make_scored(name, data)], data), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_ids_that_differ_in_case_alone_are_refused(small_board, tmp_path):
    data = small_board.data
    with pytest.raises(InputError, match="'One' and 'one' differ in case alone"):
        build_site(make_board([make_scored("one", data), make_scored("One", data)], data), tmp_path)


def test_a_folder_that_cannot_be_written_is_named(small_board, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: is a file where a folder is to be written"):
        build_site(small_board, tmp_path / "file")


def test_nothing_of_this_machine_is_in_the_site(site):
    for path, text in content(site).items():
        assert str(Path.home()).encode() not in text, path
        assert str(site).encode() not in text, path
