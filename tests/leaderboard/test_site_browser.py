"""The site in a real browser, from file://."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from leaderboard.board import language_boards, make_board
from leaderboard.site import write_site
from leaderboard.tables import ALL_TAB, shown_score, tab_table, tabs_of
from tests.browser_pages import axe_findings
from tests.leaderboard.boards_for_tests import HOSTILE, POOL, make_data, make_scored, scored_of

COMPARED = "compare.html?a=model-0&b=model-1&c=model-2&d=turkish"
TABLES = ("index.html", "index-retrieval.html", "index-all.html", "index-older-editions.html", "t1.html", "uz-all.html")
BESIDE = ("models/model-1.html", "items.html#q=c001", "submit.html", "data.html", "how-to-read.html", "paper.html")
PAGES = (*TABLES, *BESIDE, "tr.html", "uz.html", "t2.html", "t3.html", "spans.html", "compare.html")
PHONE = {"viewport": {"width": 390, "height": 844}}


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


def test_the_keyboard_skips_the_navigation_and_sorts_as_the_mouse_does(open_page):
    page = open_page("index-all.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
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


def shown_ranks(page):
    """id -> the rank and the place in a tie of each visible row, and its scores with their intervals as shown."""
    rows = page.evaluate(
        "[...document.querySelectorAll('.board tbody tr')].filter(row => !row.hidden).map(row => ["
        "row.querySelector('a').getAttribute('href'),"
        "[row.cells[0].dataset.v ?? null, row.cells[0].textContent, row.cells[0].className,"
        "[...row.cells].slice(3).map(cell => cell.textContent)]])"
    )
    return {href.removeprefix("models/").removesuffix(".html"): figures for href, figures in rows}


def expected_ranks(board):
    """The same from a board of Python, of the tab of all tasks."""
    tab = next(tab for tab in tabs_of(board) if tab.name == ALL_TAB)
    by_language = {code: tabs_of(part) for code, part in language_boards(board).items()}
    expected = {}
    for row in tab_table(tab, by_language).rows:
        rank, text, name = None, "–not ranked", "rank none"
        if row.place:
            rank, (low, high) = str(row.place.rank), row.place.ranks
            text = rank if low == high else f"{rank} {low} to {high}"
            name = f"rank tie {row.tie}" if row.tie else "rank"
        expected[row.submission.id] = [rank, text, name, [expected_cell(score) for score in row.scores]]
    return expected


def expected_cell(score):
    if math.isnan(score.score):
        return "–no score"
    bounds = score.interval
    mark = "" if bounds.is_reliable else "?"
    return f"{shown_score(score.score)} {shown_score(bounds.low)}–{shown_score(bounds.high)}{mark}"


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A site of forty-five close models, many of them tied, and of one with T1 alone; and its board."""
    data = make_data(40, languages=("tr", "az"))
    submissions = []
    for number in range(45):
        kind = ("encoder", "llm", "baseline")[number % 3]
        about = {"name": f"org/model-{number}", "type": kind, "n_parameters": (50_000_000, 300_000_000)[number % 2]}
        submissions.append(make_scored(f"m{number}", data, skill=0.2 + 0.015 * number, seed=number, **about))
    submissions += [make_scored("part", data, skill=0.5, tasks=("T1",), name="org/model-part", type="llm")]
    board = make_board(submissions, data)
    folder = tmp_path_factory.mktemp("crowded")
    write_site(board, folder)
    return SimpleNamespace(board=board, folder=folder)


