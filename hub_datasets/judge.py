"""Judging: HIGH, MEDIUM or LOW for a pair of idiom and meaning, or for an explanation, by one model or a panel.

The scale and the first version of the prompts are the paper's (appendix B). The verdict of a panel is the quality with
the most readable votes; in a tie, the lowest of the tied qualities. A case without a readable verdict has no quality
and counts in no share.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from hub_datasets.json_answers import AnswerFields
from hub_datasets.planting import plant
from hub_datasets.prompts import CROSS_LINGUAL, EXPLANATION, MONOLINGUAL, Prompt
from hub_datasets.questions import Question, Reply
from hub_datasets.verdicts import krippendorff_alpha, pair_agreement
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.bootstrap import Interval, Stratum, resample
from turkic_idiom_tasks.model_answers import without_reasoning

QUALITIES = HIGH, MEDIUM, LOW = ("HIGH", "MEDIUM", "LOW")
ALL_GROUPS = "all"
PAPER_SHARES: Mapping[str, Mapping[str, str]] = {  # section 5 of the paper, judged by GPT-4.1
    MONOLINGUAL: {HIGH: "92.8%", LOW: "under 4%"},
    CROSS_LINGUAL: {HIGH: "70%"},
}


def _quality(value: Any) -> str:
    word = str(value).strip().strip("*.").upper()
    if word not in QUALITIES:
        raise ValueError(f"must be one of {', '.join(QUALITIES)}")
    return word


class Judgement(AnswerFields):
    """What a judge answers."""

    analysis: str
    quality: Annotated[str, BeforeValidator(_quality, json_schema_input_type=str)]


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to judge.

    Attributes:
        id: unique among the cases of a run.
        concept: the unit that is resampled.
        group: what shares are given for: a language (``tr``), or two (``tr:uz``).
        prompt: name of the prompt that fits it.
        texts: what is judged, by its name in the prompt.
        languages: names of languages, likewise.
        planted: kind of the error in it; empty if there is none.
    """

    id: str
    concept: str
    group: str
    prompt: str
    texts: Mapping[str, str]
    languages: Mapping[str, str]
    planted: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one model of the panel says of a case; `quality` is None if that could not be read."""

    model: str
    prompt: str
    quality: str | None
    analysis: str
    problem: str | None
    date: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with the votes of the panel; `quality` has the most votes, see `majority`; None without a readable one."""

    case: Case
    votes: Sequence[Vote]
    quality: str | None

    def to_json(self) -> str:
        """Return the verdict as one line of a file."""
        votes = []
        for vote in self.votes:
            row: dict[str, Any] = {"model": vote.model, "prompt": vote.prompt, "date": vote.date}
            row |= {"quality": vote.quality, "analysis": vote.analysis, "problem": vote.problem}
            votes.append(row)
        row = {"id": self.case.id, "concept": self.case.concept, "group": self.case.group, **self.case.texts}
        row |= {"planted": self.case.planted or None, "quality": self.quality, "votes": votes}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Share:
    """Verdicts of one group.

    Attributes:
        group: as in `Case`; or `ALL_GROUPS`, the mean of the groups.
        cases: how many have a quality.
        unscored: how many have none.
        shares: quality -> share of the cases, in [0, 1]; empty without cases.
        interval: of the share of `HIGH`, by concept; None without cases.
    """

    group: str
    cases: int
    unscored: int
    shares: Mapping[str, float] = field(default_factory=dict)
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How far the models of a panel agree.

    Attributes:
        cases: how many have two readable votes or more.
        share: of the pairs of votes on a case that are the same, in [0, 1]; None without pairs.
        alpha: Krippendorff's alpha for nominal data; None where it is undefined.
    """

    cases: int
    share: float | None
    alpha: float | None


def lexicon_cases(
    lexicon: Lexicon,
    languages: Sequence[str],
    *,
    pairs: Sequence[tuple[str, str]] = (),
    n: int | None = None,
    planted_share: float | None = None,
    seed: int = 1,
) -> list[Case]:
    """Return the idiom-meaning pairs of a lexicon, and after them those with planted errors.

    Args:
        lexicon: the lexicon.
        languages: of the pairs within a language.
        pairs: source and target of the pairs across languages: the idiom of one, the meaning of the other.
        n: most concepts of a group, chosen by a hash; None is all.
        planted_share: share of the pairs that are judged once more with an error; None plants none.
        seed: of the choice of concepts and errors.
    """
    cases: list[Case] = []
    planted: list[Case] = []
    for source, target in [*((code, code) for code in languages), *pairs]:
        concepts = []
        for concept, entry in lexicon.of(target).items():
            if entry.meaning is not None and concept in lexicon.of(source):
                concepts.append(concept)
        chosen = sorted(concepts, key=lambda concept: _hash(f"{seed}/judge/{concept}"))[:n]
        for concept in sorted(chosen):
            meaning = lexicon.of(target)[concept].meaning or ""
            cases.append(_pair_case(lexicon, concept, source, target, meaning=meaning))
        if planted_share is not None:
            for error in plant(lexicon, target, chosen, share=planted_share, seed=seed):
                meaning = error.entry.meaning or ""
                planted.append(
                    _pair_case(lexicon, error.entry.concept, source, target, meaning=meaning, planted=error.kind)
                )
    return cases + planted


def judge_question(prompt: Prompt, case: Case) -> Question:
    """Return the question that asks for the quality of a case."""
    return Question(prompt.label, prompt.messages(case.texts, plain=case.languages), Judgement)


def vote_of(reply: Reply, *, model: str, prompt: str) -> Vote:
    """Return what a model says of a case."""
    judgement = reply.of(Judgement)
    if judgement is None:
        return Vote(model, prompt, None, "", f"{reply.problem}: {reply.text[:500]}", reply.date)
    return Vote(model, prompt, judgement.quality, judgement.analysis, None, reply.date)


def majority(qualities: Sequence[str]) -> str | None:
    """Return the quality with the most votes, the lowest of them where several have; None without votes."""
    counts = Counter(qualities)
    if not counts:
        return None
    most = max(counts.values())
    return max((quality for quality in counts if counts[quality] == most), key=QUALITIES.index)


def panel_verdicts(cases: Sequence[Case], votes: Sequence[Sequence[Vote]]) -> list[Judged]:
    """Return the verdict on each case.

    Args:
        cases: the cases.
        votes: for each model its votes, in the order of the cases.
    """
    judged = []
    for number, case in enumerate(cases):
        own = [model_votes[number] for model_votes in votes]
        judged.append(Judged(case, own, majority([vote.quality for vote in own if vote.quality is not None])))
    return judged


def quality_shares(judged: Sequence[Judged]) -> list[Share]:
    """Return the shares of each group without planted errors, and their mean if there are several groups.

    The mean weighs the groups alike. It has no value if one of them has no readable verdict.
    """
    groups: dict[str, list[Judged]] = {}
    for verdict in judged:
        if not verdict.case.planted:
            groups.setdefault(verdict.case.group, []).append(verdict)
    rows, strata = [], {}
    for group, verdicts in groups.items():
        scored = [verdict for verdict in verdicts if verdict.quality is not None]
        row = Share(group, len(scored), len(verdicts) - len(scored))
        if scored:
            strata[group] = _high_stratum(scored)
            counts = Counter(verdict.quality for verdict in scored)
            shares = {quality: counts[quality] / len(scored) for quality in QUALITIES}
            interval = resample({group: strata[group]}).interval()
            row = Share(group, row.cases, row.unscored, shares, interval)
        rows.append(row)
    if len(groups) > 1:
        rows.append(_mean_share(rows, strata))
    return rows


def agreement(judged: Sequence[Judged]) -> PanelAgreement:
    """Return how far the models agree on all cases, planted ones too."""
    units = []
    for verdict in judged:
        qualities = [vote.quality for vote in verdict.votes if vote.quality is not None]
        if len(qualities) > 1:
            units.append(qualities)
    return PanelAgreement(len(units), pair_agreement(units), krippendorff_alpha(units))


def caught_errors(judged: Sequence[Judged]) -> list[tuple[str, bool]]:
    """Return kind and whether it was caught of each planted error; one is caught if its quality is not `HIGH`.

    A planted error without a readable verdict was not caught.
    """
    caught = []
    for verdict in judged:
        if verdict.case.planted:
            caught.append((verdict.case.planted, verdict.quality in (MEDIUM, LOW)))
    return caught


def explanation_case(
    identifier: str, concept: str, language: str, *, mode: str | None, texts: Mapping[str, str]
) -> Case:
    """Return the case of an explanation that a model gave.

    Args:
        identifier: of the question.
        concept: the unit that is resampled.
        language: code.
        mode: how the idiom was shown, which divides the groups; None does not.
        texts: idiom, reference and answer; what the model thought aloud is left out of the answer.
    """
    group = f"{language} {mode}" if mode else language
    shown = {**texts, "answer": without_reasoning(texts["answer"]).strip()}
    return Case(identifier, concept, group, EXPLANATION, shown, {"language": LANGUAGES[language].name})


def _pair_case(lexicon: Lexicon, concept: str, source: str, target: str, *, meaning: str, planted: str = "") -> Case:
    names = {"language": LANGUAGES[target].name}
    names |= {"source_language": LANGUAGES[source].name, "target_language": LANGUAGES[target].name}
    is_monolingual = source == target
    group = source if is_monolingual else f"{source}:{target}"
    identifier = f"{group}/{concept}/{planted.replace(' ', '-')}" if planted else f"{group}/{concept}"
    texts = {"idiom": lexicon.of(source)[concept].idiom, "meaning": meaning}
    return Case(identifier, concept, group, MONOLINGUAL if is_monolingual else CROSS_LINGUAL, texts, names, planted)


def _high_stratum(judged: Sequence[Judged]) -> Stratum:
    sums = [[float(verdict.quality == HIGH), 1.0] for verdict in judged]
    return Stratum([verdict.case.concept for verdict in judged], np.array(sums))


def _mean_share(rows: Sequence[Share], strata: Mapping[str, Stratum]) -> Share:
    cases, unscored = sum(row.cases for row in rows), sum(row.unscored for row in rows)
    if len(strata) < len(rows):
        return Share(ALL_GROUPS, cases, unscored)
    shares = {}
    for quality in QUALITIES:
        shares[quality] = sum(row.shares[quality] for row in rows) / len(rows)
    return Share(ALL_GROUPS, cases, unscored, shares, resample(strata).interval())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
