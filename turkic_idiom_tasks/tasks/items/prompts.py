"""Prompts for the items: three in English and one in the language of the idiom for each kind.

Every prompt has the same parts in the same order: the task with the form of the answer, the labelled idiom or
sentence, the options with their letters, and the label of the answer. The three English prompts differ in wording,
labels and signs around the letters, which is what the spread over prompts measures. An answer is one letter, or the
missing words in the open cloze.
"""

from __future__ import annotations

from dataclasses import dataclass

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.item_types import (
    CLOZE,
    EQUIVALENT,
    FIGURATIVE,
    LETTERS,
    LITERAL,
    MEANING,
    USAGE,
    Item,
)

CLOZE_OPEN = "cloze_open"  # a way of asking the items of the kind `cloze`: without options
VARIANTS = EN1, EN2, EN3, NATIVE = ("en1", "en2", "en3", "native")


@dataclass(frozen=True, slots=True)
class Wording:
    """How the items are asked in one prompt.

    Attributes:
        tasks: kind, or `CLOZE_OPEN`, -> the task; ``{source}`` and ``{target}`` stand for names of languages.
        by_letter: the form of an answer with a letter; ``{letters}`` stands for the letters.
        by_words: the form of an answer in the open cloze.
        idiom: label of the idiom.
        expression: label of the expression that `usage` asks about; its sentence may use it literally.
        sentence: label of the sentence.
        answer: label of the answer.
        option: form of an option, with ``{letter}`` and ``{text}``.
        senses: the options of `usage` -> how the prompt names them.
        names: code -> name of the language as the tasks use it.
    """

    tasks: dict[str, str]
    by_letter: str
    by_words: str
    idiom: str
    expression: str
    sentence: str
    answer: str
    senses: dict[str, str]
    names: dict[str, str]
    option: str = "{letter}. {text}"


_ENGLISH_NAMES = {code: language.name for code, language in LANGUAGES.items()}

ENGLISH = {
    EN1: Wording(
        tasks={
            MEANING: "What does the {source} idiom mean?",
            EQUIVALENT: "Which {target} idiom means the same as the {source} idiom?",
            USAGE: "Is the {source} expression used figuratively or literally in the sentence?",
            CLOZE: "Which idiom completes the {source} sentence?",
            CLOZE_OPEN: "Complete the {source} sentence with an idiom.",
        },
        by_letter="Answer with one letter: {letters}.",
        by_words="Answer with the missing words only, in the form that the sentence needs.",
        idiom="Idiom",
        expression="Expression",
        sentence="Sentence",
        answer="Answer",
        senses={FIGURATIVE: "figuratively", LITERAL: "literally"},
        names=_ENGLISH_NAMES,
    ),
    EN2: Wording(
        tasks={
            MEANING: "Choose the correct meaning of this idiom in {source}.",
            EQUIVALENT: "Choose the idiom in {target} that corresponds to this idiom in {source}.",
            USAGE: "Decide whether the words below have their idiomatic or their literal meaning in this text in "
            "{source}.",
            CLOZE: "Choose the idiom that fits the gap in this text in {source}.",
            CLOZE_OPEN: "Fill the gap in this text in {source} with the idiom that fits it.",
        },
        by_letter="Reply with the letter of the correct option ({letters}) and nothing else.",
        by_words="Reply with the words for the gap, inflected as needed, and nothing else.",
        idiom="Phrase",
        expression="Words",
        sentence="Text",
        answer="Correct option",
        senses={FIGURATIVE: "idiomatic meaning", LITERAL: "literal meaning"},
        names=_ENGLISH_NAMES,
        option="{letter}) {text}",
    ),
    EN3: Wording(
        tasks={
            MEANING: "You are given an idiom in {source} and several explanations. Only one of them is correct.",
            EQUIVALENT: "You are given an idiom in {source} and several idioms in {target}. Only one of them has the "
            "same meaning.",
            USAGE: "You are given a phrase in {source} and an example of its use. Judge whether it is meant as an "
            "idiom or word for word there.",
            CLOZE: "You are given an example in {source} from which an idiom was removed, and several idioms. Only "
            "one of them belongs in the blank.",
            CLOZE_OPEN: "You are given an example in {source} from which an idiom was removed. Restore the idiom.",
        },
        by_letter="Give its letter ({letters}), without an explanation.",
        by_words="Give the removed words as they stood in the example, without an explanation.",
        idiom="Given idiom",
        expression="Given phrase",
        sentence="Example",
        answer="Solution",
        senses={FIGURATIVE: "as an idiom", LITERAL: "word for word"},
        names=_ENGLISH_NAMES,
        option="({letter}) {text}",
    ),
}

