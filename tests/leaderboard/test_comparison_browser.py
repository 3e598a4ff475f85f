"""The page that compares models, in a real browser: the figures of `turkic-idiom compare`."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from leaderboard.tables import shown_score
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import RESAMPLES, Stratum, difference, mean
from turkic_idiom_tasks.metrics.comparison import compare, holm, signs_of_concept
from turkic_idiom_tasks.report.compare import Report, Row, verdict
from turkic_idiom_tasks.report.frame import MACRO

TITLES = {"T1": "T1", "T2": "T2", "T3": "T3", "spans": "Spans"}


@pytest.fixture
def open_comparison(open_page, shared_site):
    """Opens the comparison of some models; returns the page and the models."""

    def run(*names):
        page = open_page("compare.html?" + "&".join(f"{key}={name}" for key, name in zip("abcd", names, strict=False)))
        page.wait_for_selector("#most:visible")
        return page, [shared_site.board.by_id[name] for name in names]

    return run


def report_rows(*models):
    """(letters of a pair, task, subset) -> the row of `turkic-idiom compare`, with Holm over all pairs, as on the page.

    A task is compared on the subsets that all models with the task have.
    """
    by_letter = dict(zip("ABCD", models, strict=False))
    results = {}
    for first, second in sorted(combinations(by_letter, 2), key=lambda pair: pair[::-1]):
        for task in TITLES:
            having = [model for model in models if model.of_task(task)]
            if by_letter[first] not in having or by_letter[second] not in having:
                continue
            strata = {}
            for score in having[0].of_task(task):
                if all(model.find(task, score.subset) for model in having):
                    one, other = (by_letter[letter].find(task, score.subset) for letter in (first, second))
                    strata[score.subset] = (Stratum(one.concepts, one.sums), Stratum(other.concepts, other.sums))
            for subset, pair in strata.items():
                results[first + second, task, subset] = compare({subset: pair})
            if len(strata) > 1:
                certain = {subset: pair for subset, pair in strata.items() if "gag" not in subset}  # it is provisional
                results[first + second, task, MACRO] = compare(certain)
    adjusted = holm([result.p for result in results.values()])
    return {key: Row(TITLES[key[1]], key[2], results[key], p) for key, p in zip(results, adjusted, strict=True)}


def number(text):
    return float(text.replace("−", "-").replace("+", ""))


def shown(page, table="differences"):
    """The texts of each row; the ends of its interval and its p-values with all their digits; the side in colour."""
    return page.locator(f"#{table} tbody tr:not(:has(th[scope=rowgroup]))").evaluate_all(
        "all => all.map(row => [[...row.cells].map(cell => cell.textContent),"
        "['low', 'high', 'p', 'holm'].map(name => JSON.parse(row.dataset[name] ?? 'null')),"
        "row.querySelector('.better') ? 'B' : row.querySelector('.worse') ? 'A' : null])"
    )


def figures_of(row):
    interval = row.result.interval
    return pytest.approx([interval.low, interval.high, row.result.p, row.holm], abs=1e-12)


def test_the_comparison_is_that_of_the_command_and_what_survives_holm_is_said(open_comparison, shared_site):
    """With 40 concepts some intervals lie beside 0 whose corrected p is above .05."""
    page, models = open_comparison("model-1", "model-3")
    rows = report_rows(*models)
    assert len(rows) == 18 + 4
    languages = {score.subset: LANGUAGES[score.language].name for score in models[0].subsets} | {MACRO: "mean"}
    for (texts, figures, side), row in zip(shown(page), rows.values(), strict=True):
        expected = row.result
        task, language, n, a, b, gap, interval, p, wins, ties, losses = texts
        assert (task, language) == (row.task, languages[row.subset])
        assert n == (f"{expected.n_concepts} (n<30)" if expected.small else f"{expected.n_concepts}")
        values = (expected.first, expected.second, expected.difference)
        assert (number(a), number(b), number(gap)) == pytest.approx(values, abs=0.0006)
        assert ("unreliable" in interval) != expected.interval.is_reliable
        assert (figures, side) == (figures_of(row), row.winner)
        assert (p == "–") == (expected.p is None)
        assert (int(wins), int(ties), int(losses)) == (expected.wins, expected.ties, expected.losses)
    assert [row for row in rows.values() if row.result.interval.low > 0 and row.winner is None]
    assert {row.winner for row in rows.values()} == {"B", None}
    said = page.locator("#verdict li").all_text_contents()
    whole = {row.task: row for row in rows.values()}  # the last of each task: the mean over the languages
    for (title, row), sentence in zip(whole.items(), said, strict=True):
        by = shown_score(abs(row.result.difference))
        is_clear = f"unknown is better than middle on {title} by {by}"
        assert sentence.startswith(is_clear if row.winner else f"No clear difference on {title}")
    expected = verdict(Report(("A", "B"), tuple(rows.values()), ()))
    assert re.findall(r"(\d) of (\d)", " ".join(said)) == re.findall(r"(\d) of (\d)", expected)
    summary = shown(page, "summary")
    assert [texts[0] for texts, _, _ in summary] == ["All tasks", "T1–T3", "T1", "T2", "T3", "Spans"]
    board = shared_site.board
    for place, standings in ((0, board.overall), (2, board.by_task["T1"])):
        first, second = (standings[model.id].score for model in models)
        told = [number(text) for text in summary[place][0][2:5]]
        assert told == pytest.approx([first, second, second - first], abs=0.0006)
    first, second = (mean([resampled[model.id] for resampled in board.means.values()]) for model in models)
    interval = difference(second, first).interval()
    assert summary[0][1][:2] == pytest.approx([interval.low, interval.high], abs=1e-12)


def test_one_line_over_all_tasks_is_tested_and_drawn(open_comparison):
    """The p-value of the headlines' difference, computed again with matrices, as numpy makes the exchanges."""
    page, models = open_comparison("model-1", "model-2")
    gaps, observed = np.zeros(RESAMPLES), 0.0
    for task in TITLES:
        pairs = zip(*(model.of_task(task) for model in models), strict=True)
        parts = [pair for pair in pairs if pair[0].language != "gag"]  # it is provisional
        for one, other in parts:
            concepts = sorted(set(one.headline.concepts))
            signs = np.array([signs_of_concept(concept) for concept in concepts], dtype=float)
            first, second = np.zeros((len(concepts), 2)), np.zeros((len(concepts), 2))
            for sums, score in ((first, one), (second, other)):
                for concept, row in zip(score.headline.concepts, score.headline.sums, strict=True):
                    sums[concepts.index(concept)] += row
            middle, half = ((first + second) / 2).sum(axis=0), (second - first) / 2
            moved = half.T @ signs
            above, below = middle[:, None] + moved, middle[:, None] - moved
            weight = 1 / (1 - one.headline.chance) / len(parts) / len(TITLES)
            gaps += (above[0] / above[1] - below[0] / below[1]) * weight
            observed += (other.headline.score - one.headline.score) / len(parts) / len(TITLES)
    p = (1 + np.count_nonzero(np.abs(gaps) >= abs(observed) - 1e-9)) / (RESAMPLES + 1)
    (sentence,) = page.locator("#overall li").all_text_contents()
    assert 0.001 < p < 0.05, p
    assert f"p = {p:.4f}".replace("0.", ".") in sentence
    assert sentence.startswith(f"All tasks: big is better than middle by {shown_score(observed)} (")
    dots = page.locator("#forest tbody tr:has(.strip)")
    assert dots.count() == 1 + 22
    assert [number(text) for text in dots.locator("td:last-child").all_text_contents()][1:] == [
        number(texts[5]) for texts, _, _ in shown(page)
    ]
    for row in dots.all():  # a dot stands right of the middle if the second model is better
        place = row.locator(".strip").evaluate("one => Number(one.style.getPropertyValue('--p'))")
        value = number(row.inner_text().split()[-1])
        assert (place > 0.5) == (value > 0) or abs(value) < 0.002


