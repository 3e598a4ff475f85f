"""The folder of a site: what is in it, what it never touches; and its JSON files, each of which fits its schema."""

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from leaderboard.board import make_board
from leaderboard.data import board_data
from leaderboard.exports import METRICS
from leaderboard.site import write_site
from tests.leaderboard.boards_for_tests import FLOOR, POOL, make_data, make_scored
from turkic_idiom_tasks.dataset import BUNDLED_PATH, LexiconDataset
from turkic_idiom_tasks.lexicon.reviews import Review
from turkic_idiom_tasks.metrics.ranking import chance_corrected
from turkic_idiom_tasks.results.scored import MAIN_SCORES

OUTSIDE = (
    "https://huggingface.co/",
    "https://github.com/org/idioms",
    "https://github.com/evaleval/every_eval_ever",
    "https://www.apache.org/licenses/LICENSE-2.0",
    "https://creativecommons.org/licenses/by/4.0/",
)
UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


@pytest.fixture
def site(shared_site):
    return shared_site.folder


@pytest.fixture
def page(site):
    """A function that returns the text of a page."""
    return lambda name: (site / name).read_text("utf-8")


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def read(path):
    return json.loads(path.read_text("utf-8"))


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


def test_two_builds_in_another_order_and_folder_are_byte_identical(shared_site, tmp_path):
    board = shared_site.board
    others = {"reproduced": board.reproduced, "other_editions": board.other_editions}
    again = make_board(list(board.by_id.values())[::-1], board.data, **others)
    write_site(again, tmp_path / "again", repository="https://github.com/org/idioms", built=date(2026, 11, 30))
    files = content(shared_site.folder)
    assert content(tmp_path / "again") == files
    assert not [path for path, text in files.items() if str(Path.home()).encode() in text]


@pytest.fixture(scope="module")
def small_board():
    """As few charts as can be, which take most of the time of a build; the first has a name and no commit."""
    data = make_data(3, languages=("tr", "az"))
    about = {"name": "turkic-idiom/char-ngrams", "revision": "1"}
    return make_board([make_scored("a", data, tasks=("T1",), **about), make_scored("b", data, tasks=("T2",))], data)


def test_a_second_build_deletes_the_pages_that_are_gone(small_board, tmp_path):
    write_site(small_board, tmp_path)
    written = write_site(make_board(list(small_board.by_id.values())[1:], small_board.data), tmp_path)
    assert all(path.is_file() for path in written)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["b.html"]


def test_every_link_leads_somewhere_in_the_site_and_hostile_text_is_text_on_every_page(site, page):
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        parsed = Links(text)
        for link in parsed.links:
            if link.startswith(OUTSIDE):
                continue
            address, _, fragment = link.partition("?")[0].partition("#")
            target = (path.parent / address).resolve() if address else path
            assert target.is_file(), f"{path.name}: {link}"
            fragment = link.partition("#")[2]
            if target.name == "items.html" and fragment.startswith("c-"):  # its script makes the sections from the data
                assert f'{{"id":"{fragment.removeprefix("c-")}",' in (site / "concepts.js").read_text("utf-8")
                continue
            is_state = "=" in fragment  # of filters
            assert not fragment or is_state or fragment in Links(target.read_text("utf-8")).ids, f"{path.name}: {link}"
        scripts = [values for tag, values in parsed.tags if tag == "script"]
        ours = ("static/", "../static/", "concepts.js")
        assert all(values.get("src", "").startswith(ours) for values in scripts if "src" in values)
        assert all(values.get("type") == "application/json" for values in scripts if "src" not in values)
        assert "<script>window" not in text
        policy = next(values["content"] for tag, values in parsed.tags if values.get("http-equiv"))
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src")
    assert "&lt;script&gt;window" in page("models/hostile-1.html")


def test_only_commits_of_the_hub_become_links_to_it(page, small_board, tmp_path):
    assert '<a href="https://huggingface.co/org/middle"' in page("models/model-1.html")
    assert "huggingface.co" not in page("models/hostile-0.html")
    write_site(small_board, tmp_path)
    assert "huggingface.co" not in (tmp_path / "models/a.html").read_text("utf-8")


def test_an_empty_leaderboard_is_a_site_too_and_names_no_repository_and_date(page, small_board, tmp_path):
    assert 'href="https://github.com/org/idioms/blob/main/CHANGELOG.md"' in page("t1.html")
    assert "2026-11-30" in page("t1.html")
    assert 'href="https://github.com/org/idioms/compare"' in page("submit.html")
    files = write_site(make_board([], small_board.data), tmp_path)
    assert not [path for path in files if "every_eval_ever" in path.parts]  # each says when it was made
    for path in tmp_path.glob("*.html"):
        assert "github.com" not in path.read_text("utf-8")
        assert "built on" not in path.read_text("utf-8")
    assert not (tmp_path / "feed.xml").exists()  # its entries need a day
    assert "No submissions yet" in (tmp_path / "index.html").read_text("utf-8")
    # Texts to encode: 3 Turkish idioms for T1 to T3, 3 Azerbaijani ones for T2; pools of idioms az, meanings tr and az
    assert f"encodes {6 + 3 * POOL} texts once" in (tmp_path / "submit.html").read_text("utf-8")
    assert "paper-reported" in (tmp_path / "paper.html").read_text("utf-8")


def test_new_submissions_are_a_feed_and_pages_have_a_card_for_links(shared_site, page):
    feed = ElementTree.fromstring(page("feed.xml"))
    atom = "{http://www.w3.org/2005/Atom}"
    links = [entry.find(f"{atom}link").get("href") for entry in feed.iter(f"{atom}entry")]
    assert links == [f"models/{name}.html" for name in shared_site.board.by_id]
    assert {one.text for one in feed.iter(f"{atom}updated")} == {"2026-11-30T00:00:00Z"}
    for link in ('href="feed.xml"', 'property="og:title" content="Overview', 'href="static/favicon.svg"'):
        assert link in page("index.html")


