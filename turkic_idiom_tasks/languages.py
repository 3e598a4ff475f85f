"""Languages of the benchmark; CONTRIBUTING.md says what a new one needs besides its record here."""

from __future__ import annotations

from dataclasses import dataclass

from turkic_idiom_tasks.errors import usage_error


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language: its names in the harnesses, and the facts about its orthography that the code needs."""

    code: str  # BCP 47, used in file names and on the Hub (``tr``)
    name: str  # English
    subset: str  # ISO 639-3, used in subset names (``tur``, ``tur-azj``)
    alphabet: str  # lower-case letters of the standard Latin orthography, in NFC; apostrophe letters included
    dotless_i: bool  # whether I/ı and İ/i are two letters, which decides how text is lower-cased
    infinitives: tuple[str, ...]  # endings of the citation form of verbs
    function_words: frozenset[str]  # which say little about the image of an idiom: light verbs, particles, pronouns
    to_common: dict[str, str]  # letters and digraphs -> the common (Turkish-like) orthography; the longest first

    @property
    def script_code(self) -> str:
        """Return language and script as mteb writes them: ``tur-Latn``."""
        return f"{self.subset}-Latn"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PIVOT = "tr"  # the language of the queries of T1 and T3

_ALL = (
    Language(
        code="tr",
        name="Turkish",
        subset="tur",
        alphabet="abcçdefgğhıijklmnoöprsştuüvyzâîû",
        dotless_i=True,
        infinitives=("mak", "mek"),
        function_words=_words(
            "bir biri birini birine olmak etmek eylemek kılmak yapmak kalmak vermek almak gelmek "
            "gitmek durmak çıkmak düşmek gibi kadar için ile ve veya hem de da ki ne hiç her çok en ya bu "
            "şu o kendi kendini değil var yok üzerine üstüne"
        ),
        to_common={"â": "a", "î": "i", "û": "u"},
    ),
    Language(
        code="az",
        name="Azerbaijani",
        subset="azj",
        alphabet="abcçdeəfgğhxıijkqlmnoöprsştuüvyz",
        dotless_i=True,
        infinitives=("maq", "mək"),
        function_words=_words(
            "bir biri birini birinə olmaq etmək eləmək qılmaq qalmaq vermək almaq gəlmək getmək "
            "durmaq çıxmaq düşmək kimi qədər üçün ilə və ya həm də da ki nə heç hər çox ən bu o öz özünü "
            "deyil var yox üstünə"
        ),
        to_common={"ə": "e", "x": "h", "q": "k"},
    ),
    Language(
        code="tk",
        name="Turkmen",
        subset="tuk",
        alphabet="abçdeäfghijžklmnňoöprsştuüwyýz",
        dotless_i=False,
        infinitives=("mak", "mek"),
        function_words=_words(
            "bir biri birini birine bolmak etmek eýlemek kylmak galmak bermek almak gelmek gitmek "
            "durmak çykmak düşmek ýaly kimin çenli üçin bilen we ýa hem de da ki ne hiç her köp iň bu şu "
            "ol öz özüni däl bar ýok üstüne"
        ),
        to_common={"ä": "e", "j": "c", "ž": "j", "ň": "n", "w": "v", "y": "ı", "ý": "y"},
    ),
    Language(
        code="gag",
        name="Gagauz",
        subset="gag",
        alphabet="aäbcçdeêfghıijklmnoöprsştţuüvyz",
        dotless_i=True,
        infinitives=("maa", "mää"),
        function_words=_words(
            "bir biri birini birinä olmaa etmää yapmaa kalmaa vermää almaa gelmää gitmää durmaa "
            "çıkmaa düşmää gibi kadar için hem da ki ne hiç her pek en ya bu o kendi kendini diil var "
            "yok üstünä"
        ),
        to_common={"ä": "e", "ê": "e", "ţ": "ts"},
    ),
    Language(
        code="uz",
        name="Uzbek",
        subset="uzn",
        alphabet="abcdefghijklmnopqrstuvxyzʻʼ",
        dotless_i=False,
        infinitives=("moq",),
        function_words=_words(
            "bir biri birini biriga boʻlmoq etmoq qilmoq aylamoq qolmoq bermoq olmoq kelmoq ketmoq "
            "turmoq chiqmoq tushmoq kabi dek day qadar uchun bilan va yoki ham ki nima hech har juda "
            "eng bu shu u oʻz oʻzini emas bor yoʻq ustiga"
        ),
        to_common={
            "oʻ": "ö",
            "gʻ": "ğ",
            "sh": "ş",
            "ch": "ç",
            "ng": "n",
            "x": "h",
            "q": "k",
            "o": "a",
            "ʼ": "",
            "ʻ": "",
        },
    ),
)
LANGUAGES: dict[str, Language] = {language.code: language for language in _ALL}

TARGETS = tuple(code for code in LANGUAGES if code != PIVOT)


def get_language(code: str) -> Language:
    """Return a language by its BCP 47 code, its subset code or its mteb code (``tr``, ``tur``, ``tur-Latn``)."""
    for language in LANGUAGES.values():
        if code in (language.code, language.subset, language.script_code):
            return language
    known = ", ".join(f"{language.code} ({language.name})" for language in LANGUAGES.values())
    raise usage_error(f"unknown language {code!r}; known: {known}; CONTRIBUTING.md says how to add a language")