def test_models_are_chosen_by_a_part_of_their_name_if_only_one_has_it(open_page, shared_site):
    page = open_page("compare.html?a=../../etc/passwd&b=model-1")  # what is not offered is not loaded

    def compare(**names):
        for letter, name in names.items():
            page.get_by_label(f"Model {letter}").fill(name)
        page.get_by_role("button", name="Compare").click()
        return [page.get_by_label(f"Model {one}").evaluate("field => field.validationMessage") for one in "AB"]

    assert page.locator("#result").is_hidden()
    assert page.locator("#status").text_content() == "Choose two models or more."
    best, second, *_ = [shared_site.board.by_id[name].metadata.name for name in shared_site.board.overall]
    assert page.locator("#suggested a").first.text_content() == f"{second} or {best}?"
    assert compare(A="nobody", B="middle")[0] == "No model has this name."
    assert "models fit" in compare(A="TURK", B="org/")[1]
    compare(B="middle")
    page.wait_for_selector("#result:visible")
    assert page.url.endswith("compare.html?a=turkish&b=model-1")
    assert page.locator("#suggested").is_hidden()
    assert [texts[:2] for texts, _, _ in shown(page)] == [["T2", "Turkish"]]
    compare(B=page.locator("#models option[data-id=hostile-0]").get_attribute("value"))
    page.locator("#status", has_text="no task in common").wait_for()