def test_a_filter_ranks_again_as_a_board_of_these_submissions_alone(open_file, crowded):
    page = open_file(f"{crowded.folder}/index-all.html")
    page.get_by_role("button", name="Show all").click()
    whole = shown_ranks(page)
    assert whole == expected_ranks(crowded.board)
    changed = 0
    for choices, words in (
        ({"type": "encoder"}, ""),
        ({"type": "llm"}, ""),
        ({"size": "100M"}, ""),
        ({"type": "baseline", "size": "200M"}, ""),
        ({}, "model-1"),
        ({"type": "llm"}, "part"),  # which has no rank
    ):
        for name in ("type", "size"):
            page.select_option(f"select[name={name}]", choices.get(name, ""))
        page.fill("input[name=q]", words)
        shown = shown_ranks(page)
        left = make_board([one for name, one in crowded.board.by_id.items() if name in shown], crowded.board.data)
        assert 0 < len(shown) < 46
        assert shown == expected_ranks(left)  # ranks, groups, and every score and interval as shown
        changed += sum(shown[name][:3] != whole[name][:3] for name in shown)
    assert changed > 10
    page.locator("#filters button[type=reset]").click()
    page.locator("#count", has_text="46 of 46").wait_for()
    assert shown_ranks(page) == whole


def test_of_a_long_board_the_first_forty_are_shown_and_all_are_ranked(open_file, crowded):
    page = open_file(f"{crowded.folder}/t2.html")
    assert len(names(page)) == 40
    assert page.locator("#count").text_content() == "first 40 of 45 shown"
    page.locator("th[data-key=model] button").click()
    page.locator("th[data-key=model] button").click()
    assert names(page)[0] == "org/model-9"
    page.select_option("select[name=type]", "llm")
    assert len(names(page)) == 15
    assert page.locator("#more").is_hidden()
    page.select_option("select[name=type]", "")
    page.get_by_role("button", name="Show all").click()
    assert len(names(page)) == 45
    assert page.locator("#count").text_content() == "45 of 45 shown"
    plain = open_file(f"{crowded.folder}/t2.html", java_script_enabled=False)
    assert plain.locator(".board tbody tr:visible").count() == 45
    assert plain.locator("#filters:visible, #theme:visible").count() == 0
    plain.goto(f"file://{crowded.folder}/compare.html")
    assert "turkic-idiom compare" in plain.locator("noscript").inner_text()


@pytest.mark.parametrize(
    ("place", "older", "languages"),
    [("index", ["Older editions 1 listed"], ["tr", "az", "tk", "gag", "uz"]), ("uz", [], [])],
)
def test_the_overview_and_a_language_have_tabs_with_ranks_of_their_own(open_page, shared_site, place, older, languages):
    page = open_page("index-all.html")
    if place == "uz":
        page.locator("nav summary", has_text="Languages").click()
    page.locator(f"nav[aria-label=Pages] a[href='{place}.html']").click()
    assert page.locator("nav a[aria-current]").first.text_content() == {"index": "Overview", "uz": "Uzbek"}[place]
    tabs = page.locator(".tabs a")
    assert tabs.all_text_contents() == ["Retrieval 4 ranked", "Spans 11 ranked", "All 4 ranked", *older]
    assert page.locator(".tabs a[aria-current]").text_content() == "Spans 11 ranked"  # the most complete submissions
    tabs.first.click()
    page.wait_for_url(f"**/{place}-retrieval.html")  # until the page is loaded
    keys = page.locator(".board thead th").evaluate_all("all => all.map(head => head.dataset.key)")
    assert keys == ["rank", "model", "size", "mean", "T1", "T2", "T3", *languages]
    board = shared_site.board if place == "index" else language_boards(shared_site.board)[place]
    assert [float(rank) for rank in column(page, "rank")[:4]] == [
        place.rank for place in board.retrieval.places.values()
    ]
    scores = [float(score) for score in column(page, "mean")[:4]]
    assert scores == pytest.approx([one.score for one in board.retrieval.values()], abs=5e-4)
    assert ("org/turkish" in names(page)) == (place == "index")


def test_a_search_knows_the_letters_of_the_languages_and_hides_columns_that_are_then_empty(open_page):
    page = open_page("index-all.html")
    assert set(HOSTILE) <= set(names(page))  # shown as they are
    heads = [page.locator(f"th[data-key={key}]") for key in ("T1", "mean", "spans")]
    for words, shown, visible in (
        ("kucuk idiom", ["org/Küçük-İdiom"], [True, True, True]),
        ("<img", [HOSTILE[0]] * 3, [False, False, True]),  # submissions of spans alone
        ("", names(page), [True, True, True]),
    ):
        page.fill("input[name=q]", words)
        assert (names(page), [head.is_visible() for head in heads]) == (shown, visible)
    page.locator(".board a", has_text="<img src=x").first.click()
    assert page.locator("h1").text_content() == HOSTILE[0]


