"""What the commands that ask language models share: their options, the asking itself, and the dry run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from turkic_idiom_tasks.cli.dataset import print_rows
from turkic_idiom_tasks.cli.options import assigned
from turkic_idiom_tasks.cli.output import print_line
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.models import checked, model_errors
from turkic_idiom_tasks.io.progress import progress
from turkic_idiom_tasks.io.reading import printable, read_yaml
from turkic_idiom_tasks.languages import get_language

if TYPE_CHECKING:
    from hub_datasets.questions import Asking, Question, Reply

_NAME_HELP = (
    "PROVIDER/NAME as Inspect names models, such as anthropic/claude-sonnet-4-5; another NAME is that of a model on a "
    "server with OpenAI's protocol"
)
Model = Annotated[str, typer.Option("--model", metavar="MODEL", help=f"{_NAME_HELP}.")]
Panel = Annotated[
    list[str], typer.Option("--model", metavar="MODEL", help=f"{_NAME_HELP}; repeat it for a panel that votes.")
]
LexiconDirectory = Annotated[Path, typer.Argument(metavar="LEXICON", help="Lexicon directory.")]
Languages = Annotated[
    list[str] | None, typer.Option("--language", "-l", metavar="CODE", help="May be repeated.  [default: all]")
]
Verdicts = Annotated[Path | None, typer.Option("--verdicts", metavar="FILE", help="JSONL with every verdict.")]
Plant = Annotated[
    float | None, typer.Option(min=0.001, max=1.0, metavar="SHARE", help="Ask about copies with a known error too.")
]
MinCaught = Annotated[
    float | None, typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Fail if fewer planted errors are caught.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print requests, tokens and cost, and send nothing.")]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="May be repeated. base_url (of the server, mostly ending in /v1; or OPENAI_BASE_URL), cache (FILE of all "
        "answers, none of which is asked for twice), prompt (version; 1 is the paper's wording), max_tokens (of "
        "questions and answers), max_requests (repeated ones count), concurrency (requests at a time), prices (YAML "
        "for --dry-run, per million tokens: {MODEL: {input: 2.0, output: 8.0}}), temperature (a number, or default), "
        "answer_tokens, seed, structured, stream, timeout (seconds), retries.",
    ),
]


class _Price(BaseModel):
    """Price of a model per million tokens, in whatever currency the file uses."""

    model_config = ConfigDict(extra="forbid")

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


def asking_settings(values: Sequence[str] | None, *, dry_run: bool) -> Asking:
    """Return what ``--set`` and ``--dry-run`` state; see `checked`."""
    from hub_datasets.questions import Asking

    options = {"dry_run": dry_run}
    stated = assigned(values, options=options) | options
    if stated.get("temperature") == "default":
        stated["temperature"] = None
    return checked(Asking, stated, place="--set")


def ask_models(models: Sequence[str], questions: Sequence[Question], settings: Asking) -> dict[str, list[Reply]]:
    """Return model -> replies to the questions, in order; a dry run prints their cost and ends the command."""
    from hub_datasets.questions import estimate, open_answers

    prices: dict[str, _Price] = {}
    if settings.prices is not None:
        with model_errors(settings.prices, "expected MODEL: {input: …, output: …} for each model"):
            prices = TypeAdapter(dict[str, _Price]).validate_python(read_yaml(settings.prices))
    names = list(dict.fromkeys(models))  # a model that is named twice would vote twice
    with open_answers(settings.cache) as answers:
        if answers.n_damaged:
            sys.stderr.write(printable(f"{settings.cache}: {answers.n_damaged} damaged lines are skipped\n"))
        if settings.dry_run:
            rows = []
            for name in names:
                for row in estimate(name, questions, settings, answers):
                    cost = "unknown"
                    if name in prices:
                        price = prices[name]
                        cost = f"{(row.prompt_tokens * price.input + row.answer_tokens * price.output) / 1e6:.2f}"
                    tokens = [f"{row.prompt_tokens:,}", f"{row.answer_tokens:,}"]
                    rows.append([f"{printable(name)} {row.prompt}", row.questions, row.requests, *tokens, cost])
            head = ["model and prompt", "questions", "requests", "tokens in", "out", "cost"]
            note = "nothing was sent; tokens are estimated, and requests for answers that cannot be read come on top"
            print_rows(rows, sys.stdout, head=head)
            print_line(note)
            raise typer.Exit
        from hub_datasets.language_model import LanguageModel  # Inspect takes seconds to import

        spent: Counter[str] = Counter()
        replies: dict[str, list[Reply]] = {}
        for name in names:
            model = LanguageModel(name, answers, settings, spent)
            with progress(name) as show:
                replies[name] = model.ask(questions, progress=show)
            n_unreadable = sum(reply.value is None for reply in replies[name])
            line = (
                f"{name}: {len(questions)} questions, {model.n_sent} requests sent, {spent['tokens']:,} tokens so far; "
                f"{model.n_repaired} asked again because the answer was not readable, {n_unreadable} without a "
                "readable one"
            )
            sys.stderr.write(printable(line) + "\n")
            # Fewer failures in a row than end a run by themselves
            if questions and n_unreadable == len(questions):
                raise InputError(
                    f"{name}: none of the questions has a readable answer, the last one: {replies[name][-1].problem}; "
                    "run the same command again when the server works, or choose another model"
                )
        return replies


def chosen_languages(languages: Iterable[str] | None, known: Mapping[str, object]) -> list[str]:
    """Return the codes of the chosen languages, all of a lexicon by default."""
    codes = [get_language(name).code for name in dict.fromkeys(languages or ())]
    for code in codes:
        if code not in known:
            raise usage_error(f"--language {code}: there are no entries in it; known: {', '.join(known)}")
    return codes or list(known)


def report_caught(caught: Sequence[tuple[str, bool]], *, min_caught: float | None) -> None:
    """Print how many planted errors were caught, by kind; raise an InputError if these are too few."""
    if not caught:
        return
    n_planted = Counter(kind for kind, _ in caught)
    n_caught = Counter(kind for kind, is_caught in caught if is_caught)
    rows = [[kind, total, n_caught[kind], f"{n_caught[kind] / total:.1%}"] for kind, total in n_planted.items()]
    share = n_caught.total() / len(caught)
    rows.append(["all", len(caught), n_caught.total(), f"{share:.1%}"])
    print_rows(rows, sys.stdout, head=["planted error", "planted", "caught", "share"])
    if min_caught is not None and share < min_caught:
        raise InputError(
            f"{share:.1%} of the planted errors were caught, fewer than the {min_caught:.1%} of --min-caught; these "
            "verdicts do not count, choose another model or prompt"
        )
