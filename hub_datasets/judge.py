"""Judging: HIGH, MEDIUM or LOW for a pair of idiom and meaning, or for an explanation, by one model or a panel.

The scale and the first version of the prompts are the paper's (appendix B). Explanations are read from samples of
lm-eval, logs of Inspect and lines of one's own, which are ``{"id": ..., "language": "tr", "idiom": ..., "reference":
..., "answer": ...}``; ``concept``, the unit that is resampled, is the id unless it is given, and ``mode`` divides the
results further.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict

from hub_datasets.planting import SEED, plant
from hub_datasets.prompts import ANSWER_PASSES, BLANK, CROSS_LINGUAL, EXPLANATION, MONOLINGUAL, load_prompt
from hub_datasets.questions import AnswerFields, Question, Reply
from turkic_idiom_tasks.errors import InputError, refuse_faults
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES, LanguageCode
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.bootstrap import Interval, Stratum, resample
from turkic_idiom_tasks.model_answers import without_reasoning
from turkic_idiom_tasks.results.inspect_files import open_log
from turkic_idiom_tasks.tasks.items.explain import EXPLAIN

LM_EVAL_SAMPLES = "samples_turkic_idiom_explain_*.jsonl"
INSPECT_LOGS = "*.eval"
_MOST_CHARACTERS = 20_000  # of an answer that a judge is shown
QUALITIES = HIGH, MEDIUM, LOW = ("HIGH", "MEDIUM", "LOW")
VERDICTS = ("same", "fits", "related", "no")  # on a free answer, the best first; `fits` is for blanks
ALL_GROUPS = "all"
PAPER_SHARES: Mapping[str, Mapping[str, str]] = {  # section 5 of the paper, judged by GPT-4.1
    MONOLINGUAL: {HIGH: "92.8%", LOW: "under 4%"},
    CROSS_LINGUAL: {HIGH: "70%"},
}

Vote = dict[str, Any]  # what one model says of a case, as `vote_of` returns it and the file of verdicts has it


def _plain_word(value: Any) -> str:
    return str(value).strip().strip("*.").upper()  # models write **High**, too


class Judgement(AnswerFields):
    """What a judge answers."""

    analysis: str
    quality: Annotated[Literal["HIGH", "MEDIUM", "LOW"], BeforeValidator(_plain_word, json_schema_input_type=str)]


class AnswerJudgement(AnswerFields):
    """What a judge answers about a free answer."""

    analysis: str
    verdict: Annotated[Literal["same", "related", "no"], BeforeValidator(lambda value: _plain_word(value).lower())]


class BlankJudgement(AnswerFields):
    """What a judge answers about an idiom in the blank of a sentence."""

    analysis: str
    verdict: Annotated[Literal["fits", "no"], BeforeValidator(lambda value: _plain_word(value).lower())]


class FreeAnswer(BaseModel):
    """A line of ``lm report --unjudged``, which does not say who gave the answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    language: LanguageCode
    concept: str
    meaning: str
    idiom: str
    answer: str
    sentence: str = ""  # with the blank that it fills; empty where an idiom was asked for by its meaning

    def questions(self, version: int | None = None) -> list[Question]:
        """Return what is asked: with the idiom of the lexicon and by the meaning alone, or once about the sentence."""
        texts = self.model_dump(include={"meaning", "idiom", "answer", "sentence"})
        questions = []
        for name in (BLANK,) if self.sentence else ANSWER_PASSES:
            prompt = load_prompt(name, version)
            messages = prompt.messages(texts, plain={"language": LANGUAGES[self.language].name})
            questions.append(Question(prompt.label, messages, BlankJudgement if self.sentence else AnswerJudgement))
        return questions

    def to_json(self, verdict: str, *, readings: Sequence[str], judges: Sequence[str]) -> str:
        """Return a line as the file of judged answers has it."""
        row: dict[str, Any] = {"language": self.language, "concept": self.concept}
        row |= {"sentence": self.sentence} if self.sentence else {}
        row["answer"] = self.answer
        row |= {"verdict": verdict, "readers": readings, "judges": judges}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to judge."""

    id: str  # unique among the cases of a run
    concept: str  # the unit that is resampled
    group: str  # what shares are given for: a language (``tr``), or two (``tr:uz``)
    prompt: str  # name of the prompt that fits it
    texts: Mapping[str, str]  # what is judged, by its name in the prompt
    languages: Mapping[str, str]  # names of languages, likewise
    planted: str = ""  # kind of the error in it; empty if there is none

    def question(self, version: int | None = None) -> Question:
        """Return the question that asks for its quality, under a version of the prompt; None is the newest."""
        prompt = load_prompt(self.prompt, version)
        return Question(prompt.label, prompt.messages(self.texts, plain=self.languages), Judgement)

    def to_json(self, votes: Sequence[Vote]) -> str:
        """Return the case with the votes of the panel as one line of a file."""
        row: dict[str, Any] = {"id": self.id, "concept": self.concept, "group": self.group, **self.texts}
        row |= {"planted": self.planted or None, "quality": majority(votes), "votes": votes}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Share:
    """Verdicts of one group, or `ALL_GROUPS` together."""

    group: str
    cases: int  # that have a quality
    unscored: int  # that have none
    shares: Mapping[str, float] = field(default_factory=dict)  # quality -> share of the cases; empty without cases
    interval: Interval | None = None  # of the share of `HIGH`, by concept


def lexicon_cases(
    lexicon: Lexicon, pairs: Sequence[tuple[str, str]], *, n: int | None = None, planted_share: float | None = None
) -> list[Case]:
    """Return the idiom-meaning pairs of a lexicon, and after them those with planted errors.

    The idiom of the first language of a pair is judged with the meaning of the second; they may be the same. A group
    has at most `n` concepts, chosen by a hash. `planted_share` of the pairs are judged once more with an error.
    """
    cases: list[Case] = []
    planted: list[Case] = []
    for source, target in pairs:
        idioms, meanings = lexicon.of(source), lexicon.of(target)
        prompt, group = (MONOLINGUAL, source) if source == target else (CROSS_LINGUAL, f"{source}:{target}")
        languages = {"language": LANGUAGES[target].name, "target_language": LANGUAGES[target].name}
        languages["source_language"] = LANGUAGES[source].name
        known = [concept for concept, entry in meanings.items() if entry.meaning is not None and concept in idioms]
        # By a hash and not by a generator, so that a larger n, and other languages, keep the concepts of a smaller one.
        ranks = {concept: hashlib.sha256(f"{SEED}/judge/{concept}".encode()).hexdigest() for concept in known}
        chosen = sorted(known, key=ranks.__getitem__)[:n]
        for concept in sorted(chosen):
            texts = {"idiom": idioms[concept].idiom, "meaning": meanings[concept].meaning or ""}
            cases.append(Case(f"{group}/{concept}", concept, group, prompt, texts, languages))
        if planted_share is None:
            continue
        for kind, wrong in plant(lexicon, target, chosen, share=planted_share):
            concept = wrong.concept
            texts = {"idiom": idioms[concept].idiom, "meaning": wrong.meaning or ""}
            name = f"{group}/{concept}/{kind.replace(' ', '-')}"
            planted.append(Case(name, concept, group, prompt, texts, languages, kind))
    return cases + planted


def _joined(answer: Any) -> Any:
    return "\n".join(map(str, answer)) if isinstance(answer, list) else answer  # lm-eval has a list


class Explanation(BaseModel):
    """What was asked and answered: a line of one's own, a sample of Inspect, or of ``lm-eval run --log_samples``."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str
    language: LanguageCode
    idiom: str
    reference: str
    concept: str | None = None
    mode: str | None = None
    answer: Annotated[str, BeforeValidator(_joined)]

    def case(self) -> Case:
        """Return what is judged: idiom, reference, and answer without what the model thought aloud."""
        texts = {"idiom": self.idiom, "reference": self.reference, "answer": without_reasoning(self.answer).strip()}
        group = f"{self.language} {self.mode}" if self.mode else self.language
        languages = {"language": LANGUAGES[self.language].name}
        return Case(self.id, self.concept or self.id, group, EXPLANATION, texts, languages)