def test_links_and_tabs_carry_search_filters_and_order_and_a_wrong_link_shows_everything(open_page):
    page = open_page("index-all.html")
    page.select_option("select[name=type]", "encoder")
    page.fill("input[name=q]", "org")
    page.locator("th[data-key=size] button").click()
    again = open_page(page.url.rsplit("/", 1)[1])
    assert names(again) == names(page) == ["org/middle", "org/turkish", "org/Küçük-İdiom"]
    assert again.locator("select[name=type]").input_value() == "encoder"
    assert again.locator("th[data-key=size]").get_attribute("aria-sort") == "descending"
    assert re.search("#.*type=encoder.*sort=size", again.url)
    page.locator(".tabs a", has_text="Spans").click()
    page.wait_for_url(re.compile(r"/index-spans\.html#.*type=encoder"))
    assert page.locator("select[name=type]").input_value() == "encoder"
    assert set(names(page)) >= {"org/middle", "org/Küçük-İdiom"}
    assert "org/big" not in names(page)
    wrong = open_page("index-all.html#type=nothing&sort=<b>&order=x&q=&language=zz")
    assert len(names(wrong)) == 12
    assert wrong.locator("th[data-key=rank]").get_attribute("aria-sort") == "ascending"


def test_filters_narrow_back_undoes_them_and_reset_brings_all_back(open_page):
    page = open_page("index-all.html")
    every, ranks = names(page), column(page, "rank")
    for field, value in (("type", "encoder"), ("size", "500M"), ("regime", "tr-only")):
        page.select_option(f"select[name={field}]", value)
    assert names(page) == ["org/middle"]
    assert page.locator("#count").text_content() == f"1 of {len(every)} shown; ranked among themselves"
    page.locator("input[name=q]").press_sequentially("zzz")  # one step, however many letters
    assert names(page) == []
    assert page.locator("#empty").is_visible()
    page.go_back()
    assert (names(page), page.locator("input[name=q]").input_value()) == (["org/middle"], "")
    assert page.locator("#empty").is_hidden()
    for _ in range(3):
        page.go_back()
    assert names(page) == every
    for words, button in (("org/middle", "#filters button[type=reset]"), ("zzz", "#empty button")):
        page.fill("input[name=q]", words)
        page.locator(button).click()
        page.locator("#count", has_text=f"{len(every)} of {len(every)}").wait_for()
        assert (names(page), column(page, "rank")) == (every, ranks)


@pytest.mark.parametrize("width", [390, 1440])
def test_names_are_whole_and_rows_of_at_most_four_lines(open_page, width):
    page = open_page("index-all.html", viewport={"width": width, "height": 900})
    links = page.locator(".board .line > a")
    whole = "all => all.map(link => link.clientWidth > 0 && link.scrollHeight <= link.clientHeight + 1)"
    short = [len(name) <= 30 for name in links.all_text_contents()]  # longer ones end after two lines
    assert all(is_whole or not is_short for is_whole, is_short in zip(links.evaluate_all(whole), short, strict=True))
    assert sum(short) >= 4
    assert links.all_text_contents().count(HOSTILE[0]) == 3
    lines = page.locator(".board .line").evaluate_all("all => all.map(line => line.offsetHeight)")
    assert max(lines) <= 90


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
    assert page.locator(".steps:visible").count() == 1
    for kind, start in (("Encoder", "run"), ("Span tagger", "finetune span"), ("Language model", "lm-eval")):
        page.get_by_role("radio", name=kind).check()
        first, command, _ = page.locator(".steps:visible code").all_text_contents()
        assert first.removeprefix("turkic-idiom ").startswith(start)
        assert command.startswith("turkic-idiom submit ")
    page.locator(".steps:visible .copy").nth(1).click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == command
    page.locator(".copy:visible").first.click()
    page.get_by_role("button", name="Copied").first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("pip install ")
    plain = open_page("submit.html", java_script_enabled=False)
    assert plain.locator(".steps:visible code").count() == 3
    assert plain.locator(".copy").first.is_hidden()


