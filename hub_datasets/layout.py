"""A lexicon as a dataset in the Hub layout: parquet files by config, a README that declares them, and eval.yaml.

Configs: ``T1-tur-azj-queries`` and ``-corpus`` (id, text) and ``-qrels`` (query-id, corpus-id, score) for every task
and subset that the lexicon can serve, and ``lexicon-tr`` for every language, each with one split, ``test``: queries are
those of the test concepts, and the rows of a lexicon are what all of it was derived from. ``span-tr`` (id, lang, idiom,
sentence, tokens, ner_tags, spans) for every language with annotated examples has the splits ``train``, ``validation``
and ``test``.

The same lexicon gives the same bytes. What the directory holds besides is left alone; of an earlier export, files that
nobody has changed since are replaced or removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from hub_datasets.exported_folder import write_export
from hub_datasets.hub_card import DataFile, eval_yaml, readme
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, RetrievalData, build_retrieval
from turkic_idiom_tasks.span_detection.sentences import lexicon_sentences

SPLIT = "test"
README = "README.md"
EVAL = "eval.yaml"
BUNDLED_LICENCE = "cc-by-4.0"
UNKNOWN_LICENCE = "unknown"


@dataclass(frozen=True, slots=True)
class HubLayout:
    """A dataset in the Hub layout, in memory.

    Attributes:
        contents: path -> content of every file but the manifest, which whoever writes or sends them adds.
        configs: config name -> number of rows.
        left_out: task and subset (``T1-tur-gag``) that the lexicon has nothing for.
    """

    contents: Mapping[str, bytes]
    configs: Mapping[str, int]
    left_out: tuple[str, ...]


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
    """Writes a lexicon as a dataset in the Hub layout: the files that publishing sends.

    Args:
        lexicon: the entries.
        directory: created when missing; otherwise empty or an earlier export.
        licence: as in `hub_layout`.

    Raises:
        InputError: the directory holds something else, or a file of the export was changed since.
    """
    layout = hub_layout(lexicon, licence=licence)
    write_export(directory, layout.contents)
    return Export(directory, layout.configs, layout.left_out)


def hub_layout(lexicon: Lexicon, *, licence: str | None = None) -> HubLayout:
    """A lexicon as a dataset in the Hub layout.

    Args:
        lexicon: the entries.
        licence: Hub identifier for the README; by default that of the bundled lexicon for it, and "unknown" for any
            other.
    """
    if licence is None:
        licence = BUNDLED_LICENCE if lexicon.source == str(BUNDLED) else UNKNOWN_LICENCE
    single, left_out = _retrieval_tables(lexicon)
    single |= _lexicon_tables(lexicon)
    tables = {(config, SPLIT): columns for config, columns in single.items()} | _span_tables(lexicon)
    files = [_data_file(config, split, columns) for (config, split), columns in tables.items()]
    contents = {file.path: file.content for file in files}
    contents[README] = readme(lexicon, files, licence=licence).encode()
    contents[EVAL] = eval_yaml(files).encode()
    configs: dict[str, int] = {}
    for file in files:
        configs[file.config] = configs.get(file.config, 0) + file.rows
    return HubLayout(contents, configs, left_out)


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


def _data_file(config: str, split: str, columns: Mapping[str, list[Any]]) -> DataFile:
    """A parquet file of the columns; no metadata but the schema, so equal rows give equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    special = {"score": pa.int64(), "spans": pa.list_(pa.list_(pa.int64())), "variants": pa.list_(pa.string())}
    if "ner_tags" in columns:
        span = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
        special = {"tokens": pa.list_(pa.string()), "ner_tags": pa.list_(pa.int64()), "spans": pa.list_(span)}
    table = pa.table(dict(columns), schema=pa.schema([(name, special.get(name, pa.string())) for name in columns]))
    sink = BytesIO()
    pq.write_table(table, sink, compression="snappy", version="2.6")
    return DataFile(config, split, table.schema, rows=table.num_rows, arrow_bytes=table.nbytes, content=sink.getvalue())
