"""The page of all items: right answers, who finds them, and its links, in a real browser."""

import re

import numpy as np
import pytest

from leaderboard.board import make_board
from leaderboard.data import board_data
from leaderboard.scripts import concepts_data
from tests.leaderboard.boards_for_tests import make_data, scored_of
from turkic_idiom_tasks.dataset.retrieval import Pool, RetrievalData
from turkic_idiom_tasks.results.predictions import Rankings
from turkic_idiom_tasks.results.scored import score_subset


def test_a_right_answer_is_first_if_no_wrong_one_ties_with_it():
    documents = {f"azj:{name}": name for name in "abcd"}
    qrels = {"tur:1": ["a", "b"], "tur:2": ["a"], "tur:3": ["a"], "tur:4": ["a", "b"]}
    judgements = {query: {f"azj:{name}": 1 for name in names} for query, names in qrels.items()}
    pool = Pool("T1", "tur-azj", RetrievalData(dict.fromkeys(qrels, ""), documents, judgements))
    similarities = np.array(
        [
            [9, 9, 1, 0],  # both right answers tie at the top: first in any order
            [9, 1, 9, 0],  # a wrong one ties with the right one
            [8, 9, 1, 0],  # second
            [0, 9, 8, 7],  # one of two right answers is first; the other is last
        ],
        dtype=float,
    )
    assert score_subset(Rankings.from_similarities(pool, similarities)).solved.tolist() == [True, False, False, True]


@pytest.fixture(scope="module")
def three_models():
    """Three concepts in two languages; T1 of the Azerbaijani ones is right first in 2, 1 and 0 of two models."""
    data = make_data(3, languages=("tr", "az"))
    first = scored_of("a", data, {("T1", "tur-azj"): [1, 1, 0.5]})
    second = scored_of(
        "b", data, {("T1", "tur-azj"): [1, 0.5, 0.5], ("spans", "tr"): [[1, 1, 1], [1, 2, 1], [0, 0, 1]]}
    )
    return make_board([first, second, scored_of("c", data, {("spans", "tr"): [[1, 1, 1]] * 3})], data)


def test_models_that_solve_an_item_are_counted(three_models):
    rows = {row["id"]: row for row in concepts_data(three_models)["concepts"]}
    found = {name: {item[0]: item[3] for item in row["items"]} for name, row in rows.items()}
    assert [found[name]["T1/tur-azj"] for name in sorted(found)] == [2, 1, 0]
    assert [found[name]["spans/tr"] for name in sorted(found)] == [2, 1, 1]  # a span too many, and none, are not exact
    subsets = concepts_data(three_models)["subsets"]
    assert (subsets["T1/tur-azj"]["models"], subsets["spans/tr"]["models"], subsets["T2/tur"]["models"]) == (2, 2, 0)


def test_concepts_of_the_lexicon_have_their_texts_and_all_right_answers(submission_dataset):
    rows = concepts_data(make_board([], board_data(submission_dataset)))["concepts"]
    lexicon = submission_dataset.lexicon
    assert [row["id"] for row in rows] == sorted(lexicon.concepts)
    row = next(row for row in rows if "uz" in row["entries"] and "items" in row)
    entry = lexicon.of("uz")[row["id"]]
    assert row["entries"]["uz"]["meaning"] == entry.meaning
    assert row["entries"]["uz"]["example"] == [("Ali ", False), (entry.idiom, True), (" dedi.", False)]
    answers = {item[0]: item[1:3] for item in row["items"]}
    assert answers["T3/tur-uzn"] == [lexicon.of("tr")[row["id"]].idiom, entry.meaning]


def display(page):
    """The ids of the concepts that are shown, in their order."""
    return page.locator(".concept h2 code").all_text_contents()


def test_results_stand_beside_the_concepts_and_the_hardest_come_first(open_page, shared_site):
    page = open_page("items.html")
    assert len(display(page)) == 40
    rows = {row["id"]: row for row in concepts_data(shared_site.board)["concepts"]}
    n_exact = {item[0]: item[3] for item in rows["c007"]["items"] if item[0].startswith("spans/")}
    concept = page.locator("#c-c007")
    assert "T1 0 of 16 ·" in concept.locator("summary").inner_text()  # four models, four languages; none is first
    assert concept.locator("summary").inner_text().endswith(f"Spans {sum(n_exact.values())} of 55")
    concept.locator("summary").click()
    line = concept.locator("li", has_text="Spans, Uzbek")
    assert line.inner_text().endswith(f"(marked exactly by {n_exact['spans/uz']} of 11)")
    assert line.locator("[lang=uz]").first.inner_text() == "Uzbek c007 <b onclick=1>"
    page.select_option("select[name=task]", "Spans")
    page.select_option("select[name=order]", "hardest")
    shares = []
    for name in display(page):
        counts = [item[3] for item in rows[name]["items"] if item[0].startswith("spans/")]
        shares.append(sum(counts) / (11 * len(counts)))  # Gagauz has no sentence of most concepts
    assert len(set(shares)) > 3
    assert shares == sorted(shares)
    assert re.search("#task=Spans&order=hardest$", page.url)
    page.go_back()
    assert display(page) == sorted(rows)


def test_a_hard_item_of_a_model_leads_to_its_concept(open_page):
    page = open_page("models/model-0.html")
    page.locator("summary").first.click()
    link = page.locator(".texts a").first
    concept = re.search("c[0-9]{3}", link.inner_text())[0]
    link.click()
    page.wait_for_selector(".concept.linked")
    assert page.url.endswith(f"items.html#c-{concept}")
    assert page.locator(".concept.linked h2 code").inner_text() == concept
    assert page.evaluate("document.activeElement.id") == f"c-{concept}"
    assert page.locator(".concept.linked details[open]").count() == 1


def test_the_page_itself_is_small(shared_site):
    assert (shared_site.folder / "items.html").stat().st_size < 10_000
