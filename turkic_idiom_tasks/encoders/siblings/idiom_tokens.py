"""One token per idiom, the idiom principle of AStitchInLanguageModels (Tayyar Madabushi et al., 2021, section 4.2).

A table, the file `TABLE` of a saved model, states for every idiom its token, ``IDhighlifeID`` for `high life`, and the
forms that stand for it in texts. A classifier of sentences, which `turkic-idiom finetune idiomaticity` has made, may
decide which occurrences are replaced.
"""

# Nothing heavy is imported, because a grid file is checked without torch
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasPath, BaseModel, ConfigDict, Field, PositiveInt, PrivateAttr
from pydantic.dataclasses import dataclass as checked_dataclass

from turkic_idiom_tasks.errors import refuse_faults, usage_error
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, read_json
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language, LanguageCode
from turkic_idiom_tasks.orthography import lower
from turkic_idiom_tasks.spans import Span

TABLE = "idiom_tokens.json"
IDIOMATICITY_RECORD = "idiomaticity_finetuning.json"  # beside a classifier that finetune idiomaticity has made
CLASSIFIER_FOLDER = "idiomaticity"  # beside the table, if a classifier decides what is replaced
WIDEST_GAP = 9  # words between two parts of a discontinuous form, as in the annotation of sentences
_SENTENCE_ENDS = ".!?…"
_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile("[\u3400-\u9fff]")
_CONFIG = ConfigDict(extra="forbid")


@checked_dataclass(frozen=True, slots=True, config=_CONFIG)
class IdiomForm:
    """A form in which an idiom stands in a text."""

    parts: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]  # several if discontinuous
    # Code of a language of the benchmark, which decides what capital letters are; empty for others.
    language: LanguageCode | Literal[""] = ""


@checked_dataclass(frozen=True, slots=True, config=_CONFIG)
class IdiomToken:
    """One idiom and its token."""

    token: Annotated[str, Field(pattern=r"^\S+$")]  # IDhighlifeID
    idiom: str  # citation form
    forms: tuple[IdiomForm, ...]  # that the token replaces


class KnownIdiom(NamedTuple):
    """An idiom that is to have a token."""

    idiom: str  # citation form
    forms: tuple[IdiomForm, ...]  # in which it stands in texts
    language: str = ""  # code of a language of the benchmark; empty for others


class Occurrence(NamedTuple):
    """A form of an idiom in a text."""

    token: str
    idiom: str  # citation form
    language: str  # of the form
    spans: tuple[Span, ...]  # where its parts are, in order


class ClassifierSettings(BaseModel):
    """How a classifier that tells whether an idiom is meant is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gives_idiom: bool  # whether the idiom is the second text, behind the sentence
    max_length: PositiveInt  # sub-words of both that are used


class IdiomTable(BaseModel):
    """Tokens of a model, as the file `TABLE` states them, and the search for their idioms in texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1  # raised when what a field means changes
    classifier: ClassifierSettings | None = None  # how the one is asked that decides what is replaced; None: all is
    idioms: Annotated[tuple[IdiomToken, ...], Field(min_length=1)]  # each with a token of its own
    # `_cased_as` -> first letter -> the forms that begin with it: parts in small letters, language, token
    _index: dict[Language | None, dict[str, list[tuple[tuple[str, ...], str, IdiomToken]]]] = PrivateAttr(
        default_factory=dict
    )

    def model_post_init(self, context: Any) -> None:
        """Index the forms, so that a text is compared with few of them."""
        for row in self.idioms:
            for form in row.forms:
                cased_as = _cased_as(form.language)
                parts = tuple(lower(part, cased_as) for part in form.parts)
                of_letter = self._index.setdefault(cased_as, {}).setdefault(parts[0][0], [])
                of_letter.append((parts, form.language, row))

    def occurrences(self, text: str) -> list[Occurrence]:
        """Return the occurrences of the idioms in an NFC text, in order and without overlaps."""
        # `lower` keeps the length of a text, so an offset into a lowered one is an offset into the text itself.
        lowered = {cased_as: lower(text, cased_as) for cased_as in self._index}
        occurrences = []
        position = 0
        # Where occurrences overlap, the longest of those that begin first counts
        while position < len(text):
            longest, longest_length = None, 0
            if not _is_inside_word(text, position):
                for cased_as, index in self._index.items():
                    for parts, language, row in index.get(lowered[cased_as][position], ()):
                        spans = _match(parts, lowered[cased_as], position)
                        length = sum(span.end - span.start for span in spans)
                        if length > longest_length:  # a form that two idioms share stands for the first of them
                            longest = Occurrence(row.token, row.idiom, language, spans)
                            longest_length = length
            if longest is None:
                position += 1
            else:
                occurrences.append(longest)
                position = longest.spans[-1].end
        return occurrences


