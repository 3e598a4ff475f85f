"""``turkic-idiom dataset``: import, check, annotate, show and publish a lexicon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from hub_datasets.hub_export import HubLayout
    from turkic_idiom_tasks.lexicon.entries import Lexicon

dataset_app = typer.Typer(
    name="dataset",
    help="Import a source, tag idioms in sentences, check, export or publish a lexicon.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(dataset_app)


class Dictionary(StrEnum):
    """Formats of `hub_datasets.importing.FORMATS`, named here so that --help does not import that module."""

    paper = "paper"
    columns = "columns"
    uz_idioms = "uz-idioms"
    kevser = "kevser"
    tdk = "tdk"


class SourceFormat(StrEnum):
    """All formats that can be imported: the dictionaries, and Dodiom's tagged sentences."""

    paper = "paper"
    columns = "columns"
    uz_idioms = "uz-idioms"
    kevser = "kevser"
    tdk = "tdk"
    dodiom = "dodiom"


class Kind(StrEnum):
    """What can be exported and published: the lexicon with the retrieval and span tasks, or the items."""

    lexicon = "lexicon"
    language_models = "language-models"


Directory = Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Lexicon directory; default: the bundled one.")]
Source = Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]
Licence = Annotated[
    str | None,
    typer.Option(
        "--licence",
        "--license",
        metavar="ID",
        help="For the README, as the Hub names it.  [default: cc-by-4.0 for the bundled lexicon, otherwise unknown]",
    ),
]


KindOption = Annotated[
    Kind,
    typer.Option(
        "--kind",
        help="lexicon: the entries with the retrieval and span tasks; language-models: the items, as Inspect and "
        "EuroEval read them.",
    ),
]


@dataset_app.command(
    "import",
    epilog="Example: turkic-idiom dataset import --format uz-idioms uzbek_idioms.csv --out uz-lexicon",
)
def import_(
    file: Source,
    format: Annotated[SourceFormat, typer.Option("--format", help="Format of the file.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New or empty, unless --overwrite.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the lexicon that DIR holds.")] = False,
) -> None:
    """Turn a source file into a lexicon directory, with a report of what was dropped and why.

    paper: the benchmark paper's JSONL or JSON (TR-Deyim, TR-Anlam, TR-Ornek, AZ-…); columns: CSV with
    a column of idioms per language (tr, az, …; tr-meaning and tr-example if known); uz-idioms: CSV of the Uzbek
    dictionary; kevser: CSV of Turkish idioms; tdk: CSV dump with the columns soz_id, sozum, atara, anlami, anahtar,
    turu2, gosterim_tarihi; dodiom: CSV of Dodiom's Turkish sentences, whose gold words become spans.
    """
    from hub_datasets.dodiom import import_dodiom
    from hub_datasets.import_report import REPORT_FILE
    from hub_datasets.importing import find_format, import_source, write_import
    from turkic_idiom_tasks.lexicon.load import check_target

    check_target(out, overwrite=overwrite)
    is_dodiom = format is SourceFormat.dodiom
    imported = import_dodiom(file) if is_dodiom else import_source(find_format(format), file)
    write_import(imported, out, overwrite=overwrite)
    sys.stderr.write(f"{imported.report.summary()}\n")
    print_rows(imported.report.reasons(), sys.stderr)
    sys.stderr.write(printable(f"examples of each reason: {out / REPORT_FILE}\n"))
    languages = ", ".join(f"{code} {count}" for code, count in imported.report.entries.items())
    sys.stdout.write(printable(f"{out}: {len(imported.concepts)} concepts, entries: {languages}\n"))


