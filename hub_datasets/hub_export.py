"""A lexicon as a dataset in the Hub layout, in memory; `turkic-idiom dataset export` writes or publishes it.

For every task and subset that the lexicon has data for, there are the configs ``T1-tur-azj-queries`` and ``-corpus``
(id, text) and ``-qrels`` (query-id, corpus-id, score), with the queries of the test concepts. For every language there
is the config ``lexicon-tr``, the source of the others. All of these have one split, ``test``. For every language with
annotated examples, ``span-tr`` (id, lang, idiom, sentence, tokens, ner_tags, spans) has the splits ``train``,
``validation`` and ``test``. The same lexicon always gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from hub_datasets.cards import DataFile, dataset_card, files_by_config, lexicon_card
from hub_datasets.lexicon_figures import markdown_table
from turkic_idiom_tasks.dataset.hub_layout import EVAL, README
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, TASKS, build_retrieval
from turkic_idiom_tasks.dataset.sentences import lexicon_sentences
from turkic_idiom_tasks.io.files import commit_folder
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.splits import TEST

KIND = "dataset in the Hub layout"  # in the manifest of an exported folder
NAME = "Turkic idioms"
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
    """A dataset in the Hub layout, in memory."""

    contents: Mapping[str, bytes]  # path -> content of every file
    configs: Mapping[str, int]  # config name -> number of rows
    left_out: Sequence[str]  # tasks and subsets (``T1-tur-gag``) that the lexicon has no data for

    def write(self, directory: Path) -> None:
        """Write all files to a folder at once.

        Raises:
            InputError: the folder holds something else than an earlier export, or a file of that was changed.
        """
        commit_folder(directory, self.contents, kind=KIND)


def hub_layout(lexicon: Lexicon, *, licence: str | None = None) -> HubLayout:
    """Return a lexicon as a dataset in the Hub layout; for the licence see `cards.dataset_card`."""
    files, left_out = _retrieval_files(lexicon)
    files += _lexicon_files(lexicon)
    for code in LANGUAGES:
        splits = lexicon_sentences(lexicon, code)
        for split, sentences in splits.items():
            if splits[TEST] and sentences:
                files.append(
                    data_file(f"span-{code}", split, [sentence.document() for sentence in sentences], _SPAN_SCHEMA)
                )
    by_config = files_by_config(files)
    rows = []
    for config, parts in by_config.items():
        counts = [f"{part.table.num_rows} {part.split}" for part in parts]
        rows.append([config, ", ".join(counts) if len(parts) > 1 else str(parts[0].table.num_rows)])
    categories = ["text-retrieval"]
    if any(config.startswith("span-") for config in by_config):
        categories.append("token-classification")
    readme = dataset_card(
        "dataset_card.md",
        lexicon,
        files,
        licence=licence,
        n_rows=sum(len(lexicon.of(code)) for code in LANGUAGES),
        facts={
            "pretty_name": NAME,
            "task_categories": categories,
            "task_ids": ["document-retrieval"],
            "tags": ["idioms", "mteb"],
        },
        texts={
            "labels": ", ".join(f"{number}: {label}" for number, label in enumerate(LABELS)),
            "rows": markdown_table(["config", "rows"], rows),
            "about": re.sub("^#", "##", lexicon_card(lexicon), flags=re.MULTILINE),
        },
    )
    return layout_of(files, left_out, readme=readme, registration=_registration(files))


def layout_of(
    files: Sequence[DataFile], left_out: Sequence[str], *, readme: str, registration: Mapping[str, Any]
) -> HubLayout:
    """Return files with their README and the eval.yaml that registers the dataset as a benchmark on the Hub."""
    contents = {file.path: file.content for file in files}
    contents[README] = readme.encode()
    contents[EVAL] = yaml.safe_dump(registration, sort_keys=False, allow_unicode=True, width=120).encode()
    configs: Counter[str] = Counter()
    for file in files:
        configs[file.config] += file.table.num_rows
    return HubLayout(contents, configs, left_out)


def data_file(config: str, split: str, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> DataFile:
    """Return rows as a parquet file without any metadata but the schema, so that equal rows give equal bytes."""
    table = pa.Table.from_pylist(rows, schema=schema)
    sink = BytesIO()
    pq.write_table(table, sink, compression="snappy", version="2.6")
    return DataFile(config, split, table, sink.getvalue())


def _retrieval_files(lexicon: Lexicon) -> tuple[list[DataFile], list[str]]:
    """Return the files of every task and subset, and the subsets that the lexicon has no data for."""
    files = []
    left_out = []
    for task, subsets in SUBSETS.items():
        for subset in subsets:
            name = f"{task}-{subset}"
            data = build_retrieval(lexicon, task, subset)
            if data is None:
                left_out.append(name)
                continue
            for part, texts in (("queries", data.queries), ("corpus", data.documents)):
                rows = [{"id": key, "text": text} for key, text in sorted(texts.items())]
                files.append(data_file(f"{name}-{part}", TEST, rows, _RETRIEVAL_SCHEMA))
            files.append(data_file(f"{name}-qrels", TEST, _qrels_rows(data.qrels), _QRELS_SCHEMA))
            if data.strict_qrels is not None and data.strict_qrels != data.qrels:
                strict = _qrels_rows(data.strict_qrels)
                files.append(data_file(f"{name}-strict-qrels", TEST, strict, _QRELS_SCHEMA))
    return files, left_out


def _qrels_rows(qrels: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    rows = []
    for query, scores in sorted(qrels.items()):
        for document, score in sorted(scores.items()):
            rows.append({"query-id": query, "corpus-id": document, "score": score})
    return rows


def _lexicon_files(lexicon: Lexicon) -> list[DataFile]:
    files = []
    for code in LANGUAGES:
        rows = []
        for _, entry in sorted(lexicon.of(code).items()):
            concept = lexicon.concepts[entry.concept]
            row: dict[str, Any] = {name: getattr(entry, name) for name in _ENTRY_TEXTS}
            row |= {"concept": concept.id, "gloss": concept.gloss, "pos": concept.pos}
            row |= {"aliases": list(concept.aliases), "variants": list(entry.variants)}
            if entry.spans is not None:
                row["spans"] = [[span.start, span.end] for span in entry.spans]
            row["collocation"] = entry.collocation
            if entry.status is not None:  # which may be any JSON value
                row["status"] = json.dumps(entry.status, ensure_ascii=False, sort_keys=True)
            rows.append(row)
        if rows:
            files.append(data_file(f"lexicon-{code}", TEST, rows, _LEXICON_SCHEMA))
    pairs = []
    for (first, second), judgement in lexicon.equivalents.items():
        pairs.append({"first": first, "second": second, "judgement": judgement})
    if pairs:
        files.append(data_file("equivalents", TEST, pairs, _EQUIVALENTS_SCHEMA))
    return files


def _registration(files: Sequence[DataFile]) -> dict[str, Any]:
    """Return the content of eval.yaml: an entry for each retrieval task and subset."""
    by_config = files_by_config(files)
    tasks: list[dict[str, str]] = []
    for short, subsets in SUBSETS.items():
        name = TASKS[short].name
        registered = []
        for subset in subsets:
            config = f"{short}-{subset}-queries"
            if config in by_config:
                registered.append({"id": f"{name}-{subset}", "config": config, "split": TEST})
        if registered:
            tasks += [{"id": name}, *registered]
    return {
        "name": NAME,
        "description": "Idiom understanding in Turkic languages: from an idiom to its meaning, to an idiom of the same "
        "meaning in another language, and to the meaning of that idiom. The score is nDCG without a cut-off, in "
        "[0, 1]; the score of a task is the mean over its subsets.",
        "evaluation_framework": "mteb",
        "tasks": tasks,
    }
