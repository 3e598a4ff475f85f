"""The page on which native speakers review entries: what stands on it, and the page in a real browser, from file://."""

import json
import re
import shutil
import sys
import unicodedata

import pytest

from hub_datasets.questionnaire import PAGE as QUESTIONNAIRE
from hub_datasets.review import PAGE, WORDS, sample
from tests.browser_pages import axe_findings, saved_file, watched_pages
from tests.dataset.conftest import concepts_of
from tests.hub_datasets.conftest import HOSTILE, read_lines
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import is_unseen
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.lexicon.reviews import REVIEWS_FILE
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split

PHONE = {"width": 360, "height": 740}
TEST = concepts_of("test", 10, of=retrieval_split)
OTHERS = concepts_of("train", 40, of=retrieval_split)
LAST = "constructor"  # a concept with the name of something that every object of JavaScript has


def of_language(entries):
    concepts = {entry.concept: Concept(entry.concept, "") for entry in entries}
    return Lexicon(concepts, {"az": {entry.concept: entry for entry in entries}}, "0" * 40)


def sound(concept, **changes):
    return Entry(concept, "baş əymək", **({"attested": "a dictionary", "status": "accepted"} | changes))


def order(entries, **options):
    return [one.concept for one in sample(of_language(entries), "az", **options)]


def test_the_doubtful_come_first_and_the_split_keeps_its_share():
    test, others = TEST[:10], OTHERS[:30]
    doubtful = {test[-1], others[-1], others[-2]}
    entries = [sound(concept, collocation=concept in doubtful) for concept in test + others]
    entries[0] = sound(test[0], collocation=True, status="repaired")
    chosen = order(entries, n=8)
    assert len(set(chosen)) == 8
    assert sum(concept in test for concept in chosen) == 2  # 8 * 10/40
    assert (chosen[0], set(chosen[1:4])) == (test[0], doubtful)
    assert len(order(entries)) == len(order(entries, n=41)) == 40