NATIVE_WORDINGS = {
    "tr": Wording(
        tasks={
            MEANING: "Aşağıdaki {source} deyimin anlamı hangi seçenekte verilmiştir?",
            EQUIVALENT: "Aşağıdaki {source} deyimle aynı anlama gelen {target} deyim hangisidir?",
            USAGE: "Aşağıdaki cümlede bu ifade mecaz anlamda mı, gerçek anlamda mı kullanılmıştır?",
            CLOZE: "Cümledeki boşluğa hangi deyim gelmelidir?",
            CLOZE_OPEN: "Cümledeki boşluğu uygun bir deyimle doldur.",
        },
        by_letter="Yalnızca doğru seçeneğin harfini yaz: {letters}.",
        by_words="Yalnızca boşluğa gelecek sözcükleri, cümleye uygun biçimde yaz.",
        idiom="Deyim",
        expression="İfade",
        sentence="Cümle",
        answer="Yanıt",
        senses={FIGURATIVE: "mecaz anlamda", LITERAL: "gerçek anlamda"},
        names={"tr": "Türkçe", "az": "Azerbaycanca", "tk": "Türkmence", "gag": "Gagavuzca", "uz": "Özbekçe"},
    ),
    "az": Wording(
        tasks={
            MEANING: "Aşağıda {source} bir frazeoloji ifadə verilib. Onun mənası hansıdır?",
            EQUIVALENT: "Aşağıda {source} bir frazeoloji ifadə verilib. Hansı ifadə {target} eyni mənanı daşıyır?",
            USAGE: "Bu ifadə cümlədə məcazi mənada işlənib, yoxsa həqiqi mənada?",
            CLOZE: "Cümlədəki boşluğa hansı frazeoloji ifadə uyğun gəlir?",
            CLOZE_OPEN: "Cümlədəki boşluğu uyğun frazeoloji ifadə ilə doldur.",
        },
        by_letter="Yalnız düzgün variantın hərfini yaz: {letters}.",
        by_words="Yalnız boşluğa gələn sözləri, cümləyə uyğun formada yaz.",
        idiom="Frazeoloji ifadə",
        expression="İfadə",
        sentence="Cümlə",
        answer="Cavab",
        senses={FIGURATIVE: "məcazi mənada", LITERAL: "həqiqi mənada"},
        names={
            "tr": "türk dilində",
            "az": "Azərbaycan dilində",
            "tk": "türkmən dilində",
            "gag": "qaqauz dilində",
            "uz": "özbək dilində",
        },
    ),
    "tk": Wording(
        tasks={
            MEANING: "Aşakda {source} bir frazeologizm berlipdir. Onuň manysy haýsy?",
            EQUIVALENT: "Aşakda {source} bir frazeologizm berlipdir. Haýsy frazeologizm {target} şol bir manyny "
            "aňladýar?",
            USAGE: "Bu aňlatma sözlemde göçme manyda ulanylypdyrmy ýa-da göni manyda?",
            CLOZE: "Sözlemdäki boş ýere haýsy frazeologizm gelmeli?",
            CLOZE_OPEN: "Sözlemdäki boş ýeri laýyk gelýän frazeologizm bilen doldur.",
        },
        by_letter="Diňe dogry wariantyň harpyny ýaz: {letters}.",
        by_words="Diňe boş ýere gelmeli sözleri sözleme laýyk görnüşde ýaz.",
        idiom="Frazeologizm",
        expression="Aňlatma",
        sentence="Sözlem",
        answer="Jogap",
        senses={FIGURATIVE: "göçme manyda", LITERAL: "göni manyda"},
        names={
            "tr": "türk dilinde",
            "az": "azerbaýjan dilinde",
            "tk": "türkmen dilinde",
            "gag": "gagauz dilinde",
            "uz": "özbek dilinde",
        },
    ),
    "gag": Wording(
        tasks={
            MEANING: "Aşaada {source} bir frazeologizma verili. Onun maanası angısı?",
            EQUIVALENT: "Aşaada {source} bir frazeologizma verili. Angı frazeologizma {target} hep o maanaya gelir?",
            USAGE: "Bu laf cümledä başka maanada mı kullanılêr, osa dooru maanada mı?",
            CLOZE: "Cümledä boş erä angı frazeologizma gelir?",
            CLOZE_OPEN: "Cümledä boş eri uygun bir frazeologizmaylan doldur.",
        },
        by_letter="Sade dooru variantın bukvasını yaz: {letters}.",
        by_words="Sade boş erä gelän lafları cümleyä uygun formada yaz.",
        idiom="Frazeologizma",
        expression="Laf",
        sentence="Cümlä",
        answer="Cuvap",
        senses={FIGURATIVE: "başka maanada", LITERAL: "dooru maanada"},
        names={
            "tr": "türk dilindä",
            "az": "azerbaycan dilindä",
            "tk": "türkmen dilindä",
            "gag": "gagauz dilindä",
            "uz": "uzbek dilindä",
        },
    ),
    "uz": Wording(
        tasks={
            MEANING: "Quyida {source} ibora berilgan. Uning maʼnosi qaysi?",
            EQUIVALENT: "Quyida {source} ibora berilgan. Qaysi {target} ibora xuddi shu maʼnoni bildiradi?",
            USAGE: "Bu birikma gapda koʻchma maʼnoda qoʻllanganmi yoki oʻz maʼnosidami?",
            CLOZE: "Gapdagi boʻsh joyga qaysi ibora mos keladi?",
            CLOZE_OPEN: "Gapdagi boʻsh joyni mos ibora bilan toʻldiring.",
        },
        by_letter="Faqat toʻgʻri variantning harfini yozing: {letters}.",
        by_words="Faqat boʻsh joyga keladigan soʻzlarni gapga mos shaklda yozing.",
        idiom="Ibora",
        expression="Birikma",
        sentence="Gap",
        answer="Javob",
        senses={FIGURATIVE: "koʻchma maʼnoda", LITERAL: "oʻz maʼnosida"},
        names={
            "tr": "turkcha",
            "az": "ozarbayjoncha",
            "tk": "turkmancha",
            "gag": "gagauzcha",
            "uz": "oʻzbekcha",
        },
    ),
}


