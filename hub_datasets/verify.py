"""Verification of a lexicon by a second model: three criteria, a decision, a confidence, and the rules after it.

As in the paper (appendix A) an entry stays if the model accepts it without contradiction. Rules then remove incomplete
entries, malformed ones, and the later one of two with the same idiom.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from hub_datasets.enrich import joined_status
from hub_datasets.json_answers import AnswerFields
from hub_datasets.planting import EXAMPLE_KINDS, MEANING_KINDS, Planted, plant
from hub_datasets.prompts import PAPER, Prompt
from hub_datasets.quality import idiom_in_example, lengths
from hub_datasets.questions import Question, Reply
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.splits import SENSE_SEPARATOR

ACCEPT, REJECT = "accept", "reject"
MIN_CONFIDENCE = 0.5
CRITERIA = ("semantic-fidelity", "definition-example-consistency", "idiomatic-usage")
CONTRADICTION, UNSURE, UNREADABLE = "the verdict contradicts itself", "low confidence", "the answer is not readable"
_YES = {"yes": True, "no": False, "true": True, "false": False}
_DECISIONS = {"accept": ACCEPT, "accepted": ACCEPT, "reject": REJECT, "rejected": REJECT}


def _yes_or_no(value: Any) -> bool:
    word = str(value).strip().rstrip(".").lower()
    if word not in _YES:
        raise ValueError('must be "Yes" or "No"')
    return _YES[word]


def _decision(value: Any) -> str:
    word = str(value).strip().rstrip(".").lower()
    if word not in _DECISIONS:
        raise ValueError('must be "Accept" or "Reject"')
    return _DECISIONS[word]


def _confidence(value: Any) -> float:
    """Return a confidence as a share; models also write percentages."""
    if isinstance(value, bool):
        raise ValueError("must be a number from 0 to 1")
    number = float(str(value).strip().removesuffix("%"))
    return number / 100 if 1 < number <= 100 else number


_Answer = Annotated[bool, BeforeValidator(_yes_or_no, json_schema_input_type=str)]
_Decision = Annotated[str, BeforeValidator(_decision, json_schema_input_type=str)]
_Confidence = Annotated[float, Field(ge=0, le=1), BeforeValidator(_confidence, json_schema_input_type=float)]


class PaperVerification(AnswerFields):
    """Answer to the paper's prompt."""

    is_faithful: Annotated[_Answer, Field(alias="semantic-fidelity")]
    is_consistent: Annotated[_Answer, Field(alias="definition-example-consistency")]
    is_idiomatic: Annotated[_Answer, Field(alias="idiomatic-usage")]
    decision: Annotated[_Decision, Field(alias="final-decision")]


class Verification(PaperVerification):
    """Answer to our prompt, with a reason and the confidence in [0, 1]."""

    reason: str
    confidence: _Confidence


@dataclass(frozen=True, slots=True)
class Checked:
    """An entry that is verified; `planted` is the kind of the error in it, empty for the entries themselves."""

    language: str
    entry: Entry
    planted: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an entry.

    Attributes:
        checked: the entry.
        decision: `ACCEPT` or `REJECT`.
        reason: why it is rejected; empty if it is accepted.
        failed: the criteria that the model answered with no.
        confidence: in [0, 1]; None if the prompt does not ask for it, or the answer could not be read.
        text: what the model wrote.
        date: day of the answer.
    """

    checked: Checked
    decision: str
    reason: str
    failed: tuple[str, ...]
    confidence: float | None
    text: str
    date: str

    def to_json(self, *, model: str, prompt: str) -> str:
        """Return the verdict as one line of a file."""
        entry = self.checked.entry
        row = {
            "language": self.checked.language,
            "concept": entry.concept,
            "idiom": entry.idiom,
            "meaning": entry.meaning,
            "example": entry.example,
            "planted": self.checked.planted or None,
            "decision": self.decision,
            "reason": self.reason or None,
            "failed": list(self.failed),
            "confidence": self.confidence,
            "answer": self.text,
            "model": model,
            "prompt": prompt,
            "date": self.date,
        }
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry that does not stay, with the reason."""

    language: str
    entry: Entry
    reason: str

    def to_json(self) -> str:
        """Return it as one line of a file."""
        row = {"language": self.language, "reason": self.reason, "entry": json.loads(self.entry.to_json())}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Filtered:
    """A lexicon without its rejected entries, and these."""

    concepts: Sequence[Concept]
    entries: Mapping[str, Sequence[Entry]]
    equivalents: Mapping[tuple[str, str], str]
    rejected: Sequence[Rejected]


def entries_to_check(
    lexicon: Lexicon, languages: Sequence[str], *, planted_share: float | None = None, seed: int = 1
) -> list[Checked]:
    """Return the complete entries of these languages, and after them copies of a share with planted errors."""
    checked: list[Checked] = []
    planted: list[Checked] = []
    for code in languages:
        complete = []
        for concept, entry in sorted(lexicon.of(code).items()):
            if entry.meaning is not None and entry.example is not None:
                checked.append(Checked(code, entry))
                complete.append(concept)
        if planted_share is not None:
            kinds = (*MEANING_KINDS, *EXAMPLE_KINDS)
            wrong: list[Planted] = plant(lexicon, code, complete, share=planted_share, kinds=kinds, seed=seed)
            planted += [Checked(code, error.entry, error.kind) for error in wrong]
    return checked + planted


