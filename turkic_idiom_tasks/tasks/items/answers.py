"""Reading of the answer of a model to an item: a letter, or the words that an open task asks for.

Reasoning in ``<think>`` tags is ignored, and so is everything after a question that the model asks itself. Reasoning
that never ends cannot be read: allow enough tokens for a reasoning model with ``--gen_kwargs max_gen_toks=8192``.

The strict reading of a letter takes nothing but the letter. The flexible reading also takes a letter after "the answer
is" or a label such as "Javob:", in brackets or bold type, or within a sentence.
"""

import math
import re
import unicodedata
from collections.abc import Sequence

from turkic_idiom_tasks.model_answers import MAX_ANSWER, without_reasoning
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.items.open_tasks import ANSWER_SEPARATOR
from turkic_idiom_tasks.tasks.items.prompts import all_wordings

MAX_WORDS = 15  # of an answer in an open task; more words are prose

_LOOK_ALIKES = str.maketrans("АВСЕНКΑΒΕΗΚ", "ABCEHKABEHK")  # Cyrillic and Greek capitals that look Latin
_FOREIGN = "БГДΓΔ"  # letters of a list in another alphabet: then А, В is another order than A, B
_CAPITAL = f"[A-HJKАВСЕНК{_FOREIGN}ΑΒΕΗΚ]"  # of four options, those after D are letters beyond the last
_SMALL = "[a-hjkавсенкбгдαβγδεηκ]"
_ANY = f"(?:{_CAPITAL}|{_SMALL})"
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![^\W_])", r"(?![^\W_])"
_MARKUP = re.compile(r"[*_`$]+|\\boxed|\\text(?:bf)?")
_STRICT = re.compile(r"\A\(?([A-Z])[).]?\Z")
_ALONE = re.compile(rf"\A[(\[{{\"'«“]*({_ANY})[)\]}}.:,\"'»”]*\Z")
_BEFORE_TEXT = re.compile(rf"^\s*[(\[{{]?({_CAPITAL})[)\].:](?=\s)", re.MULTILINE)
_IN_BRACKETS = re.compile(rf"[(\[{{]({_ANY})[)\]}}]")
# The English article, which begins many a refusal: "A language model cannot answer". A letter before "is", "or" and the
# like, or before a Turkic word for option or answer, is one of the options
_ARTICLE = re.compile(
    r"A(?=\s+[a-z])(?!\s+(?:is|or|and|veya|ya|ve|və|we|hem|yoki|va|seçene|şık|variant|waria|bukva|harf|javob|cavab|jogap))"
)
_WITHIN = re.compile(f"{_NO_LETTER_BEFORE}({_CAPITAL}){_NO_LETTER_AFTER}")
_QUOTES = "\"'“”„«»‘’`*"
_PLACEHOLDER = re.compile(r"\{\w+\}")
_BLANK = re.compile(r"_{3,}")
_LIST_MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-–•*])\s+")


# Labels of an answer as alternatives of a pattern: those of the prompts and other usual ones, the longest first.
_LABELS = {"final answer", "correct answer", "correct option", "option", "choice", "cevap", "doğru cevap", "şık"}
_LABELS |= {"doğru seçenek", "düzgün cavab", "dogry jogap", "dooru cuvap", "toʻgʻri javob", "toʻgʻri variant"}
_LABELS |= {wording.answer.lower() for wording in all_wordings()}

_ANY_LABEL = "|".join(re.escape(label) for label in sorted(_LABELS, key=len, reverse=True))
_LABEL = re.compile(
    rf"{_NO_LETTER_BEFORE}(?:the\s+)?(?:{_ANY_LABEL})\s*(?:\([^)]*\)\s*)?(?::|=|\bis\b:?)\s*", re.IGNORECASE
)
_IDIOM_LABELS = "|".join(sorted({re.escape(wording.idiom) for wording in all_wordings()}))
_IDIOM_LABEL = re.compile(
    _LABEL.pattern.replace(_ANY_LABEL, rf"{_ANY_LABEL}|(?:{_IDIOM_LABELS})\w{{0,5}}"), re.IGNORECASE
)
_LABELLED = re.compile(
    rf"{_LABEL.pattern}(?i:option\s+|the\s+letter\s+)?[(\[{{\"'«“]?({_ANY}){_NO_LETTER_AFTER}", re.IGNORECASE
)