def test_dark_mode_follows_the_system_and_the_choice_stays(open_page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page("data.html", color_scheme=scheme) for scheme in ("light", "dark"))
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


def test_a_phone_shows_cards_with_rank_model_score_and_interval(open_page):
    page = open_page("index-all.html", **PHONE)
    card = page.locator(".board tbody tr").first
    shown = card.locator("td, th").evaluate_all("all => all.map(cell => cell.offsetWidth > 0)")
    assert shown == [True] * 8 + [False] * 5  # rank, model, size, mean, four tasks; the languages need the switch
    assert re.search(r"\.\d{3} \.\d{3}–\.\d{3}", card.locator("td").nth(2).inner_text())
    boxes = [card.locator("td").nth(place).bounding_box() for place in (2, 1, 3, 4)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]  # the mean, below it the rest
    assert boxes[1]["y"] == boxes[2]["y"] == boxes[3]["y"]
    label = "one => getComputedStyle(one, '::before').content"
    assert [card.locator("td").nth(place).evaluate(label) for place in (1, 3)] == ['"Size "', '"T1 "']
    assert page.locator("#filters").is_hidden()
    page.locator("#fold summary").click()
    page.get_by_label("Order by").select_option("T2")
    top, below = (card.locator("td").nth(place).bounding_box()["y"] for place in (4, 2))
    assert top < below  # the score that decides the order stands first
    values = [float(value) for value in column(page, "T2") if value is not None]
    assert values == sorted(values, reverse=True)
    filtered = open_page("index-all.html#type=llm", **PHONE)
    assert filtered.locator("#filters").is_visible()  # an address with a filter shows it


def test_every_page_loads_without_complaint_and_is_no_wider_than_a_small_phone(open_page, shared_site):
    page = open_page("index.html", viewport={"width": 320, "height": 800})
    for name in (*PAGES, "models/model-0.html", *(f"models/hostile-{n}.html" for n in range(5))):
        page.goto(f"file://{shared_site.folder}/{name}")
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_the_focus_never_hides_below_the_head_of_a_table(open_file, crowded):
    page = open_file(f"{crowded.folder}/t1.html", viewport={"width": 900, "height": 500})
    page.locator(".board tbody tr:visible").last.locator("a").focus()
    for _ in range(50):
        page.keyboard.press("Shift+Tab")
        on_top = page.evaluate(
            "(() => {const box = document.activeElement.getBoundingClientRect();"
            "const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);"
            "return document.activeElement.contains(top)})()"
        )
        assert on_top, page.evaluate("document.activeElement.outerHTML")
    page.set_viewport_size({"width": 1440, "height": 500})
    page.locator(".board tbody tr:visible").last.scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 500
    assert 0 <= page.locator(".board thead th").first.bounding_box()["y"] < 5  # the head stays where the page scrolls


@pytest.mark.parametrize("width", [1440, 1100])
def test_a_switch_shows_the_languages_in_place_of_the_tasks_and_none_is_cut(open_page, width):
    page = open_page("index-all.html#type=encoder", viewport={"width": width, "height": 900})
    tasks, languages = ["T1", "T2", "T3", "spans"], ["tr", "az", "tk", "gag", "uz"]
    for shown, hidden in ((tasks, languages), (languages, tasks)):
        for key in shown:
            box = page.locator(f"th[data-key={key}]").bounding_box()
            assert box["x"] + box["width"] <= width - 16
        assert not any(page.locator(f"th[data-key={key}]").is_visible() for key in hidden)
        assert page.locator("th[data-key=mean]").is_visible()
        assert page.locator(".board tbody tr:visible").first.locator("td small:visible").count() >= 5
        page.get_by_label("Languages").check()
    assert page.url.endswith("#type=encoder&languages=1")
    page.go_back()
    assert page.locator("th[data-key=T1]").is_visible()
    page.goto(page.url.replace("index-all", "uz-all"))
    assert page.get_by_label("Languages").count() == 0  # there is one


