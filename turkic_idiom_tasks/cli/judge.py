"""``turkic-idiom judge``: verdicts on the explanations that language models gave."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from turkic_idiom_tasks.cli.build_lexicon import Verdicts, judge_cases, print_judged, write_judged
from turkic_idiom_tasks.cli.language_model import (
    DEFAULT_CACHE,
    DEFAULT_CONCURRENCY,
    BaseUrl,
    Cache,
    Concurrency,
    DryRun,
    MaxRequests,
    MaxTokens,
    ModelOptions,
    Panel,
    Prices,
    PromptVersion,
    Set,
    open_session,
)
from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.io.reading import printable


@app.command(
    "judge",
    epilog="Example: turkic-idiom judge results/my-model --model gpt-4.1 --model mistral-large",
)
def judge_command(
    samples: Annotated[
        list[Path],
        typer.Argument(metavar="SAMPLES...", help="Sample files of lm-eval, logs of Inspect, JSONL, or folders."),
    ],
    models: Panel,
    verdicts: Verdicts = None,
    base_url: BaseUrl = None,
    cache: Cache = DEFAULT_CACHE,
    prompt: PromptVersion = None,
    max_requests: MaxRequests = None,
    max_tokens: MaxTokens = None,
    concurrency: Concurrency = DEFAULT_CONCURRENCY,
    dry_run: DryRun = False,
    prices: Prices = None,
    values: Set = None,
) -> None:
    """Have a model, or a panel of several, rate explanations of idioms against the meaning in the lexicon.

    The explanations are the answers of the task explain, whose samples lm-eval writes with --log_samples. The verdicts
    are HIGH, MEDIUM or LOW, printed as shares by language with intervals, and written with their reasons beside the
    samples.
    """
    from hub_datasets.explanations import read_explanations

    cases = read_explanations(samples)
    options = ModelOptions(models, base_url, cache, max_requests, max_tokens, concurrency, dry_run, prices, values)
    with open_session(options) as session:
        judged = judge_cases(session, cases, prompt)
    if judged is None:
        session.print_estimates()
        return
    first = samples[0]
    verdicts = verdicts or (first / "verdicts.jsonl" if first.is_dir() else Path(f"{first}-verdicts.jsonl"))
    write_judged(judged, verdicts)
    print_judged(judged)
    sys.stdout.write(printable(f"{verdicts}: {len(judged)} verdicts\n"))
