"""``turkic-idiom lm``: items for language models, their sizes and their baselines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.tasks.items.item_types import TRAPS

if TYPE_CHECKING:
    from turkic_idiom_tasks.dataset.base import Dataset
    from turkic_idiom_tasks.tasks.items.item_types import Item

WIDE = 96  # columns that the table of all baselines needs
OPTIONS = "options"

lm_app = typer.Typer(
    name="lm",
    help="Items for language models: write them, count them, and score baselines that know no idiom.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(lm_app)


class Kind(StrEnum):
    """Kinds of items."""

    meaning = "meaning"
    equivalent = "equivalent"
    usage = "usage"
    cloze = "cloze"


class Split(StrEnum):
    """Splits that items are made of."""

    test = "test"
    train = "train"


Kinds = Annotated[
    list[Kind] | None, typer.Option("--kind", "-k", help="Kind of items; may be repeated.  [default: all]")
]
Languages = Annotated[
    list[str] | None,
    typer.Option("--lang", "-l", metavar="CODE", help="Language of the idioms; may be repeated.  [default: all]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


@lm_app.command(epilog="Example: turkic-idiom lm items --kind meaning --lang tr --out meaning_tr.jsonl")
def items(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="JSONL to write, one item a line.")],
    data: Data = "",
    kind: Kinds = None,
    lang: Languages = None,
    split: Annotated[Split, typer.Option("--split", help="Concepts that are asked about.")] = Split.test,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")] = False,
) -> None:
    """Write items with their options, the position of the right one, and the type of each trap."""
    from hub_datasets.annotated_files import check_out
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.io.files import write_text

    check_out(out, overwrite=overwrite)
    sets = _build(open_dataset(data), kind, lang, split=split)
    lines = []
    for members in sets.values():
        for item in members:
            lines.append(json.dumps(asdict(item), ensure_ascii=False) + "\n")
    write_text(out, "".join(lines))
    sys.stdout.write(printable(f"{out}: {len(lines)} items of {len(sets)} sets\n"))


@lm_app.command()
def stats(data: Data = "", kind: Kinds = None, lang: Languages = None, as_json: AsJson = False) -> None:
    """Print how many items each set has, and how many of its traps are of which type."""
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.metrics.bootstrap import SMALL_N

    rows = []
    for name, members in _build(open_dataset(data), kind, lang).items():
        row: dict[str, Any] = {"set": name, "items": len(members), "concepts": len({item.concept for item in members})}
        for trap in TRAPS:
            row[trap] = sum(option.trap == trap for item in members for option in item.options)
        rows.append(row | {"small_sample": len(members) < SMALL_N})
    if as_json:
        _print_json(rows)
        return
    cells = []
    for row in rows:
        size = _size(row["items"], is_small=row["small_sample"])
        cells.append([row["set"], size, *(str(row[key]) for key in ("concepts", *TRAPS))])
    note = _small_note(any(row["small_sample"] for row in rows))
    _print_table(["items", "concepts", *TRAPS], cells, f"near, lexical, random: traps of each type{note}")


@lm_app.command()
def baselines(data: Data = "", kind: Kinds = None, lang: Languages = None, as_json: AsJson = False) -> None:
    """Print the accuracy of guesses from the options alone, from shared letters, at random, and of the right answers.

    Guesses that stay near chance show that the options do not give the right one away.
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.tasks.items.baselines import NAMES, OPTION_ONLY, baseline_rows

    rows = []
    for name, members in _build(open_dataset(data), kind, lang).items():
        rows += baseline_rows(name, members)
    if as_json:
        documents = []
        for row in rows:
            accuracies = {name: None if value != value else value for name, value in row.accuracies.items()}
            facts = {"set": row.name, "items": row.n_items, "chance": row.chance, "small_sample": row.is_small}
            documents.append(facts | accuracies)
        _print_json(documents)
        return
    is_wide = _console().width >= WIDE
    n_options_only = len(OPTION_ONLY)
    cells = []
    for row in rows:
        shares = [row.accuracies[name] for name in NAMES]
        if not is_wide:
            shares = [max(shares[:n_options_only]), *shares[n_options_only:]]
        whole, _, part = row.name.partition(", ")
        label = f"  {part}" if part else whole
        percentages = ["–" if share != share else f"{100 * share:.1f}" for share in (row.chance, *shares)]
        cells.append([label, _size(row.n_items, is_small=row.is_small), *percentages])
    note = _small_note(any(row.is_small for row in rows))
    if not is_wide:
        note = f"; {OPTIONS}: the highest of {', '.join(OPTION_ONLY)}, which stand apart in {WIDE} columns{note}"
    names = NAMES if is_wide else (OPTIONS, *NAMES[n_options_only:])
    _print_table(["n", "chance", *names], cells, f"Accuracy in percent{note}")


