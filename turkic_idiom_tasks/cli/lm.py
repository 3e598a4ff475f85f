"""``turkic-idiom lm``: items for language models, their sizes, baselines and cost."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turkic_idiom_tasks.cli.dataset import print_rows
from turkic_idiom_tasks.cli.main import command_group
from turkic_idiom_tasks.cli.options import Data
from turkic_idiom_tasks.cli.output import interval_text, new_table, plain_console, print_line
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import get_language
from turkic_idiom_tasks.tasks.items.item_types import TRAPS

if TYPE_CHECKING:
    from turkic_idiom_tasks.dataset.base import Dataset
    from turkic_idiom_tasks.metrics.bootstrap import Resampled
    from turkic_idiom_tasks.results.model_predictions import ModelPredictions
    from turkic_idiom_tasks.results.scored import ScoredSubset
    from turkic_idiom_tasks.tasks.items.item_types import Item

_DETAILS = {  # task -> further scores, each in a row of its own below the main score
    "usage": {"pair_accuracy": "both of a pair", "recall_figurative": "figurative", "recall_literal": "literal"},
    "equivalent": {"accuracy_different_image": "no word shared", "accuracy_twins": "word for word"},
    "cloze_open": {"exact": "the very form", "lemma": "the same stems", "unjudged": "not judged"},
    "spans": {"span_f1_strict": "strict IOB2", "token_f1": "words", "sequence_accuracy": "whole sentences"},
}
_DETAILS["equivalent_rivals"] = _DETAILS["equivalent"]
_IDIOM_DETAILS = {
    "first": "the first",
    "exact": "idiom or variant",
    "lemma": "the same stems",
    "unjudged": "not judged",
}
WIDE = 112  # columns that the table of all baselines needs
OPTIONS = "options"

lm_app = command_group(
    "lm", "Items for language models: what they cost and give away, scores of models, and of people."
)

Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", "-k", metavar="KIND", help="Such as meaning or recall; may be repeated.  [default: all]"),
]
Languages = Annotated[
    list[str] | None,
    typer.Option("--lang", "-l", metavar="CODE", help="Language of the idioms; may be repeated.  [default: all]"),
]


@lm_app.command(epilog="Example: turkic-idiom lm questionnaire --lang tr --kind meaning --kind recall --out q.html")
def questionnaire(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="New file: the page.")],
    lang: Languages = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", "-k", metavar="TASK", help="Kind or open task; may be repeated.")
    ] = None,
    n: Annotated[int, typer.Option("--items", min=1, metavar="N", help="How many items.")] = 40,
    data: Data = "",
) -> None:
    """Write a page on which people answer items; `lm report` reads the files that they save and send back.

    The page works from a file and on a phone, without a network, and does not hold the key. Everybody gets the same
    items, as many of each kind and language as of any other. A page in one language has its texts in it. An invitation
    to send with it is printed.
    """
    from hub_datasets.questionnaire import invitation, questionnaire_page
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, item_subsets

    check_outputs({"--out": out}, inputs=[Path(data)] if data else [])
    dataset, codes = open_dataset(data), [get_language(code).code for code in lang or ()]
    subsets = []
    for task in kind or ITEM_TASKS:
        if task not in ITEM_TASKS:
            raise usage_error(f"--kind {task}: unknown; known: {', '.join(ITEM_TASKS)}")
        for subset in item_subsets(dataset, task):
            if not codes or subset.partition("-")[0] in codes:
                subsets.append((task, subset))
    page, n_items = questionnaire_page(dataset, subsets, n=n)
    if not n_items:
        raise usage_error(f"{dataset.path}: has no items of these kinds and languages; see turkic-idiom lm stats")
    write_text(out, page)
    print_line(f"{out}: {n_items} items of {len(subsets)} sets")
    for code in dict.fromkeys([*(subset.partition("-")[0] for _, subset in subsets), "en"]):
        print_line(f"\n{code}: {invitation(code, out.name, n_items)}")


@lm_app.command(epilog="Example: turkic-idiom lm stats --kind usage --shots 5")
def stats(
    data: Data = "",
    kind: Kinds = None,
    lang: Languages = None,
    shots: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Also the cost, with N examples in each prompt.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of tables.")] = False,
) -> None:
    """Print the size of each set, its traps by type, and the accuracy of guesses that know no idiom, in percent.

    Of the tasks that a panel of readers answered, also the share of readers who were right. Hard items are those whose
    idiom at most half of them produced from its meaning, or from the situation.

    The guesses are from the options alone, from shared letters, and at random; where they stay near chance, the options
    do not give the right one away. The cost is that of the prompts of each task of lm-eval under the first English
    prompt: by likelihood there is one request for each option, in writing one for each item.
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
    from turkic_idiom_tasks.tasks.items.baselines import baseline_rows
    from turkic_idiom_tasks.tasks.items.item_types import ItemSet
    from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, items_of_set, kind_of
    from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
    from turkic_idiom_tasks.tasks.items.prompts import cost
    from turkic_idiom_tasks.tasks.items.scoring import right_shares

    rows: list[dict[str, Any]] = []
    dataset = open_dataset(data)
    for name, members in _build(dataset, kind, lang).items():
        row: dict[str, Any] = {"set": name, "items": len(members), "concepts": len({item.concept for item in members})}
        for trap in TRAPS:
            row[trap] = sum(option.trap == trap for item in members for option in item.options)
        row["small_sample"] = len(members) < SMALL_N
        row["baselines"] = baseline_rows(name, members)
        own, row["panel"], row["cost"] = members[0], [], []
        hard = [name for name, whole in HARD_TASKS.items() if whole == own.kind]
        row["hard"] = sum(len(items_of_set(dataset, ItemSet(name, own.language, own.target))) for name in hard)
        for task in (own.kind, *OPEN_TASKS):
            # Hard tasks ask a part of others, whose panel and cost are those of the whole
            if kind_of(task) != own.kind or task in HARD_TASKS:
                continue
            item_set = ItemSet(task, own.language, own.target)
            items = items_of_set(dataset, item_set)
            shares = right_shares(task, items, dataset.lexicon).values()
            if shares:
                right = sum(shares) / len(shares)
                row["panel"].append({"set": item_set.name, "items": len(shares), "right": right})
            if items and shots is not None:
                row["cost"].append(cost(item_set, items, shots=shots))
        rows.append(row)
    if as_json:
        for row in rows:
            for baseline in row["baselines"]:  # JSON has no NaN
                baseline.update({key: None for key, value in baseline.items() if value != value})
        print_line(json.dumps(rows, indent=2))
        return
    columns = ["concepts", "hard", *TRAPS]
    cells = [[row["set"], _size(row), *(str(row[key]) for key in columns)] for row in rows]
    note = f"near, lexical, random: traps of each type{_small_note(rows)}"
    print_rows(cells, sys.stdout, head=["set", "items", *columns], note=f"{note}\n")
    _print_baselines([baseline for row in rows for baseline in row["baselines"]])
    panel = [of_task for row in rows for of_task in row["panel"]]
    cells = [[row["set"], row["items"], f"{100 * row['right']:.1f}"] for row in panel]
    if panel:
        sys.stdout.write("\n")
    note = "right: percent of the panel's first answers that are right or, without options, accepted"
    print_rows(cells, sys.stdout, head=["set", "items", "right"], note=note)
    if shots is None:
        return
    columns = ["items", "requests", "tokens", "requests (_gen)", "tokens (_gen)"]
    prices = [list(price.values()) for row in rows for price in row["cost"]]
    totals = [sum(figures) for figures in zip(*(price[1:] for price in prices), strict=True)] or [0] * len(columns)
    cells = [[task, *(f"{figure:,}" for figure in figures)] for task, *figures in [*prices, ["all", *totals]]]
    sys.stdout.write("\n")
    note = "Tokens of prompts, estimated from characters; the tokens of written answers come on top"
    print_rows(cells, sys.stdout, head=["set", *columns], note=note)


