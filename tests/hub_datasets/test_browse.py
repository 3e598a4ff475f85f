"""The page of all concepts that `dataset show --out` writes, in a real browser, from file://."""

import pytest

from hub_datasets.browse import page as browse_page
from tests.browser_pages import axe_findings, watched_pages
from tests.hub_datasets.conftest import HOSTILE, two_concepts
from turkic_idiom_tasks.concept_browser.parts import PER_PAGE
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    """Sixty concepts in Turkish, two of them in Uzbek."""
    folder = tmp_path_factory.mktemp("private-folder") / "lexicon"
    concepts, entries = two_concepts()
    for number in range(58):
        concepts.append(Concept(f"word-{number:02d}", f"gloss {number}"))
        entries["tr"].append(Entry(f"word-{number:02d}", f"söz {number}", f"anlam {number}"))
    write_lexicon(folder, concepts, entries)
    return load_lexicon(folder)


@pytest.fixture
def open_page(browser, lexicon, tmp_path):
    """Opens the page; at the end no script may have failed and nothing may have been loaded."""
    (tmp_path / "lexicon.html").write_text(browse_page(lexicon), "utf-8")
    with watched_pages(browser, f"file://{tmp_path}/lexicon.html") as open_one:
        yield open_one


def display(page):
    return page.locator(".concept h2 code").all_text_contents()


def test_concepts_stand_on_pages_of_fifty(open_page, lexicon):
    page = open_page()
    names = sorted(lexicon.concepts)
    assert page.locator("#concept-count").inner_text() == "1–50 of 60 concepts"
    page.get_by_role("button", name="Next").first.click()
    assert display(page) == names[PER_PAGE:]
    assert page.url.endswith("#page=2")
    page.go_back()
    assert display(page) == names[:PER_PAGE]
    page.get_by_label("Page").last.select_option("2")
    assert display(page) == names[PER_PAGE:]


def test_a_search_folds_letters_and_covers_every_text(open_page, lexicon):
    page, names = open_page(), sorted(lexicon.concepts)
    for search, found in (
        ("GOZ YUM", ["turn-a-blind-eye"]),  # ö and the capitals
        ("isikta", ["turn-a-blind-eye"]),  # I and ı, also in a literal example
        ("ko'z", ["turn-a-blind-eye"]),  # any apostrophe, and none
        ("görmezden 57", []),  # every word must be there
        ("", names[:PER_PAGE]),
        ("ETIBOR", ["turn-a-blind-eye"]),  # İ, I, i and ı are one letter
    ):
        page.fill("input[name=q]", search)
        assert display(page) == found, search
        assert page.locator("#no-concept").is_visible() == (not found)


def test_a_language_keeps_its_concepts_and_stands_first(open_page):
    page = open_page()
    assert page.locator("select[name=language] option").all_text_contents() == ["all", "Turkish", "Uzbek"]
    page.select_option("select[name=language]", "uz")
    assert display(page) == ["cross", "turn-a-blind-eye"]
    languages = page.locator(".concept").first.locator(".languages > div")
    assert languages.evaluate_all("all => all.map(one => one.lang)") == ["uz", "tr"]
    page.get_by_role("button", name="Reset").first.click()
    page.locator("#concept-count", has_text="of 60").wait_for()


@pytest.mark.parametrize("fragment", ["#c-word-55", "#word-55"])
def test_a_link_to_a_concept_opens_its_page(open_page, fragment):
    page = open_page(fragment)
    assert page.locator(".concept.linked h2 code").inner_text() == "word-55"
    assert page.locator("#c-word-55").evaluate("one => one.getBoundingClientRect().top < innerHeight")
    assert "word-50" in display(page)
    assert page.locator("#c-word-54 .permalink").get_attribute("href") == "#c-word-54"


def test_all_texts_of_an_entry_are_shown_as_text(open_page):
    page = open_page("#c-close-ones-eyes")  # the id of a concept that was merged into another
    page.wait_for_selector("#c-turn-a-blind-eye.linked")
    turkish = page.locator("#c-turn-a-blind-eye [lang=tr]")
    assert turkish.locator("mark").all_text_contents() == ["göz yumdu"]  # although a browser counts 😀 twice
    assert turkish.inner_text().split("\n")[-1] == "literal paraphrase: c"
    assert "also: koʻzini yummoq" in page.locator("#c-turn-a-blind-eye [lang=uz]").inner_text()
    assert page.locator("#c-cross mark").all_text_contents() == ["Küplere", "bindi"]
    assert HOSTILE in page.locator("#c-cross h2").inner_text()


def test_the_page_is_readable_in_light_and_dark_and_on_a_phone(open_page):
    for scheme in ("light", "dark"):
        page = open_page("#language=uz", color_scheme=scheme, viewport={"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert axe_findings(page) == []


def test_the_page_names_no_folder_and_claims_nothing_about_other_lexicons(lexicon, bundled):
    html = browse_page(lexicon)
    assert "private-folder" not in html
    assert f"Revision {lexicon.revision[:12]}." in html
    assert "Machine-written" not in html
    whole = browse_page(bundled)
    assert "Machine-written" in whole
    assert bundled.source not in whole
    assert all(language.name in whole for language in LANGUAGES.values())
