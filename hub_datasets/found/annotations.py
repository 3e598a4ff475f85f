"""Idioms in sentences that people wrote: annotations that stand off from the corpora, and their join with these.

The sentences belong to others and stay where they are. A folder of annotations has ``corpora.jsonl``, which says where
each corpus is published, and a file such as ``tr.jsonl`` for each language, an annotation a line: the place of the
sentence, the hash of its text, and what readers saw there.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.request import urlopen

import pyarrow as pa
from huggingface_hub import DatasetCard, DatasetCardData
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from hub_datasets.cards import BUNDLED_LICENCE, UNKNOWN_LICENCE, Files, config_entries
from hub_datasets.found.corpora import CorpusSentence, read_sentences
from hub_datasets.hub_export import SCHEMAS, HubLayout, add_file, add_lexicon, layout_of
from turkic_idiom_tasks.dataset.sentences import tag_sentence
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_bytes
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, first_line, read_json_lines, relative_parts
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon, as_spans, offsets
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.spans import Span, span_problem
from turkic_idiom_tasks.splits import TEST, span_split

FOLDER = Path(__file__).parent / "data"  # the annotations of this project
CORPORA = "corpora.jsonl"
IDIOMATIC, LITERAL, UNCLEAR, NONE = SENSES = ("idiomatic", "literal", "unclear", "none")
MISSING, DOUBTFUL = "the file is not there", "the sentence has an unclear expression"
Row = TypeVar("Row", bound=BaseModel)
_CARD = Path(__file__).parent / "found_card.md"
_SCHEMA, _USES = (pa.schema([*SCHEMAS[name], *SCHEMAS["found"]]) for name in ("spans", "uses"))


class Corpus(BaseModel):
    """A line of ``corpora.jsonl``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    corpus: str  # name of its folder
    url: str  # of its files at one commit: URL/PATH
    licence: str  # as the Hub names it
    files: dict[Annotated[str, AfterValidator(lambda path: "/".join(relative_parts(path)))], str]  # path -> language

    def place(self, path: str, folder: Path) -> Path:
        """Return where a file is or belongs: below the corpus's folder as in its repository, or there directly."""
        copied = folder / self.corpus / Path(path).name
        return copied if copied.is_file() else folder / self.corpus / path


class Annotation(BaseModel):
    """A line of annotations; other keys, such as the text in a file of candidates, are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    corpus: str
    file: str  # path in the repository of the corpus
    sentence: str  # id of the treebank, or number of the line
    sha256: str  # of the sentence in NFC
    concept: str | None  # None if no idiom of the lexicon is there
    spans: Annotated[tuple[Span, ...] | None, BeforeValidator(as_spans)] = None  # code points
    sense: Literal["idiomatic", "literal", "unclear", "none"]
    readers: tuple[str, ...] = ()  # what each reader said
    cloze: bool = False  # whether both of two further readers could tell the idiom from the rest of the sentence
    status: Literal["confirmed", "rejected"] | None = None  # by native speakers

    @property
    def name(self) -> str:
        """Return what names the use of a concept in a sentence of its language, in the form of a concept's id."""
        return f"{self.concept}--{self.sha256[:12]}"


@dataclass
class Joined:
    """Sentences that were found again, and what was not."""

    rows: dict[str, list[dict[str, object]]] = field(default_factory=lambda: defaultdict(list))  # language -> rows
    uses: dict[str, list[dict[str, object]]] = field(default_factory=lambda: defaultdict(list))  # language -> rows
    kept: dict[str, list[Annotation]] = field(default_factory=lambda: defaultdict(list))  # language -> annotations
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # corpus and reason -> annotations
    corpora: dict[str, Corpus] = field(default_factory=dict)  # that gave a sentence


def read_annotations(folder: Path, language: str) -> list[Annotation]:
    """Return the annotations of a language; none if the folder has no file for it."""
    path = folder / f"{language}.jsonl"
    return _parsed(path, Annotation) if path.is_file() else []