def verification_question(prompt: Prompt, checked: Checked) -> Question:
    """Return the question about one complete entry."""
    entry = checked.entry
    texts = {"idiom": entry.idiom, "meaning": entry.meaning or "", "example": entry.example or ""}
    messages = prompt.messages(texts, plain={"language": LANGUAGES[checked.language].name})
    return Question(prompt.label, messages, PaperVerification if prompt.version == PAPER else Verification)


def verdict_of(checked: Checked, reply: Reply, *, min_confidence: float = MIN_CONFIDENCE) -> Verdict:
    """Return what a reply means: only an answer that accepts without contradiction, and is sure enough, accepts."""
    answer = reply.of(PaperVerification)
    if answer is None:
        reason = f"{UNREADABLE} ({reply.problem})"
        return Verdict(checked, REJECT, reason, (), None, reply.text, reply.date)
    passed = (answer.is_faithful, answer.is_consistent, answer.is_idiomatic)
    failed = tuple(name for name, is_passed in zip(CRITERIA, passed, strict=True) if not is_passed)
    confidence = answer.confidence if isinstance(answer, Verification) else None
    reason = _reason(answer, failed, confidence, min_confidence)
    return Verdict(checked, REJECT if reason else ACCEPT, reason, failed, confidence, reply.text, reply.date)


def count_decisions(verdicts: Sequence[Verdict]) -> dict[str, Counter[str]]:
    """Return language code -> `ACCEPT` or the reason for rejecting -> number of entries; without planted errors."""
    counts: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        if not verdict.checked.planted:
            reason = verdict.reason.partition(" (")[0] or ACCEPT
            counts.setdefault(verdict.checked.language, Counter())[reason] += 1
    return counts


def apply_verdicts(lexicon: Lexicon, verdicts: Sequence[Verdict], *, note: str) -> Filtered:
    """Return the lexicon with the accepted entries that also pass the rules; unverified languages stay as they are.

    Args:
        lexicon: the lexicon.
        verdicts: on its entries; those on planted errors are left out.
        note: what the status of an accepted entry says of it: model, prompt and date.
    """
    by_entry: dict[tuple[str, str], Verdict] = {}
    for verdict in verdicts:
        if not verdict.checked.planted:
            by_entry[verdict.checked.language, verdict.checked.entry.concept] = verdict
    verified = {code for code, _ in by_entry}
    entries: dict[str, list[Entry]] = {}
    rejected: list[Rejected] = []
    for code, rows in lexicon.entries.items():
        if code not in verified:
            entries[code] = list(rows.values())
            continue
        accepted: list[Entry] = []
        for concept, entry in sorted(rows.items()):
            made = by_entry.get((code, concept))
            if made is None:
                rejected.append(Rejected(code, entry, "incomplete: no meaning or no example"))
            elif made.decision == REJECT:
                rejected.append(Rejected(code, entry, made.reason))
            else:
                accepted.append(entry)
        kept, refused = _filter_by_rule(accepted, code)
        entries[code] = [replace(entry, status=joined_status(entry.status, f"verified by {note}")) for entry in kept]
        rejected += refused
    used: set[str] = set()
    for rows_kept in entries.values():
        used.update(entry.concept for entry in rows_kept)
    concepts = [concept for name, concept in lexicon.concepts.items() if name in used]
    equivalents = {pair: judgement for pair, judgement in lexicon.equivalents.items() if used.issuperset(pair)}
    return Filtered(concepts, entries, equivalents, rejected)


def _filter_by_rule(entries: Sequence[Entry], code: str) -> tuple[list[Entry], list[Rejected]]:
    """Return the entries without the malformed, the incomplete and the duplicate ones, and these."""
    language = LANGUAGES[code]
    reasons: dict[str, str] = {}
    for rule in (lengths, idiom_in_example):
        for concept, message in rule(entries, language):
            reasons.setdefault(concept, f"malformed: {message}")
    first: dict[str, str] = {}
    for entry in entries:
        example = entry.example or ""
        if entry.spans is None and annotate(entry.idiom, example, language, variants=entry.variants).dropped:
            reasons.setdefault(entry.concept, "malformed: the idiom is not found in the example")
        if entry.concept in reasons:
            continue
        earlier = first.setdefault(fold(entry.idiom, language), entry.concept)
        if earlier.split(SENSE_SEPARATOR)[0] != entry.concept.split(SENSE_SEPARATOR)[0]:
            reasons[entry.concept] = f"duplicate: the same idiom as {earlier}"
    kept = [entry for entry in entries if entry.concept not in reasons]
    refused = [Rejected(code, entry, reasons[entry.concept]) for entry in entries if entry.concept in reasons]
    return kept, refused


def _reason(answer: PaperVerification, failed: Sequence[str], confidence: float | None, min_confidence: float) -> str:
    """Return why an answer rejects; empty if it accepts."""
    if (answer.decision == ACCEPT) == bool(failed):
        detail = ", ".join(failed) or "every criterion is met"
        return f"{CONTRADICTION} ({answer.decision}, but {'no to ' if failed else ''}{detail})"
    if failed:
        return f"rejected ({', '.join(failed)})"
    if confidence is not None and confidence < min_confidence:
        return f"{UNSURE} ({confidence:g})"
    return ""
