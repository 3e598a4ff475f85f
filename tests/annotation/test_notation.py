import pytest

from turkic_idiom_tasks.annotation.notation import are_alike, has_unmatched_brackets, resolve_forms

# (headword, citation form, variants), each worked out from the rules in the module's docstring
HEADWORDS = [
    ("adab(i) berildi", "adabi berildi", ("adab berildi",)),
    ("hafsala(si) pir boʻldi", "hafsalasi pir boʻldi", ("hafsala pir boʻldi",)),
    (
        "bosh(i)ni ikki[ta] qilmoq",
        "boshini ikki qilmoq",
        ("boshni ikki qilmoq", "boshini ikkita qilmoq", "boshni ikkita qilmoq"),
    ),
    # yurag, qulogʻ and koʻngl are no words: the stem would have to be restored (yurak, quloq, koʻngil)
    ("yurag(i) ezildi", "yuragi ezildi", ()),
    ("qulogʻ(i) ogʻir", "qulogʻi ogʻir", ()),
    ("koʻngl(i) bor", "koʻngli bor", ()),
    ("afv etmoq (yoki qilmoq)", "afv etmoq", ("afv qilmoq",)),
    ("suvday (suvdek) ichmoq", "suvday ichmoq", ("suvdek ichmoq",)),
    ("davra olmoq (yasamoq, qurmoq)", "davra olmoq", ("davra yasamoq", "davra qurmoq")),
    ("chayon chaqib olganday (yoki chayon chaqqan odamday)", "chayon chaqib olganday", ("chayon chaqqan odamday",)),
    ("xudoga (ming marta, beadad) shukur!", "xudoga shukur!", ()),
    ("koʻzi bor (odam)", "koʻzi bor", ()),
    ("«ali» desa(...), «bali» demoq", "«ali» desa, «bali» demoq", ()),
    ("dard chidaydi [?]", "dard chidaydi", ()),
    ("oyoq osti boʻlmoq – oyoq osti qilmoq", "oyoq osti boʻlmoq", ("oyoq osti qilmoq",)),
    ("bedananing uyi yoʻq, qayerga borsa – bitbildiq", "bedananing uyi yoʻq, qayerga borsa – bitbildiq", ()),
    ("aytmagan joyga – yoʻnmagan tayoq", "aytmagan joyga – yoʻnmagan tayoq", ()),
    ("jon kirdi – jon kirgizmoq //kiritmoq", "jon kirdi", ("jon kirgizmoq", "jon kiritmoq")),
    ("bad olmoq/ bad yemoq", "bad olmoq", ("bad yemoq",)),
    ("bola bahona – diydor gʻanimat (shakllari: gul bahona...)", "bola bahona – diydor gʻanimat", ()),
    ("yoqa- (si)ga yopishsin!", "yoqasiga yopishsin!", ("yoqaga yopishsin!",)),
    (
        "Aklını başına almak / toplamak / devşirmek",
        "Aklını başına almak",
        ("Aklını başına toplamak", "Aklını başına devşirmek"),
    ),
    ("Her kafadan bir ses (çıkmak)", "Her kafadan bir ses", ("Her kafadan bir ses çıkmak",)),
    ("Gözlerini (gözünü) kan bürümek", "Gözlerini kan bürümek", ("gözünü kan bürümek",)),
    ("Kul köle (veya kurban) olmak", "Kul köle olmak", ("Kul kurban olmak",)),
    ("Ağzı (bir karış) açık kalmak", "Ağzı açık kalmak", ()),
    ("Külünü (göğe) savurmak:", "Külünü savurmak", ()),
]


@pytest.mark.parametrize(("headword", "citation", "variants"), HEADWORDS)
def test_forms_of_a_headword(headword, citation, variants):
    forms = resolve_forms(headword)
    assert (forms.citation, forms.variants) == (citation, variants)


def test_words_are_alternatives_by_beginning_or_ending():
    assert are_alike("düşmek", "kesilmek")
    assert are_alike("kızıl", "kızılca")
    assert are_alike("su", "sular")
    assert not are_alike("laf", "söz")


@pytest.mark.parametrize("text", ["qoʻl(", "dumalamoq)", "uchmoq [hava", "«ali desa"])
def test_a_left_over_bracket_is_seen(text):
    assert has_unmatched_brackets(text)
    assert not has_unmatched_brackets("«ali» desa")
