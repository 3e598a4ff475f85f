"""Data of the benchmark, opened by name: a lexicon, or a dataset in the Hub layout, here or on the Hub."""

import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, TypeAdapter

from turkic_idiom_tasks.dataset.base import Dataset, LexiconDataset, made_once
from turkic_idiom_tasks.dataset.hub_layout import HUB_NAME, HubFiles, download, open_local
from turkic_idiom_tasks.dataset.retrieval import TASKS, RetrievalData, check_retrieval
from turkic_idiom_tasks.dataset.sentences import FoundUse, TaggedSentence, locate
from turkic_idiom_tasks.errors import InputError, refuse_faults
from turkic_idiom_tasks.io.files import restore_folder
from turkic_idiom_tasks.io.reading import display, input_errors, is_blank, parse_json, printable
from turkic_idiom_tasks.languages import LANGUAGES, add_languages
from turkic_idiom_tasks.lexicon.entries import (
    Concept,
    Entry,
    Lexicon,
    parse_concept,
    parse_entry,
    parse_equivalent,
    parse_row,
)
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.splits import SPAN_SPLITS, TEST

BUNDLED_PATH = "turkic-idiom-tasks/lexicon"  # name of the bundled lexicon in results
EQUIVALENTS = "equivalents"  # config with the pairs of concepts that were judged
_PARTS = ("queries", "corpus", "qrels")  # of a retrieval subset; strict-qrels may be there too
_ENTRY_COLUMNS = ("concept", "gloss", "idiom", "meaning", "example", "spans")
_MORE_COLUMNS = (*(name for name in Entry.__dataclass_fields__ if name not in _ENTRY_COLUMNS), "pos", "aliases")
T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)


# In the next three True and False are refused by name, because Python takes them for the numbers 1 and 0.


