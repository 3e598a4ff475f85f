"""A page on which native speakers review the entries of one language, and which entries stand on it.

The page is one file that needs nothing else: the entries are JSON inside it, and its script puts them on the screen as
text. What the reviewer says stays in the browser until it is exported, as lines that `hub_datasets.verdicts` reads.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.concept_browser.parts import example_parts, json_for_script
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.reviews import FIELDS, FORMAT, INITIALS, MOST_CHARACTERS
from turkic_idiom_tasks.splits import TEST, retrieval_split

PAGE = Path(__file__).with_name("review.html")
WORDS = Path(__file__).with_name("page_words.json")  # code -> English text of a page -> its translation
SHARED = Path(__file__).with_name("page_words.js")  # what the scripts of the pages share
SEED = 1
READ_STATUS = ("accepted", "read")  # of entries that a second reader found no fault with


def sample(lexicon: Lexicon, language: str, *, n: int | None = None, seed: int = SEED) -> list[Entry]:
    """Return n entries to review, or all, the doubtful ones first; a larger n only adds some."""
    entries = list(lexicon.of(language).values())
    if not entries:
        known = ", ".join(code for code in LANGUAGES if lexicon.of(code)) or "none"
        raise usage_error(f"{lexicon.source}: has no entries in {language}; it has {known}")
    ranks: dict[str, tuple[int, str]] = {}
    for entry in entries:
        # No public source attests it, it may be a collocation, or a second reader did not accept it as it was.
        n_doubts = (entry.attested is None) + entry.collocation + (entry.status not in READ_STATUS)
        # A hash, because with a random generator the place of an entry would depend on all the others; so every
        # reviewer gets the same entries in the same order.
        digest = hashlib.sha256(f"{seed}\n{language}\n{entry.concept}".encode()).hexdigest()
        ranks[entry.concept] = (-n_doubts, digest)
    entries.sort(key=lambda entry: ranks[entry.concept])
    n = len(entries) if n is None else min(n, len(entries))
    test = [entry for entry in entries if retrieval_split(entry.concept) == TEST]
    others = [entry for entry in entries if retrieval_split(entry.concept) != TEST]
    # Test concepts of retrieval have the share among the n entries that they have in the lexicon, rounded
    n_test = (2 * n * len(test) + len(entries)) // (2 * len(entries))
    return sorted(test[:n_test] + others[: n - n_test], key=lambda entry: ranks[entry.concept])


def review_page(
    lexicon: Lexicon, language: str, entries: Sequence[Entry], texts: Mapping[str, str] | None = None
) -> str:
    """Return the page as HTML, with the entries in this order; for `texts` see `page_with`."""
    rows = []
    for entry in entries:
        pivot = lexicon.of(PIVOT).get(entry.concept) if language != PIVOT else None
        row: dict[str, Any] = {"concept": entry.concept, "gloss": lexicon.concepts[entry.concept].gloss}
        row |= {"pivot": pivot.idiom if pivot is not None else None, "idiom": entry.idiom, "variants": entry.variants}
        rows.append(row | {"meaning": entry.meaning, "example": example_parts(entry)})
    data = {
        "format": FORMAT,
        "revision": lexicon.revision,
        "casing": PIVOT if LANGUAGES[language].dotless_i else "en",  # how a browser writes initials in capitals
        "fields": FIELDS,
        "initials": INITIALS,
        "most": MOST_CHARACTERS,
        "entries": rows,
    }
    return page_with(PAGE, data, language, texts)


def words_of(language: str | None) -> dict[str, str] | None:
    """Return English text of the pages -> its translation into a language; None if there is none."""
    words: dict[str, dict[str, str]] = json.loads(WORDS.read_text("utf-8"))
    return words.get(language or "")


def page_with(path: Path, data: Mapping[str, Any], language: str | None, texts: Mapping[str, str] | None = None) -> str:
    """Return a page with its data in it, and the texts of the page in a language; None is English.

    `texts` are English texts of the page -> others in their place.
    """
    about = {"language": language, "name": LANGUAGES[language].name if language else "", "words": words_of(language)}
    html = path.read_text("utf-8").replace("@SHARED@", SHARED.read_text("utf-8"))
    for text, other in (texts or {}).items():
        html = html.replace(text, other)
    # The page may run its own style and script, and nothing from anywhere else
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'"
    for name in ("style", "script"):
        content = html.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
        digest = base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
        policy += f"; {name}-src 'sha256-{digest}'"
    return html.replace("@POLICY@", policy).replace("@DATA@", json_for_script({**data, **about}))