@lm_app.command(epilog="Example: turkic-idiom lm cost --kind usage --shots 5 --tokenizer ./my-model")
def cost(
    data: Data = "",
    kind: Kinds = None,
    lang: Languages = None,
    shots: Annotated[int, typer.Option("--shots", min=0, help="Examples in each prompt (--num_fewshot).")] = 0,
    tokenizer: Annotated[
        str,
        typer.Option("--tokenizer", metavar="MODEL", help="Count the tokens of this model.  [default: estimate]"),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Print how many requests and tokens of prompts each task of lm-eval costs, under the first English prompt.

    By likelihood there is one request for each option, in writing one for each item.
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.tasks.items.cost import by_characters, costs

    count = _token_counter(tokenizer) if tokenizer else by_characters
    prices = []
    for name, members in _build(open_dataset(data), kind, lang).items():
        prices += [asdict(price) for price in costs(name, members, shots=shots, count=count)]
    if as_json:
        _print_json(prices)
        return
    columns = ["items", "requests", "tokens", "requests (_gen)", "tokens (_gen)"]
    cells = []
    totals = [0] * len(columns)
    for price in prices:
        task, *figures = price.values()
        totals = [total + figure for total, figure in zip(totals, figures, strict=True)]
        cells.append([task, *(f"{figure:,}" for figure in figures)])
    cells.append(["all", *(f"{total:,}" for total in totals)])
    how = "as the tokenizer counts them" if tokenizer else "estimated from characters"
    _print_table(columns, cells, f"Tokens of prompts, {how}; the tokens of written answers come on top")


def _token_counter(name: str) -> Callable[[str], float]:
    """Return a function that counts the tokens of a text as a model's tokenizer does."""
    from transformers import AutoTokenizer

    from turkic_idiom_tasks.encoders.checkpoints import load_error
    from turkic_idiom_tasks.encoders.folders import is_local, local_path

    try:
        encode = AutoTokenizer.from_pretrained(
            local_path(name), trust_remote_code=False, local_files_only=is_local(name)
        )
    except Exception as error:  # libraries raise many unrelated types for a bad name, folder or connection
        raise load_error(name, error) from error
    return lambda text: len(encode(text)["input_ids"])


def _build(
    dataset: Dataset, kinds: Sequence[Kind] | None, languages: Sequence[str] | None, *, split: Split = Split.test
) -> dict[str, Sequence[Item]]:
    """Return name -> items of the sets asked for; those without items are named on stderr."""
    from rich.console import Console
    from rich.progress import track

    from turkic_idiom_tasks.errors import InputError
    from turkic_idiom_tasks.languages import get_language
    from turkic_idiom_tasks.tasks.items.items import item_sets, items_of_set

    codes = [get_language(code).code for code in languages or ()]
    wanted = []
    for item_set in item_sets():
        if (not kinds or item_set.kind in kinds) and (not codes or item_set.language in codes):
            wanted.append(item_set)
    sets: dict[str, Sequence[Item]] = {}
    left_out = []
    is_silent = not sys.stderr.isatty()
    for item_set in track(wanted, "items", console=Console(stderr=True), transient=True, disable=is_silent):
        members = items_of_set(dataset, item_set, split=split)
        if members:
            sets[item_set.name] = members
        else:
            left_out.append(item_set.name)
    if left_out:
        sys.stderr.write(f"left out, because the data has no items for them: {', '.join(left_out)}\n")
    if not sets:
        raise InputError(f"{dataset.path}: has no items of the kinds and languages asked for")
    if not dataset.lexicon.equivalents:
        sys.stderr.write(
            f"{printable(dataset.path)}: has no judged equivalents; traps are kept apart from the right option by "
            "the closeness of their texts only, so a trap may be right too\n"
        )
    return sets


def _print_json(rows: Sequence[Any]) -> None:
    sys.stdout.write(json.dumps(rows, indent=2) + "\n")


def _print_table(columns: Sequence[str], cells: Sequence[Sequence[str]], note: str) -> None:
    from rich.table import Table

    table = Table("set", box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=None)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    console = _console()
    console.print(table)
    console.print(f"\n{note}")


def _console() -> Any:
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def _size(n_items: int, *, is_small: bool) -> str:
    return f"{n_items}{'*' if is_small else ''}"


def _small_note(has_small: bool) -> str:
    from turkic_idiom_tasks.metrics.bootstrap import SMALL_N

    return f"; *: fewer than {SMALL_N} items" if has_small else ""
