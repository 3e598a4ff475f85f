"""The site in a real browser, from file://."""

import csv
import io
import re
from itertools import combinations
from types import SimpleNamespace

import pytest

from leaderboard.board import make_board, resample_subsets, task_means
from leaderboard.language_boards import language_boards, standings_by_language
from leaderboard.scores import ScoredSubmission
from leaderboard.site import build_site
from leaderboard.tables import shown_score
from leaderboard.tabs import ALL_TAB, tab_rows, tabs_of
from tests.leaderboard.boards_for_tests import HOSTILE, make_data, make_scored
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import difference, mean
from turkic_idiom_tasks.metrics.comparison import Paired, compare, holm
from turkic_idiom_tasks.report.compare import Report, Row, verdict
from turkic_idiom_tasks.report.frame import MACRO

AXE_PAGES = (
    "index.html",
    "index-retrieval.html",
    "index-all.html",
    "t1.html",
    "submit.html",
    "index-older-editions.html",
    "uz-all.html",
    "compare.html?a=model-1&b=model-2",
    "models/model-1.html",
)
LANGUAGE_PAGES = ("tr.html", "uz.html", "uz-all.html")
PAGES = (
    "index.html",
    "index-retrieval.html",
    "index-all.html",
    "index-older-editions.html",
    *LANGUAGE_PAGES,
    "t1.html",
    "t2.html",
    "t3.html",
    "spans.html",
    "items.html",
    "submit.html",
    "data.html",
    "how-to-read.html",
)


@pytest.fixture(scope="session")
def submissions(shared_site):
    return shared_site.board.submissions


def names(page):
    """The models that are shown, in their order."""
    return page.evaluate(
        "[...document.querySelectorAll('.board tbody tr')].filter(row => !row.hidden)"
        ".map(row => row.cells[1].querySelector('a').textContent)"
    )


def column(page, key):
    """The ranks or scores of a column as they are shown, in the order of the rows; None where there is none."""
    texts = page.evaluate(
        "key => {const at = [...document.querySelectorAll('.board thead th')].findIndex(h => h.dataset.key === key);"
        "return [...document.querySelectorAll('.board tbody tr')].map(r => r.cells[at].textContent)}",
        key,
    )
    return [None if text.startswith("–") else text.split()[0].replace("−", "-") for text in texts]


def test_hostile_names_are_shown_as_they_are(open_page, site):
    page = open_page("index-all.html")
    assert set(HOSTILE) <= set(names(page))
    page.locator(".board a", has_text="<img src=x").first.click()
    assert page.locator("h1").text_content() == HOSTILE[0]
    page.goto(f"{site}/models/model-0.html")
    page.locator("summary").first.click()
    assert page.locator(".texts td").first.text_content().endswith("<b onclick=1>")


def test_sorting_by_mouse_and_keyboard(open_page):
    page = open_page("index-all.html")
    header = page.locator("th[data-key=T2]")
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert page.locator(".board.grouped").count() == 0  # bands of ties mean something in the order of ranks alone
    values = [float(value) for value in column(page, "T2") if value is not None]
    assert len(values) == 4
    assert values == sorted(values, reverse=True)
    assert column(page, "T2")[4:] == [None] * (len(column(page, "T2")) - 4)  # what has no score stays below
    page.keyboard.press("Enter")  # the button has the focus
    assert header.get_attribute("aria-sort") == "ascending"
    assert [float(value) for value in column(page, "T2")[:4]] == sorted(values)
    assert page.locator("th[aria-sort]").count() == 1
    page.locator("th[data-key=rank] button").click()
    assert page.locator(".board.grouped").count() == 1
    page.locator("th[data-key=model] button").focus()
    page.keyboard.press("Space")
    shown = [name for name in names(page) if name.startswith("org/")]
    assert shown == ["org/big", "org/Küçük-İdiom", "org/middle", "org/turkish", "org/unknown"]


def test_filters_narrow_and_reset_brings_all_back(open_page):
    page = open_page("index-all.html")
    every, ranks = names(page), column(page, "rank")
    page.select_option("select[name=type]", "encoder")
    page.select_option("select[name=size]", "100M to 500M")
    page.select_option("select[name=regime]", "tr-only")
    assert names(page) == ["org/middle"]
    assert page.locator("#count").text_content() == f"1 of {len(every)} shown; ranked among themselves"
    page.get_by_role("button", name="Reset").click()
    page.locator("#count", has_text=f"{len(every)} of {len(every)}").wait_for()
    assert names(page) == every
    assert column(page, "rank") == ranks


def shown_ranks(page):
    """id -> the rank and the place in a tie of each visible row, and its scores with their intervals as shown."""
    rows = page.evaluate(
        "[...document.querySelectorAll('.board tbody tr')].filter(row => !row.hidden).map(row => ["
        "row.querySelector('a').getAttribute('href'),"
        "[row.cells[0].dataset.v ?? null, row.cells[0].textContent, row.cells[0].className,"
        "[...row.cells].slice(3).map(cell => cell.textContent)]])"
    )
    return {href.removeprefix("models/").removesuffix(".html"): figures for href, figures in rows}


