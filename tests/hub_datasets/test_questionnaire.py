"""The page on which people answer items, in a real browser, and what `lm report` makes of the files that it saves."""

import json
import re
from collections import Counter

import pytest

from hub_datasets.review import WORDS
from tests.browser_pages import axe_findings, saved_file, watched_pages
from tests.hub_datasets.conftest import read_lines, write_lines
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.results.item_answers import find_items, row_digest

KEYS = {"meaning": 6, "recall": 6}


@pytest.fixture(scope="module")
def page_file(item_lexicon, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "q.html"
    arguments = ["--lang", "tr", "--kind", "meaning", "--kind", "recall", "--items", "12", "--data", str(item_lexicon)]
    assert main(["lm", "questionnaire", *arguments, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def items(item_lexicon):
    """Digest -> task and item of everything that may be asked."""
    dataset = open_dataset(str(item_lexicon))
    return {row_digest(row): (task, row) for task in KEYS for row in find_items(dataset, task, "tr").rows}


def data_of(page_file):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page_file.read_text("utf-8"))
    return json.loads(found[1])


def test_items_are_of_each_kind_alike_and_the_page_holds_no_key(page_file, items):
    shown = data_of(page_file)["items"]
    asked = [items[row["digest"]] for row in shown]
    assert Counter(task for task, _ in asked) == KEYS
    assert len({item.concept for _, item in asked}) == 12
    text = page_file.read_text("utf-8")
    for row, (task, item) in zip(shown, asked, strict=True):
        assert item.concept not in text  # the English name of the concept
        assert "gold" not in row
        if task == "recall":
            assert item.idiom not in text
        else:
            assert row["options"] == [option.text for option in item.options]


def test_an_invitation_stands_in_the_languages_of_the_items_and_in_english(item_lexicon, tmp_path, capsys):
    arguments = ["--kind", "meaning", "--items", "3", "--data", str(item_lexicon), "--out", str(tmp_path / "q.html")]
    assert main(["lm", "questionnaire", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    texts = {line.partition(":")[0]: line for line in lines if line[2:3] == ":"}
    assert list(texts) == ["tr", "az", "uz", "en"]
    assert all(" 3 " in text and "q.html" in text for text in texts.values())
    assert "soʻralmaydi" in texts["uz"]
    assert data_of(tmp_path / "q.html")["words"] is None  # a page in three languages is in English


def answers(page_file, items, *, n_right):
    """What a person saves who is right in the first of each kind, and gives wrong answers or none in the others."""
    done, rows = dict.fromkeys(KEYS, 0), []
    for row in data_of(page_file)["items"]:
        task, item = items[row["digest"]]
        is_right = done[task] < n_right
        done[task] += 1
        right = item.options[item.gold].text if task == "recall" else item.gold
        answer = right if is_right else None if task == "recall" else (item.gold + 1) % 4
        rows.append({"task": task, "subset": "tr", "digest": row["digest"], "answer": answer})
    about = {name: data_of(page_file)[name] for name in ("format", "revision")}
    return about | {"profile": {"native": "Turkish", "region": "", "age": "18-29"}, "answers": rows}


def test_several_people_have_a_mean_an_interval_and_a_best(page_file, items, item_lexicon, tmp_path, capsys):
    for n_right in (6, 3, 0):
        write_lines(tmp_path / f"answers-0000000{n_right}.json", [answers(page_file, items, n_right=n_right)])
    assert main(["lm", "report", str(tmp_path), "--data", str(item_lexicon)]) == 0
    rows = {line.split()[0]: line.split()[2:] for line in capsys.readouterr().out.splitlines() if " tr " in line}
    # people, items, chance; (6 + 3 + 0) / 18 are right; an interval about the mean; 6 of 6
    for task, chance in (("meaning", ".250"), ("recall", ".000")):
        assert rows[task][:4] == ["3", "6", chance, ".500"]
        assert rows[task][-1] == "1.000"
        low, high = (float(end) for end in re.findall(r"\d*\.\d+", "".join(rows[task][4:-1])))
        assert low < 0.5 < high


def test_answers_that_nobody_has_judged_are_written_for_a_judge(page_file, items, item_lexicon, tmp_path):
    content = answers(page_file, items, n_right=5)
    row = next(row for row in content["answers"] if row["answer"] is None)
    row["answer"] = "kitap okumak"
    file, out = write_lines(tmp_path / "answers-00000000.json", [content]), tmp_path / "unjudged.jsonl"
    assert main(["lm", "report", str(file), "--data", str(item_lexicon), "--unjudged", str(out)]) == 0
    item = items[row["digest"]][1]
    entry = open_dataset(str(item_lexicon)).lexicon.of("tr")[item.concept]
    expected = {"language": "tr", "concept": item.concept, "meaning": entry.meaning, "idiom": entry.idiom}
    assert read_lines(out) == [expected | {"answer": "kitap okumak"}]


@pytest.mark.parametrize("change", [{"revision": "0" * 40}, {"profile": {}}, {"digest": "0"}])
def test_a_file_that_was_not_saved_by_the_page_is_refused(page_file, items, item_lexicon, tmp_path, capsys, change):
    content = answers(page_file, items, n_right=1)
    content["answers"][0] |= {name: value for name, value in change.items() if name == "digest"}
    content |= {name: value for name, value in change.items() if name != "digest"}
    file = write_lines(tmp_path / "answers-00000000.json", [content])
    assert main(["lm", "report", str(file), "--data", str(item_lexicon)]) == 1
    assert str(file) in capsys.readouterr().err


def test_the_page_by_keyboard_and_on_a_phone(page_file, browser, tmp_path):
    shown = data_of(page_file)["items"]
    with watched_pages(browser, page_file.as_uri(), viewport={"width": 360, "height": 740}) as open_page:
        page = open_page()
        assert axe_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for row in shown:
            if row["options"]:
                page.locator("#progress").click()
                page.keyboard.press("2")
            else:
                page.fill("#words", "göz yummak")
                page.press("#words", "Enter")
        page.click("#save")
        words = json.loads(WORDS.read_text("utf-8"))["tr"]
        assert page.inner_text("#said") == words["Please say your native language and your age first."]
        assert page.title() == f"{words['Questions about idioms']}: Türkçe"
        page.fill("#native", "Türkçe")
        page.select_option("#age", label="60 ve üzeri")
        page.reload()  # nothing is lost
        page.click("#switch")
        page.wait_for_function("document.documentElement.lang === 'en' && document.readyState === 'complete'")
        assert "Save my answers" in page.inner_text("#save")
        assert (page.input_value("#native"), page.input_value("#age")) == ("Türkçe", "60 or older")
        file = saved_file(page, lambda: page.click("#save"), tmp_path)
    saved = json.loads(file.read_text("utf-8"))
    assert re.fullmatch(r"answers-[0-9a-f]{8}\.json", file.name)
    assert saved["profile"] == {"native": "Türkçe", "region": "", "age": "60 or older"}
    assert [row["answer"] for row in saved["answers"]] == [1 if row["options"] else "göz yummak" for row in shown]
