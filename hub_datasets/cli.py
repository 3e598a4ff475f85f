"""`turkic-idiom dataset`: import, annotate, check, export, publish. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turkic_idiom_tasks.lexicon.entries import Lexicon

# as hub_datasets.importing and tagged_corpus have them; named here to keep --help fast
DICTIONARIES = ("paper", "uz-idioms", "kevser", "tdk")
FORMATS = (*DICTIONARIES, "dodiom")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``dataset`` and its subcommands; each sets `handler`."""
    parser = subparsers.add_parser(
        "dataset", help="import a source, tag idioms in sentences, check, export or publish a lexicon"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_import(commands)
    _add_annotate(commands)
    _add_review(commands)
    export = commands.add_parser("export", help="write a lexicon as a dataset in the layout of the Hub")
    export.add_argument("directory", nargs="?", metavar="DIR", help="default: the bundled lexicon")
    export.add_argument("--out", required=True, metavar="DIR", help="new, empty, or an earlier export")
    _add_licence(export)
    export.set_defaults(handler=_export)
    _add_hub(commands)


def _add_licence(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--licence", "--license", metavar="ID",
                        help="for the README, as the Hub names it (default: cc-by-4.0 for the bundled lexicon, "
                             "otherwise unknown)")  # fmt: skip


def _add_hub(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    publish = commands.add_parser(
        "publish",
        help="send a lexicon to a dataset repository on the Hub, in the layout that export writes",
        description="Show what would change in a dataset repository on the Hub and, with --yes, change it in one "
        "commit. Files that an earlier publish sent and that are no longer part of the data are deleted in it; nothing "
        "else is. The token is that of `hf auth login`, or HF_TOKEN.",
        epilog="Example: turkic-idiom dataset publish --repo my-org/turkic-idioms --version v1.0.0 --yes",
    )
    publish.add_argument("directory", nargs="?", metavar="DIR", help="lexicon directory (default: the bundled lexicon)")
    publish.add_argument("--repo", required=True, metavar="ORG/NAME", help="created if there is none")
    publish.add_argument("--version", metavar="TAG", help="tag for the commit, such as v1.0.0; tags are never moved")
    publish.add_argument("--yes", action="store_true", help="publish; without it only the plan is shown")
    _add_licence(publish)
    publish.set_defaults(handler=_publish)
    pull = commands.add_parser(
        "pull",
        help="download a dataset in the Hub layout into a directory for --data",
        epilog="Example: turkic-idiom dataset pull my-org/turkic-idioms@v1.0.0 && turkic-idiom run -m MODEL --data "
        "turkic-idioms",
    )
    pull.add_argument("name", metavar="ORG/NAME[@REVISION]", help="revision: a commit, tag or branch (default: main)")
    pull.add_argument("--out", metavar="DIR", help="new, empty, or an earlier export or pull (default: NAME)")
    pull.set_defaults(handler=_pull)


def _add_review(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the commands that look at a lexicon: check, stats, attest, show, browse, card."""
    check = commands.add_parser("check", help="print every mistake in a lexicon directory as file:line: message")
    check.add_argument("--format-only", action="store_true",
                       help="leave out the rules for good entries (lengths, circular meanings, duplicates, …), which "
                            "imported dictionaries seldom keep")  # fmt: skip
    check.set_defaults(handler=_check)
    stats = commands.add_parser("stats", help="print sizes, spans, and how far the languages share their words")
    stats.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    stats.set_defaults(handler=_stats)
    attest = commands.add_parser("attest", help="say how many idioms an outside dictionary lists")
    attest.add_argument("--format", required=True, choices=DICTIONARIES, help="of the dictionary, as in dataset import")
    attest.add_argument("file", metavar="FILE")
    attest.add_argument("--list", action="store_true", help="also print every idiom that is not listed")
    attest.set_defaults(handler=_attest)
    show = commands.add_parser("show", help="print one concept in every language")
    show.add_argument("concept", metavar="CONCEPT", help="id, such as fly-into-a-rage")
    show.set_defaults(handler=_show)
    browse = commands.add_parser("browse", help="write a searchable HTML page of all concepts side by side")
    browse.add_argument("--out", default="lexicon.html", metavar="FILE", help="default: %(default)s")
    browse.add_argument("--overwrite", action="store_true", help="replace --out if it exists")
    browse.set_defaults(handler=_browse)
    card = commands.add_parser("card", help="print the card of a lexicon directory, its README.md")
    card.set_defaults(handler=_card)
    for command in (check, stats, attest, show, browse, card):
        command.add_argument("directory", nargs="?", metavar="DIR", help="default: the bundled lexicon")


def _add_import(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "import",
        help="turn a source file into a lexicon directory, with a report of what was dropped and why",
        description="Turn a source file into a lexicon directory. paper: the benchmark paper's JSONL or JSON "
        "(TR-Deyim, TR-Anlam, TR-Ornek, AZ-…); uz-idioms: CSV of the Uzbek dictionary; kevser: CSV of Turkish idioms; "
        "tdk: CSV dump with the columns soz_id, sozum, atara, anlami, anahtar, turu2, gosterim_tarihi; dodiom: CSV of "
        "Dodiom's Turkish sentences, whose gold words become spans.",
        epilog="Example: turkic-idiom dataset import --format uz-idioms uzbek_idioms.csv --out uz-lexicon",
    )
    parser.add_argument("--format", required=True, choices=FORMATS, help="what the file is")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--out", required=True, metavar="DIR", help="new or empty, unless --overwrite")
    parser.add_argument("--overwrite", action="store_true", help="replace the lexicon that DIR holds")
    parser.set_defaults(handler=_import)


def _add_annotate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "annotate",
        help="find idioms in sentences and tag their words, or say why a row was dropped",
        description="Find the idiom of each row {id, idiom, sentence} in its sentence. The rows come out with tokens, "
        "ner_tags (O, B-IDIOM, I-IDIOM; every part of a discontinuous idiom begins with B) and spans (half-open code "
        "points), or with the reason why they were dropped. A row may have variants, a list of other citation forms.",
        epilog="Example: turkic-idiom dataset annotate --lang tr --in rows.jsonl --out tagged.jsonl",
    )
    parser.add_argument("--lang", metavar="CODE", help="language of the rows: tr, az, tk, gag, uz")
    parser.add_argument("--in", dest="file", metavar="FILE",
                        help="JSONL with the keys id, idiom, sentence; or a lexicon directory, whose entries get the "
                             "spans of their examples (without --lang)")  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="JSONL, or lexicon directory, to write")
    parser.add_argument("--overwrite", action="store_true", help="replace --out if it exists")
    parser.add_argument("--evaluate", nargs=2, metavar=("CORPUS", "FILE"),
                        help="instead: score the annotator on a corpus with gold words, as JSON; CORPUS: dodiom, with "
                             "its dataset_tr.csv")  # fmt: skip
    parser.set_defaults(handler=_annotate)


def _annotate(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.errors import usage_error

    if options.evaluate:
        if options.lang or options.file or options.out:
            raise usage_error("--evaluate goes without --lang, --in and --out")
        return _evaluate(*options.evaluate)
    if options.file and options.out and Path(options.file).is_dir():
        return _annotate_lexicon(options)
    for option, value in (("--lang", options.lang), ("--in", options.file), ("--out", options.out)):
        if not value:
            raise usage_error(f"{option} is missing; see: turkic-idiom dataset annotate --help")
    return _annotate_file(options)


def _annotate_lexicon(options: argparse.Namespace) -> int:
    from hub_datasets.annotation.lexicon import annotate_lexicon

    outcomes = annotate_lexicon(Path(options.file), Path(options.out), overwrite=options.overwrite)
    for code, counts in outcomes.items():
        found = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        sys.stdout.write(f"{options.out}: {code}: {found}\n")
    return 0


def _annotate_file(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from hub_datasets.annotation.rows import Account, annotated_rows, check_out, read_rows, write_rows
    from turkic_idiom_tasks.errors import usage_error
    from turkic_idiom_tasks.languages import get_language

    language, out = get_language(options.lang), Path(options.out)
    if out.resolve() == Path(options.file).resolve():
        raise usage_error(f"{out}: is the file that is read; choose another --out")
    check_out(out, overwrite=options.overwrite)
    account = Account()
    rows = tqdm(read_rows(Path(options.file)), desc="annotate", unit="row", delay=2, disable=None)
    write_rows(out, annotated_rows(rows, language, account))
    sys.stderr.write("".join(f"{line}\n" for line in account.summary()))
    sys.stdout.write(f"{out}: {account.annotated} of {account.rows} rows annotated\n")
    return 0


def _evaluate(corpus: str, file: str) -> int:
    import json

    from hub_datasets.annotation.dodiom import evaluate, read_dodiom
    from turkic_idiom_tasks.errors import usage_error

    if corpus != "dodiom":
        raise usage_error(f"unknown corpus {corpus!r}; known: dodiom")
    scores = evaluate(read_dodiom(Path(file)))
    sys.stdout.write(json.dumps(scores.to_json()) + "\n")
    return 0


def _import(options: argparse.Namespace) -> int:
    from hub_datasets.importing import check_target, find_format, import_source, write_import
    from hub_datasets.report import REPORT_FILE
    from hub_datasets.tagged_corpus import FORMAT as DODIOM
    from hub_datasets.tagged_corpus import import_dodiom

    directory = Path(options.out)
    check_target(directory, overwrite=options.overwrite)
    file = Path(options.file)
    imported = import_dodiom(file) if options.format == DODIOM else import_source(find_format(options.format), file)
    write_import(imported, directory, overwrite=options.overwrite)
    sys.stderr.write("".join(f"{line}\n" for line in imported.report.summary()))
    sys.stderr.write(f"examples of each reason: {directory / REPORT_FILE}\n")
    languages = ", ".join(f"{code} {count}" for code, count in imported.report.entries.items())
    sys.stdout.write(f"{directory}: {len(imported.concepts)} concepts, entries: {languages}\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.lexicon.load import BUNDLED, read_lexicon

    directory = Path(options.directory) if options.directory else BUNDLED
    lexicon, problems = read_lexicon(directory)
    if not problems and not options.format_only:
        from hub_datasets.quality import content_problems

        problems = content_problems(lexicon, directory)
    if problems:
        sys.stdout.write("".join(f"{problem}\n" for problem in problems))
        return 1
    for code, entries in lexicon.entries.items():
        rows = entries.values()
        meanings = sum(row.meaning is not None for row in rows)
        examples = sum(row.example is not None for row in rows)
        spans = sum(row.spans is not None for row in rows)
        sys.stdout.write(
            f"{code}: {len(rows)} entries, {meanings} with meaning, {examples} with example, {spans} with spans\n"
        )
    return 0


def _stats(options: argparse.Namespace) -> int:
    import json

    from hub_datasets.statistics import table, to_json

    lexicon = _lexicon(options)
    sys.stdout.write(json.dumps(to_json(lexicon), indent=2) + "\n" if options.json else table(lexicon))
    return 0


def _attest(options: argparse.Namespace) -> int:
    from hub_datasets.attest import attest
    from hub_datasets.importing import find_format, import_source
    from turkic_idiom_tasks.errors import InputError

    lexicon = _lexicon(options)
    entries = import_source(find_format(options.format), Path(options.file)).entries
    languages = [code for code in entries if lexicon.of(code)]
    if not languages:
        raise InputError(f"{lexicon.source}: has no entries in {', '.join(entries)}, the languages of {options.file}")
    for language in languages:
        found = attest(lexicon, entries, language)
        sys.stdout.write(
            f"{language}: {len(found.listed)} of {found.total} idioms are listed ({found.share:.1%}), another "
            f"{len(found.inflected)} with their verb in another form (together {found.share_with_inflected:.1%})\n"
        )
        if options.list:
            sys.stdout.write("".join(f"  {lexicon.of(language)[key].idiom}\t{key}\n" for key in found.absent))
    return 0


def _show(options: argparse.Namespace) -> int:
    from hub_datasets.browse import show

    sys.stdout.write(show(_lexicon(options), options.concept))
    return 0


def _browse(options: argparse.Namespace) -> int:
    from hub_datasets.annotation.rows import check_out
    from hub_datasets.browse import page
    from turkic_idiom_tasks.files import write_text

    check_out(Path(options.out), overwrite=options.overwrite)
    lexicon = _lexicon(options)
    write_text(Path(options.out), page(lexicon))
    sys.stdout.write(f"{options.out}: {len(lexicon.concepts)} concepts\n")
    return 0


def _card(options: argparse.Namespace) -> int:
    from hub_datasets.card import card, read_readings

    lexicon = _lexicon(options)
    sys.stdout.write(card(lexicon, read_readings(Path(lexicon.source))))
    return 0


def _lexicon(options: argparse.Namespace) -> Lexicon:
    from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon

    return load_lexicon(Path(options.directory) if options.directory else BUNDLED)


def _export(options: argparse.Namespace) -> int:
    from hub_datasets.layout import export_hub_layout

    export = export_hub_layout(_lexicon(options), Path(options.out), licence=options.licence)
    _say_left_out(export.left_out)
    sys.stdout.write(f"{export.directory}: {len(export.configs)} configs, {sum(export.configs.values())} rows\n")
    return 0


def _publish(options: argparse.Namespace) -> int:
    from hub_datasets.layout import hub_layout
    from hub_datasets.publish import publish_dataset

    layout = hub_layout(_lexicon(options), licence=options.licence)
    _say_left_out(layout.left_out)
    publish_dataset(layout, options.repo, version=options.version, confirmed=options.yes, write=sys.stdout.write)
    return 0


def _pull(options: argparse.Namespace) -> int:
    from hub_datasets.publish import pull_dataset

    name = options.name.partition("@")[0].rpartition("/")[2]
    pulled = pull_dataset(options.name, Path(options.out or name))
    sys.stdout.write(f"{pulled.directory}: {pulled.n_files} files, commit {pulled.commit}\n")
    return 0


def _say_left_out(left_out: tuple[str, ...]) -> None:
    if left_out:
        sys.stderr.write(f"left out, the lexicon has nothing for them: {', '.join(left_out)}\n")
