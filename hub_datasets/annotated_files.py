"""Input and output of `dataset annotate`: rows of idioms and sentences, or a lexicon whose examples lack spans."""

import json
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from hub_datasets.enrich import write_changed
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.io.reading import read_json_lines, real_path
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import check_target, load_lexicon
from turkic_idiom_tasks.spans import iob2_tags

ANNOTATED, HAD_SPANS, NO_EXAMPLE = "annotated", "had spans", "the entry has no example"
_OUTCOME = ("tokens", "ner_tags", "spans", "dropped")  # keys that are written; those of an earlier run are replaced


def _nfc(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; fill it in, or take the row out")
    # Spans count code points, and a text that is composed later has fewer of them.
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(
            "is not in NFC; spans count NFC code points: pass texts through unicodedata.normalize('NFC', text) first"
        )
    return text


_Text = Annotated[str, AfterValidator(_nfc)]


class _Row(BaseModel):
    """A row to annotate; further keys are kept as they are."""

    model_config = ConfigDict(strict=True)

    idiom: _Text
    sentence: _Text
    variants: list[_Text] | None = None


def annotate_rows(source: Path, target: Path, language: Language, *, overwrite: bool = False) -> Counter[str]:
    """Write the rows of a JSONL file with tokens, ner_tags and spans, or with the reason why a row was dropped.

    A row has an idiom, a sentence and, perhaps, variants of the idiom; other keys, such as an id, stay as they are.
    Return outcome (`ANNOTATED` or the reason) -> rows. If a file or a row cannot be used, nothing is written.
    """
    check_outputs({"--out": target}, inputs=[source], overwrite=overwrite)
    rows: list[dict[str, Any]] = []
    for number, value, problem in read_json_lines(source):
        with model_errors(f"{source}:{number}", problem=problem):
            _Row.model_validate(value)
        rows.append(value)
    if not rows:
        raise InputError(f"{source}: is empty; nothing to annotate")
    # All rows are checked before the first is annotated, which takes minutes for a large file.
    outcomes: Counter[str] = Counter()
    texts = []
    for row in track(rows, "annotate"):
        cells = {key: value for key, value in row.items() if key not in _OUTCOME}
        sentence = cells["sentence"]
        spans, dropped = annotate(cells["idiom"], sentence, language, variants=cells.get("variants") or ())
        outcomes[dropped or ANNOTATED] += 1
        if dropped is not None:
            cells["dropped"] = dropped
        else:
            places = words(sentence)
            cells["tokens"] = [place.of(sentence) for place in places]
            cells["ner_tags"] = iob2_tags(spans, places)
            cells["spans"] = [[span.start, span.end] for span in spans]
        texts.append(json.dumps(cells, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(target, "".join(texts))
    return outcomes


def annotate_lexicon(source: Path, target: Path, *, overwrite: bool = False) -> dict[str, Counter[str]]:
    """Write a copy of a lexicon in which examples without spans have the spans that the annotator finds.

    Return language code -> outcome (`ANNOTATED`, `HAD_SPANS`, or the reason why there are no spans) -> entries.
    """
    if real_path(source) == real_path(target):
        raise InputError(f"{target}: is the lexicon that is read; choose another --out")
    check_target(target, overwrite=overwrite)
    lexicon = load_lexicon(source)
    outcomes: dict[str, Counter[str]] = {}
    entries: dict[str, dict[str, Entry]] = {}
    for code, rows in lexicon.entries.items():
        entries[code], outcomes[code] = {}, Counter()
        for concept, entry in rows.items():
            outcome = HAD_SPANS if entry.spans is not None else NO_EXAMPLE
            if entry.spans is None and entry.example is not None:
                spans, dropped = annotate(entry.idiom, entry.example, LANGUAGES[code], variants=entry.variants)
                outcome = dropped or ANNOTATED
                entry = replace(entry, spans=spans or None)
            entries[code][concept] = entry
            outcomes[code][outcome] += 1
    write_changed(replace(lexicon, entries=entries), target, overwrite=overwrite)
    return outcomes