def read_free_answers(path: Path) -> list[FreeAnswer]:
    """Return the answers in a file of ``lm report --unjudged``; none for another file, or a folder."""
    answers: list[FreeAnswer] = []
    for number, value, problem in read_json_lines(path) if path.suffix == ".jsonl" and path.is_file() else ():
        if not answers and (not isinstance(value, dict) or value.keys() & {"id", "doc"}):
            break  # explanations
        with model_errors(f"{path}:{number}", problem=problem):
            answers.append(FreeAnswer.model_validate(value))
    return answers


def explanation_files(places: Sequence[Path]) -> list[Path]:
    """Return the files among some places, and the sample files and logs in the folders among them, each once."""
    files: list[Path] = []
    for place in places:
        names = [*place.rglob(LM_EVAL_SAMPLES), *place.rglob(INSPECT_LOGS)] if place.is_dir() else [place]
        files += sorted(names)
    return list(dict.fromkeys(files))


def read_explanations(places: Sequence[Path]) -> list[Case]:
    """Return what is to be judged in some files, and in the sample files and logs of some folders."""
    cases: dict[str, Case] = {}
    origins: dict[str, Path] = {}
    repeated = []
    for path in explanation_files(places):
        for where, value, problem in _explanations(path):
            if isinstance(value, dict) and isinstance(value.get("doc"), dict):
                value = value["doc"] | {"answer": value.get("filtered_resps")}
            with model_errors(where, problem=problem):
                asked = Explanation.model_validate(value)
            # Two answers to one question would count twice, and the intervals resample concepts as if they were one.
            if asked.id in cases:
                repeated.append(f"{where}: the question {display(asked.id)} was answered in {origins[asked.id]} too")
            cases[asked.id] = asked.model_copy(update={"answer": asked.answer[:_MOST_CHARACTERS]}).case()
            origins[asked.id] = path
    refuse_faults(repeated, advice="judge one run at a time")
    if not cases:
        raise InputError(
            f"{', '.join(map(str, places))}: no explanations to judge; expected {LM_EVAL_SAMPLES} of lm-eval run "
            "--log_samples, logs of the Inspect task explain, or JSONL with id, language, idiom, reference, answer"
        )
    return list(cases.values())


