"""Expected places are marked by hand with brackets; the sentences are ours."""

import pytest

from hub_datasets.cleaning import clean_reading
from hub_datasets.import_report import Reading
from turkic_idiom_tasks.annotation.annotate import EMPTY, NO_WORDS, NOT_FOUND, TOO_LONG, UNCERTAIN, annotate
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import parse_entry


def check(idiom, expected, code, **options):
    """Brackets put around what is found give the expected sentence."""
    sentence = expected.replace("[", "").replace("]", "")
    for span in reversed(annotate(idiom, sentence, LANGUAGES[code], **options)[0]):
        sentence = f"{sentence[: span.start]}[{span.of(sentence)}]{sentence[span.end :]}"
    assert sentence == expected


TURKISH = [
    # consonant softening: k/ğ, p/b, t/d, ç/c
    ("kulak vermek", "Bana [kulağını ver] biraz."),
    ("hesap sormak", "Bunun [hesabını soracağım]."),
    ("dert yanmak", "Komşusuna [derdini yandı]."),
    ("güç yetirmek", "Buna [gücümüz yetmedi]."),
    # softening of the verb: etmek, gitmek; demek, yemek
    ("kulak kabartmak", "Çocuk [kulak kabartıyor]."),
    ("alay etmek", "Benimle [alay ediyorlar]."),
    ("boşa gitmek", "Onca emek [boşa gidecek]."),
    ("lafını yemek", "Adam [lafını yiyor]."),
    # vowels that drop: ağız, burun, boyun, koyun; and before -yor
    ("ağız açmak", "Toplantıda [ağzını açmadı]."),
    ("burnu sürtülmek", "Sonunda [burnun sürtülecek]."),
    ("boyun eğmek", "Kimseye [boynumuzu eğmeyiz]."),
    ("koynunda beslemek", "Yılanı [koynunuzda beslemişsiniz]."),
    ("masal söylemek", "Bana [masal söylüyor]."),
    ("göz kırpmak", "Yıldızlar [göz kırpıyordu]."),
    ("söz dinlemek", "Oğlan [söz dinliyor]."),
    # another possessive, another case, plural
    ("üstüne almak", "Suçu [üstüme aldım]."),
    ("dişinin kovuğu", "Bu yemek [dişimizin kovuğuna] yetmez."),
    ("eli açık", "Onların [elleri açıktır]."),
    ("başının çaresine bakmak", "Artık [başınızın çaresine bakın]."),
    ("kendini tutmak", "Gülmemek için [kendimi tuttum]."),
    # inserted words, question particles, other order
    ("ayvayı yemek", "Şimdi [ayvayı] mı [yiyeceğiz]?"),
    ("kulağını çekmek", "[Kulağını] güzelce bir [çek] şunun."),
    ("defterden silmek", "[Silerim] adını [defterden]!"),
    ("yol göstermek", "Bize [gösterdiği yol] yanlıştı."),
    ("yer yarılmak", "Sanki [yer] de [yarıldı]."),
    # passive, causative
    ("yol açmak", "Yeni bir [yol açıldı]."),
    ("zaman kazanmak", "Bu bize [zaman kazandırır]."),
    ("yüreğine su serpilmek", "Sözleri [yüreğime su serpti]."),
    # dropped or exchanged light verbs; there is for to be
    ("eli açık olmak", "Ne [eli açık] kadın!"),
    ("dili uzun olmak", "Yine [dili uzun idi] bugün."),
    ("rezil olmak", "Bizi ele güne [rezil ettin]."),
    ("parmağı olmak", "Bu işte onun [parmağı var]."),
    # alternatives in the citation form
    ("Lafı (sözü) çevirmek", "Hemen [sözü çevirdi]."),
    ("Lafı (sözü) çevirmek", "Hemen [lafı çevirdi]."),
    ("gözü kara (veya pek)", "Babası [gözü pek] biriydi."),
    ("gözü kara (veya pek)", "Babası [gözü kara] biriydi."),
    ("Ağzı (bir karış) açık kalmak", "Hepimizin [ağzı bir karış açık kaldı]."),
    ("Ağzı (bir karış) açık kalmak", "Hepimizin [ağzı açık kaldı]."),
    ("Aklını başına almak / toplamak", "[Aklını başına topla]!"),
    # written together, written apart, hyphens
    ("baş kaldırmak", "Köylüler [başkaldırdı]."),
    ("gözdağı vermek", "Bize [göz dağı veriyor]."),
    ("baş başa vermek", "[Baş-başa verdiler]."),
    # capital letters: İ and I; plain letters; misspelling
    ("içi içine sığmamak", "[İÇİ İÇİNE SIĞMIYOR] ÇOCUĞUN."),
    ("ışık tutmak", "[IŞIK TUTTU] BİZE."),
    ("altını çizmek", "Bunun [altini cizdim]."),
    ("gündeme gelmek", "Konu [gündeme geldi]."),
    ("merdivenden çıkmak", "Yavaşça [merdiveden çıktı]."),
    # a comma is bridged where the citation form has it, and only there
    ("armut piş ağzıma düş", "O hep [armut piş], [ağzıma düş] der."),
    ("armut piş, ağzıma düş", "O hep [armut piş, ağzıma düş] der."),
    # every occurrence
    ("göz yummak", "Dün [göz yumdu]. Bugün de [göz yumuyor]."),
    ("söz vermek", "[Söz ver], sonra [söz verdim] de."),
    # line break between the words
    ("göz yummak", "Müdür [göz\nyumdu]."),
]


