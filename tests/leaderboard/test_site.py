import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leaderboard.overview import make_board
from leaderboard.site import build_site
from tests.leaderboard.records_for_tests import make_data, make_record
from turkic_idiom_tasks.errors import InputError

SCRIPT = "<script>window.hacked = 1</script>"


@pytest.fixture(scope="module")
def data():
    return make_data(31, few={"gag": 12}, text=f"{{language}} {{concept}} {SCRIPT}")


@pytest.fixture(scope="module")
def records(data):
    part = make_record("part", data, tasks=("T1", "spans"), n_parameters=None, revision=None, pooling=None, few_shot=5)
    texts = dict.fromkeys(("name", "training_data", "contact"), SCRIPT)
    return [make_record("b", data, seed=1), make_record("a", data, seed=2, **texts), part]


@pytest.fixture(scope="module")
def site(data, records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build_site(make_board(records, data, reproduced=("b",)), folder)
    return folder


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


def test_two_builds_in_another_order_are_byte_identical(data, records, site, tmp_path):
    build_site(make_board(records[::-1], data, reproduced=("b",)), tmp_path / "again")
    assert content(tmp_path / "again") == content(site)


def test_a_second_build_deletes_what_is_gone_and_nothing_of_others(data, records, tmp_path):
    for name in (".git/config", "CNAME", "models/.keep"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    build_site(make_board(records, data), tmp_path)
    unchanged = (tmp_path / "static/site.css").stat().st_mtime_ns
    written = build_site(make_board(records[:1], data), tmp_path)
    assert sorted(path.name for path in (tmp_path / "models").glob("*.html")) == ["b.html"]
    assert sorted(path.name for path in (tmp_path / "scores").iterdir()) == ["b.js", "b.json"]
    assert (tmp_path / ".git/config").read_text() == (tmp_path / "CNAME").read_text() == "mine"
    assert (tmp_path / "static/site.css").stat().st_mtime_ns == unchanged
    assert all(path.is_file() for path in written)


def test_every_link_leads_somewhere_and_only_to_the_site(site):
    for page in site.rglob("*.html"):
        for link in Links(page.read_text("utf-8")).links:
            if link.startswith(("https://huggingface.co/", "data:,")):
                continue
            path, _, fragment = link.partition("?")[0].partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f"{page.name}: {link}"
            fragment = link.partition("#")[2]
            assert not fragment or fragment in Links(target.read_text("utf-8")).ids, f"{page.name}: {link}"


def test_hostile_text_is_text_on_every_page(site):
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        parsed = Links(text)
        scripts = [values for tag, values in parsed.tags if tag == "script"]
        assert all(values.get("src", "").startswith(("static/", "../static/")) for values in scripts if "src" in values)
        assert all(values.get("type") == "application/json" for values in scripts if "src" not in values)
        assert "<script>window" not in text
        policy = next(values["content"] for tag, values in parsed.tags if values.get("http-equiv"))
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src")
    assert "&lt;script&gt;window" in (site / "models/a.html").read_text("utf-8")


def test_only_names_of_the_hub_become_links_to_it(site):
    assert '<a href="https://huggingface.co/org/b"' in (site / "models/b.html").read_text("utf-8")
    assert "huggingface.co" not in (site / "models/a.html").read_text("utf-8")


def test_a_model_page_says_what_was_disclosed_and_where_it_stands(site):
    text = (site / "models/b.html").read_text("utf-8")
    for told in (
        "Wikipedia; no idioms of the benchmark",
        "a" * 40,
        "mteb 2.10.0",
        "someone",
        "recomputed",
        "reproduced",
    ):
        assert told in text
    assert re.search(r"rank [12] of 2", text)
    part = (site / "models/part.html").read_text("utf-8")
    assert "not all tasks were submitted" in part
    assert "5 examples" in part
    assert ">reproduced<" not in part


def test_task_pages_show_n_floor_and_small_samples(site):
    text = (site / "t2.html").read_text("utf-8")
    assert "n = 31" in text
    assert "n = 12" in text
    assert text.count('class="small-n"') == 1 + 2  # the column of Gagauz, and its cell for each of two models
    assert re.search(r"<tfoot>.*Floor.*<td>\.174</td>", text)  # nDCG of a random ranking of 200 documents


def test_scores_for_download_can_be_read_back(site, records):
    told = json.loads((site / "scores/b.json").read_text("utf-8"))
    ids = json.loads((site / told["items"].removeprefix("../")).read_text("utf-8"))
    (score,) = (one for one in records[0].of_task("T2") if one.subset == "gag")
    assert ids["T2/gag"] == list(score.items)
    assert told["values"]["T2/gag"] == pytest.approx(score.values[:, 0].tolist(), abs=1e-6)


def test_an_empty_leaderboard_is_a_site_too(data, tmp_path):
    build_site(make_board([], data), tmp_path)
    assert "No submissions yet" in (tmp_path / "index.html").read_text("utf-8")
    assert "paper-reported" in (tmp_path / "index.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\nb", "a" * 101, "ü", "a b"])
def test_ids_that_are_no_file_names_are_refused(data, name, tmp_path):
    with pytest.raises(InputError, match="cannot be the name of a page"):
        build_site(make_board([make_record(name, data)], data), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_ids_that_differ_in_case_alone_are_refused(data, tmp_path):
    with pytest.raises(InputError, match="'One' and 'one' differ in case alone"):
        build_site(make_board([make_record("one", data), make_record("One", data)], data), tmp_path)


def test_a_folder_that_cannot_be_written_is_named(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: cannot be written"):
        build_site(make_board([], data), tmp_path / "file")


def test_nothing_of_this_machine_is_in_the_site(site):
    for path, text in content(site).items():
        assert str(Path.home()).encode() not in text, path
        assert str(site).encode() not in text, path