def test_the_verdict_names_the_best_and_the_smallest_that_is_not_shown_worse(open_file, tmp_path):
    """a is not shown to be better than b, which is smaller, but than c; d is a baseline, and e guesses."""
    data = make_data(40, languages=("tr", "az"))
    web = {"training_data": "web text, and Turkic-Idiom-Tasks/lexicon"}
    submissions = [
        make_scored("a", data, skill=0.6, seed=1, n_parameters=400_000_000),
        make_scored("b", data, skill=0.6, seed=5, n_parameters=100_000_000),
        make_scored("c", data, skill=0.2, seed=3, n_parameters=50_000_000, type="llm", **web),
        make_scored("d", data, skill=0.1, seed=4, n_parameters=0, type="baseline"),
    ]
    generator = np.random.default_rng(5)
    ranks = {(one.task, one.name): generator.integers(1, POOL + 1, one.n) for one in data.subsets if one.pool}
    guesses = {key: 1 / np.log2(1 + values) for key, values in ranks.items()}
    submissions.append(scored_of("e", data, guesses, n_parameters=None))
    write_site(make_board(submissions, data), tmp_path)
    page = open_file(f"{tmp_path}/index-retrieval.html")
    verdict = page.locator("#verdict")
    score = r"\.\d{3} \(\.\d{3} to \.\d{3}\)\."
    told = rf"Best of 4 models: org/a {score} Smallest .* not shown worse: org/b \(100M\)."
    assert re.fullmatch(told, verdict.text_content())
    assert page.locator(".board tr.chance .at-chance").count() == page.locator(".board tr.chance").count() == 1
    assert page.locator(".board tr.chance a").text_content() == "org/e"
    assert page.locator(".board tr:has(.warn) a").all_text_contents() == ["org/c"]  # the others name no idioms of it
    assert page.locator(".board tr", has_text="org/d").locator("td").nth(1).text_content() == "none"
    for size, words, told in (
        ("200M", "", f"Best of 2 models .* 200M parameters: org/b {score} Every smaller .*"),
        ("", "org/b", f"The only model that fit “org/b”: org/b {score}"),
        ("50M", "", f"The only model with at most 50M parameters: org/c {score}"),
        ("50M", "org/d", "No submitted model understands Turkic idioms yet; .* org/d, .* a baseline.*"),
    ):
        page.select_option("select[name=size]", size)
        page.fill("input[name=q]", words)
        assert re.fullmatch(told, verdict.text_content())
    page.goto(f"file://{tmp_path}/tr-retrieval.html#type=encoder&q=org/e")
    assert re.search("No submitted model understands Turkish idioms yet; .*org/e,.* at chance", verdict.text_content())


def test_on_paper_no_column_is_cut(open_page, open_both):
    page = open_page("index-all.html", viewport={"width": 1047, "height": 718})  # A4 in landscape, 10 mm of margin
    page.emulate_media(media="print")
    for table in page.locator("table").all():
        box = table.bounding_box()
        assert box["x"] + box["width"] <= 1047, table.inner_text()[:60]
    assert page.locator(".board tbody tr").first.locator("td:visible").count() == 7
    assert page.locator(".pin").first.is_hidden()
    wide = open_both("language-models.html", viewport={"width": 1047, "height": 718})
    wide.emulate_media(media="print")
    wide.evaluate(  # as many columns as a task with a set for each pair of languages has
        "for (const row of document.querySelectorAll('table:has(.model) tr'))"
        "while (row.cells.length < 30) row.append(row.lastElementChild.cloneNode(true))"
    )
    boxes = [table.bounding_box() for table in wide.locator("table:has(.model)").all()]
    assert len(boxes) > 3
    assert max(box["x"] + box["width"] for box in boxes) <= 1047