def expected_ranks(board, tab_name):
    """The same from a board of Python."""
    tab = next(tab for tab in tabs_of(board) if tab.name == tab_name)
    expected = {}
    for row in tab_rows(board, tab, standings_by_language(language_boards(board), board.data, tab)):
        rank, text, name = None, "–not ranked", "rank none"
        if row.standing:
            rank = str(row.standing.rank)
            text = f"{rank} tied" if row.tie else rank
            name = f"rank tie {row.tie}" if row.tie else "rank"
        expected[row.submission.id] = [rank, text, name, [expected_cell(score) for score in row.scores]]
    return expected


def expected_cell(score):
    if score.missing:
        return "–no score"
    bounds = score.interval
    mark = "" if bounds.is_reliable else "?"
    return f"{shown_score(score.value)} {shown_score(bounds.low)}–{shown_score(bounds.high)}{mark}"


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A site of thirty close models, many of them tied, and its board."""
    data = make_data(40, languages=("tr", "az"))
    submissions = []
    for number in range(30):
        kind = ("encoder", "llm", "baseline")[number % 3]
        submission = make_scored(
            f"m{number}", data, skill=0.2 + 0.02 * number, seed=number, name=f"org/model-{number}", type=kind,
            n_parameters=(50_000_000, 300_000_000)[number % 2],
        )  # fmt: skip
        submissions.append(submission)
    submissions += [make_scored("part", data, skill=0.5, tasks=("T1",), name="org/model-part", type="llm")]
    board = make_board(submissions, data)
    folder = tmp_path_factory.mktemp("crowded")
    build_site(board, folder)
    return SimpleNamespace(board=board, url=f"file://{folder}")


def test_a_filter_ranks_again_as_a_board_of_these_submissions_alone(browser, crowded):
    page = browser.new_page()
    page.goto(f"{crowded.url}/index-all.html")
    whole = shown_ranks(page)
    assert whole == expected_ranks(crowded.board, ALL_TAB)
    changed = 0
    for choices, words in (
        ({"type": "encoder"}, ""),
        ({"type": "llm"}, ""),
        ({"size": "100M to 500M"}, ""),
        ({"type": "baseline", "size": "under 100M"}, ""),
        ({}, "model-1"),
        ({"type": "llm"}, "part"),
    ):
        for name in ("type", "size"):
            page.select_option(f"select[name={name}]", choices.get(name, ""))
        page.fill("input[name=q]", words)
        shown = shown_ranks(page)
        left = make_board([one for one in crowded.board.submissions if one.id in shown], crowded.board.data)
        if words == "part":
            assert [figures[0] for figures in shown.values()] == [None]
            continue
        assert 0 < len(shown) < 31
        assert shown == expected_ranks(left, ALL_TAB)  # ranks, groups, and every score and interval as shown
        for name, standing in left.overall.items():  # what the page leaves as it is stays the same
            before = crowded.board.overall[name]
            assert (standing.score, standing.interval) == (before.score, before.interval)
        changed += sum(shown[name][:3] != whole[name][:3] for name in shown)
    assert changed > 10
    page.locator("#filters button[type=reset]").click()
    page.locator("#count", has_text="31 of 31").wait_for()
    assert shown_ranks(page) == whole
    page.close()


def test_of_a_long_board_the_first_forty_are_shown_and_all_are_ranked(browser, tmp_path):
    data = make_data(3, languages=("tr", "az"))
    same = make_scored("m", data, skill=0.5, tasks=("T2",))
    submissions = []
    for number in range(72):
        metadata = same.metadata.model_copy(
            update={"name": f"org/model-{number:03d}", "type": ("llm", "other")[number % 2]}
        )
        submissions.append(ScoredSubmission(f"m{number:03d}", metadata, same.subsets))
    build_site(make_board(submissions, data), tmp_path)
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/t2.html")
    assert len(names(page)) == 40
    assert page.locator("#count").text_content() == "first 40 of 72 shown"
    page.locator("th[data-key=model] button").click()
    page.locator("th[data-key=model] button").click()
    assert names(page)[0] == "org/model-071"
    page.select_option("select[name=type]", "llm")
    assert len(names(page)) == 36
    assert page.locator("#more").is_hidden()
    page.select_option("select[name=type]", "")
    page.get_by_role("button", name="Show all").click()
    assert len(names(page)) == 72
    assert page.locator("#count").text_content() == "72 of 72 shown"
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(f"file://{tmp_path}/t2.html")
    assert plain.locator(".board tbody tr:visible").count() == 72
    plain.context.close()
    page.close()


def test_a_column_that_is_empty_for_all_that_is_visible_disappears(open_page):
    page = open_page("index-all.html")
    head = page.locator("th[data-key=T1]")
    assert head.is_visible()
    page.fill("input[name=q]", "<img")  # submissions of spans alone
    assert head.is_hidden()
    assert page.locator("th[data-key=mean]").is_hidden()
    assert page.locator("th[data-key=spans]").is_visible()
    page.fill("input[name=q]", "")
    assert head.is_visible()


def test_the_overview_has_tabs_with_ranks_of_their_own(open_page, shared_site):
    page = open_page("index.html")
    tabs = page.locator(".tabs a")
    titles = ["Retrieval 4 ranked", "Spans 11 ranked", "All 4 ranked", "Older editions 1 listed"]
    assert tabs.all_text_contents() == titles
    assert page.locator(".tabs a[aria-current]").text_content() == "Spans 11 ranked"  # the most complete submissions
    tabs.first.click()
    page.wait_for_url("**/index-retrieval.html")  # until the page is loaded
    standings = shared_site.board.retrieval.values()
    assert [float(rank) for rank in column(page, "rank")[:4]] == [one.rank for one in standings]
    assert page.locator(".board thead th").evaluate_all("all => all.map(head => head.dataset.key)") == [
        *("rank", "model", "size", "mean", "T1", "T2", "T3", "tr", "az", "tk", "gag", "uz")
    ]


def test_search_knows_the_letters_of_the_languages(open_page):
    page = open_page("index-all.html")
    page.fill("input[name=q]", "kucuk idiom")
    assert names(page) == ["org/Küçük-İdiom"]
    page.fill("input[name=q]", "<img")
    assert set(names(page)) == {HOSTILE[0]}


def board_of(shared_site, code):
    """The board of a language."""
    return {one.code: one for one in language_boards(shared_site.board)}[code].board


def test_a_language_has_tabs_with_ranks_of_their_own(open_page, shared_site):
    page = open_page("index-all.html")
    page.locator("nav[aria-label=Pages] a", has_text="Uzbek").click()
    assert page.locator("nav a[aria-current]").first.text_content() == "Uzbek"
    tabs = page.locator(".tabs a")
    assert tabs.all_text_contents() == ["Retrieval 4 ranked", "Spans 11 ranked", "All 4 ranked"]
    assert page.locator(".tabs a[aria-current]").text_content() == "Spans 11 ranked"  # the most complete submissions
    tabs.first.click()
    page.wait_for_url("**/uz-retrieval.html")  # until the page is loaded
    assert "org/turkish" not in names(page)
    assert page.locator(".board thead th").evaluate_all("all => all.map(head => head.dataset.key)") == [
        *("rank", "model", "size", "mean", "T1", "T2", "T3")
    ]
    standings = board_of(shared_site, "uz").retrieval.values()
    assert [float(rank) for rank in column(page, "rank")] == [one.rank for one in standings]
    assert [float(score) for score in column(page, "mean")] == pytest.approx([one.score for one in standings], abs=5e-4)


def test_a_link_brings_back_search_filters_and_order(open_page):
    page = open_page("index-all.html")
    page.select_option("select[name=type]", "encoder")
    page.fill("input[name=q]", "org")
    page.locator("th[data-key=size] button").click()
    again = open_page(page.url.rsplit("/", 1)[1])
    assert names(again) == names(page) == ["org/middle", "org/turkish", "org/Küçük-İdiom"]
    assert again.locator("select[name=type]").input_value() == "encoder"
    assert again.locator("th[data-key=size]").get_attribute("aria-sort") == "descending"
    assert re.search("#.*type=encoder.*sort=size", again.url)


def test_a_wrong_link_shows_everything(open_page):
    page = open_page("index-all.html#type=nothing&sort=<b>&order=x&q=&language=zz")
    assert len(names(page)) == 12
    assert page.locator("th[data-key=rank]").get_attribute("aria-sort") == "ascending"


def test_back_undoes_a_filter_and_an_empty_result_offers_reset(open_page):
    page = open_page("index-all.html")
    every = names(page)
    page.select_option("select[name=type]", "encoder")
    few = names(page)
    page.locator("input[name=q]").press_sequentially("zzz")  # one step, however many letters
    assert names(page) == []
    assert page.locator("#empty").is_visible()
    page.go_back()
    assert (names(page), page.locator("input[name=q]").input_value()) == (few, "")
    assert page.locator("#empty").is_hidden()
    page.go_back()
    assert names(page) == every
    page.fill("input[name=q]", "zzz")
    page.locator("#empty button").click()
    page.locator("#count", has_text=f"{len(every)} of {len(every)}").wait_for()
    assert names(page) == every


def test_rows_are_one_line_and_ties_are_bracketed(open_page, site, shared_site):
    page = open_page("index-all.html", viewport={"width": 1440, "height": 900})
    heights = page.locator(".board tbody tr").evaluate_all("all => all.map(row => row.offsetHeight)")
    assert max(heights) <= 42
    cut = page.locator(".board a", has_text="<img src=x").first
    assert cut.evaluate("link => [link.scrollWidth > link.clientWidth, getComputedStyle(link).textOverflow]") == [
        *(True, "ellipsis")
    ]
    assert cut.get_attribute("title") == HOSTILE[0]  # the whole name
    page.goto(f"{site}/uz-spans.html")
    standings = list(board_of(shared_site, "uz").by_task["spans"].values())
    tied = [one.rank for one in standings if sum(other.rank == one.rank for other in standings) > 1]
    assert len(tied) > 1
    cells = page.locator(".board .tie")
    assert cells.all_text_contents() == [f"{rank} tied" for rank in tied]
    assert cells.first.get_attribute("title").startswith(f"tied, rank {tied[0]}")
    assert cells.first.evaluate("cell => getComputedStyle(cell).boxShadow") != "none"
    page.locator("th[data-key=size] button").click()  # in another order neighbours are not tied
    assert cells.first.evaluate("cell => getComputedStyle(cell).boxShadow") == "none"


def test_the_floor_stays_above_the_models_when_the_table_is_scrolled(open_page):
    page = open_page("t2.html", viewport={"width": 800, "height": 420})
    page.locator(".scroll").first.evaluate("one => {one.style.maxHeight = '200px'; one.scrollTop = 40}")
    on_top = page.evaluate(
        "[...document.querySelectorAll('.board tfoot th, .board tfoot td')].slice(0, 3).map(cell => {"
        "cell.scrollIntoView({block: 'nearest'}); const box = cell.getBoundingClientRect();"
        "return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest('tfoot') !== null})"
    )
    assert on_top == [True, True, True]


def test_column_heads_explain_themselves(open_page):
    page = open_page("index-all.html")
    head = page.locator("th[data-key=T1]")
    assert head.inner_text().split("\n")[:2] == ["T1", "idiom → idiom"]
    assert "Turkish idiom" in head.get_attribute("title")


def test_two_to_four_pinned_models_lead_to_their_comparison(open_page):
    page = open_page("index.html")
    pins = page.locator(".pin")
    pins.first.click()
    assert page.locator(".pins a").count() == 0
    for place in range(1, 5):
        pins.nth(place).click()
    pressed = [pins.nth(place).get_attribute("aria-pressed") for place in range(6)]
    assert pressed == ["false", *["true"] * 4, "false"]  # a fifth replaces the first
    page.go_back()
    assert pins.first.get_attribute("aria-pressed") == "true"
    ids = list(shown_ranks(page))
    page.locator(".pins a").click()
    page.wait_for_selector("#result:visible")
    assert page.url.endswith(f"compare.html?a={ids[0]}&b={ids[1]}&c={ids[2]}&d={ids[3]}")


def test_commands_are_copied_and_without_javascript_they_stand_there(open_page):
    page = open_page("submit.html", permissions=["clipboard-read", "clipboard-write"])
    command = page.locator(".steps code").nth(1).text_content()
    assert command.startswith("turkic-idiom submit ")
    page.get_by_role("button", name="Copy").nth(1).click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == command
    plain = open_page("submit.html", java_script_enabled=False)
    assert plain.locator(".steps code").count() == 3
    assert plain.locator(".copy").first.is_hidden()


def test_csv_and_json_can_be_downloaded(open_page):
    page = open_page("index-all.html", accept_downloads=True)
    with page.expect_download() as found:
        page.locator(".downloads a", has_text="CSV").click()
    text = found.value.path().read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["name"] for row in rows} >= {"org/big", HOSTILE[0]}


def test_dark_mode_follows_the_system_and_the_choice_stays(open_page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page("index-all.html", color_scheme=scheme) for scheme in ("light", "dark"))
    paper, night = light.evaluate(colour), dark.evaluate(colour)
    assert paper != night
    button = light.get_by_role("button", name="Dark mode")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert (button.get_attribute("aria-pressed"), light.evaluate(colour)) == ("true", night)
    light.reload()
    assert light.evaluate(colour) == night
    dark.get_by_role("button", name="Dark mode").click()
    assert dark.evaluate(colour) == paper


def test_without_javascript_the_tables_are_whole(open_page, site):
    page = open_page("index-all.html", java_script_enabled=False)
    assert page.locator(".board tbody tr:visible").count() == 12
    assert page.locator("#filters").is_hidden()
    assert page.locator("#theme").is_hidden()
    page.goto(f"{site}/compare.html")
    assert "turkic-idiom compare" in page.locator("noscript").inner_text()


PHONE = {"viewport": {"width": 390, "height": 844}}


def test_a_phone_shows_cards_with_rank_model_score_and_interval(open_page):
    page = open_page("index-all.html", **PHONE)
    card = page.locator(".board tbody tr").first
    shown = card.locator("td, th").evaluate_all("all => all.map(cell => cell.offsetWidth > 0)")
    assert shown[:5] == [True, True, False, True, False]  # rank, model, mean
    assert re.search(r"\.\d{3} \.\d{3}–\.\d{3}", card.locator("td").nth(2).inner_text())
    assert card.bounding_box()["width"] <= 390
    assert page.locator("#filters").is_hidden()
    page.locator("#fold summary").click()
    page.get_by_label("Order by").select_option("T2")
    assert card.locator("td, th").evaluate_all("all => all.map(cell => cell.offsetWidth > 0)")[3:6] == [
        *(False, False, True)  # the score that decides the order
    ]
    values = [float(value) for value in column(page, "T2") if value is not None]
    assert values == sorted(values, reverse=True)
    filtered = open_page("index-all.html#type=llm", **PHONE)
    assert filtered.locator("#filters").is_visible()  # an address with a filter shows it


def test_the_heat_map_of_the_published_gains_fits_a_phone(open_page):
    page = open_page("index.html", **PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(part => (part.open = true))")
    widths = page.locator(".chart").last.evaluate("chart => [chart.scrollWidth, chart.clientWidth]")
    assert 0 < widths[0] <= widths[1]


@pytest.mark.parametrize(
    "width", [320, pytest.param(390, marks=pytest.mark.long), pytest.param(1100, marks=pytest.mark.long)]
)
def test_every_page_loads_without_complaint_and_is_no_wider_than_its_window(open_page, site, width):
    page = open_page("index.html", viewport={"width": width, "height": 800})
    models = [f"models/{name}.html" for name in ("model-0", "model-1", *(f"hostile-{n}" for n in range(5)))]
    for name in (*PAGES, "compare.html", *models):
        page.goto(f"{site}/{name}")
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("width", [390, 1280])
def test_the_interval_below_a_score_is_not_cut(open_page, site, width):
    page = open_page("index.html", viewport={"width": width, "height": 800})
    for name in ("index-all.html", "t1.html", "models/model-1.html"):
        page.goto(f"{site}/{name}")
        paddings = page.locator("td[style]:not(.strip)").evaluate_all(
            "all => all.map(cell => parseFloat(getComputedStyle(cell).paddingBottom))"
        )
        assert min(paddings) >= 8, name  # pixels from the text down to the lower end of the dot


def test_a_long_name_of_an_older_submission_leaves_room_for_its_edition(open_page):
    page = open_page("index-older-editions.html", **PHONE)
    box = page.locator(".listed tbody td").first.bounding_box()
    assert box["x"] + box["width"] <= 390


def test_twelve_rows_are_visible_at_once(browser, crowded):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    for name in ("index-all.html", "t1.html", "az-all.html"):
        page.goto(f"{crowded.url}/{name}")
        bottoms = page.locator(".board tbody tr").evaluate_all(
            "all => all.map(row => row.getBoundingClientRect().bottom)"
        )
        assert bottoms[11] <= 900, name
    page.close()


def test_the_focus_never_hides_below_the_head_of_a_table(browser, crowded):
    page = browser.new_page(viewport={"width": 900, "height": 500})
    page.goto(f"{crowded.url}/t1.html")
    page.locator(".board tbody tr").last.locator("a").focus()
    for _ in range(50):
        page.keyboard.press("Shift+Tab")
        on_top = page.evaluate(
            "(() => {const box = document.activeElement.getBoundingClientRect();"
            "const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);"
            "return document.activeElement.contains(top)})()"
        )
        assert on_top, page.evaluate("document.activeElement.outerHTML")
    page.close()


@pytest.mark.parametrize(("width", "is_written"), [(1720, True), (1440, False)])
def test_intervals_of_languages_are_written_where_they_fit(open_page, width, is_written):
    page = open_page("index-all.html", viewport={"width": width, "height": 900})
    cells = page.locator(".board tbody tr").first.locator("td")
    assert cells.nth(-6).locator("small").is_visible()  # spans
    for place in range(-5, 0):
        assert cells.nth(place).locator("small").is_visible() == is_written


def test_on_paper_no_column_is_cut(open_page):
    page = open_page("index-all.html", viewport={"width": 1047, "height": 718})  # A4 in landscape, 10 mm of margin
    page.emulate_media(media="print")
    for table in page.locator("table").all():
        box = table.bounding_box()
        assert box["x"] + box["width"] <= 1047, table.inner_text()[:60]
    assert page.locator(".board tbody tr").first.locator("td").last.is_visible()
    assert page.locator(".pin").first.is_hidden()


def test_the_scatter_names_the_frontier_and_tells_the_rest_in_tooltips(browser, tmp_path):
    data = make_data(12, languages=("tr", "az"))
    submissions = []
    for number, skill in enumerate((0.2, 0.1, 0.5, 0.4, 0.8)):
        rate, size = 10.0 ** (4 - number), 10 ** (6 + number)
        submissions.append(
            make_scored(f"m{number}", data, skill=skill, n_parameters=size, texts_per_second=rate, device=HOSTILE[1])
        )
    build_site(make_board(submissions, data), tmp_path)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"file://{tmp_path}/index.html")
    sizes, speeds = page.locator(".scatter").all()
    for chart, ticks, title in (
        (sizes, ["1M", "10M", "100M", "1B", "10B"], r"m3, 1B, \.\d{3}"),
        (speeds, ["1", "10", "100", "1,000", "10,000"], r"m3, 10 texts per second, \.\d{3}"),
    ):
        points = chart.locator(".plot a")
        assert points.all_text_contents() == ["m0", "", "m2", "", "m4"]
        assert re.fullmatch(title, points.nth(3).get_attribute("title"))
        assert chart.locator(".plot .x").all_text_contents() == ticks
        box = chart.locator(".plot").bounding_box()
        for point in points.all():
            dot = point.bounding_box()
            assert box["x"] - 7 <= dot["x"] <= box["x"] + box["width"]
    assert f"on the same device: {HOSTILE[1]}." in speeds.locator("figcaption").text_content()
    assert page.evaluate("window.hacked") is None
    page.close()


def test_the_first_stop_of_the_keyboard_skips_the_navigation(open_page):
    page = open_page("index-all.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def paired(first, second, task):
    """What the suite's own comparison takes, from two submissions."""
    pairs = {}
    for one, other in zip(first.of_task(task), second.of_task(task), strict=True):
        pairs[one.subset] = Paired(one.concepts, one.sums, other.sums)
    return pairs


