"""Whether a leaderboard of hundreds of submissions builds in linear time and opens at once.

For 50, 100, 200 and 500 made-up submissions, with as many queries and sentences as the bundled lexicon has:

- build_seconds: ranking with tie groups, and writing every file of the site; the scores are given.
- page_kb: the overview with its style and scripts, 1000 bytes.
- site_mb: all files, 10**6 bytes.
- interactive_seconds: from the start of the navigation until the table can be searched and sorted, median of five
  loads from file:// in headless Chromium; None without Chromium or playwright.
- sort_seconds: a click on a column title until the rows stand in the new order, median of five.

Beside them `rescore_seconds`, what reading and scoring one submission takes that holds every task (median of three;
T1 to T3 with 100 documents a query).
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from leaderboard.data import Data
    from leaderboard.records import Metadata, Record, SubsetScore

SIZES = (50, 100, 200, 500)
LOADS = 5
SEED = 42


def made_up_records(data: Data, n: int) -> list[Record]:
    """`n` records with every task, each of another skill."""
    from leaderboard.records import Record

    generator = np.random.default_rng(SEED)
    records = []
    for number in range(n):
        skill = generator.uniform(0.05, 0.8)
        subsets = tuple(_made_up_score(subset, skill, generator) for subset in data.subsets)
        records.append(Record(f"model-{number:04d}", _metadata(data, number), subsets))
    return records


def _metadata(data: Data, number: int) -> Metadata:
    from leaderboard.records import REGIMES, TYPES, Metadata

    return Metadata(
        name=f"organisation/model-with-a-name-{number:04d}",
        revision=f"{number:040x}",
        n_parameters=10**7 * (1 + number % 97),
        type=TYPES[number % len(TYPES)],
        regime=REGIMES[number % len(REGIMES)],
        training_data="Wikipedia; no idioms of the benchmark",
        pooling="mean",
        few_shot=None,
        dataset=data.path,
        dataset_revision=data.revision,
        versions={"mteb": "2.10.0", "torch": "2.6.0"},
        contact="@someone",
    )


def _made_up_score(subset: Any, skill: float, generator: np.random.Generator) -> SubsetScore:
    from leaderboard.records import SPANS, SubsetScore

    concepts = tuple(item.partition(":")[2] or item for item in subset.texts)
    if subset.task == SPANS:
        right = (generator.random(subset.n) < skill).astype(float)
        values = np.stack([right, np.ones(subset.n), np.ones(subset.n)], axis=1)
        scores = dict.fromkeys(("span_f1", "span_precision", "span_recall", "token_f1"), float(right.mean()))
        main = scores["span_f1"]
        scores["token_accuracy"] = 0.9
    else:
        ranks = np.ceil(subset.pool ** ((1 - skill) * generator.random(subset.n)))
        values = (1 / np.log2(1 + ranks))[:, np.newaxis]
        main = float(values.mean())
        scores = dict.fromkeys(("ndcg_at_10", "mrr", "recall_at_1", "recall_at_5", "recall_at_10"), skill)
        scores |= {"ndcg": main, "ndcg_floor": subset.floor}
        scores["ndcg_corrected"] = (main - subset.floor) / (1 - subset.floor)
    return SubsetScore(
        task=subset.task,
        subset=subset.name,
        language=subset.language,
        n=subset.n,
        scores=scores,
        low=main - 0.03,
        high=main + 0.03,
        items=tuple(subset.texts),
        clusters=concepts,
        values=values,
    )


def measure(data: Data, n: int, folder: Path) -> dict[str, float | None]:
    """The figures of one size; the site is left in the folder."""
    from leaderboard.overview import make_board
    from leaderboard.site import build_site

    records = made_up_records(data, n)
    start = time.perf_counter()
    written = build_site(make_board(records, data), folder)
    seconds = time.perf_counter() - start
    page = ("index.html", "static/site.css", "static/table.js", "static/theme.js")
    interactive, sort = in_browser(folder)
    return {
        "submissions": n,
        "build_seconds": round(seconds, 2),
        "page_kb": round(sum((folder / name).stat().st_size for name in page) / 1000, 1),
        "site_mb": round(sum(path.stat().st_size for path in written) / 10**6, 1),
        "interactive_seconds": interactive,
        "sort_seconds": sort,
    }


def in_browser(folder: Path) -> tuple[float | None, float | None]:
    """(interactive_seconds, sort_seconds)."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None, None
    if chromium is None:
        return None, None
    loads, sorts = [], []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        for _ in range(LOADS):
            start = time.perf_counter()
            page.goto(f"file://{folder}/index.html", wait_until="commit")
            page.wait_for_selector("html[data-ready=table]", state="attached")
            page.fill("input[name=q]", "0001")
            loads.append(time.perf_counter() - start)
            page.fill("input[name=q]", "")
            start = time.perf_counter()
            page.click("th[data-key=T2] button")
            page.wait_for_selector("th[data-key=T2][aria-sort=descending]")
            sorts.append(time.perf_counter() - start)
        browser.close()
    return round(statistics.median(loads), 3), round(statistics.median(sorts), 3)


def rescore_seconds(folder: Path) -> float:
    """Seconds to read and score a submission of every task, from its files."""
    from leaderboard.gold import read_gold
    from leaderboard.rescore import load_records

    gold = read_gold()
    _write_submission(folder, gold)
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        list(load_records(folder, gold))
        taken.append(time.perf_counter() - start)
    return round(statistics.median(taken), 2)


def _write_submission(folder: Path, gold: Any) -> None:
    from leaderboard.predictions import pack_ranks, pack_tags
    from leaderboard.records import SPANS
    from leaderboard.submission import METADATA_FILE, PREDICTION_FILES, metadata_json, slug

    generator = np.random.default_rng(SEED)
    metadata = _metadata(gold, 0)
    place = folder / slug(metadata)
    place.mkdir(parents=True)
    (place / METADATA_FILE).write_text(metadata_json(metadata), "utf-8")
    for task, pools in gold.pools.items():
        rankings = {
            subset: {query: generator.permutation(len(pool.documents))[:100].tolist() for query in pool.queries}
            for subset, pool in pools.items()
        }
        (place / PREDICTION_FILES[task]).write_bytes(pack_ranks(rankings, pools))
    tags = {
        code: {row.id: "".join(tag[0] for tag in row.tags) for row in sentences.rows}
        for code, sentences in gold.sentences.items()
    }
    (place / PREDICTION_FILES[SPANS]).write_bytes(pack_tags(tags))


def main() -> None:
    """Measures and prints."""
    from leaderboard.data import current_data

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    data = current_data()
    with tempfile.TemporaryDirectory() as folder:
        measure(data, 5, Path(folder) / "warm-up")
        rows = [measure(data, n, Path(folder) / str(n)) for n in SIZES]
        figures = {"rescore_seconds": rescore_seconds(Path(folder) / "submissions"), "builds": rows}
    if options.json:
        print(json.dumps(figures))
        return
    print("  ".join(f"{name:>19s}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value!s:>19s}" for value in row.values()))
    print(f"rescore_seconds {figures['rescore_seconds']}")


if __name__ == "__main__":
    main()