def test_the_scatter_names_the_frontier_and_tells_the_rest_in_tooltips(open_file, shared_site, tmp_path):
    data = make_data(12, languages=("tr", "az"))
    submissions = []
    for number, skill in enumerate((0.2, 0.1, 0.5, 0.4, 0.8)):
        rate, size = 10.0 ** (4 - number), 10 ** (6 + number)
        about = {"n_parameters": size, "texts_per_second": rate, "device": HOSTILE[1]}
        submissions.append(make_scored(f"m{number}", data, skill=skill, **about))
    for number in range(4):  # of another device, on which fewer were measured, and of no known size
        about = {"n_parameters": None, "texts_per_second": 20.0 + number, "device": "A100"}
        submissions.append(make_scored(f"a{number}", data, **about))
    write_site(make_board(submissions, data), tmp_path)
    page = open_file(f"{tmp_path}/index.html", **PHONE)
    sizes, speeds = page.locator(".scatter").all()
    for chart, ticks, title in (
        (sizes, ["1M", "10M", "100M", "1B", "10B"], r"m3, 1B, \.\d{3}"),
        (speeds, ["1", "10", "100", "1,000", "10,000"], r"m3, 10 texts per second, \.\d{3}"),
    ):
        points = chart.locator(".plot a")
        assert points.all_text_contents() == ["m0", "", "m2", "", "m4"]
        assert re.fullmatch(title, points.nth(3).get_attribute("title"))
        assert chart.locator(".plot .x:not(.name)").all_text_contents() == ticks
        box = chart.locator(".plot").bounding_box()
        for point in points.all():
            dot = point.bounding_box()
            assert box["x"] - 7 <= dot["x"] <= box["x"] + box["width"]
    assert f"on the same device: {HOSTILE[1]}." in speeds.locator("figcaption").text_content()
    assert page.evaluate("window.hacked") is None
    page.goto(f"file://{shared_site.folder}/index.html")
    assert page.locator(".scatter").count() == 0  # models of three sizes are too few


def test_the_navigation_has_menus_and_on_a_phone_one_button(open_page):
    page = open_page("t2.html", viewport={"width": 1100, "height": 800})
    navigation = page.locator("nav[aria-label=Pages]")
    shown = navigation.locator("a:visible, summary:visible").all_text_contents()
    assert shown == ["Overview", "Languages", "Tasks", "Compare", "Concepts", "Submit", "About"]
    assert navigation.bounding_box()["height"] < 40  # one line
    navigation.locator("summary", has_text="Tasks").click()
    tasks = navigation.locator("details a:visible").all_text_contents()
    assert (len(tasks), tasks[-1]) == (4, "Idiom in a sentence (Spans)")
    navigation.locator("summary", has_text="About").click()  # closes the other
    assert navigation.locator("details[open]").count() == 1
    page.keyboard.press("Escape")
    assert navigation.locator("details[open]").count() == 0
    phone = open_page("t2.html", **PHONE)
    assert phone.locator("nav a:visible").count() == 0
    assert phone.locator("header.site").bounding_box()["height"] < 70
    phone.get_by_role("button", name="Menu").click()
    assert phone.locator("nav a:visible, nav summary:visible").all_text_contents() == shown
    plain = open_page("t2.html", java_script_enabled=False, **PHONE)
    assert plain.locator("nav a", has_text="Compare").is_visible()


@pytest.mark.parametrize(
    ("scheme", "pages"),
    [
        ("light", ("index.html", COMPARED)),
        pytest.param(
            "light", ("index-all.html", "index-older-editions.html", "t1.html", *BESIDE[:3]), marks=pytest.mark.long
        ),
        pytest.param("dark", ("index-all.html", COMPARED, *BESIDE[:3]), marks=pytest.mark.long),
    ],
)
def test_axe_has_no_serious_finding(open_page, shared_site, scheme, pages):
    page = open_page("data.html", bypass_csp=True, color_scheme=scheme)
    for name in pages:
        page.goto(f"file://{shared_site.folder}/{name}")
        if name not in TABLES:  # with everything open, on a small phone
            if name == COMPARED:
                page.wait_for_selector("#most:visible")
            page.set_viewport_size({"width": 320, "height": 700})
            for details in page.locator("summary:visible").all():
                details.click()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert axe_findings(page, impacts=("serious", "critical")) == [], name
