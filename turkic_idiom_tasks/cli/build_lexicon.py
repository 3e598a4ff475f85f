"""``turkic-idiom dataset enrich``, ``verify`` and ``judge``: a lexicon written and checked by language models."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turkic_idiom_tasks.cli.dataset import dataset_app, print_rows
from turkic_idiom_tasks.cli.language_model import (
    DEFAULT_CACHE,
    DEFAULT_CONCURRENCY,
    BaseUrl,
    Cache,
    Concurrency,
    DryRun,
    MaxRequests,
    MaxTokens,
    MinCaught,
    Model,
    ModelOptions,
    Panel,
    Plant,
    Prices,
    PromptVersion,
    Session,
    Set,
    check_caught,
    open_session,
)
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from hub_datasets.judge import Case, Judged
    from hub_datasets.questions import Reply
    from turkic_idiom_tasks.lexicon.entries import Lexicon

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is written by this command.")]
Languages = Annotated[
    list[str] | None,
    typer.Option("--language", "-l", metavar="CODE", help="tr, az, tk, gag, uz; may be repeated.  [default: all]"),
]
LexiconDirectory = Annotated[Path, typer.Argument(metavar="LEXICON", help="Lexicon directory.")]
Verdicts = Annotated[Path | None, typer.Option("--verdicts", metavar="FILE", help="JSONL with every verdict.")]


@dataset_app.command(
    epilog="Example: turkic-idiom dataset enrich --in idioms.csv --out draft --model gpt-4.1 --dry-run",
)
def enrich(
    file: Annotated[
        Path,
        typer.Option(
            "--in", metavar="FILE|LEXICON", help="CSV with a column per language, the paper's JSON, or a lexicon."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New or empty, unless --overwrite.")],
    model: Model,
    languages: Languages = None,
    base_url: BaseUrl = None,
    cache: Cache = DEFAULT_CACHE,
    prompt: PromptVersion = None,
    max_requests: MaxRequests = None,
    max_tokens: MaxTokens = None,
    concurrency: Concurrency = DEFAULT_CONCURRENCY,
    dry_run: DryRun = False,
    prices: Prices = None,
    values: Set = None,
    overwrite: Overwrite = False,
) -> None:
    """Have a model write citation form, meaning and example of aligned idioms, each within its language.

    Empty cells and dashes stay empty, and existing meanings and examples are kept. In a list, the model's citation form
    may replace an idiom, which then becomes a variant. The annotator marks the idiom in each example; an example
    without the idiom is left out. Check the result with verify and a second model.
    """
    from hub_datasets.enrich import apply_enrichment, enrichment_tasks, read_draft
    from hub_datasets.prompts import ENRICH, load_prompt
    from turkic_idiom_tasks.lexicon.load import check_target, write_lexicon

    text = load_prompt(ENRICH, prompt)
    check_target(out, overwrite=overwrite)
    draft = read_draft(file)
    tasks = enrichment_tasks(draft, text, languages=_codes(languages, draft.entries))
    options = ModelOptions([model], base_url, cache, max_requests, max_tokens, concurrency, dry_run, prices, values)
    with open_session(options) as session:
        replies = session.ask(session.models[0], [task.question for task in tasks])
    if replies is None:
        session.print_estimates()
        return
    note = f"{model}, {text.label}, {_dates(replies)}"
    enriched = apply_enrichment(draft, tasks, replies, note=note)
    write_lexicon(
        out,
        draft.concepts,
        enriched.entries,
        equivalents=draft.equivalents,
        reviews=draft.reviews,
        overwrite=overwrite,
    )
    _print_counts(enriched.outcomes, head=["outcome", "entries"])
    sys.stdout.write(printable(f"{out}: enriched by {note}\n"))


@dataset_app.command(
    epilog="Example: turkic-idiom dataset verify draft --model gpt-5.1 --plant 0.05 --apply --out my-lexicon",
)
def verify(
    directory: LexiconDirectory,
    model: Model,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the accepted entries to --out, the others with reasons beside it.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="With --apply: new or empty, unless --overwrite.")
    ] = None,
    verdicts: Verdicts = None,
    min_confidence: Annotated[
        float, typer.Option("--min-confidence", min=0.0, max=1.0, help="An acceptance below it is a rejection.")
    ] = 0.5,
    plant: Plant = None,
    min_caught: MinCaught = None,
    languages: Languages = None,
    base_url: BaseUrl = None,
    cache: Cache = DEFAULT_CACHE,
    prompt: PromptVersion = None,
    max_requests: MaxRequests = None,
    max_tokens: MaxTokens = None,
    concurrency: Concurrency = DEFAULT_CONCURRENCY,
    dry_run: DryRun = False,
    prices: Prices = None,
    values: Set = None,
    overwrite: Overwrite = False,
) -> None:
    """Have a second model accept or reject every complete entry, by three criteria and with its confidence.

    A verdict that contradicts itself is a rejection. With --apply entries that are not accepted go to
    DIR-rejected.jsonl with their reasons, and with them incomplete entries, malformed ones and duplicates. --plant adds
    copies of entries with known errors, which never get into the lexicon, and prints how many were caught.
    """
    from hub_datasets.prompts import VERIFY, load_prompt
    from hub_datasets.verify import (
        apply_verdicts,
        count_decisions,
        entries_to_check,
        verdict_of,
        verification_question,
    )
    from turkic_idiom_tasks.io.files import write_text
    from turkic_idiom_tasks.lexicon.load import check_target, load_lexicon, write_lexicon

    if apply != (out is not None):
        raise usage_error("--apply and --out go together: --apply --out DIR")
    text = load_prompt(VERIFY, prompt)
    if out is not None:
        if out.resolve() == directory.resolve():
            raise usage_error(f"{out}: is the lexicon that is read; choose another --out")
        check_target(out, overwrite=overwrite)
    verdicts = verdicts or Path(f"{directory.name or 'lexicon'}-verdicts.jsonl")
    lexicon = load_lexicon(directory)
    codes = _codes(languages, lexicon.entries)
    checked = entries_to_check(lexicon, codes, planted_share=plant)
    if not checked:
        raise InputError(f"{directory}: no entry has both a meaning and an example; run dataset enrich first")
    options = ModelOptions([model], base_url, cache, max_requests, max_tokens, concurrency, dry_run, prices, values)
    with open_session(options) as session:
        replies = session.ask(session.models[0], [verification_question(text, row) for row in checked])
    if replies is None:
        session.print_estimates()
        return
    results = []
    for row, reply in zip(checked, replies, strict=True):
        results.append(verdict_of(row, reply, min_confidence=min_confidence))
    write_text(verdicts, "".join(f"{row.to_json(model=model, prompt=text.label)}\n" for row in results))
    note = f"{model}, {text.label}, {_dates(replies)}"
    _print_counts(count_decisions(results), head=["decision", "entries"])
    sys.stdout.write(printable(f"{verdicts}: {len(results)} verdicts by {note}\n"))
    caught = [(row.checked.planted, bool(row.reason)) for row in results if row.checked.planted]
    check_caught(caught, min_caught=min_caught)
    if out is None:
        return
    filtered = apply_verdicts(lexicon, results, note=note)
    rejected = out.with_name(f"{out.name}-rejected.jsonl")
    write_text(rejected, "".join(f"{row.to_json()}\n" for row in filtered.rejected))
    if not any(filtered.entries.values()):
        raise InputError(f"{out}: not one entry was accepted, so there is no lexicon to write; see {rejected}")
    write_lexicon(
        out,
        filtered.concepts,
        filtered.entries,
        equivalents=filtered.equivalents,
        reviews=lexicon.reviews,
        overwrite=overwrite,
    )
    n_kept = sum(len(rows) for rows in filtered.entries.values())
    sys.stdout.write(printable(f"{out}: {n_kept} entries; {rejected}: {len(filtered.rejected)} rejected\n"))


@dataset_app.command(
    epilog="Example: turkic-idiom dataset judge my-lexicon --cross-lingual tr:uz --model gpt-4.1 --plant 0.05",
)
def judge(
    directory: LexiconDirectory,
    models: Panel,
    cross_lingual: Annotated[
        list[str] | None,
        typer.Option(
            "--cross-lingual",
            metavar="SOURCE:TARGET",
            help="Judge idioms of one language with meanings in another instead, such as tr:uz; may be repeated.",
        ),
    ] = None,
    verdicts: Verdicts = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, metavar="N", help="Entries of each language.  [default: all]")
    ] = None,
    plant: Plant = None,
    min_caught: MinCaught = None,
    languages: Languages = None,
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
    """Have a model, or a panel of several, rate idiom-meaning pairs as HIGH, MEDIUM or LOW.

    The verdict of a panel is the quality with the most votes; its agreement is the share of equal pairs of votes and
    Krippendorff's alpha. The intervals resample concepts. A planted error is caught if it is not rated HIGH.
    """
    from hub_datasets.judge import caught_errors, lexicon_cases
    from hub_datasets.prompts import CROSS_LINGUAL, MONOLINGUAL
    from turkic_idiom_tasks.lexicon.load import load_lexicon

    if cross_lingual and languages:
        raise usage_error("--language goes without --cross-lingual, which names the languages itself")
    lexicon = load_lexicon(directory)
    pairs = [_pair(text, lexicon) for text in cross_lingual or ()]
    codes = [] if pairs else _codes(languages, lexicon.entries)
    cases = lexicon_cases(lexicon, codes, pairs=pairs, n=n, planted_share=plant)
    if not cases:
        raise InputError(f"{directory}: has no meanings to judge in these languages; run dataset enrich first")
    options = ModelOptions(models, base_url, cache, max_requests, max_tokens, concurrency, dry_run, prices, values)
    with open_session(options) as session:
        judged = judge_cases(session, cases, prompt)
    if judged is None:
        session.print_estimates()
        return
    verdicts = verdicts or Path(f"{directory.name or 'lexicon'}-judged.jsonl")
    write_judged(judged, verdicts)
    print_judged(judged, paper=CROSS_LINGUAL if pairs else MONOLINGUAL)
    sys.stdout.write(printable(f"{verdicts}: {len(judged)} verdicts\n"))
    check_caught(caught_errors(judged), min_caught=min_caught)


def judge_cases(session: Session, cases: Sequence[Case], version: int | None) -> list[Judged] | None:
    """Return the verdicts of the models of a session on some cases; None in a dry run."""
    from hub_datasets.judge import judge_question, panel_verdicts, vote_of
    from hub_datasets.prompts import load_prompt

    prompts = [load_prompt(case.prompt, version) for case in cases]
    questions = [judge_question(prompt, case) for prompt, case in zip(prompts, cases, strict=True)]
    votes = []
    for model in session.models:
        replies = session.ask(model, questions)
        if replies is None:
            continue
        own = []
        for prompt, reply in zip(prompts, replies, strict=True):
            own.append(vote_of(reply, model=model.settings.model, prompt=prompt.label))
        votes.append(own)
    return None if session.is_dry else panel_verdicts(cases, votes)


def write_judged(judged: Sequence[Judged], path: Path) -> None:
    """Write every verdict as a line of a file.

    Raises:
        InputError: the file cannot be written.
    """
    from turkic_idiom_tasks.io.files import write_text

    write_text(path, "".join(f"{row.to_json()}\n" for row in judged))


def print_judged(judged: Sequence[Judged], *, paper: str | None = None) -> None:
    """Print the shares of each group, beside those of the paper, and how far the models of a panel agree.

    Args:
        judged: the verdicts.
        paper: prompt whose published shares are printed; None prints none.
    """
    from hub_datasets.judge import HIGH, LOW, MEDIUM, PAPER_SHARES, agreement, quality_shares

    rows = []
    for share in quality_shares(judged):
        interval = "" if share.interval is None else f"{share.interval.low:.1%} to {share.interval.high:.1%}"
        note = "" if share.interval is None or share.interval.is_reliable else " ~"
        shares = [f"{share.shares[name]:.1%}" if share.shares else "undefined" for name in (HIGH, MEDIUM, LOW)]
        rows.append([share.group, share.cases, share.unscored, shares[0], interval + note, *shares[1:]])
    if paper is not None and paper in PAPER_SHARES:
        published = PAPER_SHARES[paper]
        rows.append(["paper, GPT-4.1", "", "", published[HIGH], "", "", published.get(LOW, "")])
    head = ["group", "cases", "unscored", HIGH, "95% interval", MEDIUM, LOW]
    print_rows(rows, sys.stdout, head=head)
    if any(row[4].endswith("~") for row in rows if isinstance(row[4], str)):
        sys.stdout.write("~ the interval may be too short, because few concepts decide it\n")
    votes = {(vote.model, vote.prompt, vote.date) for row in judged for vote in row.votes if vote.date}
    for model, prompt, date in sorted(votes):
        sys.stdout.write(printable(f"judged by {model}, {prompt}, {date}\n"))
    if judged and len(judged[0].votes) > 1:
        panel = agreement(judged)
        same = "undefined" if panel.share is None else f"{panel.share:.1%}"
        alpha = "undefined" if panel.alpha is None else f"{panel.alpha:.3f}"
        sys.stdout.write(f"agreement of the panel on {panel.cases} cases: {same} of pairs, alpha {alpha}\n")


def _codes(languages: Sequence[str] | None, entries: Mapping[str, object]) -> list[str]:
    """Return the codes of the chosen languages, all of a lexicon by default."""
    from turkic_idiom_tasks.languages import get_language

    if not languages:
        return list(entries)
    codes = [get_language(name).code for name in dict.fromkeys(languages)]
    for code in codes:
        if code not in entries:
            raise usage_error(f"--language {code}: there are no entries in it; known: {', '.join(entries)}")
    return codes


def _pair(text: str, lexicon: Lexicon) -> tuple[str, str]:
    source, sign, target = text.partition(":")
    if not sign or source == target:
        raise usage_error(f"--cross-lingual {text!r}: expected two languages, such as tr:uz")
    first, second = _codes([source, target], lexicon.entries)
    return first, second


def _dates(replies: Sequence[Reply]) -> str:
    """Return the day of the answers, or the first and the last one."""
    days = sorted({reply.date for reply in replies if reply.date})
    if not days:
        return "no answers"
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _print_counts(counts: Mapping[str, Counter[str]], *, head: Sequence[str]) -> None:
    rows = []
    for code, outcomes in counts.items():
        total = outcomes.total()
        for outcome, count in outcomes.most_common():
            rows.append([f"{code} {outcome}", count, f"{count / total:.1%}"])
    print_rows(rows, sys.stdout, head=[*head, "share"])
