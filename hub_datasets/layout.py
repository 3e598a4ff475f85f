"""A lexicon as a dataset in the Hub layout: parquet files by config, and a README that declares them.

Configs: ``T1-tur-azj-queries`` and ``-corpus`` (id, text) and ``-qrels`` (query-id, corpus-id, score) for every task
and subset that the lexicon can serve, and ``lexicon-tr`` for every language, each with one split, ``test``: queries are
those of the test concepts, and the rows of a lexicon are what all of it was derived from. ``span-tr`` (id, lang, idiom,
sentence, tokens, ner_tags, spans) for every language with annotated examples has the splits ``train``, ``validation``
and ``test``.

The same lexicon gives the same bytes. What the directory holds besides is left alone; of an earlier export, files that
nobody has changed since are replaced or removed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import check_writable, write_bytes, write_json
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, RetrievalData, build_retrieval
from turkic_idiom_tasks.span_detection.sentences import lexicon_sentences
from turkic_idiom_tasks.spans import LABELS

SPLIT = "test"
README = "README.md"
MANIFEST = ".export_manifest.json"  # which files are ours, and the hashes of what we wrote
BUNDLED_LICENCE = "cc-by-4.0"
UNKNOWN_LICENCE = "unknown"
_SPAN_FEATURES = (  # what parquet cannot say: the names of the tags
    "  features:",
    *(line for name in ("id", "lang", "idiom", "sentence") for line in (f"  - name: {name}", "    dtype: string")),
    "  - name: tokens",
    "    list: string",
    "  - name: ner_tags",
    "    list:",
    "      class_label:",
    "        names:",
    *(f"          '{number}': {label}" for number, label in enumerate(LABELS)),
    "  - name: spans",
    "    list:",
    *(
        line
        for name, kind in (("start", "int64"), ("end", "int64"), ("text", "string"))
        for line in (f"    - name: {name}", f"      dtype: {kind}")
    ),
)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class Export:
    """What an export wrote.

    Attributes:
        directory: where.
        configs: config name -> number of rows.
        left_out: task and subset (``T1-tur-gag``) that the lexicon has nothing for.
    """

    directory: Path
    configs: Mapping[str, int]
    left_out: tuple[str, ...]


def export_hub_layout(lexicon: Lexicon, directory: Path, *, licence: str | None = None) -> Export:
    """Writes a lexicon as a dataset in the Hub layout.

    Args:
        lexicon: the entries.
        directory: created when missing; otherwise empty or an earlier export.
        licence: Hub identifier for the README; by default that of the bundled lexicon for it, and "unknown" for any
            other.

    Raises:
        InputError: the directory holds something else, or a file of the export was changed since.
    """
    if licence is None:
        licence = BUNDLED_LICENCE if lexicon.source == str(BUNDLED) else UNKNOWN_LICENCE
    known = _known_hashes(directory)
    single, left_out = _retrieval_tables(lexicon)
    single |= _lexicon_tables(lexicon)
    tables = {(config, SPLIT): columns for config, columns in single.items()} | _span_tables(lexicon)
    contents = {_data_file(config, split): _parquet(columns) for (config, split), columns in tables.items()}
    counts: dict[str, dict[str, int]] = {}
    for (config, split), columns in tables.items():
        counts.setdefault(config, {})[split] = len(next(iter(columns.values())))
    contents[README] = _readme(lexicon, counts, licence=licence).encode()
    check_writable(directory)
    _check_untouched(directory, known, contents)
    _write(directory, known, contents)
    return Export(directory, {config: sum(splits.values()) for config, splits in counts.items()}, left_out)


def _retrieval_tables(lexicon: Lexicon) -> tuple[dict[str, dict[str, list[Any]]], tuple[str, ...]]:
    """Config name -> column -> values for every task and subset; and those that the lexicon has nothing for."""
    tables: dict[str, dict[str, list[Any]]] = {}
    left_out = []
    for task, subsets in SUBSETS.items():
        for subset in subsets:
            data = build_retrieval(lexicon, task, subset)
            if data is None:
                left_out.append(f"{task}-{subset}")
                continue
            tables |= {f"{task}-{subset}-{part}": columns for part, columns in _parts(data).items()}
    return tables, tuple(left_out)


def _parts(data: RetrievalData) -> dict[str, dict[str, list[Any]]]:
    judgements = sorted(
        (query, document, score) for query, scores in data.qrels.items() for document, score in scores.items()
    )
    return {
        "queries": {"id": sorted(data.queries), "text": [data.queries[key] for key in sorted(data.queries)]},
        "corpus": {"id": sorted(data.documents), "text": [data.documents[key] for key in sorted(data.documents)]},
        "qrels": {
            "query-id": [query for query, _, _ in judgements],
            "corpus-id": [document for _, document, _ in judgements],
            "score": [score for _, _, score in judgements],
        },
    }


def _lexicon_tables(lexicon: Lexicon) -> dict[str, dict[str, list[Any]]]:
    tables = {}
    for code in (code for code in LANGUAGES if lexicon.of(code)):
        rows = [entry for _, entry in sorted(lexicon.of(code).items())]
        texts = ("idiom", "meaning", "example", "literal_example", "paraphrase", "literal_paraphrase", "source")
        spans = [None if row.spans is None else [[span.start, span.end] for span in row.spans] for row in rows]
        status = [
            None if row.status is None else json.dumps(row.status, ensure_ascii=False, sort_keys=True) for row in rows
        ]
        tables[f"lexicon-{code}"] = {
            "concept": [row.concept for row in rows],
            "gloss": [lexicon.concepts[row.concept].gloss for row in rows],
            **{key: [getattr(row, key) for row in rows] for key in texts},
            "spans": spans,
            "variants": [list(row.variants) for row in rows],
            "status": status,
        }
    return tables


def _span_tables(lexicon: Lexicon) -> dict[tuple[str, str], dict[str, list[Any]]]:
    """Config and split -> column -> values, for the languages with a test sentence; empty splits are left out."""
    tables = {}
    for code in LANGUAGES:
        splits = lexicon_sentences(lexicon, code)
        if splits["test"]:
            for split, sentences in splits.items():
                rows = [sentence.document() for sentence in sentences]
                if rows:
                    tables[f"span-{code}", split] = {name: [row[name] for row in rows] for name in rows[0]}
    return tables


def _data_file(config: str, split: str) -> str:
    return f"data/{config}/{split}.parquet"


def _parquet(columns: Mapping[str, list[Any]]) -> bytes:
    """A parquet file of the columns; no metadata but the schema, so equal rows give equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    special = {"score": pa.int64(), "spans": pa.list_(pa.list_(pa.int64())), "variants": pa.list_(pa.string())}
    if "ner_tags" in columns:
        span = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
        special = {"tokens": pa.list_(pa.string()), "ner_tags": pa.list_(pa.int64()), "spans": pa.list_(span)}
    schema = pa.schema([(name, special.get(name, pa.string())) for name in columns])
    sink = BytesIO()
    pq.write_table(pa.table(dict(columns), schema=schema), sink, compression="snappy", version="2.6")
    return sink.getvalue()