def number(text):
    return float(text.replace("−", "-").replace("+", ""))


def compared(page, table="differences"):
    """(task, language) -> the texts of its row; and the ends of its interval and its p-values with all their digits."""
    rows = page.evaluate(
        "id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row =>"
        "[[...row.cells].map(cell => cell.textContent), [row.dataset.low, row.dataset.high, row.dataset.p,"
        "row.dataset.holm]])",
        table,
    )
    texts = {(row[0], row[1]): row[2:] for row, _ in rows}
    return texts, {(row[0], row[1]): figures for row, figures in rows}


def test_the_comparison_is_that_of_the_command_and_of_the_ranks(open_page, shared_site, submissions):
    page = open_page("compare.html?a=model-1&b=model-2")
    page.wait_for_selector("#result:visible")
    texts, figures = compared(page)
    first, second = (next(one for one in submissions if one.id == name) for name in ("model-1", "model-2"))
    rows = report_rows(first, second)
    assert len(rows) == len(texts) == 18 + 4
    for (task, language), row in rows.items():
        expected = row.result
        n, a, b, gap, interval, p, wins, ties, losses = texts[task, language]
        assert n == (f"{expected.n_concepts} (n<30)" if expected.small else f"{expected.n_concepts}")
        assert (number(a), number(b)) == pytest.approx((expected.first, expected.second), abs=0.0006)
        assert number(gap) == pytest.approx(expected.difference, abs=0.0006)
        assert ("unreliable" in interval) != expected.interval.is_reliable
        low, high, raw_p, holm_p = figures[task, language]
        ends = (expected.interval.low, expected.interval.high)
        assert (float(low), float(high)) == pytest.approx(ends, abs=1e-12)
        if expected.p is None:
            assert (raw_p, holm_p, p) == ("null", "null", "–")
        else:
            assert (float(raw_p), float(holm_p)) == pytest.approx((expected.p, row.holm), abs=1e-12)
        assert (int(wins), int(ties), int(losses)) == (expected.wins, expected.ties, expected.losses)
    summary, ends = compared(page, "summary")
    macros = [shared_site.board.overall[name].score for name in ("model-1", "model-2")]
    (a, b, gap, _), whole_ends = next((summary[key], ends[key]) for key in summary if key[0] == "All tasks")
    assert (number(a), number(b), number(gap)) == pytest.approx((*macros, macros[1] - macros[0]), abs=0.0006)
    data = shared_site.board.data
    by_task = task_means(resample_subsets([first, second], data), [first, second], data)
    whole = [mean([resampled[name] for resampled in by_task.values()]) for name in ("model-1", "model-2")]
    interval = difference(whole[1], whole[0]).interval()
    assert [float(end) for end in whole_ends[:2]] == pytest.approx([interval.low, interval.high], abs=1e-12)
    assert [key[0] for key in summary] == ["All tasks", "T1–T3", "T1", "T2", "T3", "Spans"]
    t1 = next(values for key, values in summary.items() if key[0] == "T1")
    standings = [shared_site.board.by_task["T1"][name].score for name in ("model-1", "model-2")]
    assert (number(t1[0]), number(t1[1])) == pytest.approx(standings, abs=0.0006)