def prompt(item: Item, variant: str = EN1) -> str:
    """Return the question about an item, with its options; the answer is a letter.

    Args:
        item: what is asked.
        variant: one of `VARIANTS`.

    Raises:
        InputError: there is no such variant.
    """
    wording = _wording(item, variant)
    task = _task(item, wording, item.kind) + " " + wording.by_letter.format(letters=_listed(letters(item)))
    lines = [task, *_subject(item, wording)]
    for letter, text in zip(letters(item), option_texts(item, variant), strict=True):
        lines.append(wording.option.format(letter=letter, text=text))
    lines.append(f"{wording.answer}:")
    return "\n".join(lines)


def question(item: Item, variant: str = EN1) -> str:
    """Return the question about an item without its options and without the form of the answer.

    Raises:
        InputError: there is no such variant.
    """
    wording = _wording(item, variant)
    return "\n".join([_task(item, wording, item.kind), *_subject(item, wording)])


def option_texts(item: Item, variant: str = EN1) -> list[str]:
    """Return the options of an item as a prompt shows them.

    Raises:
        InputError: there is no such variant.
    """
    wording = _wording(item, variant)
    return [wording.senses[option.text] if item.kind == USAGE else option.text for option in item.options]


def open_prompt(item: Item, variant: str = EN1) -> str:
    """Return the question about an item of `cloze` without its options; the answer is the missing words.

    Raises:
        InputError: there is no such variant.
    """
    wording = _wording(item, variant)
    task = _task(item, wording, CLOZE_OPEN) + " " + wording.by_words
    return f"{task}\n{wording.sentence}: {item.text}\n{wording.answer}:"


def letters(item: Item) -> str:
    """Return the letters of the options of an item, in order."""
    return LETTERS[: len(item.options)]


def all_wordings() -> list[Wording]:
    """Return the wording of every prompt in every language."""
    return [*ENGLISH.values(), *NATIVE_WORDINGS.values()]


def _wording(item: Item, variant: str) -> Wording:
    if variant == NATIVE:
        return NATIVE_WORDINGS[item.language]
    if variant not in ENGLISH:
        raise InputError(f"unknown prompt {variant!r}; known: {', '.join(VARIANTS)}")
    return ENGLISH[variant]


def _task(item: Item, wording: Wording, kind: str) -> str:
    return wording.tasks[kind].format(source=wording.names[item.language], target=wording.names[item.target])


def _subject(item: Item, wording: Wording) -> list[str]:
    """Return the labelled lines that a question is about."""
    lines = [f"{_label(item, wording)}: {item.text}"]
    return [f"{wording.expression}: {item.idiom}", *lines] if item.kind == USAGE else lines


def _label(item: Item, wording: Wording) -> str:
    return wording.sentence if item.kind in (USAGE, CLOZE) else wording.idiom


def _listed(some_letters: str) -> str:
    """Return letters as ``A, B, C, D``; the comma needs no translation."""
    return ", ".join(some_letters)