def _as_identifier(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("is neither a text nor a whole number")  # 1.5, or NaN, where pandas found no id
    return str(value)


def _as_relevance(value: Any) -> int:
    if isinstance(value, bool) or value not in (0, 1):
        raise ValueError("relevance is binary here, write 1 or 0")
    return int(value)  # pandas writes whole numbers as floats


def _as_tag(value: Any) -> str:
    if isinstance(value, bool) or value not in (*LABELS, *range(len(LABELS))):
        raise ValueError(f"use {', '.join(LABELS)} or their numbers 0, 1, 2")
    return value if isinstance(value, str) else LABELS[int(value)]


def _as_filled(text: str) -> str:
    if is_blank(text):
        raise ValueError("is empty")
    return text


_Identifier = Annotated[str, BeforeValidator(_as_identifier)]
# Offsets count code points of NFC text, and a token in another form would not be found in its sentence.
_Composed = Annotated[str, AfterValidator(partial(unicodedata.normalize, "NFC"))]
_Filled = Annotated[str, AfterValidator(_as_filled)]


class _TextRow(BaseModel):
    id: _Identifier
    text: _Filled


class _JudgedRow(BaseModel):
    query: Annotated[_Identifier, Field(validation_alias="query-id")]
    document: Annotated[_Identifier, Field(validation_alias="corpus-id")]
    score: Annotated[int, BeforeValidator(_as_relevance)]


class _SpanRow(BaseModel):
    id: _Identifier
    idiom: _Filled
    sentence: Annotated[_Composed, AfterValidator(_as_filled)]
    tokens: Annotated[tuple[_Composed, ...], Field(min_length=1)]
    ner_tags: tuple[Annotated[str, BeforeValidator(_as_tag)], ...]


Named = TypeVar("Named", _TextRow, FoundUse)  # rows with an id


class HubDataset(Dataset):
    """A dataset in the Hub layout.

    For each task and subset its README declares the configs ``T1-tur-azj-queries`` and ``-corpus`` (columns id, text)
    and ``-qrels`` (query-id, corpus-id, score), each with a split ``test``, and may declare ``-strict-qrels``, which
    leave out the documents of concepts that were judged to mean the same; for each language ``span-tr`` with the
    splits train, validation and test, and ``lexicon-tr`` with the entries that training pairs are made of.
    """

    def __init__(self, files: HubFiles) -> None:
        super().__init__(files.path, files.revision)
        self._files = files
        self.span_languages = tuple(code for code in LANGUAGES if files.has(f"span-{code}", TEST))

    def subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a task whose three configs are there."""
        subsets = []
        for subset in TASKS[task].subsets:
            if all(self._files.has(f"{task}-{subset}-{part}", TEST) for part in _PARTS):
                subsets.append(subset)
        return tuple(subsets)

    @cached_property
    def lexicon(self) -> Lexicon:  # type: ignore[override]
        """Return the entries of the configs ``lexicon-tr`` and so on."""
        languages = [code for code in LANGUAGES if self._files.has(f"lexicon-{code}", TEST)]
        if not languages:
            return super().lexicon  # which says what is missing
        concepts: dict[str, Concept] = {}
        entries: dict[str, dict[str, Entry]] = {}
        # The configs have no file of concepts: each entry states its own, and that of the first language counts.
        for code in languages:
            entries[code] = {}
            for place, row in self._rows(f"lexicon-{code}", _ENTRY_COLUMNS, optional=_MORE_COLUMNS):
                concept_row = {"id": row["concept"], "gloss": row.pop("gloss") or ""}
                for name in ("pos", "aliases"):
                    concept_row[name] = row.pop(name, None)
                status = row.get("status")
                # `dataset export` writes a status as JSON: it may be any value, and the column holds texts.
                if isinstance(status, str) and status.startswith(('"', "{")):
                    with input_errors(f"{place}: field 'status'"):
                        row["status"] = parse_json(status.encode("utf-8"))
                entry = _stated(place, parse_entry(row, LANGUAGES[code]))
                concept = _stated(place, parse_concept(concept_row))
                _refuse_repeat(place, entry.concept, entries[code])
                entries[code][entry.concept] = entry
                concepts.setdefault(concept.id, concept)
        equivalents: dict[tuple[str, str], str] = {}
        if self._files.has(EQUIVALENTS, TEST):
            for place, row in self._rows(EQUIVALENTS, ("first", "second", "judgement")):
                judged_pair = {"concepts": [row["first"], row["second"]], "judgement": row["judgement"]}
                pair = _stated(place, parse_equivalent(judged_pair, concepts))
                both = " and ".join(map(repr, pair.concepts))
                _refuse_repeat(place, pair.concepts, equivalents, problem=f"{both} are judged twice")
                equivalents[pair.concepts] = pair.judgement
        equivalents = dict(sorted(equivalents.items()))
        return Lexicon(concepts, entries, revision=self.revision, source=self.path, equivalents=equivalents)

    @made_once
    def _find_retrieval(self, task: str, subset: str) -> RetrievalData:
        name = f"{task}-{subset}"
        strict = f"{name}-strict-qrels"
        queries = self._by_id(f"{name}-queries", _TextRow)
        documents = self._by_id(f"{name}-corpus", _TextRow)
        data = RetrievalData(
            queries={query: row.text for query, row in queries.items()},
            documents={document: row.text for document, row in documents.items()},
            qrels=self._read_judgements(f"{name}-qrels"),
            strict_qrels=self._read_judgements(strict) if self._files.has(strict, TEST) else None,
        )
        check_retrieval(data, place=f"{self.path}, config {name}-*")
        return data

    def _by_id(self, config: str, kind: type[Named]) -> dict[str, Named]:
        """Return id -> row of a config, in order."""
        rows: dict[str, Named] = {}
        for place, row in self._parsed_rows(config, kind):
            _refuse_repeat(place, row.id, rows)
            rows[row.id] = row
        return rows

    def _read_judgements(self, config: str) -> dict[str, dict[str, int]]:
        """Return query id -> document id -> 1 for the relevant documents."""
        qrels: dict[str, dict[str, int]] = {}
        judged: set[tuple[str, str]] = set()  # as relevant or not, so that no pair is judged both ways
        for place, row in self._parsed_rows(config, _JudgedRow):
            pair = (row.query, row.document)
            _refuse_repeat(place, pair, judged, problem=f"the document {display(row.document)} is judged twice")
            judged.add(pair)
            if row.score:
                qrels.setdefault(row.query, {})[row.document] = 1
        return qrels

    @made_once
    def _find_sentences(self, language: str) -> dict[str, list[TaggedSentence]]:
        config = f"span-{language}"
        splits: dict[str, list[TaggedSentence]] = {split: [] for split in SPAN_SPLITS}
        split_of_id: dict[str, str] = {}
        split_of_text: dict[tuple[str, str], str] = {}
        for split in SPAN_SPLITS:
            if not self._files.has(config, split):
                continue
            # The same numbers may stand for labels in another order, which would be read without a complaint.
            names = self._files.label_names(config, split, "ner_tags")
            if names is not None and names != list(LABELS):
                numbered = f"ner_tags are numbers of {', '.join(names)}; number them as {', '.join(LABELS)}"
                raise InputError(f"{self.path}, config {config}, split {split}: {numbered}")
            for place, row in self._parsed_rows(config, _SpanRow, split=split):
                with input_errors(place):
                    locate(row.tokens, row.sentence)
                problems = []
                if len(row.tokens) != len(row.ner_tags):
                    counts = f"{len(row.tokens)} and {len(row.ner_tags)}"
                    problems.append(f"needs as many tokens as ner_tags; found {counts}")
                if row.id in split_of_id:
                    problems.append(f"stands in the split {split_of_id[row.id]} already")
                split_of_id[row.id] = split
                other = split_of_text.setdefault((row.idiom, row.sentence), split)
                if other != split:
                    problems.append(f"its idiom and sentence are in the split {other} too; splits must not share them")
                refuse_faults(problems, place=f"{place}: ", advice="correct it or remove one")
                splits[split].append(
                    TaggedSentence(row.id, language, row.idiom, row.sentence, row.tokens, row.ner_tags)
                )
        return splits

    @made_once
    def uses(self, language: str) -> Sequence[FoundUse] | None:
        """Return the uses of idioms from configs such as ``use-tr``, which `dataset found` writes; None without any."""
        if not any(self._files.has(f"use-{code}", TEST) for code in LANGUAGES):
            return None
        config = f"use-{language}"
        if not self._files.has(config, TEST):
            return []
        return list(self._by_id(config, FoundUse).values())

    def _rows(
        self, config: str, columns: Sequence[str], *, optional: Sequence[str] = (), split: str = TEST
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place of every row, for messages, and its columns."""
        for row in self._files.rows(config, split, columns, optional=optional):
            yield f"{self.path}, config {config}, split {split}, {columns[0]} {display(row[columns[0]])}", row

    def _parsed_rows(self, config: str, kind: type[R], *, split: str = TEST) -> Iterator[tuple[str, R]]:
        columns = [str(field.validation_alias or name) for name, field in kind.model_fields.items()]
        adapter = TypeAdapter(kind)
        for place, row in self._rows(config, columns, split=split):
            parsed = parse_row(adapter, row)
            yield place, _stated(place, parsed)


def open_dataset(name: str = "") -> Dataset:
    """Open a lexicon directory, a local directory in the Hub layout, or ``ORG/NAME`` with or without ``@REVISION``.

    The latter is a dataset on the Hub; an empty name stands for the bundled lexicon.
    """
    if not name:
        return LexiconDataset(load_lexicon(BUNDLED), BUNDLED_PATH)
    try:
        directory = Path(name).expanduser()
    except RuntimeError:  # there is no such user
        directory = Path(name)
    files: HubFiles | None = None
    problem = "no such directory, and not a dataset on the Hub (ORG/NAME or ORG/NAME@REVISION)"
    # A folder that a killed process had moved aside would otherwise be taken for a name on the Hub.
    restore_folder(directory)
    if directory.is_dir():
        # This comes first, because all files may be of languages that the folder brings.
        add_languages(directory)
        expected = [f"{code}.jsonl" for code in LANGUAGES]
        if any((directory / name).is_file() for name in expected):
            return LexiconDataset(load_lexicon(directory), str(directory))
        files = open_local(directory)
        problem = (
            f"neither a lexicon (none of {', '.join(expected)}) nor a dataset in the Hub layout (no README.md with "
            "configs)"
        )
    # A path such as ../x looks like ORG/NAME too.
    elif HUB_NAME.fullmatch(name) and not name.startswith("."):
        files = download(name)
    if files is not None:
        dataset = HubDataset(files)
        if dataset.span_languages or any(dataset.subsets(task) for task in TASKS):
            return dataset
        example = "T1-tur-azj-queries, T1-tur-azj-corpus, T1-tur-azj-qrels or span-tr"
        known = ", ".join(sorted(files.configs)[:6]) or "none"
        problem = f"no config of a task, such as {example}; it has {printable(known)}"
    raise InputError(f"{name}: {problem}")


def _refuse_repeat(place: str, key: object, earlier: Container[object], *, problem: str = "appears twice") -> None:
    """Raise an InputError if an earlier row has the same key."""
    if key in earlier:
        raise InputError(f"{place}: {problem}; remove one")


def _stated(place: str, parsed: tuple[T | None, list[str]]) -> T:
    """Return what a row states; raise InputError if it is malformed."""
    value, problems = parsed
    refuse_faults(problems, place=f"{place}: ")
    assert value is not None  # because nothing is wrong with the row
    return value
