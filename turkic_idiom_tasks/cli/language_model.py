"""What the commands that ask a language model share: their options, the session with its cache, and the dry run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.progress import Progress

from turkic_idiom_tasks.cli.dataset import print_rows
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import display, first_fault, printable, read_yaml

if TYPE_CHECKING:
    from hub_datasets.language_model import LanguageModel
    from hub_datasets.questions import Budget, Estimate, Question, Reply

Model = Annotated[str, typer.Option("--model", metavar="NAME", help="Name of the model on its server.")]
Panel = Annotated[
    list[str],
    typer.Option("--model", metavar="NAME", help="Name of the model on its server; repeat it for a panel that votes."),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Server that speaks OpenAI's protocol, mostly ending in /v1.  [default: OPENAI_BASE_URL, then OpenAI]",
    ),
]
Cache = Annotated[
    Path,
    typer.Option("--cache", metavar="FILE", help="Every answer is appended to it, and none is asked for twice."),
]
PromptVersion = Annotated[
    int | None,
    typer.Option("--prompt", metavar="N", help="Version of the prompt: 1 is the paper's wording.  [default: newest]"),
]
MaxRequests = Annotated[
    int | None, typer.Option("--max-requests", min=1, metavar="N", help="Stop before another request is sent.")
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, metavar="N", help="Stop when questions and answers have so many.")
]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, max=256, metavar="N", help="Requests at a time.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print requests, tokens and cost, and send nothing.")]
Prices = Annotated[
    Path | None,
    typer.Option(
        "--prices", metavar="FILE", help="YAML for --dry-run, per million tokens: {NAME: {input: 2.0, output: 8.0}}."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="temperature (a number, or default), answer_tokens, seed, structured (true, false), stream (true, "
        "false), timeout (seconds); may be repeated.",
    ),
]
Plant = Annotated[
    float | None,
    typer.Option(
        "--plant",
        min=0.001,
        max=1.0,
        metavar="SHARE",
        help="Also ask about copies of this share of the entries, each with one known error.",
    ),
]
MinCaught = Annotated[
    float | None,
    typer.Option("--min-caught", min=0.0, max=1.0, metavar="SHARE", help="Fail if fewer planted errors are caught."),
]
DEFAULT_CACHE = Path("language-model-answers.jsonl")
DEFAULT_CONCURRENCY = 4


class _Set(BaseModel):
    """Values of --set."""

    model_config = ConfigDict(extra="forbid")

    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    answer_tokens: Annotated[int, Field(ge=1)] = 4096
    seed: int | None = None
    structured: bool = True
    stream: bool = False
    timeout: Annotated[float, Field(gt=0)] = 120.0


class _Price(BaseModel):
    """Price of a model per million tokens, in whatever currency the file uses."""

    model_config = ConfigDict(extra="forbid")

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a command that say which models are asked, and how."""

    models: Sequence[str]
    base_url: str | None
    cache: Path
    max_requests: int | None
    max_tokens: int | None
    concurrency: int
    dry_run: bool
    prices: Path | None
    values: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Session:
    """Models that share a cache and a budget; a dry run counts what would be sent."""

    models: Sequence[LanguageModel]
    budget: Budget
    is_dry: bool
    estimates: list[tuple[str, str, Estimate]]
    prices: Mapping[str, _Price]

    def ask(self, model: LanguageModel, questions: Sequence[Question]) -> list[Reply] | None:
        """Return the replies; None in a dry run."""
        name = model.settings.model
        if self.is_dry:
            by_prompt: dict[str, list[Question]] = {}
            for question in questions:
                by_prompt.setdefault(question.prompt, []).append(question)
            for prompt, own in by_prompt.items():
                self.estimates.append((name, prompt, model.estimate(own)))
            return None
        with Progress(transient=True, disable=not sys.stderr.isatty()) as progress:
            bar = progress.add_task(printable(name), total=len(questions))
            replies = model.ask(
                questions, progress=lambda done, total: progress.update(bar, completed=done, total=total)
            )
        n_unreadable = sum(reply.value is None for reply in replies)
        line = (
            f"{name}: {len(replies)} questions, {model.n_sent} requests sent, {self.budget.tokens:,} tokens so far; "
            f"{model.n_repaired} asked again because the answer was not readable, {n_unreadable} without a readable one"
        )
        sys.stderr.write(printable(line) + "\n")
        return replies

    def print_estimates(self) -> None:
        """Print what the questions of a dry run would cost."""
        rows = []
        for model, prompt, estimate in self.estimates:
            price = self.prices.get(model)
            cost = "unknown"
            if price is not None:
                tokens_at_price = estimate.prompt_tokens * price.input + estimate.answer_tokens * price.output
                cost = f"{tokens_at_price / 1e6:.2f}"
            tokens = [f"{estimate.prompt_tokens:,}", f"{estimate.answer_tokens:,}"]
            rows.append([f"{printable(model)} {prompt}", estimate.questions, estimate.requests, *tokens, cost])
        head = ["model and prompt", "questions", "requests", "tokens in", "out", "cost"]
        print_rows(rows, sys.stdout, head=head)
        sys.stdout.write(
            "nothing was sent; tokens are estimated, and requests for answers that cannot be read come on top\n"
        )