def _question_line(*, asks_for_idiom: bool) -> re.Pattern[str]:
    """Return a pattern for a line that begins a question in one of the prompts."""
    beginnings = set()
    for wording in all_wordings():
        # Where an idiom is asked for, its label stands before the answer
        labels = (wording.idiom, wording.expression, wording.sentence)
        if asks_for_idiom:
            labels = (wording.definition, wording.sentence, wording.situation)
        beginnings |= {re.escape(f"{label}:") for label in labels}
        for task in wording.tasks.values():
            beginnings.add(r"[^\n]{1,30}".join(map(re.escape, _PLACEHOLDER.split(task))))
    return re.compile(rf"^(?:{'|'.join(sorted(beginnings))})[^\n]*$", re.MULTILINE)


_QUESTION_LINE, _IDIOM_QUESTION_LINE = _question_line(asks_for_idiom=False), _question_line(asks_for_idiom=True)


def read_letter(text: object, n_options: int, *, strict: bool = False) -> int | None:
    """Return the position of the option that an answer names, or None if it cannot be read; never raise an error.

    A letter beyond the last option cannot be read. With `strict` nothing is accepted but the letter, in brackets or
    with a full stop at most.
    """
    answer = _final_answer(text)
    if strict:
        answer, patterns = answer.strip(), [_STRICT]
    else:
        answer = _MARKUP.sub("", unicodedata.normalize("NFKC", answer)).strip()  # NFKC for letters of full width
        patterns = [_ALONE, _LABELLED, _BEFORE_TEXT, _IN_BRACKETS, _WITHIN]  # the surest sign first
    for pattern in patterns:
        # After a label or in brackets a letter is none but that of an option, so no article is looked for there
        candidates = _ARTICLE.sub("", answer) if pattern is _WITHIN else answer
        named = {letter.upper().translate(_LOOK_ALIKES) for letter in pattern.findall(candidates)}
        if named:
            # Where several letters have the same sign, the answer is never guessed
            position = LETTERS.find(named.pop()) if len(named) == 1 else -1
            return position if 0 <= position < n_options else None
    return None


def read_open(text: object, sentence: str = "", *, n_answers: int = 1, strict: bool = False) -> str | None:
    """Return the words that answer an open task, or None if they cannot be read; never raise an error.

    A label such as "Answer:", quotation marks, and a full stop at the end are left out. If the answer is the whole
    sentence of the prompt, the words at the place of the blank are returned. With `strict` nothing is accepted but the
    words, on one line. Without a blank in the sentence the answer is an idiom. Several answers (`n_answers` at most)
    may stand on one line or be a list.
    """
    parts = _BLANK.split(unicodedata.normalize("NFC", sentence))
    before, after = parts if len(parts) == 2 else ("", "")
    label, question = (_LABEL, _QUESTION_LINE) if len(parts) == 2 else (_IDIOM_LABEL, _IDIOM_QUESTION_LINE)
    answer = unicodedata.normalize("NFC", _final_answer(text, question))
    if strict:
        reading = read_open(answer, sentence, n_answers=n_answers)
        return answer.strip() if reading == answer.strip() else None
    if n_answers > 1:
        lines = [part for line in answer.splitlines() for part in line.split(ANSWER_SEPARATOR.strip())]
        readings = [read_open(_LIST_MARK.sub("", line)) for line in lines]
        return ANSWER_SEPARATOR.join([reading for reading in readings if reading][:n_answers]) or None
    for line in answer.splitlines():
        words = label.sub("", _MARKUP.sub("", line), count=1).strip()
        unquoted = words.strip(_QUOTES)
        is_copy = unquoted.startswith(before) and unquoted.endswith(after) and len(unquoted) > len(before) + len(after)
        if is_copy and before + after:
            words = unquoted[len(before) : len(unquoted) - len(after)]
        # The full stop may stand after the closing quotation mark or before it
        words = words.rstrip(".!?").strip().strip(_QUOTES).rstrip(".!?").strip()
        if words and any(character.isalpha() for character in words):  # the first line that is not only signs
            return words if len(words.split()) <= MAX_WORDS else None
    return None


def likeliest(loglikelihoods: Sequence[float]) -> int | None:
    """Return the position of the most likely option, the first of equals; None if one is NaN or there is none."""
    if not loglikelihoods or any(map(math.isnan, loglikelihoods)):
        return None
    return loglikelihoods.index(max(loglikelihoods))


def _final_answer(text: object, question: re.Pattern[str] = _QUESTION_LINE) -> str:
    """Return the part of an answer that counts: after the reasoning, before the model's next question."""
    if not isinstance(text, str):
        return ""
    answer = without_reasoning(text)
    if len(answer) > MAX_ANSWER:
        return ""
    start = 0
    for line in question.finditer(answer):
        before = answer[start : line.start()]
        if before.strip():
            return before
        start = line.end()  # the model repeats its question before it answers
    return answer[start:]