def _readme(lexicon: Lexicon, counts: Mapping[str, Mapping[str, int]], *, licence: str) -> str:
    codes = [code for code in LANGUAGES if lexicon.of(code)]
    entries = sum(len(lexicon.of(code)) for code in codes)
    size = next((name for limit, name in _SIZES if entries < limit), "n>1M")
    lines = ["---", f"license: {licence}", "language:", *(f"- {code}" for code in codes)]
    lines += ["pretty_name: Turkic idioms", "task_categories:", "- text-retrieval"]
    spans = [config for config in counts if config.startswith("span-")]
    lines += ["- token-classification"] if spans else []
    lines += ["task_ids:", "- document-retrieval"]
    lines += ["tags:", "- idioms", "- mteb", "size_categories:", f"- {size}", "configs:"]
    for config, splits in counts.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        lines += [
            line for split in splits for line in (f"  - split: {split}", f"    path: {_data_file(config, split)}")
        ]
    lines += ["dataset_info:"] if spans else []
    lines += [line for config in spans for line in (f"- config_name: {config}", *_SPAN_FEATURES)]
    lines += ["---", "", "# Turkic idioms", ""]
    lines += [
        "Idioms of Turkic languages with meanings and examples, joined by concept, and the retrieval tasks derived",
        "from them: T1, from a Turkish idiom to the idiom of another language; T2, from an idiom to its meaning; T3,",
        "from a Turkish idiom to the meaning in another language. Queries are those of the test concepts, the corpus",
        "is all of the target language. The span configs hold the examples with the tags of their words (O, B-IDIOM,",
        "I-IDIOM; every part of a discontinuous idiom begins with B), split by concept.",
        "",
        f"Exported by turkic-idiom-tasks from a lexicon with the content hash `{lexicon.revision}`.",
        "",
        "| language | code | idioms | with meaning | with example |",
        "|---|---|---:|---:|---:|",
    ]
    for code in codes:
        rows = lexicon.of(code).values()
        meanings = sum(row.meaning is not None for row in rows)
        examples = sum(row.example is not None for row in rows)
        lines.append(f"| {LANGUAGES[code].name} | {code} | {len(rows)} | {meanings} | {examples} |")
    return "\n".join(
        [*lines, "", "| config | rows |", "|---|---:|", *(f"| {c} | {_rows(n)} |" for c, n in counts.items()), ""]
    )


def _rows(splits: Mapping[str, int]) -> str:
    """`38`, or `216 train, 25 validation, 38 test` where there are several splits."""
    return ", ".join(f"{n} {split}" for split, n in splits.items()) if len(splits) > 1 else str(sum(splits.values()))


def _known_hashes(directory: Path) -> dict[str, list[str]]:
    """Path -> hashes of what an earlier export wrote there.

    Raises:
        InputError: the directory is neither empty nor an earlier export.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: is not a directory; choose another --out")
    manifest = directory / MANIFEST
    if not manifest.is_file():
        present = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
        if present:
            raise InputError(f"{directory}: holds {present[0]} and is no earlier export; choose an empty or new --out")
        return {}
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return {str(path): [str(item) for item in hashes] for path, hashes in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{manifest}: is damaged; choose an empty or new --out") from error


def _check_untouched(directory: Path, known: Mapping[str, list[str]], contents: Mapping[str, bytes]) -> None:
    """Raises when a file that would be replaced or removed is not as we wrote it."""
    for name in sorted({*known, *contents}):
        path = directory / name
        if path.is_file() and _hash(path.read_bytes()) not in (*known.get(name, ()), _hash(contents.get(name, b""))):
            raise InputError(f"{path}: was changed since the export; move it away, or choose another --out")


def _write(directory: Path, known: Mapping[str, list[str]], contents: Mapping[str, bytes]) -> None:
    """Writes the files; until all is done the manifest names old and new hashes, so a killed export can be repeated."""
    new = {name: [_hash(data)] for name, data in contents.items()}
    either = {name: [*known.get(name, []), *new.get(name, [])] for name in sorted({*known, *new})}
    write_json(directory / MANIFEST, {"files": either})
    for name, data in contents.items():
        write_bytes(directory / name, data)
    for name in sorted(set(known) - set(new)):
        path = directory / name
        path.unlink(missing_ok=True)
        if path.parent != directory and path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()
    write_json(directory / MANIFEST, {"files": dict(sorted(new.items()))})


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