OTHERS = [
    # Azerbaijani: k/y, q/ğ, t/d; vowels that drop
    ("az", "ürək yandırmaq", "Ona [ürəyini yandırdı]."),
    ("az", "qulaq asmaq", "Sözümə [qulağını asmır]."),
    ("az", "söhbət etmək", "Hər axşam [söhbət edirik]."),
    ("az", "boşa getmək", "Zəhmətimiz [boşa gedir]."),
    ("az", "ağız açmaq", "Kimsəyə [ağzını açmayıb]."),
    ("az", "könlünü almaq", "Ananın [könlünü] mən [alaram]."),
    ("az", "yol açmaq", "Bu [yol aça] bilər."),
    ("az", "əl-ayağa düşmək", "Hamı [əl-ayağa düşmüşdü]."),
    ("az", "suyu süzülmək", "Oğlan [suyu süzülə-süzülə] qayıtdı."),
    ("az", "əsəbləri ilə oynamaq", "Mənim [əsəblərimlə oynama]!"),
    ("az", "gözü tox olmaq", "[GÖZÜ TOX] ADAMDIR."),
    # Turkmen: k/g, e/ä, vowels that drop, -ýar, -ok, negative infinitive, joined particle
    ("tk", "ýürek bermek", "Maňa [ýüregiňi ber]."),
    ("tk", "depesi göge ýetmek", "Begenjimden [depäm göge ýetdi]."),
    ("tk", "agzyny açmak", "Ol [agzymy açdyrmaýar]."),
    ("tk", "eli degmezlik", "Oňa [elim degenok]."),
    ("tk", "ýola düşmek", "Kerwen [ýola] daňdan [düşüpdir]."),
    ("tk", "puly bolmazlyk", "[Puly bolmasa-da], baý gürleýär."),
    ("tk", "gülki bolmak", "Ile [gülki bolaýma]."),
    ("tk", "sözünde durmak", "Sen [sözüňde durarsyňmy]?"),
    # Gagauz: lost ğ, -êr, contracted future
    ("gag", "kulak asmaa", "Bana [kulaanı as]!"),
    ("gag", "ayaa kalkmaa", "Küü [ayaa kalkêr]."),
    ("gag", "laf işlemää", "Genä [laf işleer]."),
    ("gag", "türkü oynamaa", "[Türkü oynêêrlar]."),
    ("gag", "başa çıkmaa", "Biz [başa çıkacez]."),
    ("gag", "gözü açılmaa", "Onun [gözleri açıldı]."),
    # Uzbek: k/g, q/gʻ, vowels that drop, chiqqan, tekkan, converb and auxiliary, any apostrophe
    ("uz", "yurak yutmoq", "Sen [yuragingni yutibsan]."),
    ("uz", "quloq solmoq", "Menga [qulogʻingizni soling]."),
    ("uz", "koʻngil bermoq", "Qizga [koʻnglini bergan]."),
    ("uz", "yoʻldan chiqmoq", "Bola [yoʻldan chiqqandi]."),
    ("uz", "joniga tegmoq", "Bu gap [jonimga tekkan]."),
    ("uz", "koʻz tikmoq", "Boylikka [ko'z tikib] qoldi."),
    ("uz", "oʻzini yoʻqotib qoʻymoq", "Qiz [oʻzini yoʻqotdi]."),
    ("uz", "gapini boʻlmoq", "[Gapingizni] yana [boʻlyapmanmi]?"),
    ("uz", "qoʻli gul", "Opam [qoʻli gul]-da, xolos."),
    # a citation form in the past tense; an idiom of one word, which has no suffix to spare
    ("uz", "koʻngli bormadi", "Unga [koʻnglimiz bormayapti]."),
    ("uz", "otday", "Jahl [otday] yondi."),
    ("uz", "otday", "U otiga mindi."),
    # Kazakh: b/p, gh/q at the end of a verb, a vowel that only the infinitive drops, ю for йу, negation
    ("kk", "тілін табу", "Ақыры [тілімізді тапты]."),
    ("kk", "бетке шығу", "Осы сөз [бетке шыққан]."),
    ("kk", "жаны ашу", "Оған [жаным ашиды]."),
    ("kk", "қол қою", "Келісімге [қол қойылды]."),
    ("kk", "құлақ аспау", "[Құлақ] ешкімге [аспағансың]!"),
    ("kk", "төбесі көкке жету", "Қуанғаннан [төбеміз көкке жетті]."),
    ("kk", "бас тарту", "Ол басын көтерді."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "idiom", "expected"), [*(("tr", *row) for row in TURKISH), *OTHERS])