def report_rows(first, second):
    """(task, language) as the page writes them -> the row of `turkic-idiom compare`."""
    results, names = {}, {}
    for task in ("T1", "T2", "T3", "spans"):
        strata = paired(first, second, task)
        title = "Spans" if task == "spans" else task
        for score in first.of_task(task):
            results[title, LANGUAGES[score.language].name] = compare({score.subset: strata[score.subset]})
            names[title, LANGUAGES[score.language].name] = score.subset
        results[title, "mean"] = compare(strata)
        names[title, "mean"] = MACRO
    adjusted = holm([result.p for result in results.values()])
    return {key: Row(key[0], names[key], results[key], p) for key, p in zip(results, adjusted, strict=True)}


def test_only_what_survives_holm_is_coloured_and_said(open_page, submissions):
    """With 40 concepts some intervals lie beside 0 whose corrected p is above .05."""
    page = open_page("compare.html?a=model-1&b=model-3")
    page.wait_for_selector("#result:visible")
    first, second = (next(one for one in submissions if one.id == name) for name in ("model-1", "model-3"))
    rows = report_rows(first, second)
    coloured = page.evaluate(
        "[...document.querySelectorAll('#differences tbody tr')].map(row => [row.cells[0].textContent,"
        "row.cells[1].textContent, row.querySelector('.better') ? 'B' : row.querySelector('.worse') ? 'A' : null])"
    )
    assert {(task, language): side for task, language, side in coloured} == {
        key: row.winner for key, row in rows.items()
    }
    beside_zero = [row for row in rows.values() if row.result.interval.low > 0 and row.winner is None]
    assert beside_zero  # they were green before
    assert {row.winner for row in rows.values()} == {"B", None}
    expected = verdict(Report(("A", "B"), tuple(rows.values()), ()))
    said = " ".join(page.locator("#verdict li").all_text_contents())
    sentence = r"(\w+ is better|no difference shown) on (t\d|spans)"
    assert re.findall(sentence, said.lower()) == re.findall(sentence, expected.lower())
    assert len(re.findall(sentence, said.lower())) == 4
    assert re.findall(r"(\d) of (\d)", said) == re.findall(r"(\d) of (\d)", expected)


