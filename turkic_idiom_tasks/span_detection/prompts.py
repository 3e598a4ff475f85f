"""What language models are asked, and the answers that are shown to them as examples.

An idiom that other words interrupt counts as its fragments, as in the tags; the prompts say so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence


@dataclass(frozen=True, slots=True)
class Wording:
    """A question for the JSON answer in one language: what to do, and the labels of sentence and answer."""

    task: str
    sentence: str
    answer: str


NATIVE = {
    "tr": Wording(
        "Türkçe cümledeki deyimleri (kalıplaşmış, mecazlı sözleri) bul. Yanıtı, her deyimi cümlede yazıldığı gibi "
        'veren bir JSON nesnesi olarak yaz: {"idioms": [...]}. Deyim yoksa liste boş kalsın. Deyimin arasına başka '
        "sözcükler girmişse parçalarını ayrı ayrı ver.",
        "Cümle",
        "Yanıt",
    ),
    "az": Wording(
        "Azərbaycanca cümlədəki frazeoloji birləşmələri (məcazi mənalı sabit ifadələri) tap. Cavabı, hər ifadəni "
        'cümlədə yazıldığı kimi verən JSON obyekti şəklində yaz: {"idioms": [...]}. Belə ifadə yoxdursa, siyahı boş '
        "qalsın. İfadənin arasına başqa sözlər giribsə, hissələrini ayrı-ayrı ver.",
        "Cümlə",
        "Cavab",
    ),
    "tk": Wording(
        "Türkmençe sözlemdäki frazeologizmleri (göçme manyly durnukly söz düzümlerini) tap. Jogaby her frazeologizmi "
        'sözlemde ýazylyşy ýaly berýän JSON obýekti görnüşinde ýaz: {"idioms": [...]}. Frazeologizm ýok bolsa, sanaw '
        "boş galsyn. Frazeologizmiň arasyna başga sözler giren bolsa, böleklerini aýratyn ber.",
        "Sözlem",
        "Jogap",
    ),
    "gag": Wording(
        "Gagauzça cümledä frazeologizmaları (başka maanada kullanılan dayma bilä gidän lafları) bul. Cuvabı JSON "
        'obyekti olarak yaz, her frazeologizmayı cümledä nicä yazılıysa ölä ver: {"idioms": [...]}. Yoksa, liste boş '
        "kalsın. Frazeologizmanın arasına başka laflar girdiysä, parçalarını ayırı ver.",
        "Cümlä",
        "Cuvap",
    ),
    "uz": Wording(
        "Oʻzbekcha gapdagi iboralarni (koʻchma maʼnoli turgʻun birikmalarni) toping. Javobni har bir iborani gapda "
        'yozilganidek beradigan JSON obyekti shaklida yozing: {"idioms": [...]}. Ibora boʻlmasa, roʻyxat boʻsh qolsin. '
        "Ibora orasiga boshqa soʻzlar kirgan boʻlsa, boʻlaklarini alohida bering.",
        "Gap",
        "Javob",
    ),
}


def json_prompt(sentence: str, language: str) -> str:
    """The question in English, answered with a JSON object."""
    return (
        f"Find the idioms (fixed figurative expressions) in the {LANGUAGES[language].name} sentence. Answer with a "
        'JSON object {"idioms": [...]} whose list holds each idiom exactly as it is written in the sentence, and is '
        "empty if there is none. If other words interrupt an idiom, list its parts one by one.\n"
        f"Sentence: {sentence}\nAnswer:"
    )


def xml_prompt(sentence: str, language: str) -> str:
    """The question in English, answered by the sentence with tags."""
    return (
        f"Find the idioms (fixed figurative expressions) in the {LANGUAGES[language].name} sentence. Copy the sentence "
        "unchanged, and put <idiom> and </idiom> around each idiom; if other words interrupt an idiom, around each of "
        f"its parts.\nSentence: {sentence}\nAnswer:"
    )


def native_prompt(sentence: str, language: str) -> str:
    """The question in the language of the sentence, answered with a JSON object."""
    wording = NATIVE[language]
    return f"{wording.task}\n{wording.sentence}: {sentence}\n{wording.answer}:"


def json_answer(sentence: TaggedSentence) -> str:
    """The right answer to `json_prompt` and `native_prompt`."""
    idioms = [span.of(sentence.sentence) for span in sentence.spans()]
    return json.dumps({"idioms": idioms}, ensure_ascii=False)


def xml_answer(sentence: TaggedSentence) -> str:
    """The right answer to `xml_prompt`."""
    text, position = "", 0
    for span in sentence.spans():
        text += f"{sentence.sentence[position : span.start]}<idiom>{span.of(sentence.sentence)}</idiom>"
        position = span.end
    return text + sentence.sentence[position:]