def test_what_is_marked(code, idiom, expected):
    check(idiom, expected, code)


def test_variants_are_looked_for_too():
    check("sözü uzatmak", "Hiç [lafı uzatma].", "tr", variants=["lafı uzatmak"])
    check("sözü uzatmak", "Hiç lafı uzatma.", "tr")


def test_without_suffixes_exact_forms_are_found_in_any_script(monkeypatch):
    alphabet = "ئاەبپتجچخدرزژسشغفقكگڭلمنھوۇۆۈۋېىي"
    uyghur = Language("ug", "Uyghur", "ئۇيغۇرچە", subset="uig", script="Arab", alphabet=alphabet, infinitives=("ماق",))
    monkeypatch.setitem(LANGUAGES, "ug", uyghur)
    check("قۇلاق سالماق", "ئۇ سۆزگە [قۇلاق سالدى].", "ug", variants=["قۇلاق سالدى"])
    check("قۇلاق سالماق", "ئۇ سۆزگە قۇلاق سالدى.", "ug")
    row = {"concept": "pay-heed", "idiom": "قۇلاق سالماق", "meaning": None, "example": None, "spans": None}
    assert parse_entry(row, uyghur)[1] == []
    assert "has 'c' (U+0063)" in parse_entry(row | {"idiom": "قۇلاق cالماق"}, uyghur)[1][0]
    assert clean_reading(Reading("قۇلاق  سالماق"), uyghur).reading.idiom == "قۇلاق سالماق"
    assert uyghur.script_code == "uig-Arab"


@pytest.mark.parametrize(
    ("idiom", "sentence", "reason"),
    [
        ("göz yummak", "Hava bugün güzel.", NOT_FOUND),
        ("göz yummak", "Gözü kaldı.", NOT_FOUND),
        ("ölmek üzere olmak", "Bir oldu iki oldu.", NOT_FOUND),  # öl- and ol- are not one verb in plain letters
        ("adam atmak", "Adı çıktı, at geldi.", NOT_FOUND),
        ("göz yummak", "Gözü kaldı. Sonra ağzını yumdu.", UNCERTAIN),  # never across a full stop
        ("göz yummak", f"Gözü {'bir ' * 13} yumdu.", UNCERTAIN),
        ("kara gün", "Gün bitti, hava kara.", UNCERTAIN),  # a noun phrase is not turned round
        ("yerle bir etmek", "Yine bir ses etti.", NOT_FOUND),
        ("...", "Hava güzel.", NO_WORDS),
        ("a " * 25, "a", NO_WORDS),
        ("göz " * 60, "göz", TOO_LONG),
        ("göz yummak", "… !", EMPTY),
    ],
)
def test_what_is_dropped_has_a_reason(idiom, sentence, reason):
    assert annotate(idiom, sentence, LANGUAGES["tr"]) == ((), reason)


def test_hostile_input_takes_no_time():
    """Repeated words make a search of 7 ** 20 arrangements, and stripping a long word is quadratic, unless bounded."""
    turkish = LANGUAGES["tr"]
    assert annotate("bir " * 20, "bir " * 3000, turkish)[0]
    assert annotate("el açmak", "a" * 300_000, turkish)[1] == NOT_FOUND
    assert annotate("x (y) " * 33, "z", turkish)[1]