def test_models_are_chosen_and_what_is_not_offered_is_not_loaded(open_page):
    page = open_page("compare.html?a=../../etc/passwd&b=model-1")
    assert page.locator("#result").is_hidden()
    assert page.locator("#status").text_content() == "Choose two models or more."
    page.get_by_label("Model A").fill("nobody")
    page.get_by_label("Model B").fill(page.locator("#models option[data-id=model-1]").get_attribute("value"))
    page.get_by_role("button", name="Compare").click()
    assert page.get_by_label("Model A").evaluate("field => field.validationMessage") == "Choose a model from the list."
    page.get_by_label("Model A").fill(page.locator("#models option[data-id=turkish]").get_attribute("value"))
    page.keyboard.press("Enter")
    page.wait_for_selector("#result:visible")
    assert page.url.endswith("compare.html?a=turkish&b=model-1")
    assert list(compared(page)[0]) == [("T2", "Turkish")]
    page.get_by_label("Model B").fill(page.locator("#models option[data-id=hostile-0]").get_attribute("value"))
    page.get_by_role("button", name="Compare").click()
    page.locator("#status", has_text="no task in common").wait_for()


CHOSEN = ("model-1", "model-2", "model-3", "turkish")  # the last has T2 in Turkish alone


@pytest.fixture(scope="module")
def pairs_of_four(submissions):
    """(letters of first and second, task, language) -> the row of `turkic-idiom compare`, Holm over all pairs.

    A task is compared on the subsets that all models with the task have: T2 of the four in Turkish alone.
    """
    by_letter = dict(zip("ABCD", (next(one for one in submissions if one.id == name) for name in CHOSEN), strict=True))
    results = {}
    for first, second in combinations("ABCD", 2):
        for task in ("T1", "T2", "T3", "spans"):
            strata = paired_in_common(by_letter[first], by_letter[second], task, only="tur" if task == "T2" else None)
            title = "Spans" if task == "spans" else task
            for subset, pair in strata.items():
                results[first + second, title, subset] = compare({subset: pair})
            if len(strata) > 1:
                results[first + second, title, MACRO] = compare(strata)
    adjusted = holm([result.p for result in results.values()])
    return {key: Row(key[1], key[2], results[key], p) for key, p in zip(results, adjusted, strict=True)}


