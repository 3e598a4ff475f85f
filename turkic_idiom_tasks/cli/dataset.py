"""``turkic-idiom dataset``: import, check, annotate, show, export and publish a lexicon."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, TextIO

import typer
from rich.table import Table

from turkic_idiom_tasks.cli.main import command_group
from turkic_idiom_tasks.cli.options import Publish
from turkic_idiom_tasks.cli.output import plain_console, print_line
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.io.files import check_folder, write_text
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.reading import input_errors, printable, read_file, real_path
from turkic_idiom_tasks.languages import LANGUAGES, LANGUAGES_FILE, get_language
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, check_target, file_names, load_lexicon, read_lexicon

dataset_app = command_group("dataset", "Import a source, tag idioms in sentences, check, export or publish a lexicon.")


# `hub_datasets.importing.FORMATS`, named here so that --help does not import that module
SourceFormat = StrEnum("SourceFormat", ["paper", "columns", "uz-idioms", "kevser", "tdk", "dodiom"])
Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="Lexicon directory; default: the bundled one.", show_default=False)
]
Data = Annotated[
    Path,
    typer.Option("--data", metavar="DIR", help="Lexicon directory.  [default: the bundled one]", show_default=False),
]


@dataset_app.command(
    "import",
    epilog="Example: turkic-idiom dataset import --format uz-idioms uzbek_idioms.csv --out uz-lexicon",
)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    format: Annotated[SourceFormat, typer.Option(help="Format of the file.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New or empty, unless --overwrite.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the lexicon that DIR holds.")] = False,
) -> None:
    """Turn a source file into a lexicon directory, with a report of what was dropped and why.

    paper: the benchmark paper's JSONL or JSON (TR-Deyim, TR-Anlam, TR-Ornek, AZ-…); columns: CSV with
    a column of idioms per language (tr, az, …; tr-meaning and tr-example if known); uz-idioms: CSV of the Uzbek
    dictionary; kevser: CSV of Turkish idioms; tdk: CSV dump with the columns soz_id, sozum, atara, anlami, anahtar,
    turu2, gosterim_tarihi; dodiom: CSV of Dodiom's Turkish sentences, whose gold words become spans.
    """
    from hub_datasets.import_report import OUTCOMES, REPORT_FILE
    from hub_datasets.importing import import_source, write_import

    check_target(out, overwrite=overwrite)
    if real_path(file) in {real_path(out / name) for name in file_names()}:
        raise usage_error(f"{file}: is read by this command, and would be replaced; choose another --out")
    imported = import_source(format, file)
    write_import(imported, out, overwrite=overwrite)
    sys.stderr.write(f"{imported.summary()}\n")
    rows = [(outcome, count, reason) for outcome in OUTCOMES for reason, count in imported.counts(outcome).items()]
    print_rows(rows, sys.stderr)
    sys.stderr.write(printable(f"examples of each reason: {out / REPORT_FILE}\n"))
    languages = ", ".join(f"{code} {len(entries)}" for code, entries in imported.entries.items())
    print_line(f"{out}: {len(imported.concepts)} concepts, entries: {languages}")


@dataset_app.command(epilog="Example: turkic-idiom dataset annotate --lang tr --in rows.jsonl --out tagged.jsonl")
def annotate(
    file: Annotated[Path, typer.Option("--in", metavar="FILE", help="JSONL; or a lexicon directory (without --lang).")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="JSONL, or lexicon directory, to write.")],
    lang: Annotated[str | None, typer.Option(metavar="CODE", help="Of the rows.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out if it exists.")] = False,
) -> None:
    """Find idioms in sentences and tag their words, or say why a row was dropped.

    Find the idiom of each row {id, idiom, sentence} in its sentence. The rows are written with tokens, ner_tags (O,
    B-IDIOM, I-IDIOM; every part of a discontinuous idiom begins with B) and spans (half-open code points), or with the
    reason why they were dropped. A row may have variants, a list of other citation forms. The entries of a lexicon get
    the spans of their examples.
    """
    from hub_datasets.annotated_files import ANNOTATED, annotate_lexicon, annotate_rows

    if file.is_dir():
        if lang:
            raise usage_error(f"--lang {lang}: a lexicon is annotated in all its languages; leave it out")
        for code, counts in annotate_lexicon(file, out, overwrite=overwrite).items():
            parts = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
            print_line(f"{out}: {code}: {parts}")
            if LANGUAGES[code].suffixes is None:
                sys.stderr.write(f"{code}: {LANGUAGES_FILE} has no suffixes; only exact forms were looked for\n")
        return
    if lang is None:
        raise usage_error("--lang is missing: the language of the rows")
    outcomes = annotate_rows(file, out, get_language(lang), overwrite=overwrite)
    n_rows, n_annotated = outcomes.total(), outcomes.pop(ANNOTATED, 0)
    sys.stderr.write(f"{n_rows} rows = {n_annotated} annotated + {n_rows - n_annotated} dropped\n")
    print_rows([("dropped", count, reason) for reason, count in outcomes.most_common()], sys.stderr)
    print_line(f"{out}: {n_annotated} of {n_rows} rows annotated")


@dataset_app.command()
def check(
    directory: Directory = BUNDLED,
    format_only: Annotated[
        bool, typer.Option("--format-only", help="Leave out the rules for the content of good entries.")
    ] = False,
) -> None:
    """Print every mistake in a lexicon directory as file:line: message; of an export, a file without the canary.

    The rules for good entries are about lengths, circular meanings, duplicates, …; imported dictionaries seldom follow
    them.
    """
    from hub_datasets.hub_export import read_layout
    from hub_datasets.quality import content_problems

    layout = read_layout(directory)
    if layout is not None:
        print_line(f"{len(layout.contents)} files of {len(layout.configs)} configs, each with the canary")
        return
    lexicon, problems = read_lexicon(directory)
    if not problems and not format_only:
        problems = content_problems(lexicon, directory)
    for problem in problems:
        print_line(str(problem))
    # stdout holds either the mistakes or the sizes, so that a script can count lines.
    if problems:
        raise typer.Exit(1)
    for code, entries in lexicon.entries.items():
        parts = [f"{len(entries)} entries"]
        for field in ("meaning", "example", "spans"):
            parts.append(f"{sum(getattr(entry, field) is not None for entry in entries.values())} with {field}")
        print_line(f"{code}: {', '.join(parts)}")


@dataset_app.command(epilog="Example: turkic-idiom dataset stats --attest uz-idioms uzbek_idioms.csv")
def stats(
    directory: Directory = BUNDLED,
    format: Annotated[
        Literal["table", "json", "card"], typer.Option(help="card: the README.md of the directory.")
    ] = "table",
    dictionary: Annotated[
        tuple[SourceFormat, Path] | None,
        typer.Option("--attest", metavar="FORMAT FILE", help="Instead: which idioms an outside dictionary lists."),
    ] = None,
) -> None:
    """Print sizes, spans, how many idioms share a word with the Turkish one, and how many entries were reviewed.

    With --attest, say how many idioms an outside dictionary lists, in a format of dataset import, and print the others.
    """
    from hub_datasets.cards import lexicon_card
    from hub_datasets.lexicon_figures import figures_table, language_figures

    lexicon = load_lexicon(directory)
    if dictionary is not None:
        _print_attestation(lexicon, *dictionary)
    elif format == "json":
        figures = {"revision": lexicon.revision, "concepts": len(lexicon.concepts)}
        print_line(json.dumps(figures | {"languages": language_figures(lexicon)}, indent=2))
    elif format == "card":
        sys.stdout.write(lexicon_card(lexicon))
    else:
        head, *rows = figures_table(lexicon)
        print_rows(rows, sys.stdout, head=head)


def _print_attestation(lexicon: Lexicon, format: SourceFormat, file: Path) -> None:
    from hub_datasets.importing import import_source
    from hub_datasets.lexicon_figures import attest

    dictionary = import_source(format, file).entries
    languages = [code for code in dictionary if lexicon.of(code)]
    if not languages:
        codes = ", ".join(dictionary)
        raise InputError(f"{lexicon.source}: has no entries in {codes}, as {file} has; choose another dictionary")
    for language in languages:
        concepts = attest(lexicon, dictionary, language)
        n_listed, n_inflected = len(concepts["listed"]), len(concepts["inflected"])
        total = n_listed + n_inflected + len(concepts["absent"])
        print_line(
            f"{language}: {n_listed} of {total} idioms are listed ({n_listed / total:.1%}), another {n_inflected} with "
            f"their verb in another form (together {(n_listed + n_inflected) / total:.1%}); not listed:"
        )
        for concept in concepts["absent"]:
            print_line(f"  {lexicon.of(language)[concept].idiom}\t{concept}")


@dataset_app.command(epilog="Example: turkic-idiom dataset show fly-into-a-rage")
def show(
    concept: Annotated[str | None, typer.Argument(metavar="CONCEPT", help="Id, such as fly-into-a-rage.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the page of all concepts to a new file.")
    ] = None,
    data: Data = BUNDLED,
) -> None:
    """Print one concept in every language, or write a searchable HTML page of all concepts side by side."""
    from hub_datasets.browse import page
    from hub_datasets.browse import show as show_concept

    if (concept is None) == (out is None):
        raise usage_error("give a CONCEPT to print, or --out FILE for the page of all concepts")
    if out is not None:
        check_outputs({"--out": out}, inputs=[data])
    lexicon = load_lexicon(data)
    if concept is not None:
        sys.stdout.write(show_concept(lexicon, concept))
    if out is not None:
        write_text(out, page(lexicon))
        print_line(f"{out}: {len(lexicon.concepts)} concepts")


@dataset_app.command(epilog="Example: turkic-idiom dataset export --repo my-org/turkic-idioms --version v1.0.0 --yes")
def export(
    directory: Directory = BUNDLED,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder: new, empty, or an earlier export.")
    ] = None,
    repo: Annotated[
        str | None, typer.Option(metavar="ORG/NAME", help="Repository on the Hub; created if there is none.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="TAG", help="Of the commit, as v1.0.0; tags are never moved.")
    ] = None,
    yes: Publish = False,
    licence: Annotated[
        str | None, typer.Option("--licence", "--license", metavar="ID", help="For the README, as the Hub names it.")
    ] = None,
    kind: Annotated[Literal["lexicon", "language-models"], typer.Option(help="The lexicon, or the items.")] = "lexicon",
    hold_out: Annotated[
        tuple[float, Path] | None,
        typer.Option(metavar="SHARE FILE", help="Of items: keep a share back, by the secret in FILE."),
    ] = None,
) -> None:
    """Write a lexicon, or the items for language models, as a dataset in the layout of the Hub.

    Of a lexicon it has the entries with the retrieval and span tasks; of the kind language-models the items, as Inspect
    and EuroEval read them. The licence is cc-by-4.0 for the bundled lexicon, otherwise unknown, unless it is given.

    With --out it is written to a folder. With --repo, show what would change in the repository and, with --yes, change
    it in one commit. Nothing in it is ever deleted: files that are no longer part of the data are listed and stay
    there. The token is that of `hf auth login`, or HF_TOKEN.

    With --hold-out the items about a share of the test concepts are left out; beside --out DIR they are written to
    DIR-held-out. The secret decides which: keep it, and everything in that folder, to yourself.
    """
    from hub_datasets.hub_export import KIND, hub_layout
    from hub_datasets.item_export import is_held_out, item_layout
    from turkic_idiom_tasks.io.hub_upload import DATASET, Target, publish

    # Wrong options are named now, and not after the minute that the items take.
    problems = []
    if (out is None) == (repo is None):
        problems.append("give either --out, for a folder, or --repo, for a repository on the Hub")
    if version is not None and not re.fullmatch(r"v[0-9]+\.[0-9]+\.[0-9]+", version):
        problems.append(f"--version {version!r}: a version looks like v1.0.0")
    if hold_out is not None:
        share, secret = hold_out
        with input_errors(f"--hold-out {share} {secret}"):
            salt = read_file(secret).strip()
        if kind == "lexicon" or not (0 < share < 1 and salt):
            needs = "needs --kind language-models, a share between 0 and 1, and a file with a secret text"
            problems.append(f"--hold-out {share} {secret}: {needs}")
    if problems:
        raise usage_error("; ".join(problems))
    target = Target(repo, DATASET) if repo is not None else None
    if out is not None:
        check_folder(out, {}, kind=KIND)
    lexicon = load_lexicon(directory)
    if hold_out is not None:
        layout = item_layout(lexicon, licence=licence, is_chosen=lambda name: not is_held_out(name, share, salt))
        if out is not None:
            # Before anything is written, because there are two folders
            check_folder(out, layout.contents, kind=KIND)
            held_out = item_layout(lexicon, licence=licence, is_chosen=lambda name: is_held_out(name, share, salt))
            held_out.write(out.with_name(f"{out.name}-held-out"))
    else:
        layout = (hub_layout if kind == "lexicon" else item_layout)(lexicon, licence=licence)
    if layout.left_out:
        sys.stderr.write(f"left out, because the lexicon has no data for them: {', '.join(layout.left_out)}\n")
    if out is not None:
        layout.write(out)
        print_line(f"{out}: {len(layout.configs)} configs, {sum(layout.configs.values())} rows")
    if target is not None:
        message = f"Publish {version}" if version else "Publish"
        write = sys.stdout.write
        commit = publish(layout.contents, target, message=message, confirmed=yes, write=write, tag=version)
        if commit and kind == "lexicon":
            write(f"{DATA_VARIABLE}={repo}@{commit}\n")
        elif commit:
            write(f"inspect eval hf/{repo}@{commit} --model MODEL\n")


def print_rows(rows: Iterable[Sequence[object]], file: TextIO, *, head: Sequence[str] = (), note: str = "") -> None:
    """Print a table that fits the terminal, and a note; numbers are aligned on the right, long texts folded."""
    table = Table(box=None, show_header=bool(head), header_style=None, pad_edge=False, padding=(0, 2, 0, 0))
    rows = [list(row) for row in rows]
    if not rows:
        return
    for number, cell in enumerate(rows[0]):
        is_number = isinstance(cell, int) or (bool(head) and number > 0)
        table.add_column(head[number] if head else "", justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    plain_console(file).print(table, *([f"\n{note}"] if note else []), sep="\n")