@lm_app.command(epilog="Example: turkic-idiom lm report lm-eval-output logs/2026-11-26_meaning.eval")
def report(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...",
            help="Folder or file: samples of lm-eval run --log_samples, logs of inspect eval, answers-*.json.",
        ),
    ],
    data: Data = "",
    unjudged: Annotated[
        Path | None, typer.Option(metavar="FILE", help="New file: the free answers that nobody has judged, in JSONL.")
    ] = None,
) -> None:
    """Print the scores of language models from what lm-eval and Inspect have logged, also of a part of the items.

    The answers of people to the page of lm questionnaire stand above them: the mean over the people, its 95% interval,
    and the best of them.

    A row for each kind and language or direction: number of items, score of guessing, score with its 95% interval
    (clustered by concept), score corrected for chance, and of the errors the shares of near, lexical and random
    traps. The score is accuracy; of open tasks the share of accepted answers, of spans span F1.
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.metrics.bootstrap import mean
    from turkic_idiom_tasks.results.harness_files import find_predictions
    from turkic_idiom_tasks.results.item_answers import ItemAnswers
    from turkic_idiom_tasks.results.people import PEOPLE, score_people
    from turkic_idiom_tasks.results.scored import score_subset
    from turkic_idiom_tasks.tasks.items.items import whole_of
    from turkic_idiom_tasks.tasks.items.scoring import answers_digest

    if unjudged is not None:
        check_outputs({"--unjudged": unjudged}, inputs=logs)
    waiting: dict[str, None] = {}  # lines of the file of unjudged answers
    people: list[ModelPredictions] = []
    runs: dict[tuple[str, ...], dict[str, list[ScoredSubset]]] = {}  # model, examples, prompt, method -> task -> sets
    for found in find_predictions(logs, open_dataset(data), is_partial=True):
        if found.name == PEOPLE:
            people.append(found)
        for (task, _), prediction in found.predictions.items():
            if isinstance(prediction, ItemAnswers):
                waiting |= dict.fromkeys(json.dumps(row, ensure_ascii=False) for row in prediction.unjudged())
            if found.name == PEOPLE:
                continue
            asked = (prediction.prompt, prediction.method) if isinstance(prediction, ItemAnswers) else ()
            run = runs.setdefault((found.name, f"{found.few_shot or 0} examples", *asked), {})
            run.setdefault(task, []).append(score_subset(prediction))
    if unjudged is not None:
        write_text(unjudged, "".join(f"{line}\n" for line in waiting))
    console = plain_console(sys.stdout)
    if people:
        console.print("people, who answered the page of lm questionnaire")
        table = new_table("", ["people", "items", "chance", "mean", "95%", "best"], min_width=5)
        for (task, subset), of_people in score_people(people).items():
            ends = of_people.resampled.interval()
            cells = [str(len(of_people.names)), str(of_people.n_items), _short(of_people.floor)]
            cells += [_short(of_people.resampled.score), interval_text(ends.low, ends.high), _short(of_people.best)]
            table.add_row(f"{task} {subset}", *cells)
        console.print(table)
        console.print()
    for about, run in runs.items():
        console.print(printable(", ".join(about)))
        table = new_table("", ["n", "chance", "score", "95%", "corr.", "near", "lex.", "rand.", "unr."], min_width=5)
        for task, sets in run.items():
            for scored in sets:
                table.add_row(f"{task} {scored.subset}", *_report_cells([scored], scored.resampled()))
                details = _DETAILS.get(whole_of(task), _IDIOM_DETAILS)
                for name, label in details.items():
                    if name not in scored.scores:
                        continue
                    low, high = (scored.scores.get(f"{name}_ci_{end}", math.nan) for end in ("low", "high"))
                    interval = "" if math.isnan(low) else interval_text(low, high)
                    table.add_row(f"  {label}", "", "", _short(scored.scores[name]), interval)
            if len(sets) > 1:
                table.add_row(f"{task}, mean", *_report_cells(sets, mean([scored.resampled() for scored in sets])))
        console.print(table)
        console.print()
    console.print("corr.: corrected for chance; near, lexical, random: parts of the errors; unr.: could not be read")
    if any("unjudged" in scored.scores for run in runs.values() for sets in run.values() for scored in sets):
        console.print(
            f"open tasks: by the judged answers {answers_digest()}; an answer that nobody has judged may be right"
        )


def _report_cells(sets: Sequence[ScoredSubset], resampled: Resampled) -> list[str]:
    """Return the cells of a row behind its name, of one set or of several with equal weights."""
    chance = sum(scored.floor for scored in sets) / len(sets)
    interval = resampled.interval()
    corrected = (resampled.score - chance) / (1 - chance)
    cells = [str(sum(scored.n for scored in sets)), _short(chance), _short(resampled.score)]
    cells += [interval_text(interval.low, interval.high), _short(corrected)]
    for name in (*(f"{trap}_share" for trap in TRAPS), "unreadable"):
        cells.append(_short(sum(scored.scores.get(name, math.nan) for scored in sets) / len(sets)))
    return cells


def _short(score: float) -> str:
    """Return a score without the zero before its decimal point."""
    # The table has ten columns, and no room for the zeros
    return "-" if math.isnan(score) else f"{score:.3f}".replace("0.", ".")


def _print_baselines(rows: Sequence[dict[str, Any]]) -> None:
    """Print a row for each set; in a narrow terminal the baselines that see the options alone share a column."""
    from turkic_idiom_tasks.tasks.items.baselines import NAMES, OPTION_ONLY

    is_wide = plain_console(sys.stdout).width >= WIDE
    names = list(NAMES) if is_wide else [OPTIONS, *NAMES[len(OPTION_ONLY) :]]
    # A baseline of one kind has no column where other kinds are shown
    names = [name for name in names if name == OPTIONS or any(row[name] == row[name] for row in rows)]
    cells = []
    for row in rows:
        highest = {OPTIONS: max(row[name] for name in OPTION_ONLY)}
        whole, _, part = row["set"].partition(", ")
        percentages = []
        for name in ("chance", *names):
            share = (row | highest)[name]
            percentages.append("–" if share != share else f"{100 * share:.1f}")
        cells.append([f"  {part}" if part else whole, _size(row), *percentages])
    note = f"Accuracy in percent{_small_note(rows)}"
    if not is_wide:
        note += f"; {OPTIONS}: the highest of {', '.join(OPTION_ONLY)}, which stand apart in {WIDE} columns"
    print_rows(cells, sys.stdout, head=["set", "n", "chance", *names], note=note)


def _build(dataset: Dataset, kinds: Sequence[str] | None, languages: Sequence[str] | None) -> dict[str, Sequence[Item]]:
    """Return name -> items of the sets asked for; those without items are named on stderr."""
    from turkic_idiom_tasks.tasks.items.items import item_sets, items_of_set, known_kind

    kinds = [known_kind(task) for task in kinds or ()]
    # Items are made for one set at a time, because those of all sets take half a minute.
    codes = [get_language(code).code for code in languages or ()]
    wanted = []
    for item_set in item_sets():
        if (not kinds or item_set.kind in kinds) and (not codes or item_set.language in codes):
            wanted.append(item_set)
    sets: dict[str, Sequence[Item]] = {}
    left_out = []
    for item_set in track(wanted, "items"):
        members = items_of_set(dataset, item_set)
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


def _size(row: dict[str, Any]) -> str:
    return f"{row['items']}{'*' if row['small_sample'] else ''}"


def _small_note(rows: Sequence[dict[str, Any]]) -> str:
    from turkic_idiom_tasks.metrics.bootstrap import SMALL_N

    return f"; *: fewer than {SMALL_N} items" if any(row["small_sample"] for row in rows) else ""