@dataset_app.command(epilog="Example: turkic-idiom dataset annotate --lang tr --in rows.jsonl --out tagged.jsonl")
def annotate(
    lang: Annotated[str | None, typer.Option("--lang", metavar="CODE", help="tr, az, tk, gag, uz.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--in",
            metavar="FILE",
            help="JSONL with the keys id, idiom, sentence; or a lexicon directory, whose entries get the spans of "
            "their examples (without --lang).",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="JSONL, or lexicon directory, to write.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")] = False,
    evaluate: Annotated[
        tuple[str, Path] | None,
        typer.Option(
            metavar="CORPUS FILE",
            help="Instead: score the annotator on a corpus with gold words, as JSON; CORPUS: dodiom, with its "
            "dataset_tr.csv.",
        ),
    ] = None,
) -> None:
    """Find idioms in sentences and tag their words, or say why a row was dropped.

    Find the idiom of each row {id, idiom, sentence} in its sentence. The rows are written with tokens, ner_tags (O,
    B-IDIOM, I-IDIOM; every part of a discontinuous idiom begins with B) and spans (half-open code points), or with the
    reason why they were dropped. A row may have variants, a list of other citation forms.
    """
    if evaluate is not None:
        if lang or file or out:
            raise usage_error("--evaluate goes without --lang, --in and --out")
        _evaluate(*evaluate)
        return
    if file and out and file.is_dir():
        if lang:
            raise usage_error(f"--lang {lang}: a lexicon is annotated in all its languages; leave it out")
        _annotate_lexicon(file, out, overwrite=overwrite)
        return
    for option, value in (("--lang", lang), ("--in", file), ("--out", out)):
        if not value:
            raise usage_error(f"{option} is missing; see: turkic-idiom dataset annotate --help")
    if lang and file and out:
        _annotate_file(file, out, lang, overwrite=overwrite)


@dataset_app.command()
def check(
    directory: Directory = None,
    format_only: Annotated[
        bool,
        typer.Option(
            "--format-only",
            help="Leave out the rules for good entries (lengths, circular meanings, duplicates, …), which imported "
            "dictionaries seldom follow.",
        ),
    ] = False,
) -> None:
    """Print every mistake in a lexicon directory as file:line: message."""
    from hub_datasets.quality import content_problems
    from turkic_idiom_tasks.lexicon.load import BUNDLED, read_lexicon

    directory = directory or BUNDLED
    lexicon, problems = read_lexicon(directory)
    if not problems and not format_only:
        problems = content_problems(lexicon, directory)
    for problem in problems:
        sys.stdout.write(f"{printable(str(problem))}\n")
    if problems:
        raise typer.Exit(1)
    for code, entries in lexicon.entries.items():
        n_meanings = n_examples = n_spans = 0
        for entry in entries.values():
            n_meanings += entry.meaning is not None
            n_examples += entry.example is not None
            n_spans += entry.spans is not None
        sys.stdout.write(
            f"{code}: {len(entries)} entries, {n_meanings} with meaning, {n_examples} with example, "
            f"{n_spans} with spans\n"
        )


