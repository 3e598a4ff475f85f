"""A lexicon as a dataset in the Hub layout, in memory; `turkic-idiom dataset export` writes or publishes it.

For every task and subset that the lexicon has data for, there are the configs ``T1-tur-azj-queries`` and ``-corpus``
(id, text) and ``-qrels`` (query-id, corpus-id, score), with the queries of the test concepts. For every language there
is the config ``lexicon-tr``, the source of the others. All of these have one split, ``test``. For every language with
annotated examples, ``span-tr`` (id, lang, idiom, sentence, tokens, ner_tags, spans) has the splits ``train``,
``validation`` and ``test``. The same lexicon always gives the same bytes.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from hub_datasets.cards import DataFile, Files, dataset_card, lexicon_card
from hub_datasets.lexicon_figures import markdown_table
from turkic_idiom_tasks.dataset.hub_layout import EVAL, README, SUFFIXES, declared_configs
from turkic_idiom_tasks.dataset.retrieval import TASKS, build_retrieval
from turkic_idiom_tasks.dataset.sentences import lexicon_sentences
from turkic_idiom_tasks.errors import refuse_faults
from turkic_idiom_tasks.io.files import commit_folder
from turkic_idiom_tasks.languages import LANGUAGES, LANGUAGES_FILE, own_records
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.splits import TEST

# Every published file holds this line, so that whoever gathers texts for training can leave the benchmark out
CANARY = (BUNDLED / "canary.txt").read_text("utf-8").strip()
KIND = "dataset in the Hub layout"  # in the manifest of an exported folder
NAME = "Turkic idioms"
_TEXT, _NUMBER = pa.string(), pa.int64()
_OFFSETS = pa.list_(pa.list_(_NUMBER))
_TYPES = {
    "text": _TEXT,
    "texts": pa.list_(_TEXT),
    "number": _NUMBER,
    "numbers": pa.list_(_NUMBER),
    "real": pa.float64(),
    "truth": pa.bool_(),
    "offsets": _OFFSETS,
    "examples": pa.list_(pa.struct({"text": _TEXT, "spans": _OFFSETS, "topic": _TEXT})),
    "spans": pa.list_(pa.struct({"start": _NUMBER, "end": _NUMBER, "text": _TEXT})),
}
SCHEMAS: dict[str, pa.Schema] = {}  # of the tables in ``schemas.toml``
for _name, _columns in tomllib.loads(Path(__file__).with_name("schemas.toml").read_text("utf-8")).items():
    SCHEMAS[_name] = pa.schema({column: _TYPES[kind] for column, kind in _columns.items()})


@dataclass(frozen=True, slots=True)
class HubLayout:
    """A dataset in the Hub layout, in memory."""

    contents: Mapping[str, bytes]  # path -> content of every file
    configs: Mapping[str, int]  # config name -> number of rows
    left_out: Sequence[str]  # tasks and subsets (``T1-tur-gag``) that the lexicon has no data for

    def __post_init__(self) -> None:
        lacking = []
        for path, content in self.contents.items():
            # The records of languages have no text of the benchmark
            if CANARY.encode() not in content and Path(path).name != LANGUAGES_FILE:
                fault = "lacks the canary of the benchmark, which keeps its texts out of training corpora"
                lacking.append(f"{path}: {fault}")
        advice = f"write the layout again with turkic-idiom dataset export, or add this line to the file: {CANARY}"
        refuse_faults(lacking, advice=advice)

    def write(self, directory: Path) -> None:
        """Write all files at once to a folder, which may hold an earlier export of ours, but nothing else."""
        commit_folder(directory, self.contents, kind=KIND)


def hub_layout(lexicon: Lexicon, *, licence: str | None = None) -> HubLayout:
    """Return a lexicon as a dataset in the Hub layout; for the licence see `cards.dataset_card`."""
    files: Files = {}
    tasks, left_out = _add_retrieval(files, lexicon)
    add_lexicon(files, lexicon)
    categories = ["text-retrieval"]
    for code in LANGUAGES:
        sentences = lexicon_sentences(lexicon, code)
        if not sentences[TEST]:
            continue
        categories = ["text-retrieval", "token-classification"]
        for split, part in sentences.items():
            add_file(files, f"span-{code}", split, [sentence.document() for sentence in part], SCHEMAS["spans"])
    sizes = []
    for config, splits in files.items():
        counts = {split: file.table.num_rows for split, file in splits.items()}
        by_split = ", ".join(f"{count} {split}" for split, count in counts.items())
        sizes.append([config, by_split if len(counts) > 1 else str(sum(counts.values()))])
    readme = dataset_card(
        "dataset_card.md",
        lexicon,
        files,
        licence=licence,
        n_rows=sum(len(lexicon.of(code)) for code in LANGUAGES),
        pretty_name=NAME,
        task_categories=categories,
        task_ids=["document-retrieval"],
        tags=["idioms", "mteb"],
        texts={
            "labels": ", ".join(f"{number}: {label}" for number, label in enumerate(LABELS)),
            "rows": markdown_table([["config", "rows"], *sizes]),
            "about": re.sub("^#", "##", lexicon_card(lexicon), flags=re.MULTILINE),
        },
    )
    layout = layout_of(files, left_out, readme=readme, head="dataset_eval.yaml", tasks=tasks)
    own_languages = own_records(code for code in LANGUAGES if lexicon.of(code))
    return replace(layout, contents={**layout.contents, LANGUAGES_FILE: own_languages}) if own_languages else layout


def read_layout(directory: Path) -> HubLayout | None:
    """Return the files of a folder in the Hub layout, with no rows counted; None if its README declares no config."""
    configs = declared_configs(directory)
    if not configs:
        return None
    suffixes = (*SUFFIXES, Path(README).suffix, Path(EVAL).suffix)
    contents = {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.suffix in suffixes}
    return HubLayout(contents, dict.fromkeys(configs, 0), [])


def layout_of(
    files: Files, left_out: Sequence[str], *, readme: str, head: str = "", tasks: Sequence[Mapping[str, Any]] = ()
) -> HubLayout:
    """Return files with their README and, if `head` names a file with its beginning, an eval.yaml for the Hub."""
    contents: dict[str, bytes] = {}
    configs: dict[str, int] = {}
    for config, splits in files.items():
        contents |= {file.path: file.content for file in splits.values()}
        configs[config] = sum(file.table.num_rows for file in splits.values())
    contents[README] = f"{readme.rstrip()}\n\n{CANARY}\n".encode()
    if head:
        registration = yaml.safe_load(Path(__file__).with_name(head).read_text("utf-8")) | {"tasks": tasks}
        text = yaml.safe_dump(registration, sort_keys=False, allow_unicode=True, width=120)
        contents[EVAL] = f"# {CANARY}\n{text}".encode()
    return HubLayout(contents, configs, left_out)


def add_file(files: Files, config: str, split: str, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> None:
    """Add rows, if there are any, as a parquet file with no metadata but the canary, so equal rows give equal bytes."""
    if not rows:
        return
    table = pa.Table.from_pylist(rows, schema=schema.with_metadata({"canary": CANARY}))
    sink = BytesIO()
    pq.write_table(table, sink, compression="snappy", version="2.6")
    path = f"data/{config}/{split}.parquet"
    files.setdefault(config, {})[split] = DataFile(path, table, sink.getvalue())


def _add_retrieval(files: Files, lexicon: Lexicon) -> tuple[list[dict[str, str]], list[str]]:
    """Add the files of every task and subset; return the tasks for eval.yaml, and the subsets without data."""
    tasks: list[dict[str, str]] = []
    left_out = []
    for task, spec in TASKS.items():
        of_subsets = []
        for subset in spec.subsets:
            name = f"{task}-{subset}"
            data = build_retrieval(lexicon, task, subset)
            if data is None:
                left_out.append(name)
                continue
            for part, texts in (("queries", data.queries), ("corpus", data.documents)):
                rows = [{"id": key, "text": text} for key, text in sorted(texts.items())]
                add_file(files, f"{name}-{part}", TEST, rows, SCHEMAS["retrieval"])
            # Where they are the same, a second config would only repeat the first
            strict = {} if data.strict_qrels == data.qrels else data.strict_qrels or {}
            for part, qrels in (("qrels", data.qrels), ("strict-qrels", strict)):
                judged: list[dict[str, Any]] = []
                for query, scores in sorted(qrels.items()):
                    for document, score in sorted(scores.items()):
                        judged.append({"query-id": query, "corpus-id": document, "score": score})
                add_file(files, f"{name}-{part}", TEST, judged, SCHEMAS["qrels"])
            of_subsets.append({"id": f"{spec.name}-{subset}", "config": f"{name}-queries", "split": TEST})
        if of_subsets:
            tasks += [{"id": spec.name}, *of_subsets]  # the first is the mean over the subsets
    return tasks, left_out


def add_lexicon(files: Files, lexicon: Lexicon) -> None:
    """Add the entries of every language, and the judged pairs of concepts."""
    for code in LANGUAGES:
        rows = []
        for _, entry in sorted(lexicon.of(code).items()):
            concept = lexicon.concepts[entry.concept]
            # no list of variants is an empty one, and not null
            row: dict[str, Any] = {"variants": [], "collocation": False} | json.loads(entry.to_json())
            row |= {"gloss": concept.gloss, "pos": concept.pos, "aliases": concept.aliases}
            # As text, because a column has one type and a status any JSON value
            if entry.status is not None:
                row["status"] = json.dumps(entry.status, ensure_ascii=False, sort_keys=True)
            rows.append(row)
        add_file(files, f"lexicon-{code}", TEST, rows, SCHEMAS["lexicon"])
    judged = lexicon.equivalents.items()
    pairs = [{"first": first, "second": second, "judgement": judgement} for (first, second), judgement in judged]
    add_file(files, "equivalents", TEST, pairs, SCHEMAS["equivalents"])
