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
from hub_datasets.planting import EXAMPLE_KINDS, MEANING_KINDS, plant
from hub_datasets.prompts import PAPER, Prompt
from hub_datasets.quality import idiom_in_example, lengths
from hub_datasets.questions import AnswerFields, Question, Reply
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.splits import SENSE_SEPARATOR

ACCEPT, REJECT = "accept", "reject"
MIN_CONFIDENCE = 0.5
CRITERIA = ("semantic-fidelity", "definition-example-consistency", "idiomatic-usage")
CONTRADICTION, UNSURE, UNREADABLE = "the verdict contradicts itself", "low confidence", "the answer is not readable"


def _word(meanings: Mapping[str, bool]) -> BeforeValidator:
    """Return the reader of a field that must be one of two words."""

    def read(value: Any) -> bool:
        word = str(value).strip().rstrip(".").lower()
        if word not in meanings:
            raise ValueError(f"must be one of {', '.join(meanings)}")
        return meanings[word]

    return BeforeValidator(read, json_schema_input_type=str)


def _confidence(value: Any) -> float:
    """Return a confidence as a share; models also write percentages."""
    if isinstance(value, bool):
        raise ValueError("must be a number from 0 to 1")
    number = float(str(value).strip().removesuffix("%"))
    return number / 100 if 1 < number <= 100 else number


_Answer = Annotated[bool, _word({"yes": True, "no": False, "true": True, "false": False})]
_Decision = Annotated[bool, _word({"accept": True, "reject": False, "accepted": True, "rejected": False})]
_Confidence = Annotated[float, Field(ge=0, le=1), BeforeValidator(_confidence, json_schema_input_type=float)]


class PaperVerification(AnswerFields):
    """Answer to the paper's prompt."""

    is_faithful: Annotated[_Answer, Field(alias="semantic-fidelity")]
    is_consistent: Annotated[_Answer, Field(alias="definition-example-consistency")]
    is_idiomatic: Annotated[_Answer, Field(alias="idiomatic-usage")]
    is_accepted: Annotated[_Decision, Field(alias="final-decision")]


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
    """What became of an entry."""

    checked: Checked
    reason: str  # why it is rejected; empty if it is accepted
    failed: tuple[str, ...]  # the criteria that the model answered with no
    confidence: float | None  # in [0, 1]; None if the prompt does not ask for it, or the answer could not be read
    reply: Reply

    def to_json(self, *, model: str, prompt: str) -> str:
        """Return the verdict as one line of a file."""
        entry = self.checked.entry
        row: dict[str, Any] = {"language": self.checked.language, "concept": entry.concept, "idiom": entry.idiom}
        row |= {"meaning": entry.meaning, "example": entry.example, "planted": self.checked.planted or None}
        row |= {"decision": REJECT if self.reason else ACCEPT, "reason": self.reason or None}
        row |= {"failed": self.failed, "confidence": self.confidence, "answer": self.reply.text}
        return json.dumps(row | {"model": model, "prompt": prompt, "date": self.reply.date}, ensure_ascii=False)


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
            for error in plant(lexicon, code, complete, share=planted_share, kinds=kinds, seed=seed):
                planted.append(Checked(code, error.entry, error.kind))
    return checked + planted


def verification_question(prompt: Prompt, checked: Checked) -> Question:
    """Return the question about one complete entry."""
    entry = checked.entry
    texts = {"idiom": entry.idiom, "meaning": entry.meaning or "", "example": entry.example or ""}
    messages = prompt.messages(texts, plain={"language": LANGUAGES[checked.language].name})
    return Question(prompt.label, messages, PaperVerification if prompt.version == PAPER else Verification)