@dataset_app.command()
def stats(
    directory: Directory = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Print sizes, spans, how many idioms share a word with the Turkish one, and how many entries were reviewed."""
    from hub_datasets.lexicon_figures import figures_table, to_json

    lexicon = _lexicon(directory)
    if as_json:
        sys.stdout.write(json.dumps(to_json(lexicon), indent=2) + "\n")
        return
    head, *rows = figures_table(lexicon)
    print_rows(rows, sys.stdout, head=head)


@dataset_app.command()
def attest(
    file: Source,
    format: Annotated[Dictionary, typer.Option("--format", help="Format of the dictionary, as in dataset import.")],
    directory: Directory = None,
    list_absent: Annotated[bool, typer.Option("--list", help="Also print every idiom that is not listed.")] = False,
) -> None:
    """Say how many idioms an outside dictionary lists."""
    from hub_datasets.importing import find_format, import_source
    from hub_datasets.lexicon_figures import attest

    lexicon = _lexicon(directory)
    entries = import_source(find_format(format), file).entries
    languages = [code for code in entries if lexicon.of(code)]
    if not languages:
        raise InputError(
            f"{lexicon.source}: has no entries in {', '.join(entries)}, the languages of {file}; choose another "
            "dictionary"
        )
    for language in languages:
        attestation = attest(lexicon, entries, language)
        sys.stdout.write(
            f"{language}: {len(attestation.listed)} of {attestation.total} idioms are listed "
            f"({attestation.share:.1%}), another {len(attestation.inflected)} with their verb in another form "
            f"(together {attestation.share_with_inflected:.1%})\n"
        )
        if list_absent:
            for concept in attestation.absent:
                sys.stdout.write(f"  {lexicon.of(language)[concept].idiom}\t{concept}\n")


@dataset_app.command()
def show(
    concept: Annotated[str, typer.Argument(metavar="CONCEPT", help="Id, such as fly-into-a-rage.")],
    directory: Directory = None,
) -> None:
    """Print one concept in every language."""
    from hub_datasets.browse import show

    sys.stdout.write(show(_lexicon(directory), concept))


@dataset_app.command()
def browse(
    directory: Directory = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE")] = Path("lexicon.html"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")] = False,
) -> None:
    """Write a searchable HTML page of all concepts side by side."""
    from hub_datasets.annotated_files import check_out
    from hub_datasets.browse import page
    from turkic_idiom_tasks.io.files import write_text

    check_out(out, overwrite=overwrite)
    lexicon = _lexicon(directory)
    write_text(out, page(lexicon))
    sys.stdout.write(printable(f"{out}: {len(lexicon.concepts)} concepts\n"))


@dataset_app.command()
def card(directory: Directory = None) -> None:
    """Print the card of a lexicon directory, its README.md."""
    from hub_datasets.cards import lexicon_card, read_readings

    lexicon = _lexicon(directory)
    sys.stdout.write(lexicon_card(lexicon, read_readings(Path(lexicon.source))))


@dataset_app.command()
def export(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New, empty, or an earlier export.")],
    directory: Directory = None,
    licence: Licence = None,
    kind: KindOption = Kind.lexicon,
) -> None:
    """Write a lexicon, or the items for language models, as a dataset in the layout of the Hub."""
    from hub_datasets.hub_export import export_hub_layout

    layout = _layout(directory, kind, licence=licence)
    export_hub_layout(layout, out)
    _print_left_out(layout.left_out)
    sys.stdout.write(printable(f"{out}: {len(layout.configs)} configs, {sum(layout.configs.values())} rows\n"))


@dataset_app.command(
    epilog="Example: turkic-idiom dataset publish --repo my-org/turkic-idioms --version v1.0.0 --yes",
)
def publish(
    repo: Annotated[str, typer.Option("--repo", metavar="ORG/NAME", help="Created if there is none.")],
    directory: Directory = None,
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="TAG", help="Tag for the commit, such as v1.0.0; tags are never moved."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Publish; without it only the plan is shown.")] = False,
    licence: Licence = None,
    kind: KindOption = Kind.lexicon,
) -> None:
    """Publish a lexicon, or the items for language models, in a dataset repository on the Hub, as export writes it.

    Show what would change in the repository and, with --yes, change it in one commit. Nothing in it is ever deleted:
    files that are no longer part of the data are listed and stay there. The token is that of `hf auth login`, or
    HF_TOKEN.
    """
    from hub_datasets.hub_export import publish_dataset

    layout = _layout(directory, kind, licence=licence)
    _print_left_out(layout.left_out)
    published = publish_dataset(layout, repo, version=version, confirmed=yes, write=sys.stdout.write)
    if published and kind is Kind.lexicon:
        sys.stdout.write(f"{DATA_VARIABLE}={repo}@{published.commit}\n")
    elif published:
        sys.stdout.write(f"inspect eval hf/{repo}@{published.commit} --model MODEL\n")


@dataset_app.command(
    epilog="Example: turkic-idiom dataset pull my-org/turkic-idioms@v1.0.0 && turkic-idiom run -m MODEL --data "
    "turkic-idioms",
)
def pull(
    name: Annotated[
        str,
        typer.Argument(metavar="ORG/NAME[@REVISION]", help="Revision: a commit, tag or branch; main if none is given."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="New, empty, or an earlier export or pull.  [default: NAME]"),
    ] = None,
) -> None:
    """Download a dataset in the Hub layout into a directory for --data."""
    from hub_datasets.hub_export import pull_dataset

    pulled = pull_dataset(name, out or Path(name.partition("@")[0].rpartition("/")[2]))
    sys.stdout.write(printable(f"{pulled.directory}: {pulled.n_files} files, commit {pulled.commit}\n"))


def _annotate_lexicon(source: Path, target: Path, *, overwrite: bool) -> None:
    from hub_datasets.annotated_files import annotate_lexicon

    outcomes = annotate_lexicon(source, target, overwrite=overwrite)
    for code, counts in outcomes.items():
        parts = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        sys.stdout.write(printable(f"{target}: {code}: {parts}\n"))


def _annotate_file(file: Path, out: Path, lang: str, *, overwrite: bool) -> None:
    from hub_datasets.annotated_files import Account, annotated_rows, check_out, read_rows, write_rows
    from turkic_idiom_tasks.languages import get_language

    language = get_language(lang)
    if out.resolve() == file.resolve():
        raise usage_error(f"{out}: is the file that is read; choose another --out")
    check_out(out, overwrite=overwrite)
    account = Account()
    rows = track(
        read_rows(file), "annotate", console=_console(sys.stderr), transient=True, disable=not sys.stderr.isatty()
    )
    write_rows(out, annotated_rows(rows, language, account))
    sys.stderr.write(f"{account.summary()}\n")
    print_rows([("dropped", count, reason) for reason, count in account.dropped.most_common()], sys.stderr)
    sys.stdout.write(printable(f"{out}: {account.annotated} of {account.rows} rows annotated\n"))


def _evaluate(corpus: str, file: Path) -> None:
    from hub_datasets.dodiom import FORMAT, evaluate, read_dodiom

    if corpus != FORMAT:
        raise usage_error(f"--evaluate: unknown corpus {corpus!r}; known: {FORMAT}")
    rows = read_dodiom(file)
    n_composed = sum(row.was_composed for row in rows)
    if n_composed:
        sys.stderr.write(f"{n_composed} of {len(rows)} rows were not in NFC and have been composed\n")
    sys.stdout.write(json.dumps(evaluate(rows).to_json()) + "\n")


def _lexicon(directory: Path | None) -> Lexicon:
    from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon

    return load_lexicon(directory or BUNDLED)


def _layout(directory: Path | None, kind: Kind, *, licence: str | None) -> HubLayout:
    from hub_datasets.hub_export import hub_layout
    from hub_datasets.item_export import item_layout

    lexicon = _lexicon(directory)
    if kind is Kind.language_models:
        return item_layout(lexicon, licence=licence)
    return hub_layout(lexicon, licence=licence)


def _print_left_out(left_out: Sequence[str]) -> None:
    if left_out:
        sys.stderr.write(f"left out, because the lexicon has no data for them: {', '.join(left_out)}\n")


def print_rows(rows: Iterable[Sequence[object]], file: TextIO, *, head: Sequence[str] = ()) -> None:
    """Print a table that fits the terminal; numbers are aligned on the right, long texts folded."""
    table = Table(box=None, show_header=bool(head), header_style=None, pad_edge=False, padding=(0, 2, 0, 0))
    rows = [list(row) for row in rows]
    if not rows:
        return
    for number, cell in enumerate(rows[0]):
        is_number = isinstance(cell, int) or (bool(head) and number > 0)
        table.add_column(head[number] if head else "", justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    _console(file).print(table)


def _console(file: TextIO) -> Console:
    return Console(file=file, markup=False, emoji=False, highlight=False)
