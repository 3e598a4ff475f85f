"""`turkic-idiom dataset`: import a source, check a lexicon, export one. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

FORMATS = ("paper", "uz-idioms", "kevser", "tdk")  # as hub_datasets.importing has them; named here to keep --help fast


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``dataset import``, ``dataset check`` and ``dataset export``; each sets `handler`."""
    parser = subparsers.add_parser("dataset", help="import a source into a lexicon, check a lexicon, export one")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_import(commands)
    check = commands.add_parser("check", help="print every mistake in a lexicon directory as file:line: message")
    check.add_argument("directory", nargs="?", metavar="DIR", help="default: the bundled lexicon")
    check.set_defaults(handler=_check)
    export = commands.add_parser("export", help="write a lexicon as a dataset in the layout of the Hub")
    export.add_argument("directory", nargs="?", metavar="DIR", help="default: the bundled lexicon")
    export.add_argument("--out", required=True, metavar="DIR", help="new, empty, or an earlier export")
    export.add_argument("--licence", "--license", metavar="ID",
                        help="for the README, as the Hub names it (default: cc-by-4.0 for the bundled lexicon, "
                             "otherwise unknown)")  # fmt: skip
    export.set_defaults(handler=_export)


def _add_import(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "import",
        help="turn a source file into a lexicon directory, with a report of what was dropped and why",
        description="Turn a source file into a lexicon directory. paper: the benchmark paper's JSONL or JSON "
        "(TR-Deyim, TR-Anlam, TR-Ornek, AZ-…); uz-idioms: CSV of the Uzbek dictionary; kevser: CSV of Turkish idioms; "
        "tdk: CSV dump with the columns soz_id, sozum, atara, anlami, anahtar, turu2, gosterim_tarihi.",
        epilog="Example: turkic-idiom dataset import --format uz-idioms uzbek_idioms.csv --out uz-lexicon",
    )
    parser.add_argument("--format", required=True, choices=FORMATS, help="what the file is")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--out", required=True, metavar="DIR", help="new or empty, unless --overwrite")
    parser.add_argument("--overwrite", action="store_true", help="replace the lexicon that DIR holds")
    parser.set_defaults(handler=_import)


def _import(options: argparse.Namespace) -> int:
    from hub_datasets.importing import check_target, find_format, import_source, write_import
    from hub_datasets.report import REPORT_FILE

    directory = Path(options.out)
    check_target(directory, overwrite=options.overwrite)
    imported = import_source(find_format(options.format), Path(options.file))
    write_import(imported, directory, overwrite=options.overwrite)
    sys.stderr.write("".join(f"{line}\n" for line in imported.report.summary()))
    sys.stderr.write(f"examples of each reason: {directory / REPORT_FILE}\n")
    languages = ", ".join(f"{code} {count}" for code, count in imported.report.entries.items())
    sys.stdout.write(f"{directory}: {len(imported.concepts)} concepts, entries: {languages}\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.lexicon.load import BUNDLED, read_lexicon

    lexicon, problems = read_lexicon(Path(options.directory) if options.directory else BUNDLED)
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


def _export(options: argparse.Namespace) -> int:
    from hub_datasets.layout import export_hub_layout
    from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon

    lexicon = load_lexicon(Path(options.directory) if options.directory else BUNDLED)
    export = export_hub_layout(lexicon, Path(options.out), licence=options.licence)
    if export.left_out:
        sys.stderr.write(f"left out, the lexicon has nothing for them: {', '.join(export.left_out)}\n")
    sys.stdout.write(f"{export.directory}: {len(export.configs)} configs, {sum(export.configs.values())} rows\n")
    return 0
