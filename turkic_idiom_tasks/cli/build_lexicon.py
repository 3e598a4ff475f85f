"""``turkic-idiom dataset enrich`` and ``verify``, and ``turkic-idiom judge``: what language models do."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turkic_idiom_tasks.cli.dataset import dataset_app, print_rows
from turkic_idiom_tasks.cli.language_model import (
    DryRun,
    Languages,
    LexiconDirectory,
    MinCaught,
    Model,
    Panel,
    Plant,
    Values,
    Verdicts,
    ask_models,
    asking_settings,
    chosen_languages,
    report_caught,
)
from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.output import print_line
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.output_files import check_outputs, write_output
from turkic_idiom_tasks.lexicon.load import check_target, file_names, load_lexicon

if TYPE_CHECKING:
    from hub_datasets.judge import Case, FreeAnswer
    from hub_datasets.questions import Asking, Reply


@dataset_app.command(
    epilog="Example: turkic-idiom dataset enrich --in idioms.csv --out draft --model openai/gpt-4.1 --dry-run",
)
def enrich(
    file: Annotated[
        Path,
        typer.Option("--in", metavar="FILE|LEXICON", help="CSV with a column per language, JSON, or a lexicon."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New or empty.")],
    model: Model,
    *,
    languages: Languages = None,
    dry_run: DryRun = False,
    values: Values = None,
) -> None:
    """Have a model write citation form, meaning and example of aligned idioms, each within its language.

    Empty cells and dashes stay empty, and existing meanings and examples are kept. In a list, the model's citation form
    may replace an idiom, which then becomes a variant. The annotator marks the idiom in each example; an example
    without the idiom is left out. Check the result with verify and a second model.
    """
    from hub_datasets.enrich import apply_enrichment, enrichment_tasks, read_draft, write_changed
    from hub_datasets.prompts import ENRICH, load_prompt

    settings = asking_settings(values, dry_run=dry_run)
    prompt = load_prompt(ENRICH, settings.prompt)
    check_target(out)
    draft, is_list = read_draft(file)
    tasks = enrichment_tasks(draft, prompt, languages=chosen_languages(languages, draft.entries))
    replies = ask_models([model], [question for question, _ in tasks], settings)[model]
    note = f"{model}, {prompt.label}, {_dates(replies)}"
    enriched, outcomes = apply_enrichment(draft, tasks, replies, is_list=is_list, note=note)
    write_changed(enriched, out)
    _print_counts(outcomes, head=["outcome", "entries"])
    print_line(f"{out}: enriched by {note}")


@dataset_app.command(
    epilog="Example: turkic-idiom dataset verify draft --model openai/gpt-5.1 --plant 0.05 --out my-lexicon",
)
def verify(
    directory: LexiconDirectory,
    model: Model,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="New or empty, for the accepted entries; the others go beside it."
        ),
    ] = None,
    verdicts: Verdicts = None,
    min_confidence: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="An acceptance below it is a rejection.")
    ] = 0.5,
    plant: Plant = None,
    min_caught: MinCaught = None,
    languages: Languages = None,
    dry_run: DryRun = False,
    values: Values = None,
) -> None:
    """Have a second model accept or reject every complete entry, by three criteria and with its confidence.

    A verdict that contradicts itself is a rejection. With --out entries that are not accepted go to
    DIR-rejected.jsonl with their reasons, and with them incomplete entries, malformed ones and duplicates. --plant adds
    copies of entries with known errors, which never get into the lexicon, and prints how many were caught.
    """
    from hub_datasets.enrich import write_changed
    from hub_datasets.prompts import VERIFY, load_prompt
    from hub_datasets.verify import ACCEPT, apply_verdicts, verdict_of, verifier_tasks

    settings = asking_settings(values, dry_run=dry_run)
    prompt = load_prompt(VERIFY, settings.prompt)
    verdicts = verdicts or Path(f"{directory.name or 'lexicon'}-verdicts.jsonl")
    outputs = {"--verdicts": verdicts}
    if out is not None:
        check_target(out)
        outputs["--out"] = rejected = out.with_name(f"{out.name}-rejected.jsonl")
    check_outputs(outputs, command="verify", inputs=[directory, settings.cache, settings.prices])
    lexicon = load_lexicon(directory)
    tasks = verifier_tasks(lexicon, chosen_languages(languages, lexicon.entries), prompt=prompt, planted_share=plant)
    if not tasks:
        raise InputError(f"{directory}: no entry has both a meaning and an example; run dataset enrich first")
    replies = ask_models([model], [question for question, _ in tasks], settings)[model]
    pairs = zip(tasks, replies, strict=True)
    results = [verdict_of(checked, reply, min_confidence=min_confidence) for (_, checked), reply in pairs]
    # Before anything can fail, because the verdicts are paid for.
    lines = [f"{row.to_json(model=model, prompt=prompt.label)}\n" for row in results]
    write_output(verdicts, "".join(lines), command="verify")
    note = f"{model}, {prompt.label}, {_dates(replies)}"
    decisions: dict[str, Counter[str]] = {}
    for row in results:
        if not row.planted:
            decisions.setdefault(row.language, Counter())[row.reason.partition(" (")[0] or ACCEPT] += 1
    _print_counts(decisions, head=["decision", "entries"])
    print_line(f"{verdicts}: {len(results)} verdicts by {note}")
    report_caught([(row.planted, bool(row.reason)) for row in results if row.planted], min_caught=min_caught)
    if out is None:
        return
    # After the check of the planted errors: a verifier that misses them must not make a lexicon.
    kept, refused = apply_verdicts(lexicon, results, note=note)
    write_output(rejected, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in refused), command="verify")
    n_kept = sum(len(rows) for rows in kept.entries.values())
    if not n_kept:
        raise InputError(f"{out}: not one entry was accepted, so there is no lexicon to write; see {rejected}")
    write_changed(kept, out)
    print_line(f"{out}: {n_kept} entries; {rejected}: {len(refused)} rejected")


@app.command(
    epilog="Examples: turkic-idiom judge my-lexicon --model openai/gpt-4.1 --plant 0.05; turkic-idiom judge "
    "results/my-model --model openai/gpt-4.1 --model mistral/mistral-large-latest"
)
def judge(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="LEXICON|SAMPLES...",
            help="A lexicon directory; explanations: sample files of lm-eval, logs of Inspect, JSONL, or folders; or a "
            "file of lm report --unjudged.",
        ),
    ],
    models: Panel,
    *,
    cross_lingual: Annotated[
        list[str] | None, typer.Option(metavar="SOURCE:TARGET", help="Idioms of one, meanings of the other; as tr:uz.")
    ] = None,
    verdicts: Verdicts = None,
    n: Annotated[int | None, typer.Option(min=1, metavar="N", help="Entries of each language.  [default: all]")] = None,
    plant: Plant = None,
    min_caught: MinCaught = None,
    languages: Languages = None,
    dry_run: DryRun = False,
    values: Values = None,
) -> None:
    """Have a model, or a panel, rate idiom-meaning pairs or explanations HIGH, MEDIUM or LOW, or judge free answers.

    Of a LEXICON the pairs are rated; the options --cross-lingual, --n, --plant, --min-caught and --language are for it.
    Explanations are the answers of the task explain, whose samples lm-eval writes with --log_samples; they are rated
    against the meaning in the lexicon. The verdict of a panel is the quality with the most votes; its agreement is the
    share of equal pairs of votes and Krippendorff's alpha. The intervals resample concepts. A planted error is caught
    if it is not rated HIGH. Free answers are judged same, related or no, each in two passes of which the lower verdict
    counts; those that fill a blank fits or no, in one.
    """
    from hub_datasets.judge import explanation_files, read_explanations, read_free_answers

    first, answers = paths[0], []
    settings = asking_settings(values, dry_run=dry_run)
    if len(paths) == 1 and any((first / name).exists() for name in file_names()):
        cases, inputs = _lexicon_cases(first, cross_lingual, languages, n=n, plant=plant), [first]
        verdicts = verdicts or Path(f"{first.name or 'lexicon'}-judged.jsonl")
    elif cross_lingual or languages or n or plant or min_caught:
        raise usage_error("--cross-lingual, --n, --plant, --min-caught, --language: only for a lexicon directory")
    else:
        answers = read_free_answers(first) if len(paths) == 1 else []
        cases = [] if answers else read_explanations(paths)
        # Not the folders themselves, because the verdicts stand in that of the samples unless --verdicts is given.
        inputs = explanation_files(paths)
        verdicts = verdicts or (first / "verdicts.jsonl" if first.is_dir() else Path(f"{first}-verdicts.jsonl"))
    check_outputs({"--verdicts": verdicts}, command="judge", inputs=[*inputs, settings.cache, settings.prices])
    if answers:
        _judge_answers(answers, models, settings, verdicts)
    else:
        _judge(cases, models, settings, verdicts, min_caught=min_caught)


def _lexicon_cases(
    directory: Path, cross_lingual: list[str] | None, languages: list[str] | None, *, n: int | None, plant: float | None
) -> list[Case]:
    from hub_datasets.judge import lexicon_cases

    if cross_lingual and languages:
        raise usage_error("--language goes without --cross-lingual, which names the languages itself")
    lexicon = load_lexicon(directory)
    pairs = [] if cross_lingual else [(code, code) for code in chosen_languages(languages, lexicon.entries)]
    for text in cross_lingual or ():
        source, sign, target = text.partition(":")
        if not sign or source == target:
            raise usage_error(f"--cross-lingual {text!r}: expected two languages, such as tr:uz")
        first, second = chosen_languages([source, target], lexicon.entries)
        pairs.append((first, second))
    cases = lexicon_cases(lexicon, pairs, n=n, planted_share=plant)
    if not cases:
        raise InputError(f"{directory}: has no meanings to judge in these languages; run dataset enrich first")
    return cases


def _judge(
    cases: Sequence[Case], models: Sequence[str], settings: Asking, verdicts: Path, *, min_caught: float | None
) -> None:
    from hub_datasets import judge as judging
    from hub_datasets.verdicts import krippendorff_alpha, pair_agreement

    questions = [case.question(settings.prompt) for case in cases]
    asked = ask_models(models, questions, settings)
    votes_by_case = []
    for number, question in enumerate(questions):
        votes = []
        for model, replies in asked.items():
            votes.append(judging.vote_of(replies[number], model=model, prompt=question.prompt))
        votes_by_case.append(votes)
    lines = [f"{case.to_json(votes)}\n" for case, votes in zip(cases, votes_by_case, strict=True)]
    write_output(verdicts, "".join(lines), command="judge")
    judged = [(case, judging.majority(votes)) for case, votes in zip(cases, votes_by_case, strict=True)]

    high, medium, low = judging.QUALITIES
    rows: list[list[object]] = []
    is_unreliable = False
    for share in judging.quality_shares(judged):
        cells, interval = ["undefined"] * len(judging.QUALITIES), ""
        if share.interval is not None:
            cells = [f"{share.shares[name]:.1%}" for name in judging.QUALITIES]
            interval = f"{share.interval.low:.1%} to {share.interval.high:.1%}"
            interval += "" if share.interval.is_reliable else " ~"
            is_unreliable |= not share.interval.is_reliable
        rows.append([share.group, share.cases, share.unscored, cells[0], interval, *cells[1:]])
    published = judging.PAPER_SHARES.get(cases[0].prompt)
    if published is not None:
        rows.append(["paper, GPT-4.1", "", "", published[high], "", "", published.get(low, "")])
    print_rows(rows, sys.stdout, head=["group", "cases", "unscored", high, "95% interval", medium, low])
    if is_unreliable:
        print_line("~ the interval may be too short, because few concepts decide it")
    answered = [vote for votes in votes_by_case for vote in votes if vote["date"]]
    for model, prompt, date in sorted({(vote["model"], vote["prompt"], vote["date"]) for vote in answered}):
        print_line(f"judged by {model}, {prompt}, {date}")
    if len(asked) > 1:
        qualities = [[vote["quality"] for vote in votes if vote["quality"] is not None] for votes in votes_by_case]
        units = [of_case for of_case in qualities if len(of_case) > 1]
        pairs, alpha = pair_agreement(units), krippendorff_alpha(units)
        same = "undefined" if pairs is None else f"{pairs:.1%}"
        chance_corrected = "undefined" if alpha is None else f"{alpha:.3f}"
        print_line(f"agreement of the panel on {len(units)} cases: {same} of pairs, alpha {chance_corrected}")
    print_line(f"{verdicts}: {len(judged)} verdicts")
    # A planted error without a readable verdict was not caught.
    caught = [(case.planted, quality in (medium, low)) for case, quality in judged if case.planted]
    report_caught(caught, min_caught=min_caught)


def _judge_answers(answers: Sequence[FreeAnswer], models: Sequence[str], settings: Asking, verdicts: Path) -> None:
    """Ask the models about free answers; write and count the verdicts on those of which every reading could be read."""
    from hub_datasets.judge import VERDICTS, AnswerJudgement, BlankJudgement

    asked_of = [answer.questions(settings.prompt) for answer in answers]
    asked = ask_models(models, [question for questions in asked_of for question in questions], settings)
    lines = []
    counts: dict[str, Counter[str]] = {}
    streams = [iter(replies) for replies in asked.values()]  # of each model, in the order of the questions
    for answer, questions in zip(answers, asked_of, strict=True):
        readings = []
        for stream in streams:
            for reply in islice(stream, len(questions)):
                readings += [reply.value.verdict] if isinstance(reply.value, AnswerJudgement | BlankJudgement) else []
        outcome = "unreadable"
        if len(readings) == len(questions) * len(asked):
            outcome = max(readings, key=VERDICTS.index)  # the lowest
            lines.append(answer.to_json(outcome, readings=readings, judges=list(asked)) + "\n")
        counts.setdefault(answer.language, Counter())[outcome] += 1
    write_output(verdicts, "".join(lines), command="judge")
    _print_counts(counts, head=["verdict", "answers"])
    print_line(f"{verdicts}: {len(lines)} verdicts, lines for judged_answers.jsonl")


def _dates(replies: Sequence[Reply]) -> str:
    """Return the day of the answers, or the first and the last one."""
    days = sorted({reply.date for reply in replies if reply.date})
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "no answers"


def _print_counts(counts: Mapping[str, Counter[str]], *, head: Sequence[str]) -> None:
    rows = []
    for code, outcomes in counts.items():
        for outcome, count in outcomes.most_common():
            rows.append([f"{code} {outcome}", count, f"{count / outcomes.total():.1%}"])
    print_rows(rows, sys.stdout, head=[*head, "share"])