def paired_in_common(first, second, task, *, only):
    others = {score.subset: score for score in second.of_task(task)}
    pairs = {}
    for score in first.of_task(task):
        if score.subset in others and only in (None, score.subset):
            pairs[score.subset] = Paired(score.concepts, score.sums, others[score.subset].sums)
    return pairs


def test_four_models_are_compared_pair_by_pair_with_one_correction(open_page, pairs_of_four):
    page = open_page("compare.html?" + "&".join(f"{key}={name}" for key, name in zip("abcd", CHOSEN, strict=True)))
    page.wait_for_selector("#result:visible")
    rows = page.locator("#differences tbody tr:not(:has(th[scope=rowgroup]))")
    told = rows.evaluate_all(
        "all => all.map(row => [row.dataset.low, row.dataset.high, row.dataset.p, row.dataset.holm])"
    )
    expected = []
    for row in sorted_as_shown(pairs_of_four):
        ends = (row.result.interval.low, row.result.interval.high)
        expected.append([*ends, row.result.p, row.holm])
    assert len(told) == len(expected) == 3 * (4 + 1 + 1 + 4 + 1 + 5 + 1) + 3  # three whole pairs; D has T2 in Turkish
    for values, wanted in zip(told, expected, strict=True):
        assert [None if value == "null" else float(value) for value in values] == pytest.approx(wanted, abs=1e-12)
    for task, whole in (("T1", MACRO), ("T2", "tur"), ("spans", MACRO)):
        title = "Spans" if task == "spans" else task
        letters = "ABCD" if task == "T2" else "ABC"
        wanted = []
        for one in letters:
            for other in letters:
                row = pairs_of_four.get((min(one, other) + max(one, other), title, whole))
                winner = row and row.winner and (max if row.winner == "B" else min)(one, other)
                wanted.append(None if winner is None else "better" if winner == one else "worse")
        cells = page.locator(f"table[data-task={task}] tbody td:nth-child(n + 3)")
        classes = cells.evaluate_all("all => all.map(one => one.className === 'none' ? '' : one.className)")
        assert [name or None for name in classes] == wanted
        assert {"better", "worse", ""} <= set(classes) or task != "spans"
    sentences = page.locator("#verdict li").all_text_contents()
    assert [sentence.partition(":")[0] for sentence in sentences] == ["T1", "T2", "T3", "Spans"]
    assert sentences[0].endswith("not submitted by D.")
    summary = page.locator("#summary tbody th").all_text_contents()
    assert summary == ["T2"]  # what all four have