def make_tokens(idioms: Iterable[KnownIdiom]) -> list[IdiomToken]:
    """Return one token per idiom, in the order of the idioms."""
    # By the words: idioms that differ in case or in the punctuation between them are one idiom, in every language
    tokens: dict[tuple[str, ...], IdiomToken] = {}
    problems = []
    for known in idioms:
        words = tuple(_WORD.findall(lower(known.idiom, _cased_as(known.language))))
        if not words:
            problems.append(f"the idiom {display(known.idiom)} has neither letters nor digits, so it has no token")
            continue
        earlier = tokens.get(words) or IdiomToken(f"ID{''.join(words)}ID", known.idiom, ())
        tokens[words] = replace(earlier, forms=tuple(dict.fromkeys((*earlier.forms, *known.forms))))
    if not tokens:
        problems.append("no idiom that could have a token; give data with idioms")
    idiom_of: dict[str, str] = {}  # a token that two idioms share would stand for both in every text
    for row in tokens.values():
        earlier_idiom = idiom_of.setdefault(row.token, row.idiom)
        if earlier_idiom != row.idiom:
            problems.append(
                f"the idioms {display(earlier_idiom)} and {display(row.idiom)} would have the same token, "
                f"{row.token}; write them in the same way, or leave one out"
            )
    refuse_faults(problems)
    return list(tokens.values())


def with_tokens(text: str, occurrences: Iterable[Occurrence]) -> str:
    """Return a text with tokens in place of occurrences, from `IdiomTable.occurrences`."""
    rewritten = []
    end = 0
    for occurrence in occurrences:
        first, *others = occurrence.spans
        # Letters behind a form are a suffix and follow its token, as in the authors' data: IDmailinglistIDs
        suffix_end = occurrence.spans[-1].end
        while _is_inside_word(text, suffix_end):
            suffix_end += 1
        suffix = text[occurrence.spans[-1].end : suffix_end]
        rewritten += [text[end : first.start], occurrence.token, suffix]
        end = first.end
        # Of a discontinuous form the token replaces the first part, and the others are removed
        for span in others:
            rewritten.append(text[end : span.start].rstrip())
            end = span.end
        end = suffix_end
    return "".join([*rewritten, text[end:]])


class _Record(BaseModel):
    """What is needed of the record that stands beside a classifier."""

    inputs: Annotated[list[str], Field(validation_alias=AliasPath("settings", "inputs"))]
    subtask: Annotated[str, Field(validation_alias=AliasPath("settings", "subtask"))] = "A"
    max_length: Annotated[PositiveInt, Field(validation_alias=AliasPath("settings", "config", "max_length"))]
    development_f1: Annotated[float, Field(validation_alias=AliasPath("scores", "development_f1"))]


def best_classifier(folder: Path) -> tuple[Path, ClassifierSettings]:
    """Return the folder of the classifier with the best development score, of one seed or several, and its settings."""
    records: dict[Path, _Record] = {}
    for place in (folder, *sorted(folder.glob("seed-*"))):
        path = place / IDIOMATICITY_RECORD
        if path.is_file():
            with model_errors(path, "not the record of a finished training, so train again"):
                records[place] = _Record.model_validate(read_json(path))
    if not records:
        raise usage_error(
            f"idiomaticity classifier {folder}: no {IDIOMATICITY_RECORD} in it or its seed folders; train a classifier "
            "with turkic-idiom finetune idiomaticity"
        )
    best, record = max(records.items(), key=lambda item: item[1].development_f1)
    if "context" in record.inputs or record.subtask != "A":
        raise usage_error(
            f"idiomaticity classifier {best}: it was trained on subtask B or with the sentences around; it must take a "
            "sentence and, at most, the idiom (--inputs idiom, --subtask A)"
        )
    return best, ClassifierSettings(gives_idiom="idiom" in record.inputs, max_length=record.max_length)


def _match(parts: tuple[str, ...], text: str, start: int) -> tuple[Span, ...]:
    """Return where the parts of a form are if it begins at a word of a text in small letters; else nothing."""
    if not text.startswith(parts[0], start):
        return ()
    spans = [Span(start, start + len(parts[0]))]
    for part in parts[1:]:
        # A further part begins a word too, in the same sentence, at most `WIDEST_GAP` words behind the part before it.
        end = spans[-1].end
        place = -1 if _is_inside_word(text, end) else text.find(part, end)
        while place >= 0 and _is_inside_word(text, place):
            place = text.find(part, place + 1)
        if place < 0:
            return ()
        between = text[end:place]
        if any(sign in between for sign in _SENTENCE_ENDS) or len(_WORD.findall(between)) > WIDEST_GAP:
            return ()
        spans.append(Span(place, place + len(part)))
    # A single word must not be the beginning of another; behind several words the rest is a suffix.
    if _is_inside_word(text, spans[-1].end) and len(_WORD.findall(" ".join(parts))) == 1:
        return ()
    return tuple(spans)


def _is_inside_word(text: str, position: int) -> bool:
    """Return whether a position is between two letters or digits of a word."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    # Chinese has no spaces between words
    return before.isalnum() and after.isalnum() and not (_HAN.fullmatch(before) or _HAN.fullmatch(after))


def _cased_as(code: str) -> Language | None:
    """Return the one language that stands for all whose capital I has no dot, or None for all others."""
    # No other letter depends on the language, so a text has two lowered forms at most
    return LANGUAGES[PIVOT] if code in LANGUAGES and LANGUAGES[code].dotless_i else None