@contextmanager
def open_session(options: ModelOptions) -> Iterator[Session]:
    """Give the models that a command asks, and hold their cache.

    Raises:
        InputError: an option or the file of prices is wrong, or the cache is in use.
    """
    from hub_datasets.answer_cache import open_cache
    from hub_datasets.language_model import LanguageModel
    from hub_datasets.questions import Budget, Settings

    values = _set_values(options.values or ())
    prices = _read_prices(options.prices)
    budget = Budget(options.max_requests, options.max_tokens)
    with open_cache(options.cache) as cache:
        if cache.n_damaged:
            sys.stderr.write(printable(f"{options.cache}: {cache.n_damaged} damaged lines are skipped\n"))
        models = []
        for name in dict.fromkeys(options.models):
            if not name.strip():
                raise usage_error("--model is empty; give the name of a model on the server")
            settings = Settings(name, options.base_url, concurrency=options.concurrency, **values.model_dump())
            models.append(LanguageModel(settings, cache, budget))
        yield Session(models, budget, options.dry_run, [], prices)


def check_caught(caught: Sequence[tuple[str, bool]], *, min_caught: float | None) -> None:
    """Print how many planted errors were caught, by kind.

    Raises:
        InputError: fewer than `min_caught` were.
    """
    from hub_datasets.planting import count_by_kind

    if not caught:
        return
    rows = []
    for kind, (n_caught, n_planted) in count_by_kind(caught).items():
        rows.append([kind, n_planted, n_caught, f"{n_caught / n_planted:.1%}"])
    n_caught = sum(is_caught for _, is_caught in caught)
    rows.append(["all", len(caught), n_caught, f"{n_caught / len(caught):.1%}"])
    print_rows(rows, sys.stdout, head=["planted error", "planted", "caught", "share"])
    if min_caught is not None and n_caught / len(caught) < min_caught:
        raise InputError(
            f"{n_caught / len(caught):.1%} of the planted errors were caught, fewer than the {min_caught:.1%} of "
            "--min-caught; these verdicts do not count, choose another model or prompt"
        )


def _set_values(texts: Sequence[str]) -> _Set:
    values: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise usage_error(f"--set {display(text)}: expected NAME=VALUE")
        values[name.strip()] = None if value.strip() == "default" and name.strip() == "temperature" else value.strip()
    try:
        return _Set.model_validate(values)
    except ValidationError as error:
        known = ", ".join(_Set.model_fields)
        raise usage_error(f"--set {first_fault(error)}; known: {known}") from error


def _read_prices(path: Path | None) -> dict[str, _Price]:
    if path is None:
        return {}
    rows = read_yaml(path)
    if not isinstance(rows, dict):
        raise InputError(f"{path}: expected NAME: {{input: …, output: …}} for each model, found {display(rows)}")
    prices = {}
    for name, row in rows.items():
        try:
            prices[str(name)] = _Price.model_validate(row)
        except ValidationError as error:
            fault = first_fault(error)
            raise InputError(f"{path}: {display(name)}: {fault}; expected {{input: …, output: …}}") from error
    return prices