def test_language_models_are_compared_with_each_other(open_both):
    page = open_both("compare.html?a=org-near&b=org-gold")
    page.wait_for_selector("#most:visible")
    assert page.locator("#overall li").first.text_content().startswith("All kinds: ")
    rows = {tuple(texts[:2]): texts for texts, _, _ in shown(page)}
    assert [number(text) for text in rows["Meaning", "Turkish"][3:5]] == [0, 1]
    assert ("Equivalent", "Turkish → Uzbek") in rows
    assert page.locator("#differing tbody td").all_text_contents()[3:5] == ["wrong", "right"]
    mixed = open_both("compare.html?a=org-even&b=org-gold")
    mixed.locator("#status", has_text="no task in common").wait_for()


def test_a_comparison_loads_less_than_a_megabyte_and_on_a_phone_the_difference_stands_first(open_page, shared_site):
    page = open_page("data.html", viewport={"width": 390, "height": 800})
    loaded = set()
    page.on("request", lambda request: loaded.add(request.url.partition("?")[0]))
    page.goto(f"file://{shared_site.folder}/compare.html?a=model-1&b=model-2")
    page.wait_for_selector("#most:visible")
    assert {f"file://{shared_site.folder}/scores/{name}.js" for name in ("model-1", "model-2")} <= loaded
    assert sum(Path(url.removeprefix("file://")).stat().st_size for url in loaded) < 1_000_000
    row = page.locator("#differences tbody tr").first
    tops = [row.locator("th, td").nth(place).bounding_box()["y"] for place in range(8)]
    assert tops[5] < min(tops[2:5] + tops[6:])


def test_four_models_are_compared_pair_by_pair_with_one_correction(open_comparison):
    page, models = open_comparison("model-1", "model-2", "model-3", "turkish")  # the last has T2 in Turkish alone
    rows = report_rows(*models)
    assert len(rows) == 3 * (4 + 1 + 1 + 4 + 1 + 5 + 1) + 3  # three whole pairs; with D only T2 in Turkish
    for (_, figures, _), row in zip(shown(page), rows.values(), strict=True):
        assert figures == figures_of(row)
    for task, whole in (("T1", MACRO), ("T2", "tur"), ("spans", MACRO)):
        letters = "ABCD" if task == "T2" else "ABC"
        wanted = []
        for one in letters:
            for other in letters:
                row = rows.get((min(one, other) + max(one, other), task, whole))
                winner = row and row.winner and (max if row.winner == "B" else min)(one, other)
                wanted.append("" if winner is None else "better" if winner == one else "worse")
        cells = page.locator(f"table[data-task={task}] tbody td:nth-child(n + 3)")
        classes = cells.evaluate_all("all => all.map(one => one.className === 'none' ? '' : one.className)")
        assert classes == wanted
        assert {"better", "worse", ""} <= set(classes) or task != "spans"
    sentences = page.locator("#verdict li").all_text_contents()
    assert [sentence.partition(":")[0] for sentence in sentences] == ["T1", "T2", "T3", "Spans"]
    assert sentences[0].endswith("not submitted by turkish.")
    assert page.locator("#summary tbody th").all_text_contents() == ["T2"]  # what all four have
    page.set_viewport_size({"width": 390, "height": 800})
    names = page.locator("#matrices th[scope=row] a")
    assert set(names.all_text_contents()) == {"middle", "big", "unknown", "turkish"}
    assert min(names.evaluate_all("all => all.map(link => link.getBoundingClientRect().width)")) > 20


def test_the_concepts_that_differ_most_are_named_with_texts_and_ranks(open_comparison):
    page, (first, second) = open_comparison("model-0", "model-3")
    gaps = {}  # concept -> the largest difference of nDCG in T1, its language, and its ranks
    for one, other in zip(first.of_task("T1"), second.of_task("T1"), strict=True):
        for concept, a, b in zip(one.concepts, one.sums[:, 0].tolist(), other.sums[:, 0].tolist(), strict=True):
            ranks = [f"rank {round(2 ** (1 / ndcg) - 1)}" for ndcg in (a, b)]
            gaps[concept] = max(gaps.get(concept, (0,)), (abs(a - b), LANGUAGES[one.language].name, ranks))
    expected = []
    for concept in sorted(gaps, key=lambda concept: -gaps[concept][0])[:4]:
        _, language, ranks = gaps[concept]
        texts = [f"{name} {concept} <b onclick=1>" for name in ("Turkish", language)]
        expected.append([concept, f"T1, Turkish → {language}", *texts, *ranks])
    rows = page.locator("#differing tbody tr").evaluate_all(
        "all => all.map(row => [...row.cells].map(one => one.textContent))"
    )
    assert rows[:4] == expected
    assert [row[1][:2] for row in rows] == [*["T1"] * 4, *["T2"] * 4, *["T3"] * 4, *["Sp"] * 4]
    page.locator("#differing a").first.click()
    page.wait_for_selector(".concept.linked")