def test_the_order_depends_on_the_seed_alone():
    entries = [sound(concept) for concept in OTHERS[:40]]
    assert order(entries[::-1]) == order(entries)
    assert order(entries, n=10) == order(entries)[:10]  # a smaller one is a part
    assert order(entries, seed=2) != order(entries)
    assert sorted(order(entries, seed=2)) == sorted(order(entries))
    with pytest.raises(InputError, match="has no entries in tr; it has az"):
        sample(of_language(entries), "tr")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Four Azerbaijani entries with 3, 2, 1 and 0 doubts, which is their order on the page."""
    concepts = [Concept("a", f"to bow {HOSTILE}"), *(Concept(name, f"gloss {name}") for name in ("b", "c", LAST))]
    entries = [
        Entry("a", "baş əymək", "tabe olmaq </script>", "😀 Ona baş əydi.", (Span(6, 14),), variants=("baş endirmək",),
              collocation=True, status="repaired"),
        Entry("b", "göz yummaq", "görməzdən gəlmək", "Buna göz yumdu.", (Span(5, 14),), status="repaired"),
        Entry("c", "qulaq asmaq", status="accepted"),
        Entry(LAST, "dil tapmaq", "anlaşmaq", "Dil tapdılar.", (Span(0, 12),), attested="x", status="accepted"),
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("review") / "lexicon"
    write_lexicon(folder, concepts, {"az": entries, "tr": [Entry("a", "boyun eğmek")]})
    return folder


@pytest.fixture(scope="module")
def file(directory):
    """The page of that lexicon."""
    path = directory.parent / "review.html"
    assert main(["dataset", "review", "--lang", "az", "--out", str(path), "--data", str(directory)]) == 0
    return path


def test_the_page_needs_nothing_else_and_no_text_ends_its_data(file):
    html = file.read_text("utf-8")
    assert html.count("</script>") == 2
    assert "@" not in html.split("<style>")[0]
    assert re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", html) is None
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]+)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    assert policy.count("'sha256-") == 2  # of the style and of the script
    assert "unsafe" not in policy


def test_the_command_says_what_it_wrote_and_overwrites_nothing(directory, file, tmp_path, dataset):
    arguments = ("review", "--lang", "az", "--data", directory, "--out")
    out, part = tmp_path / "review.html", tmp_path / "part.html"
    assert dataset(*arguments, out) == (f"{out}: 4 of 4 Azerbaijani entries\n", "")
    assert dataset(*arguments, part, "--n", "2")[0] == f"{part}: 2 of 4 Azerbaijani entries\n"
    dataset(*arguments, file, code=1)  # exists
    dataset("review", tmp_path / "absent", "--data", directory, code=1)
    dataset("review", "--lang", "uz", "--out", tmp_path / "x.html", "--data", directory, code=2)  # no entries


@pytest.fixture
def open_page(browser, file):
    """Opens the page on a phone; at the end no script may have failed, and nothing may have been asked for."""
    with watched_pages(browser, f"file://{file}#en", viewport=PHONE, accept_downloads=True) as open_one:
        yield open_one


def test_the_page_speaks_the_language_of_its_entries_and_english_on_request(browser, file):
    words = json.loads(WORDS.read_text("utf-8"))["az"]
    with watched_pages(browser, f"file://{file}", viewport=PHONE) as open_one:
        page = open_one()
        assert page.locator("#accept").inner_text().startswith(words["Accept all"])
        assert page.title() == f"{words['Review of idioms']}: Azərbaycanca"
        assert text(page, "translation") == words["A machine translated this page; nobody has checked it yet."]
        press(page, "a")
        assert text(page, "status") == words["Accepted."]
        assert text(page, "progress-text") == words["{} of {} reviewed"].format(1, 4)
        page.locator("#switch").click()
        page.wait_for_function("document.documentElement.lang === 'en' && document.readyState === 'complete'")
        assert text(page, "progress-text") == "1 of 4 reviewed"
        assert page.locator("#translation").count() == 0


@pytest.mark.parametrize("path", [PAGE, QUESTIONNAIRE])
def test_every_text_of_a_page_is_translated_into_every_language(path):
    body, script = path.read_text("utf-8").split("<body>")[1].split("<script type")
    said = [text.strip() for text in re.findall(">([^<>]+)<", re.sub("<(noscript|kbd).*?</", "</", body))]
    said += [one or other for one, other in re.findall(r'translated\("([^"]+)"|[?:] "([A-Z][^"]{9,})"', script)]
    for code, words in json.loads(WORDS.read_text("utf-8")).items():
        assert [text for text in said if re.search("[A-Za-z]", text) and text not in words] == [], code
        assert all(words[text].count("{}") == text.count("{}") for text in words), code


def press(page, keys):
    for key in keys.split():
        page.keyboard.press(key)


def text(page, name):
    return page.locator(f"#{name}").text_content()


def pressed(page):
    """The verdict buttons that are down."""
    return page.locator("#verdicts [aria-pressed=true]").evaluate_all("all => all.map(button => button.id)")


def exported(page, tmp_path):
    """The file that the page exports."""
    return saved_file(page, lambda: page.keyboard.press("x"), tmp_path)


def test_texts_are_shown_as_they_are(open_page):
    page = open_page()
    shown = {"idiom": "baş əymək", "variants": "also: baş endirmək", "meaning": "tabe olmaq </script>"}
    shown |= {"gloss": f"to bow {HOSTILE}", "pivot": "boyun eğmek", "example": "😀 Ona baş əydi."}
    assert {name: text(page, name) for name in shown} == shown
    assert page.locator("#example mark").all_text_contents() == ["baş əydi"]  # although a browser counts 😀 twice
    press(page, "n n")
    assert text(page, "idiom") == "qulaq asmaq"
    assert page.locator("#pivot").is_hidden()
    for name in ("meaning-wrong", "example-wrong"):  # which the entry does not have
        assert page.locator(f"#{name}").is_disabled()
    press(page, "m e")
    assert pressed(page) == []


def test_a_review_by_keyboard_survives_a_reload_and_apply_takes_its_export(open_page, directory, tmp_path, dataset):
    page = open_page()
    assert text(page, "progress-text") == "0 of 4 reviewed"
    press(page, "a")
    assert text(page, "idiom") == "göz yummaq"  # on to the next
    press(page, "m 5")
    assert pressed(page) == ["meaning-wrong", "example-wrong"]
    press(page, "e e c C")
    assert pressed(page) == ["meaning-wrong", "example-wrong"]
    press(page, "k")
    page.keyboard.type("a f m u?")  # no commands while it is typed
    press(page, "Enter")
    page.keyboard.insert_text("  bəlkə ❤️\u202e\u200b🧑‍🌾 ")
    press(page, "Escape r")
    page.keyboard.type("göz yumma")
    press(page, "Escape ArrowRight 6")
    assert (text(page, "progress-text"), text(page, "idiom")) == ("3 of 4 reviewed", "dil tapmaq")
    press(page, "x")
    assert "initials" in text(page, "status")
    page.keyboard.type("ai")  # the field has the focus
    press(page, "Escape")
    page.reload()
    assert (text(page, "progress-text"), text(page, "idiom")) == ("3 of 4 reviewed", "dil tapmaq")
    press(page, "p p")
    assert text(page, "idiom") == "göz yummaq"
    assert pressed(page) == ["meaning-wrong", "example-wrong"]
    assert page.locator("#correction").input_value() == "göz yumma"
    path = exported(page, tmp_path)
    rows = read_lines(path)
    assert path.name == "review-az-Aİ.jsonl"  # as Azerbaijani writes i in capitals
    assert [row["concept"] for row in rows] == ["a", "b", "c"]
    assert [row["verdicts"] for row in rows] == [
        {"form": "ok", "meaning": "ok", "concept": "ok", "example": "ok"},
        {"form": "ok", "meaning": "wrong", "concept": "ok", "example": "wrong"},
        {"form": "unknown", "concept": "unknown"},
    ]
    assert rows[1]["comment"] == "a f m u? bəlkə ❤🧑🌾"
    assert rows[1]["correction"] == "göz yumma"
    assert rows[1]["date"] == page.evaluate("new Date().toLocaleDateString('sv')")
    assert rows[1]["sequence"] > rows[0]["sequence"] == 1
    assert rows[0]["time"] <= rows[1]["time"] <= page.evaluate("new Date().toISOString().slice(0, 19) + 'Z'")
    lexicon = shutil.copytree(directory, tmp_path / "lexicon")
    stdout, stderr = dataset("review", path, "--data", lexicon)
    assert ("3 reviews added" in stdout, stderr) == (True, "")
    assert read_lines(lexicon / REVIEWS_FILE) == rows
    assert load_lexicon(lexicon).reviewed("az") == {"a", "b"}


def test_the_later_verdict_wins_after_the_clock_was_set_back(open_page, directory, dataset, tmp_path):
    page = open_page()
    lexicon = shutil.copytree(directory, tmp_path / "lexicon")
    page.locator("#initials").fill("ai")
    press(page, "Escape")
    for time, key, verdict in [("2026-01-02T10:00:00Z", "a", "ok"), ("2026-01-01T09:00:00Z", "f", "wrong")]:
        page.clock.set_fixed_time(time)
        press(page, key)
        dataset("review", exported(page, tmp_path), "--data", lexicon)
        assert read_lines(lexicon / REVIEWS_FILE)[0]["verdicts"]["form"] == verdict
        press(page, "p")


def test_undo_takes_back_one_verdict_after_the_other_and_keeps_comments(open_page):
    page = open_page()
    press(page, "f k")
    page.keyboard.type("note")
    press(page, "Escape a u")
    assert text(page, "idiom") == "qulaq asmaq"
    for idiom, left in [("göz yummaq", []), ("baş əymək", ["form"]), ("baş əymək", [])]:
        press(page, "z")
        assert (text(page, "idiom"), pressed(page)) == (idiom, left)
    assert page.locator("#comment").input_value() == "note"
    assert page.locator("#undo").is_disabled()
    assert text(page, "progress-text") == "0 of 4 reviewed"
    # a later verdict takes the place of the earlier one
    for keys, left in [("f a p", ["accept"]), ("u p", ["unknown"]), ("m", ["meaning-wrong"]), ("m", [])]:
        press(page, keys)
        assert pressed(page) == left


def test_initials_that_apply_would_refuse_are_refused(open_page, tmp_path):
    page = open_page()
    press(page, "a")
    for initials in ("a", "abcde", "a1", "АВ", "a b"):
        page.fill("#initials", initials)
        press(page, "Escape x")
        assert "write your initials" in text(page, "status"), initials
        page.fill("#initials", "ab")
        press(page, "Escape")
        assert len(read_lines(exported(page, tmp_path))) == 1
        assert "write your initials" not in text(page, "status")


def test_the_end_is_said_and_by_touch_it_works_too(open_page):
    page = open_page(has_touch=True, is_mobile=True)
    for _ in range(4):
        page.locator("#accept").tap()
    assert text(page, "progress-text") == "4 of 4 reviewed"
    assert "All entries are reviewed" in text(page, "status")
    assert page.evaluate("document.getElementById('progress').value") == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_fingers(open_page, scheme):
    page = open_page(color_scheme=scheme, bypass_csp=True)  # for axe, which is a script of its own
    press(page, "f")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    boxes = [field.bounding_box() for field in page.locator("button, input, textarea").all()]
    assert len(boxes) == 14
    assert min(min(box["height"], box["width"]) for box in boxes) >= 44
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 150) == (scheme == "dark")
    assert axe_findings(page) == []


def test_a_browser_that_keeps_nothing_says_so(open_page):
    page = open_page()
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full') } }")
    press(page, "a")
    assert "does not keep your answers" in text(page, "trouble")
    assert page.locator("#trouble").is_visible()
    page.evaluate("exported = true")  # or it would ask before it is closed


def test_two_tabs_do_not_overwrite_each_other(open_page):
    first = open_page()
    second = open_page(context=first.context)
    # Each in front while it is used and looked at, because a busy browser may leave a tab behind another one asleep
    first.bring_to_front()
    press(first, "a")
    first.locator("#progress-text", has_text="1 of 4").wait_for()
    second.bring_to_front()
    second.locator("#progress-text", has_text="1 of 4").wait_for()
    press(second, "n u")
    first.bring_to_front()
    first.locator("#progress-text", has_text="2 of 4").wait_for()


def test_everything_that_cannot_be_seen_is_cleaned_away(open_page):
    page = open_page()
    unseen = [number for number in range(sys.maxunicode + 1) if is_unseen(chr(number))]
    unseen = [number for number in unseen if unicodedata.category(chr(number)) != "Co" or number % 97 == 0]
    assert len(unseen) > 4000
    left = page.evaluate("numbers => numbers.filter(number => clean(String.fromCodePoint(number)) !== '')", unseen)
    assert left == []
    assert page.evaluate("clean(' go\u0308z \\t\\n yummaq ')") == "göz yummaq"
    assert len(page.evaluate("clean('😀'.repeat(3000))")) == 1000