def _explanations(path: Path) -> Iterator[tuple[str, Any, str | None]]:
    """Yield the place and the value of each explanation in a file, and why it has none."""
    if path.suffix != ".eval":
        for number, value, problem in read_json_lines(path):
            yield f"{path}:{number}", value, problem
        return
    log = open_log(path)
    if log.eval.task.rpartition("/")[2] != EXPLAIN or not log.samples:
        n_samples = len(log.samples or ())
        raise InputError(f"{path}: is a log of {log.eval.task!r} with {n_samples} samples, not of {EXPLAIN}")
    for number, sample in enumerate(log.samples, start=1):
        # Further epochs answer the same questions again
        if sample.epoch == 1:
            yield f"{path}, sample {number}", {**sample.metadata, "answer": sample.output.completion}, None


def vote_of(reply: Reply, *, model: str, prompt: str) -> Vote:
    """Return what a model says of a case; `quality` is None if that could not be read, and `problem` says why."""
    vote: Vote = {"model": model, "prompt": prompt, "date": reply.date}
    if isinstance(reply.value, Judgement):
        return vote | {"quality": reply.value.quality, "analysis": reply.value.analysis, "problem": None}
    return vote | {"quality": None, "analysis": "", "problem": f"{reply.problem}: {reply.text[:500]}"}


def majority(votes: Sequence[Vote]) -> str | None:
    """Return the quality with the most votes, the lowest of them where several have; None without votes."""
    counts = Counter(vote["quality"] for vote in votes if vote["quality"] is not None)
    most = max(counts.values(), default=0)
    # `QUALITIES` begins with the best one, so the last of the tied ones is the lowest: in doubt nothing is HIGH.
    return max((name for name in counts if counts[name] == most), key=QUALITIES.index, default=None)


def quality_shares(judged: Sequence[tuple[Case, str | None]]) -> list[Share]:
    """Return the shares of each group without planted errors, and their mean if there are several, groups alike."""
    groups: dict[str, list[tuple[str, str | None]]] = {}  # group -> concept and quality of each case
    for case, quality in judged:
        if not case.planted:
            groups.setdefault(case.group, []).append((case.concept, quality))
    rows: list[Share] = []
    strata: dict[str, Stratum] = {}
    for group, verdicts in groups.items():
        scored = [(concept, quality) for concept, quality in verdicts if quality is not None]
        n_unscored = len(verdicts) - len(scored)
        if not scored:
            rows.append(Share(group, 0, n_unscored))
            continue
        sums = np.array([[float(quality == HIGH), 1.0] for _, quality in scored])
        strata[group] = Stratum([concept for concept, _ in scored], sums)
        counts = Counter(quality for _, quality in scored)
        shares = {quality: counts[quality] / len(scored) for quality in QUALITIES}
        rows.append(Share(group, len(scored), n_unscored, shares, resample({group: strata[group]}).interval()))
    if len(rows) > 1:
        n_cases, n_unscored = sum(row.cases for row in rows), sum(row.unscored for row in rows)
        # A mean over the groups that happen to have verdicts would not be comparable with that of another judge.
        if len(strata) < len(rows):
            rows.append(Share(ALL_GROUPS, n_cases, n_unscored))
        else:
            means = {name: sum(row.shares[name] for row in rows) / len(rows) for name in QUALITIES}
            rows.append(Share(ALL_GROUPS, n_cases, n_unscored, means, resample(strata).interval()))
    return rows