def _parsed(path: Path, model: type[Row]) -> list[Row]:
    rows = []
    for number, value, problem in read_json_lines(path):
        with model_errors(f"{path}:{number}", problem=problem):
            rows.append(model.model_validate(value))
    return rows


def fetch(folder: Path, corpora: Path) -> Iterator[Path]:
    """Download the files of all corpora that are not there yet, each at its commit; yield their paths."""
    for corpus in _parsed(folder / CORPORA, Corpus):
        for path in corpus.files:
            place, url = corpus.place(path, corpora), f"{corpus.url}/{path}"
            if place.is_file():
                continue
            try:
                with urlopen(url, timeout=60) as response:  # noqa: S310 -- the address of a corpus that the user chose
                    content = response.read()
            except (OSError, ValueError) as error:  # network; an address that is none
                raise InputError(f"{url}: cannot be downloaded: {first_line(error)}; try again later") from error
            write_bytes(place, content)
            yield place


def join(folder: Path, corpora: Path, lexicon: Lexicon, *, unseen: bool = False) -> Joined:
    """Join the annotations of a folder with the corpora of a user; with `unseen` only those of span test concepts.

    A sentence of several idioms becomes one row with all their spans. The idioms of the lexicon are `uses` all the same
    where a sentence has no row.
    """
    joined = Joined()
    known = {corpus.corpus: corpus for corpus in _parsed(folder / CORPORA, Corpus)}
    texts_seen: dict[tuple[str, str], tuple[str, ...]] = {}  # language and text -> the place that it was taken from
    for language in LANGUAGES:
        by_place: dict[tuple[str, str, str], list[Annotation]] = defaultdict(list)
        for annotation in read_annotations(folder, language):
            place = (annotation.corpus, annotation.file, annotation.sentence)
            if annotation.corpus not in known or annotation.file not in known[annotation.corpus].files:
                raise InputError(f"{folder}: {CORPORA} does not name {annotation.corpus}/{annotation.file}; add it")
            by_place[place].append(annotation)
        sentences: dict[Path, dict[str, CorpusSentence]] = {}  # of each file by id
        for place, of_sentence in by_place.items():
            corpus = known[place[0]]
            path = corpus.place(place[1], corpora)
            if path not in sentences:
                read = read_sentences(path) if path.is_file() else ()
                sentences[path] = {sentence.id: sentence for sentence in read}
            sentence = sentences[path].get(place[2])
            reason = None
            if not path.is_file():
                reason = MISSING
            elif sentence is None:
                reason = "the sentence is not in the file"
            # No annotation may be put on a sentence of another edition
            elif {digest(sentence.text)} != {annotation.sha256 for annotation in of_sentence}:
                reason = "the sentence reads otherwise"
            elif texts_seen.setdefault((language, sentence.text), place) != place:
                reason = "the sentence stands in another corpus too"
            elif any(annotation.sense == UNCLEAR for annotation in of_sentence):
                # Neither tagging the expression nor leaving it untagged would be right
                reason = DOUBTFUL
            elif any(annotation.status == "rejected" for annotation in of_sentence):
                reason = "a native speaker rejected an annotation"
            if reason is not None:
                joined.left_out[corpus.corpus, reason] += len(of_sentence)
            if sentence is None or reason not in (None, DOUBTFUL):
                continue
            # Of sentences without an idiom the same share is kept as of idioms.
            keys = [row.sha256 if row.sense == NONE else row.concept for row in of_sentence]
            is_seen = any(key is not None and span_split(key) != TEST for key in keys)
            if unseen and is_seen:
                continue
            joined.corpora[corpus.corpus] = corpus
            origin = {"corpus": corpus.corpus, "source": f"{corpus.url}/{place[1]}", "licence": corpus.licence}
            joined.uses[language] += _uses(sentence.text, of_sentence, origin, lexicon.of(language))
            if reason is None:
                joined.kept[language] += of_sentence
                joined.rows[language].append(_row(sentence.text, of_sentence, origin, language, lexicon))
    return joined