def test_a_model_page_says_what_was_disclosed_and_where_it_stands(page):
    text = page("models/model-1.html")
    disclosed = ("Wikipedia; no idioms of the benchmark", "a" * 40, "mteb 2.10.0", "someone")
    for told in (*disclosed, "recomputed", "reproduced"):
        assert told in text
    assert re.search(r"rank \d of 4", text)
    assert "Throughput" not in text  # it was not measured
    assert "1,234 texts per second on &lt;img src=x" in page("models/hostile-0.html")
    part = page("models/shots-1.html")
    assert "not all tasks were submitted" in part
    assert "1 examples" in part
    assert ">reproduced<" not in part


def test_pages_show_n_floors_small_samples_and_provisional_languages(page):
    text = page("t2.html")
    assert ("n = 40" in text, "n = 12" in text) == (True, True)
    assert text.count('class="small-n"') == 1  # the column of Gagauz
    assert re.search(r"<tfoot>.*Floor.*<td>\.174</td>", text)  # nDCG of a random ranking of 200 documents
    split = page("t1.html").partition('class="split"')[2].partition("</table>")[0]
    # every query has one right answer, so both groups of the split by spelling have one floor
    assert set(re.findall(r"--f:([.\d]+)", split)) == {f"{FLOOR:.3f}".removeprefix("0")}
    assert ["Provisional" in page(name) for name in ("gag.html", "uz.html")] == [True, False]


def test_the_page_of_the_bundled_data_says_how_many_entries_speakers_have_reviewed(submission_dataset, tmp_path):
    lexicon = submission_dataset.lexicon
    row = {"language": "tr", "lexicon_revision": "a" * 40, "verdicts": {"form": "ok", "concept": "ok"}}
    row |= {"reviewer": "AB", "date": "2026-01-31"}
    reviews = []
    for entry in list(lexicon.of("tr").values())[:2]:
        reviews.append(Review.model_validate(row | {"concept": entry.concept, "idiom": entry.idiom}))
    n_entries = sum(len(entries) for entries in lexicon.entries.values())
    expected = ("have not reviewed them yet", f"have reviewed 2 of the {n_entries} entries")
    for number, (some, words) in enumerate(zip(([], reviews), expected, strict=True)):
        data = board_data(LexiconDataset(replace(lexicon, reviews=some), BUNDLED_PATH))
        write_site(make_board([], data), tmp_path / str(number))
        assert f"native speakers {words}" in (tmp_path / str(number) / "data.html").read_text("utf-8")


def test_scores_for_download_can_be_read_back_and_fit_the_schemas_that_their_files_name(shared_site, site):
    told = read(site / "scores/model-1.json")
    ids = read(site / told["items"].removeprefix("../"))
    score = shared_site.board.by_id["model-1"].find("T2", "gag")
    assert ids["items"]["T2/gag"] == list(score.items)
    assert told["values"]["T2/gag"] == score.sums[:, 0].tolist()
    files = [site / "leaderboard.json", site / "items.json", *sorted((site / "scores").glob("*.json"))]
    assert len(files) == 2 + len(shared_site.board.by_id)
    for path in files:
        value = read(path)
        assert value["format"] == 1
        jsonschema.Draft202012Validator(read(path.parent / value["$schema"])).validate(value)
    for path in sorted((site / "schema").iterdir()):
        schema = read(path)
        jsonschema.Draft202012Validator.check_schema(schema)
        for part in (schema, *schema.get("$defs", {}).values()):
            assert part["description"]
            unexplained = [key for key, field in part["properties"].items() if not field.get("description")]
            assert unexplained == [], path


def test_records_of_every_eval_ever_have_its_form(shared_site, site):
    """The form of schema 0.3.0, whose keys and rules are written out here."""
    folder = site / "every_eval_ever"
    records = {}
    for path in folder.rglob("*.json"):
        assert re.fullmatch(rf"data/turkic-idiom/org/[\w.-]+/{UUID4}\.json", str(path.relative_to(folder)))
        record = read(path)
        records[record["model_info"]["additional_details"]["submission"]] = record
    assert set(records) == {"model-1", "model-2", "model-3", "turkish"}  # the other names are no ORG/NAME
    for record in records.values():
        assert set(record) == {
            *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library"),
            *("model_info", "evaluation_results"),
        }
        assert record["schema_version"] == "0.3.0"
        assert record["retrieved_timestamp"] == "1795996800"  # 2026-11-30, midnight UTC
        assert record["model_info"]["additional_details"]["deployment_type"] == "unknown"
        for result in record["evaluation_results"]:
            assert 0.0 <= result["score_details"]["score"] <= 1.0
            assert result["metric_config"]["score_type"] == "continuous"
            assert result["source_data"]["source_type"] == "url"
            for details in (result["score_details"]["details"], result["source_data"]["additional_details"]):
                assert all(isinstance(value, str) for value in details.values())
    results = {result["evaluation_name"]: result for result in records["model-1"]["evaluation_results"]}
    details = results["turkic_idiom.T1.tur-azj"]["score_details"]
    score = shared_site.board.by_id["model-1"].find("T1", "tur-azj")
    assert details["score"] == pytest.approx(score.main, abs=1e-6)
    # the first quarter of the 40 queries is found by spelling, and counts in the score but not in the headline
    headline = chance_corrected(score.sums[10:, 0].mean(), score.floor)
    assert float(details["details"]["headline"]) == pytest.approx(headline, abs=1e-6)
    assert details["uncertainty"]["num_samples"] == 40
    assert set(MAIN_SCORES.values()) == set(METRICS)
