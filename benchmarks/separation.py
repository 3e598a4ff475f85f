"""Whether each headline separates encoders that understand more from those that understand less.

    python benchmarks/separation.py [--json] [--work FOLDER]

Scores five models on T1 to T4 and STS: ``spelling`` (the built-in character n-grams), ``minilm`` (English), ``use-v3``
and ``me5`` (multilingual), and ``me5-tuned`` (tr-only with the default settings, the seed 42). A folder given with
--work keeps the results, so a second run only reads them. For each headline it prints the chance-corrected scores, mean
over the languages that are not provisional, with 95% intervals, and

- spelling_at_chance: whether the interval of the n-grams includes 0;
- use_below_me5, tuned_above_untuned: whether the interval of the paired difference lies on that side of 0;
- smallest_difference: between two models that the items can show with a power of 80%: 2.8 standard deviations of the
  paired difference under resampling of concepts, median over the pairs of the four real encoders.

Models come from the extra `bench`; see encoders.py and use_encoder.py. The first run takes about an hour on two cores.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import minilm, parser
from encoders import real_encoder

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.languages import counted
from turkic_idiom_tasks.metrics.bootstrap import Resampled, difference, mean
from turkic_idiom_tasks.runs.run import run_models
from turkic_idiom_tasks.runs.run_options import make_options

HEADLINES = {  # task -> the score that is corrected for chance
    "T1": "ndcg_spelling_free",
    "T2": "ndcg",
    "T3": "ndcg",
    "T4": "sense_accuracy",
    "STS": "sense_accuracy",
}
POWER = 1.96 + 0.84  # quantiles of the normal distribution for 5% two-sided and 80%


def headlines(work: Path) -> dict[str, dict[str, Resampled]]:
    """Return task -> model -> its headline, mean over the languages."""
    me5, tuned = real_encoder(), work / "me5-tuned"
    if not tuned.exists():
        command = ["finetune", "retrieval", "-m", str(me5), "--regime", "tr-only", "--out", str(tuned)]
        subprocess.run([sys.executable, "-m", "turkic_idiom_tasks", *command], check=True)
    models = {
        "spelling": "turkic-idiom/char-ngrams",
        "minilm": str(minilm()),
        "use-v3": f"{Path(__file__).parent / 'use_encoder.py'}:MultilingualUse",
        "me5": str(me5),
        "me5-tuned": str(tuned),
    }
    dataset = open_dataset()
    by_task: dict[str, dict[str, Resampled]] = {task: {} for task in HEADLINES}
    for short, model in models.items():
        runs = list(run_models([model], dataset, make_options(tasks=list(HEADLINES), output=work / "results")))
        for task, run in zip(HEADLINES, runs, strict=True):
            parts = [run.subsets[subset].resampled_headline(None) for subset in counted(run.subsets)]
            by_task[task][short] = mean([part for part in parts if part])
    return by_task


def separation(scores: dict[str, Resampled]) -> dict[str, Any]:
    """Return what one headline shows of the models."""
    intervals = {model: scored.interval() for model, scored in scores.items()}
    real = [scored for model, scored in scores.items() if model != "spelling"]
    deviations = [difference(second, first).draws.std() for first, second in itertools.combinations(real, 2)]
    above_use = difference(scores["me5"], scores["use-v3"]).interval()
    above_untuned = difference(scores["me5-tuned"], scores["me5"]).interval()
    return {
        "chance": 0.0,
        "scores": {
            model: [round(value, 4) for value in (scored.score, intervals[model].low, intervals[model].high)]
            for model, scored in scores.items()
        },
        "spelling_at_chance": intervals["spelling"].low <= 0 <= intervals["spelling"].high,
        "use_below_me5": above_use.low > 0,
        "tuned_above_untuned": above_untuned.low > 0,
        "smallest_difference": round(POWER * float(statistics.median(deviations)), 4),
    }


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--work", type=Path, metavar="FOLDER", help="keeps results; default: a temporary folder")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        by_task = headlines(arguments.work or Path(temporary))
    rows = [{"task": task, "headline": HEADLINES[task]} | separation(scores) for task, scores in by_task.items()]
    if arguments.json:
        print(json.dumps({"headlines": rows}))
        return
    for row in rows:
        print(row["task"])
        for name, value in row.items():
            print(f"  {name:20s} {value}")


if __name__ == "__main__":
    main()