def sorted_as_shown(pairs):
    """The rows in the order of the page: by pair, each in the order of the tasks."""
    order = ("AB", "AC", "BC", "AD", "BD", "CD")
    return [row for key, row in sorted(pairs.items(), key=lambda item: order.index(item[0][0]))]


def test_the_concepts_that_differ_most_are_named_with_texts_and_ranks(open_page, submissions):
    page = open_page("compare.html?a=model-0&b=model-3")
    page.wait_for_selector("#most:visible")
    first, second = (next(one for one in submissions if one.id == name) for name in ("model-0", "model-3"))
    gaps = {}  # concept -> the largest difference of nDCG in T1, and its ranks
    for one, other in zip(first.of_task("T1"), second.of_task("T1"), strict=True):
        for item, a, b in zip(one.items, one.sums[:, 0].tolist(), other.sums[:, 0].tolist(), strict=True):
            ranks = [f"rank {round(2 ** (1 / ndcg) - 1)}" for ndcg in (a, b)]
            concept = item.removeprefix("tur:")
            gaps[concept] = max(gaps.get(concept, (0,)), (abs(a - b), LANGUAGES[one.language].name, ranks))
    largest = sorted(gaps, key=lambda concept: -gaps[concept][0])[:4]
    rows = page.locator("#differing tbody tr").evaluate_all(
        "all => all.map(row => [...row.cells].map(one => one.textContent))"
    )
    expected = []
    for concept in largest:
        _, language, ranks = gaps[concept]
        texts = [f"{name} {concept} <b onclick=1>" for name in ("Turkish", language)]
        expected.append([concept, f"T1, Turkish → {language}", *texts, *ranks])
    assert rows[:4] == expected
    assert [row[1][:2] for row in rows] == [*["T1"] * 4, *["T2"] * 4, *["T3"] * 4, *["Sp"] * 4]
    page.locator("#differing a").first.click()
    page.wait_for_selector(".concept.linked")


@pytest.mark.parametrize(
    ("scheme", "pages"),
    [
        ("light", AXE_PAGES[:1]),
        pytest.param("light", AXE_PAGES[1:], marks=pytest.mark.long),
        pytest.param("dark", AXE_PAGES, marks=pytest.mark.long),
    ],
)
def test_axe_has_no_serious_finding(open_page, site, scheme, pages):
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    page = open_page("index-all.html", bypass_csp=True, color_scheme=scheme)
    for name in pages:
        page.goto(f"{site}/{name}")
        found = axe.run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
        serious = [
            (one["id"], node["html"][:200], node.get("failureSummary"))
            for one in found
            for node in one["nodes"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], name