def _row(
    text: str, annotations: Sequence[Annotation], origin: Mapping[str, str], language: str, lexicon: Lexicon
) -> dict[str, object]:
    """Return a sentence as a row of a span config, with where it is from."""
    spans = tuple(sorted({span for row in annotations if row.sense == IDIOMATIC for span in row.spans or ()}))
    for marked in (*(annotation.spans or () for annotation in annotations), spans):  # two idioms may not share a word
        problem = span_problem(marked, text)
        if problem:
            place = f"{annotations[0].corpus}/{annotations[0].file}, sentence {display(annotations[0].sentence)}"
            raise InputError(f"{place}: {problem}; correct its annotations")
    # The sense of the sentence is that of its first idiom of the lexicon, if it has one.
    first = min(annotations, key=lambda row: (SENSES.index(row.sense), row.concept is None))
    entry = lexicon.of(language).get(first.concept or "")
    # Sentences without an idiom are resampled one by one
    idiom = entry.idiom if entry else first.concept or text
    tagged = tag_sentence(f"{first.corpus}/{first.file}/{first.sentence}", language, idiom, text, spans)
    return tagged.document() | {"concept": first.concept, "sense": first.sense, **origin}


def _uses(
    text: str, annotations: Sequence[Annotation], origin: Mapping[str, str], entries: Mapping[str, Entry]
) -> Iterator[dict[str, object]]:
    """Yield the uses of idioms of the lexicon in a sentence as rows of a config of uses."""
    for row in annotations:
        entry = entries.get(row.concept or "")
        if entry is not None and row.spans and row.sense in (IDIOMATIC, LITERAL):
            yield {
                "id": row.name,
                "idiom": entry.idiom,
                "sentence": text,
                "spans": offsets(row.spans),
                "answerable": row.cloze,
                "concept": entry.concept,
                "sense": row.sense,
                **origin,
            }


def found_layout(joined: Joined, lexicon: Lexicon) -> HubLayout:
    """Return the joined sentences as a dataset in the Hub layout; all of them are test sentences.

    The idioms of the lexicon are there too, because answers are judged by their forms.
    """
    files: Files = {}
    for name, table, schema in (("span", joined.rows, _SCHEMA), ("use", joined.uses, _USES)):
        for language, rows in table.items():
            add_file(files, f"{name}-{language}", TEST, sorted(rows, key=lambda row: str(row["id"])), schema)
    if not files:
        missing = "; add --fetch, which downloads them" if any(r == MISSING for _, r in joined.left_out) else ""
        raise InputError(f"no annotated sentence was found in the corpora{missing}")
    forms: dict[str, dict[str, Entry]] = {}
    for language in joined.uses:
        forms[language] = {}
        for concept, entry in lexicon.of(language).items():
            forms[language][concept] = Entry(concept, entry.idiom, variants=entry.variants)
    add_lexicon(files, replace(lexicon, entries=forms))
    configs, information = config_entries(files)
    licence = BUNDLED_LICENCE if lexicon.source == str(BUNDLED) else UNKNOWN_LICENCE
    data = DatasetCardData(
        license=sorted({licence, *(corpus.licence for corpus in joined.corpora.values())}),
        language=list(joined.rows),
        pretty_name="Found idioms",
        annotations_creators=["machine-generated"],
        language_creators=["found"],
        task_categories=["token-classification"],
        configs=configs,
        dataset_info=information,
    )
    left_out = [[corpus, reason, count] for (corpus, reason), count in sorted(joined.left_out.items())]
    about = {"corpora": joined.corpora.values(), "left_out": left_out, "licence": licence}
    card = DatasetCard.from_template(data, template_path=str(_CARD), **about)
    return layout_of(files, [], readme=str(card))


def digest(text: str) -> str:
    """Return the SHA-256 of a sentence, which is NFC."""
    return hashlib.sha256(text.encode()).hexdigest()
