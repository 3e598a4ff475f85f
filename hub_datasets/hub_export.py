"""Export of a lexicon as a dataset in the Hub layout: to a folder or to the Hub, and download from the Hub.

For every task and subset that the lexicon has data for, there are the configs ``T1-tur-azj-queries`` and ``-corpus``
(id, text) and ``-qrels`` (query-id, corpus-id, score), with the queries of the test concepts. For every language there
is the config ``lexicon-tr``, the source of the others. All of these have one split, ``test``. For every language with
annotated examples, ``span-tr`` (id, lang, idiom, sentence, tokens, ner_tags, spans) has the splits ``train``,
``validation`` and ``test``. The same lexicon always gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hub_datasets.cards import DataFile, dataset_card, eval_yaml
from turkic_idiom_tasks.dataset.hub_layout import EVAL, README, download
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, RetrievalData, build_retrieval
from turkic_idiom_tasks.dataset.sentences import lexicon_sentences
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import commit_folder
from turkic_idiom_tasks.io.hub_upload import DATASET, Published, Target, check_version, publish
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.splits import TEST

KIND = "dataset in the Hub layout"  # in the manifest of an exported folder
BUNDLED_LICENCE = "cc-by-4.0"
UNKNOWN_LICENCE = "unknown"
_ENTRY_TEXTS = (
    "idiom",
    "meaning",
    "example",
    "literal_example",
    "paraphrased_example",
    "paraphrase",
    "literal_paraphrase",
    "source",
    "attested",
)
_SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
_RETRIEVAL_SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string())])
_QRELS_SCHEMA = pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int64())])
_LEXICON_SCHEMA = pa.schema(
    [
        ("concept", pa.string()),
        ("gloss", pa.string()),
        ("pos", pa.string()),
        ("aliases", pa.list_(pa.string())),
        *((name, pa.string()) for name in _ENTRY_TEXTS),
        ("spans", pa.list_(pa.list_(pa.int64()))),
        ("variants", pa.list_(pa.string())),
        ("collocation", pa.bool_()),
        ("status", pa.string()),
    ]
)
_EQUIVALENTS_SCHEMA = pa.schema([("first", pa.string()), ("second", pa.string()), ("judgement", pa.string())])
_SPAN_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("lang", pa.string()),
        ("idiom", pa.string()),
        ("sentence", pa.string()),
        ("tokens", pa.list_(pa.string())),
        ("ner_tags", pa.list_(pa.int64())),
        ("spans", pa.list_(_SPAN)),
    ]
)


@dataclass(frozen=True, slots=True)
class HubLayout:
    """A dataset in the Hub layout, in memory.

    Attributes:
        contents: path -> content of every file.
        configs: config name -> number of rows.
        left_out: tasks and subsets (``T1-tur-gag``) that the lexicon has no data for.
    """

    contents: Mapping[str, bytes]
    configs: Mapping[str, int]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pulled:
    """A download from the Hub.

    Attributes:
        directory: directory with the files.
        commit: SHA of the commit.
        n_files: number of files.
    """

    directory: Path
    commit: str
    n_files: int


def hub_layout(lexicon: Lexicon, *, licence: str | None = None) -> HubLayout:
    """Return a lexicon as a dataset in the Hub layout.

    Args:
        lexicon: the entries.
        licence: Hub identifier for the README; the default is `BUNDLED_LICENCE` for the bundled lexicon, and "unknown"
            for any other.
    """
    if licence is None:
        licence = BUNDLED_LICENCE if lexicon.source == str(BUNDLED) else UNKNOWN_LICENCE
    files, left_out = _retrieval_files(lexicon)
    files += _lexicon_files(lexicon)
    files += _span_files(lexicon)
    contents = {}
    configs: dict[str, int] = {}
    for file in files:
        contents[file.path] = file.content
        configs[file.config] = configs.get(file.config, 0) + file.rows
    contents[README] = dataset_card(lexicon, files, licence=licence).encode()
    contents[EVAL] = eval_yaml(files).encode()
    return HubLayout(contents, configs, left_out)


def export_hub_layout(layout: HubLayout, directory: Path) -> None:
    """Write all files of a dataset to a folder at once; these are the files that `publish_dataset` sends.

    Args:
        layout: from `hub_layout`.
        directory: created if missing; otherwise it must be empty or an earlier export, whose files are replaced or
            removed. Other files in it are left alone.

    Raises:
        InputError: the directory holds something else, or a file of the earlier export was changed.
    """
    commit_folder(directory, layout.contents, kind=KIND)


def publish_dataset(
    layout: HubLayout, repository: str, *, version: str | None, confirmed: bool, write: Callable[[str], object]
) -> Published | None:
    """Publish a dataset in one commit and set its tag; return None after a dry run.

    Args:
        layout: the dataset to publish.
        repository: ORG/NAME.
        version: the tag, such as v1.0.0; None sets no tag.
        confirmed: False is a dry run.
        write: takes the plan and the outcome as text.

    Raises:
        InputError: the Hub refused or could not be reached, or the tag exists with other content.
    """
    check_version(version)
    message = f"Publish {version}" if version else "Publish"
    target = Target(repository, DATASET)
    return publish(layout.contents, target, message=message, confirmed=confirmed, write=write, tag=version)


def pull_dataset(name: str, directory: Path) -> Pulled:
    """Download a dataset in the Hub layout into a folder that ``--data`` accepts, all files at once.

    Args:
        name: ``ORG/NAME`` or ``ORG/NAME@REVISION``.
        directory: as in `export_hub_layout`; it may also be an earlier pull.

    Raises:
        InputError: the dataset cannot be read or is not in the Hub layout, or the directory holds something else.
    """
    dataset = download(name)
    if not dataset.configs:
        raise InputError(f"{name}: no dataset in the Hub layout (no README.md with configs whose files are there)")
    paths = {dataset.folder / README}
    if (dataset.folder / EVAL).is_file():
        paths.add(dataset.folder / EVAL)
    for splits in dataset.configs.values():
        for data_files in splits.values():
            paths.update(data_files)
    contents = {}
    for path in sorted(paths):
        contents[path.relative_to(dataset.folder).as_posix()] = path.read_bytes()
    commit_folder(directory, contents, kind=KIND)
    return Pulled(directory, dataset.revision, len(contents))


def _retrieval_files(lexicon: Lexicon) -> tuple[list[DataFile], tuple[str, ...]]:
    """Return the files of every task and subset, and the subsets that the lexicon has no data for."""
    files = []
    left_out = []
    for task, subsets in SUBSETS.items():
        for subset in subsets:
            data = build_retrieval(lexicon, task, subset)
            if data is None:
                left_out.append(f"{task}-{subset}")
            else:
                files += _subset_files(f"{task}-{subset}", data)
    return files, tuple(left_out)


def _subset_files(name: str, data: RetrievalData) -> list[DataFile]:
    queries = [{"id": key, "text": text} for key, text in sorted(data.queries.items())]
    documents = [{"id": key, "text": text} for key, text in sorted(data.documents.items())]
    files = [
        data_file(f"{name}-queries", TEST, queries, _RETRIEVAL_SCHEMA),
        data_file(f"{name}-corpus", TEST, documents, _RETRIEVAL_SCHEMA),
        data_file(f"{name}-qrels", TEST, _qrels_rows(data.qrels), _QRELS_SCHEMA),
    ]
    if data.strict_qrels is not None and data.strict_qrels != data.qrels:
        files.append(data_file(f"{name}-strict-qrels", TEST, _qrels_rows(data.strict_qrels), _QRELS_SCHEMA))
    return files


def _qrels_rows(qrels: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    rows = []
    for query, scores in sorted(qrels.items()):
        for document, score in sorted(scores.items()):
            rows.append({"query-id": query, "corpus-id": document, "score": score})
    return rows


def _lexicon_files(lexicon: Lexicon) -> list[DataFile]:
    files = []
    for code in LANGUAGES:
        entries = [entry for _, entry in sorted(lexicon.of(code).items())]
        rows = [_entry_row(entry, lexicon.concepts[entry.concept]) for entry in entries]
        if rows:
            files.append(data_file(f"lexicon-{code}", TEST, rows, _LEXICON_SCHEMA))
    pairs = []
    for (first, second), judgement in lexicon.equivalents.items():
        pairs.append({"first": first, "second": second, "judgement": judgement})
    if pairs:
        files.append(data_file("equivalents", TEST, pairs, _EQUIVALENTS_SCHEMA))
    return files


def _entry_row(entry: Entry, concept: Concept) -> dict[str, Any]:
    """Return an entry and its concept as a row; the status, which may be any JSON value, becomes JSON text."""
    row: dict[str, Any] = {
        "concept": concept.id,
        "gloss": concept.gloss,
        "pos": concept.pos,
        "aliases": list(concept.aliases),
        "spans": None,
        "status": None,
    }
    for name in _ENTRY_TEXTS:
        row[name] = getattr(entry, name)
    if entry.spans is not None:
        row["spans"] = [[span.start, span.end] for span in entry.spans]
    row["variants"] = list(entry.variants)
    row["collocation"] = entry.collocation
    if entry.status is not None:
        row["status"] = json.dumps(entry.status, ensure_ascii=False, sort_keys=True)
    return row


def _span_files(lexicon: Lexicon) -> list[DataFile]:
    """Return the files of the languages that have test sentences; empty splits are left out."""
    files = []
    for code in LANGUAGES:
        splits = lexicon_sentences(lexicon, code)
        for split, sentences in splits.items():
            if splits[TEST] and sentences:
                rows = [sentence.document() for sentence in sentences]
                files.append(data_file(f"span-{code}", split, rows, _SPAN_SCHEMA))
    return files


def data_file(config: str, split: str, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> DataFile:
    """Return rows as a parquet file without any metadata but the schema, so that equal rows give equal bytes."""
    table = pa.Table.from_pylist(rows, schema=schema)
    sink = BytesIO()
    pq.write_table(table, sink, compression="snappy", version="2.6")
    return DataFile(config, split, schema, rows=table.num_rows, arrow_bytes=table.nbytes, content=sink.getvalue())
