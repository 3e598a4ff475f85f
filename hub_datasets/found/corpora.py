"""Sentences that people wrote, from treebanks in CoNLL-U or from plain text with a sentence on each line."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import conllu

from turkic_idiom_tasks.dataset.sentences import locate
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import MalformedError, decode_text, first_line, read_file
from turkic_idiom_tasks.spans import Span

TREEBANK = ".conllu"
Arc = tuple[Span, Span]  # a word and its head


@dataclass(frozen=True, slots=True)
class CorpusSentence:
    """A sentence of a corpus."""

    id: str  # the treebank's ``sent_id``, or the number of the line, from 1
    text: str  # NFC
    arcs: tuple[Arc, ...] | None = None  # dependencies; None in plain text


def read_sentences(path: Path) -> Iterator[CorpusSentence]:
    """Yield the sentences of a file; one that ends in ``.conllu`` is a treebank. Raise InputError if it is damaged."""
    try:
        content = decode_text(read_file(path))
        if path.suffix == TREEBANK:
            yield from [_treebank_sentence(block) for block in conllu.parse(content)]
            return
    # What the library raises for lines that are no CoNLL-U; it leaves out the fields that a line lacks.
    except (conllu.exceptions.ParseException, KeyError, TypeError, ValueError) as error:
        fault = f"is no CoNLL-U: {first_line(error)}"
        if isinstance(error, KeyError):
            fault = f"is no CoNLL-U: a line lacks the field {error.args[0]}"
        elif isinstance(error, MalformedError):  # a ValueError, too
            fault = str(error)
        raise InputError(f"{path}: {fault}; check the name, or restore the file") from error
    # Not splitlines(): a line separator inside a sentence must not move the numbers of the lines after it.
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield CorpusSentence(str(number), unicodedata.normalize("NFC", line.strip()))


def _treebank_sentence(block: conllu.TokenList) -> CorpusSentence:
    """Return a sentence of a treebank; the words of a multiword token share its place in the text."""
    surface = []  # tokens as they are written
    place_of_word: dict[int, int] = {}  # number of a syntactic word -> its place in `surface`
    for token in block:
        numbers = token["id"] if isinstance(token["id"], tuple) else (token["id"], "", token["id"])
        # An empty node of the enhanced graph, or a word of the multiword token before it
        if numbers[1] == "." or numbers[0] in place_of_word:
            continue
        surface.append(token)
        place_of_word |= dict.fromkeys(range(numbers[0], numbers[2] + 1), len(surface) - 1)
    forms = [unicodedata.normalize("NFC", token["form"]) for token in surface]
    text = block.metadata.get("text")
    if text is None:
        glued = [(token["misc"] or {}).get("SpaceAfter") == "No" for token in surface]
        text = "".join(form + ("" if is_glued else " ") for form, is_glued in zip(forms, glued, strict=True)).strip()
    text = unicodedata.normalize("NFC", text)
    places = locate(forms, text)
    arcs = []
    for token in block:
        if isinstance(token["id"], int) and token["head"] in place_of_word:
            word, head = place_of_word[token["id"]], place_of_word[token["head"]]
            if word != head:
                arcs.append((places[word], places[head]))
    return CorpusSentence(block.metadata.get("sent_id", ""), text, tuple(arcs))