def verdict_of(checked: Checked, reply: Reply, *, min_confidence: float = MIN_CONFIDENCE) -> Verdict:
    """Return what a reply means: only an answer that accepts without contradiction, and is sure enough, accepts."""
    answer = reply.value
    if not isinstance(answer, PaperVerification):
        return Verdict(checked, f"{UNREADABLE} ({reply.problem})", (), None, reply)
    passed = (answer.is_faithful, answer.is_consistent, answer.is_idiomatic)
    failed = tuple(name for name, is_passed in zip(CRITERIA, passed, strict=True) if not is_passed)
    confidence = answer.confidence if isinstance(answer, Verification) else None
    reason = ""
    if answer.is_accepted and failed:
        reason = f"{CONTRADICTION} ({ACCEPT}, but no to {', '.join(failed)})"
    elif failed:
        reason = f"rejected ({', '.join(failed)})"
    elif not answer.is_accepted:
        reason = f"{CONTRADICTION} ({REJECT}, but every criterion is met)"
    elif confidence is not None and confidence < min_confidence:
        reason = f"{UNSURE} ({confidence:g})"
    return Verdict(checked, reason, failed, confidence, reply)


def count_decisions(verdicts: Sequence[Verdict]) -> dict[str, Counter[str]]:
    """Return language code -> `ACCEPT` or the reason for rejecting -> number of entries; without planted errors."""
    counts: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        if not verdict.checked.planted:
            counts.setdefault(verdict.checked.language, Counter())[verdict.reason.partition(" (")[0] or ACCEPT] += 1
    return counts


def apply_verdicts(lexicon: Lexicon, verdicts: Sequence[Verdict], *, note: str) -> tuple[Lexicon, list[dict[str, Any]]]:
    """Return the lexicon with the accepted entries that also pass the rules, and a row for each that does not stay.

    Languages without a verdict stay as they are. `note`, in the status, is model, prompt and date.
    """
    reasons: dict[str, dict[str, str]] = {}  # language code -> concept -> reason, empty for an accepted entry
    for verdict in verdicts:
        if not verdict.checked.planted:
            reasons.setdefault(verdict.checked.language, {})[verdict.checked.entry.concept] = verdict.reason
    entries = {code: dict(rows) for code, rows in lexicon.entries.items()}
    rejected: list[dict[str, Any]] = []
    for code, own in reasons.items():
        rows = sorted(lexicon.of(code).items())
        accepted = [entry for concept, entry in rows if own.get(concept) == ""]
        own = own | _broken_rules(accepted, code)
        entries[code] = {}
        for concept, entry in rows:
            reason = own.get(concept, "incomplete: no meaning or no example")
            if reason:
                rejected.append({"language": code, "reason": reason, "entry": json.loads(entry.to_json())})
            else:
                entries[code][concept] = replace(entry, status=joined_status(entry.status, f"verified by {note}"))
    used = {concept for rows in entries.values() for concept in rows}
    concepts = {name: concept for name, concept in lexicon.concepts.items() if name in used}
    equivalents = {pair: judgement for pair, judgement in lexicon.equivalents.items() if used.issuperset(pair)}
    return replace(lexicon, concepts=concepts, entries=entries, equivalents=equivalents, revision=""), rejected


def _broken_rules(entries: Sequence[Entry], code: str) -> dict[str, str]:
    """Return concept -> reason of the malformed entries and the duplicates."""
    language = LANGUAGES[code]
    reasons: dict[str, str] = {}
    for rule in (lengths, idiom_in_example):
        for concept, message in rule(entries, language):
            reasons.setdefault(concept, f"malformed: {message}")
    first: dict[str, str] = {}  # idiom -> concept of the first entry that has it
    for entry in entries:
        example = entry.example or ""
        if entry.spans is None and annotate(entry.idiom, example, language, variants=entry.variants).dropped:
            reasons.setdefault(entry.concept, "malformed: the idiom is not found in the example")
        if entry.concept in reasons:
            continue
        earlier = first.setdefault(fold(entry.idiom, language), entry.concept)
        if earlier.split(SENSE_SEPARATOR)[0] != entry.concept.split(SENSE_SEPARATOR)[0]:
            reasons[entry.concept] = f"duplicate: the same idiom as {earlier}"
    return reasons
