"""`HubDataset`: data of the tasks from files in the Hub layout; files that do not fit together are refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.dataset.hub_layout import HubFiles
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, TASKS, RetrievalData, check_retrieval
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, locate
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import MalformedError, display, parse_json, printable
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon, parse_entry
from turkic_idiom_tasks.lexicon.load import concept_problem, equivalent_problem
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.splits import SPAN_SPLITS, TEST

QUERIES, CORPUS, QRELS, STRICT_QRELS = "queries", "corpus", "qrels", "strict-qrels"
CONCEPT_COLUMNS = ("pos", "aliases")  # of the concept of an entry, if they are there
EQUIVALENTS = "equivalents"  # config with the pairs of concepts that were judged
RETRIEVAL_COLUMNS = {QUERIES: ("id", "text"), CORPUS: ("id", "text"), QRELS: ("query-id", "corpus-id", "score")}
SPAN_COLUMNS = ("id", "idiom", "sentence", "tokens", "ner_tags")
ENTRY_COLUMNS = ("concept", "gloss", "idiom", "meaning", "example", "spans")
FURTHER_ENTRY_COLUMNS = (
    "variants",
    "literal_example",
    "paraphrased_example",
    "paraphrase",
    "literal_paraphrase",
    "source",
    "attested",
    "collocation",
    "status",
)


class HubDataset(Dataset):
    """A dataset in the Hub layout.

    For each task and subset its README declares the configs ``T1-tur-azj-queries`` and ``-corpus`` (columns id, text)
    and ``-qrels`` (query-id, corpus-id, score), each with a split ``test``, and may declare ``-strict-qrels``, which
    leave out the documents of concepts that were judged to mean the same; for each language ``span-tr`` with the
    splits train, validation and test, and ``lexicon-tr`` with the entries that training pairs are made of.
    """

    def __init__(self, files: HubFiles) -> None:
        super().__init__()
        self.path = files.path
        self.revision = files.revision
        self._files = files
        self._retrieval: dict[tuple[str, str], RetrievalData] = {}
        self._sentences: dict[str, dict[str, list[TaggedSentence]]] = {}
        if not self.span_languages and not any(self.subsets(task) for task in TASKS):
            example = "T1-tur-azj-queries, T1-tur-azj-corpus, T1-tur-azj-qrels or span-tr"
            known = ", ".join(sorted(files.configs)[:6]) or "none"
            raise InputError(f"{self.path}: no config of a task, such as {example}; it has {printable(known)}")

    def subsets(self, task: str) -> tuple[str, ...]:
        """Return the subsets of a task whose three configs are there."""
        subsets = []
        for subset in SUBSETS[task]:
            if all(self._files.has(f"{task}-{subset}-{part}", TEST) for part in RETRIEVAL_COLUMNS):
                subsets.append(subset)
        return tuple(subsets)

    def retrieval(self, task: str, subset: str) -> RetrievalData:
        """Return one of those subsets.

        Raises:
            InputError: a config cannot be read, a text or id is missing or repeated, or the ids do not fit together.
        """
        if (task, subset) not in self._retrieval:
            self._retrieval[task, subset] = self._read_retrieval(task, subset)
        return self._retrieval[task, subset]

    @property
    def span_languages(self) -> tuple[str, ...]:
        """Return the codes of the languages with an annotated test sentence."""
        return tuple(code for code in LANGUAGES if self._files.has(f"span-{code}", TEST))

    def sentences(self, language: str) -> Mapping[str, Sequence[TaggedSentence]]:
        """Return split -> tagged sentences of a language."""
        if language not in self.span_languages:
            raise self.no_sentences(language)
        if language not in self._sentences:
            self._sentences[language] = self._read_sentences(language)
        return self._sentences[language]

    @cached_property
    def lexicon(self) -> Lexicon:
        """Return the entries of the configs ``lexicon-tr`` and so on.

        Raises:
            InputError: there are none, or a row is malformed.
        """
        languages = [code for code in LANGUAGES if self._files.has(f"lexicon-{code}", TEST)]
        if not languages:
            raise usage_error(
                f"{self.path}: holds test queries only (no config such as lexicon-tr); training needs a lexicon "
                "directory, or a dataset that `turkic-idiom dataset export` wrote"
            )
        concepts: dict[str, Concept] = {}
        entries: dict[str, dict[str, Entry]] = {}
        for code in languages:
            entries[code] = {}
            for entry, concept in self._read_entries(code):
                if entry.concept in entries[code]:
                    raise InputError(f"{self.path}, config lexicon-{code}: concept {entry.concept!r} appears twice")
                entries[code][entry.concept] = entry
                concepts.setdefault(concept.id, concept)
        return Lexicon(
            concepts, entries, revision=self.revision, source=self.path, equivalents=self._read_equivalents(concepts)
        )

    def _read_equivalents(self, concepts: Mapping[str, Concept]) -> dict[tuple[str, str], str]:
        """Return the judged pairs of concepts; none where the dataset declares no such config."""
        if not self._files.has(EQUIVALENTS, TEST):
            return {}
        judgements: dict[tuple[str, str], str] = {}
        for row in _rows(self._files.columns(EQUIVALENTS, TEST, ("first", "second", "judgement"))):
            problem = equivalent_problem(
                {"concepts": [row["first"], row["second"]], "judgement": row["judgement"]}, concepts
            )
            if problem:
                raise InputError(f"{self.path}, config {EQUIVALENTS}: {problem}")
            first, second = sorted((row["first"], row["second"]))
            if (first, second) in judgements:
                raise InputError(
                    f"{self.path}, config {EQUIVALENTS}: {first!r} and {second!r} are judged twice; remove one"
                )
            judgements[first, second] = row["judgement"]
        return dict(sorted(judgements.items()))

    def _read_retrieval(self, task: str, subset: str) -> RetrievalData:
        place = f"{self.path}, config {task}-{subset}"
        texts: dict[str, dict[str, str]] = {}
        for part in (QUERIES, CORPUS):
            columns = self._files.columns(f"{task}-{subset}-{part}", TEST, RETRIEVAL_COLUMNS[part])
            texts[part] = _texts_by_id(columns["id"], columns["text"], place=f"{place}-{part}")
        judged = self._files.columns(f"{task}-{subset}-{QRELS}", TEST, RETRIEVAL_COLUMNS[QRELS])
        strict_qrels = None
        if self._files.has(f"{task}-{subset}-{STRICT_QRELS}", TEST):
            strict = self._files.columns(f"{task}-{subset}-{STRICT_QRELS}", TEST, RETRIEVAL_COLUMNS[QRELS])
            strict_qrels = _judgements(strict, place=f"{place}-{STRICT_QRELS}")
        qrels = _judgements(judged, place=f"{place}-{QRELS}")
        data = RetrievalData(texts[QUERIES], texts[CORPUS], qrels, strict_qrels)
        check_retrieval(data, place=f"{place}-*")
        return data

    def _read_sentences(self, language: str) -> dict[str, list[TaggedSentence]]:
        config = f"span-{language}"
        splits: dict[str, list[TaggedSentence]] = {}
        split_of_id: dict[str, str] = {}
        split_of_text: dict[tuple[str, str], str] = {}
        for split in SPAN_SPLITS:
            place = f"{self.path}, config {config}, split {split}"
            splits[split] = self._read_split(language, split, place=place) if self._files.has(config, split) else []
            for sentence in splits[split]:
                known = split_of_id.setdefault(sentence.id, split)
                if known != split:
                    raise InputError(f"{place}, id {display(sentence.id)}: is in the split {known} too; remove one")
                known = split_of_text.setdefault((sentence.idiom, sentence.sentence), split)
                if known != split:
                    raise InputError(
                        f"{place}, id {display(sentence.id)}: its idiom and sentence are in the split {known} too; "
                        "remove one of them, because splits must not share sentences"
                    )
        if not splits[TEST]:
            raise InputError(f"{self.path}, config {config}: no annotated test sentence; add some or delete it")
        return splits

    def _read_split(self, language: str, split: str, *, place: str) -> list[TaggedSentence]:
        config = f"span-{language}"
        columns = self._files.columns(config, split, SPAN_COLUMNS)
        names = self._files.label_names(config, split, "ner_tags")
        if names is not None and names != list(LABELS):
            raise InputError(f"{place}: ner_tags are numbers of {', '.join(names)}; number them as {', '.join(LABELS)}")
        sentences: dict[str, TaggedSentence] = {}
        for row in _rows(columns):
            sentence = _tagged_sentence(row, language, place=place)
            if sentence.id in sentences:
                raise InputError(f"{place}: the id {display(sentence.id)} appears twice; give every sentence its own")
            sentences[sentence.id] = sentence
        return list(sentences.values())

    def _read_entries(self, language: str) -> list[tuple[Entry, Concept]]:
        config = f"lexicon-{language}"
        optional = (*FURTHER_ENTRY_COLUMNS, *CONCEPT_COLUMNS)
        columns = self._files.columns(config, TEST, ENTRY_COLUMNS, optional=optional)
        entries = []
        for row in _rows(columns):
            gloss = row.pop("gloss")
            concept_row = {"id": row["concept"], "gloss": "" if gloss is None else gloss}
            concept_row |= {name: row.pop(name) for name in CONCEPT_COLUMNS}
            entry, problems = _entry(row, LANGUAGES[language])
            problem = problems[0] if problems else concept_problem(concept_row, {})
            if entry is None or problem:
                raise InputError(f"{self.path}, config {config}, concept {display(row['concept'])}: {problem}")
            concept = Concept(
                entry.concept, concept_row["gloss"], concept_row["pos"], tuple(concept_row["aliases"] or ())
            )
            entries.append((entry, concept))
        return entries


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table of columns."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _texts_by_id(ids: Sequence[Any], texts: Sequence[Any], *, place: str) -> dict[str, str]:
    by_id: dict[str, str] = {}
    for value, text in zip(ids, texts, strict=True):
        identifier = _identifier(value, place=place)
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{place}, id {display(identifier)}: the text is {display(text)}; every id needs a text")
        if identifier in by_id:
            raise InputError(f"{place}: the id {display(identifier)} appears twice; ids must be unique")
        by_id[identifier] = text
    return by_id


def _judgements(columns: Mapping[str, Sequence[Any]], *, place: str) -> dict[str, dict[str, int]]:
    """Return query id -> document id -> 1 for the relevant documents."""
    qrels: dict[str, dict[str, int]] = {}
    judged: set[tuple[str, str]] = set()
    for row in _rows(columns):
        query, document = _identifier(row["query-id"], place=place), _identifier(row["corpus-id"], place=place)
        score = row["score"]
        if isinstance(score, bool) or score not in (0, 1):
            raise InputError(
                f"{place}: query {display(query)}, document {display(document)}: the score is {display(score)}; "
                f"relevance "
                "is binary here, write 1 or 0"
            )
        if (query, document) in judged:
            raise InputError(f"{place}: query {display(query)}, document {display(document)}: judged twice; remove one")
        judged.add((query, document))
        if score:
            qrels.setdefault(query, {})[document] = 1
    return qrels


def _identifier(value: Any, *, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise InputError(f"{place}: the id {display(value)} is neither a text nor a whole number")
    return str(value)


def _entry(row: Mapping[str, Any], language: Language) -> tuple[Entry | None, list[str]]:
    """Return the entry in a row of a lexicon config, or None, and what is wrong with it."""
    status = row["status"]
    if isinstance(status, str) and status.startswith(('"', "{")):  # JSON, as `dataset export` writes it
        try:
            status = parse_json(status.encode("utf-8"))
        except MalformedError as error:
            return None, [f"field 'status': {error}"]
    return parse_entry({**row, "status": status}, language)


def _tagged_sentence(row: Mapping[str, Any], language: str, *, place: str) -> TaggedSentence:
    identifier = _identifier(row["id"], place=place)
    problem = _row_problem(row)
    if problem:
        raise InputError(f"{place}, id {display(identifier)}: {problem}")
    tags = tuple(tag if isinstance(tag, str) else LABELS[int(tag)] for tag in row["ner_tags"])
    tokens = tuple(unicodedata.normalize("NFC", token) for token in row["tokens"])
    sentence = unicodedata.normalize("NFC", row["sentence"])
    return TaggedSentence(identifier, language, row["idiom"], sentence, tokens, tags)


def _row_problem(row: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a row of a span config, or None."""
    for name in ("idiom", "sentence"):
        if not isinstance(row[name], str) or not row[name].strip():
            return f"{name} must be a text, not {display(row[name])}"
    tokens, tags = row["tokens"] or [], row["ner_tags"] or []
    if not isinstance(tokens, list) or not isinstance(tags, list):
        return f"tokens and ner_tags must be lists, not {display(tokens)} and {display(tags)}"
    if not tokens or len(tokens) != len(tags):
        return f"needs as many tokens as ner_tags, and at least one; found {len(tokens)} and {len(tags)}"
    for token in tokens:
        if not isinstance(token, str):
            return f"token {display(token)} is not a text"
    known = (*range(len(LABELS)), *LABELS)
    for tag in tags:
        if isinstance(tag, bool) or tag not in known:
            return f"ner_tags has {display(tag)}; use {', '.join(LABELS)} or their numbers 0, 1, 2"
    try:
        locate(tokens, row["sentence"])
    except ValueError as error:
        return str(error)
    return None
