"""Measure whether a leaderboard of hundreds of submissions builds in linear time and opens at once.

For 4, 68 and 500 made-up submissions, with as many queries and sentences as the bundled lexicon has:

- build_seconds: intervals, ranking with tie groups, and writing every file of the site; the scores are given.
- page_kb, items_kb, compare_kb: what the overview, the browser of concepts and a comparison load, 1000 bytes.
- site_mb: all files, 10**6 bytes.
- interactive_seconds: from the start of the navigation until the table can be searched and sorted, median of five
  loads from file:// in headless Chromium; None without Chromium or playwright.
- filter_seconds: from the choice of a type of models until the models that are left are ranked again and painted,
  median of five.
- sort_seconds: a click on a column title until the rows stand in the new order, median of five.
- compare_seconds: from the start of the navigation until the comparison of two models is shown, median of five.

Beside them `rescore_seconds`, what reading and scoring one submission takes that holds every task (median of three;
T1 to T3 with 100 documents a query).
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from common import parser, seconds

from leaderboard.board import ScoredSubmission, make_board, score_submission
from leaderboard.data import BoardData, SubsetItems, board_data
from leaderboard.site import write_site
from leaderboard.submission import Metadata, Submission, read_submission, slug, submission_files
from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.results.headlines import Headline
from turkic_idiom_tasks.results.model_predictions import KNOWN_REGIMES, MODEL_TYPES
from turkic_idiom_tasks.results.predictions import SPANS, Rankings, SubsetKey, Tags
from turkic_idiom_tasks.results.scored import ScoredSubset

SIZES = (4, 68, 500)
LOADS = 5
SEED = 42
_FILTER = """async () => {
  const choice = document.querySelector("select[name=type]");
  const start = performance.now();
  choice.selectedIndex = 1;
  choice.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise(painted => requestAnimationFrame(() => setTimeout(painted)));
  return performance.now() - start;
}"""  # milliseconds
CUT = 100  # documents per query of the submission that is scored


def make_up_submissions(data: BoardData, n: int) -> list[ScoredSubmission]:
    """Return `n` scored submissions with every task, each of another skill."""
    generator = np.random.default_rng(SEED)
    submissions = []
    for number in range(n):
        skill = generator.uniform(0.05, 0.8)
        subsets = tuple(_make_up_score(subset, skill, generator) for subset in data.subsets)
        submissions.append(
            ScoredSubmission(f"model-{number:04d}", _metadata(data.path, data.revision, number), subsets)
        )
    return submissions


def _metadata(path: str, revision: str, number: int) -> Metadata:
    return Metadata(
        name=f"organisation/model-with-a-name-{number:04d}",
        revision=f"{number:040x}",
        n_parameters=10**7 * (1 + number % 97),
        type=MODEL_TYPES[number % len(MODEL_TYPES)],
        regime=KNOWN_REGIMES[number % len(KNOWN_REGIMES)],
        training_data="Wikipedia; no idioms of the benchmark",
        pooling="mean",
        few_shot=None,
        dataset=path,
        dataset_revision=revision,
        versions={"mteb": "2.10.0", "torch": "2.6.0"},
        contact="@someone",
    )


def _make_up_score(subset: SubsetItems, skill: float, generator: np.random.Generator) -> ScoredSubset:
    if subset.pool is None:
        right = (generator.random(subset.n) < skill).astype(float)
        sums = np.stack([2 * right, np.full(subset.n, 2.0)], axis=1)
        main = float(right.mean())
        scores = dict.fromkeys(("span_f1", "span_precision", "span_recall", "token_f1"), main)
        scores["token_accuracy"] = 0.9
    else:
        ranks = np.ceil(subset.pool ** ((1 - skill) * generator.random(subset.n)))
        sums = np.stack([1 / np.log2(1 + ranks), np.ones(subset.n)], axis=1)
        main = float(sums[:, 0].mean())
        scores = dict.fromkeys(("ndcg_at_10", "mrr", "recall_at_1", "recall_at_5", "recall_at_10"), skill)
        scores |= {"ndcg": main, "ndcg_floor": subset.floor}
        scores["ndcg_corrected"] = (main - subset.floor) / (1 - subset.floor)
    counted = [place for place, item in enumerate(subset.texts) if item in (subset.spelling_free or subset.texts)]
    headline = None
    if subset.headline_floor is not None:
        of_headline = sums if len(counted) == subset.n else sums[counted]  # the same array is not resampled again
        headline = Headline(tuple(subset.concepts[place] for place in counted), of_headline, subset.headline_floor)
    return ScoredSubset(
        task=subset.task,
        subset=subset.name,
        language=subset.language,
        items=tuple(subset.texts),
        concepts=subset.concepts,
        sums=sums,
        floor=subset.floor,
        headline=headline,
        scores=scores,
    )


def measure(data: BoardData, n: int, folder: Path) -> dict[str, float | None]:
    """Return the figures of one size; the site is left in the folder."""
    submissions = make_up_submissions(data, n)
    build_seconds = seconds(lambda: write_site(make_board(submissions, data), folder))
    page = ("index.html", "static/site.css", "static/table.js", "static/theme.js")
    return {
        "submissions": n,
        "build_seconds": round(build_seconds, 2),
        "page_kb": round(sum((folder / name).stat().st_size for name in page) / 1000, 1),
        "site_mb": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 10**6, 1),
    } | time_in_browser(folder)


def time_in_browser(folder: Path) -> dict[str, float | None]:
    """Return interactive_seconds, filter_seconds, sort_seconds and compare_seconds."""
    names = ("interactive_seconds", "filter_seconds", "sort_seconds", "compare_seconds")
    weights: dict[str, float | None] = {"items_kb": None, "compare_kb": None}
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return dict.fromkeys(names) | weights
    if chromium is None:
        return dict.fromkeys(names) | weights
    times: dict[str, list[float]] = {name: [] for name in names}
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        for _ in range(LOADS):
            start = time.perf_counter()
            page.goto(f"file://{folder}/index.html", wait_until="commit")
            page.wait_for_selector("html[data-ready=table]", state="attached")
            page.fill("input[name=q]", "0001")
            times["interactive_seconds"].append(time.perf_counter() - start)
            page.fill("input[name=q]", "")
            times["filter_seconds"].append(page.evaluate(_FILTER) / 1000)
            page.select_option("select[name=type]", "")
            start = time.perf_counter()
            page.click("th[data-key=T2] button")
            page.wait_for_selector("th[data-key=T2][aria-sort=descending]")
            times["sort_seconds"].append(time.perf_counter() - start)
            start = time.perf_counter()
            page.goto(f"file://{folder}/compare.html?a=model-0000&b=model-0001", wait_until="commit")
            page.wait_for_selector("#result:visible")
            times["compare_seconds"].append(time.perf_counter() - start)
        for name, address, sign in (
            ("items_kb", "items.html", "html[data-ready=concepts]"),
            ("compare_kb", "compare.html?a=model-0000&b=model-0001", "#most:visible"),
        ):
            loaded: set[str] = set()
            page = browser.new_page()
            page.on("request", lambda request, loaded=loaded: loaded.add(request.url.partition("?")[0]))
            page.goto(f"file://{folder}/{address}")
            page.wait_for_selector(sign, state="attached")
            n_bytes = sum(Path(url.removeprefix("file://")).stat().st_size for url in loaded)
            weights[name] = round(n_bytes / 1000, 1)
        browser.close()
    return weights | {name: round(statistics.median(values), 3) for name, values in times.items()}


def rescore_seconds(dataset: Dataset, folder: Path) -> float:
    """Return the seconds to read and score a submission of every task, from its files."""
    generator = np.random.default_rng(SEED)
    predictions: dict[SubsetKey, Rankings | Tags] = {}
    for task in TASKS:
        for subset in dataset.subsets(task):
            pool = dataset.pool(task, subset)
            similarities = generator.random((len(pool.queries), len(pool.documents)))
            above = np.minimum(Rankings.from_similarities(pool, similarities).above, CUT)
            n_listed = np.minimum((above < CUT).sum(axis=1), CUT).astype(np.int32)
            predictions[task, subset] = Rankings(pool, above, n_listed)
    for language in dataset.span_languages:
        sentences = dataset.test_sentences(language)
        letters = tuple("".join(tag[0] for tag in row.tags) for row in sentences.rows)
        predictions[SPANS, language] = Tags(sentences, letters)
    metadata = _metadata(dataset.path, dataset.revision, 0)
    place = folder / slug(metadata)
    place.mkdir(parents=True)
    for name, content in submission_files(metadata, predictions).items():
        (place / name).write_bytes(content)

    def read_and_score() -> None:
        submission = read_submission(place, dataset)
        assert isinstance(submission, Submission)
        score_submission(submission)

    times = [seconds(read_and_score) for _ in range(3)]
    return round(statistics.median(times), 2)


def main() -> None:
    """Measure and print."""
    options = parser(__doc__).parse_args()
    dataset = open_dataset()
    data = board_data(dataset)
    with tempfile.TemporaryDirectory() as folder:
        measure(data, 5, Path(folder) / "warm-up")
        rows = [measure(data, n, Path(folder) / str(n)) for n in SIZES]
        figures = {"rescore_seconds": rescore_seconds(dataset, Path(folder) / "submissions"), "builds": rows}
    if options.json:
        print(json.dumps(figures))
        return
    print("  ".join(f"{name:>19s}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value!s:>19s}" for value in row.values()))
    print(f"rescore_seconds {figures['rescore_seconds']}")


if __name__ == "__main__":
    main()
