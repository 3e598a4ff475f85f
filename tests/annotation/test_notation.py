import pytest

from turkic_idiom_tasks.annotation.notation import resolve_forms

# (headword, citation form, variants), each worked out from the rules in the docstrings of the module
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
    ("koʻngl(i) bor", "koʻngli bor", ()),
    ("afv etmoq (yoki qilmoq)", "afv etmoq", ("afv qilmoq",)),
    ("suvday (suvdek) ichmoq", "suvday ichmoq", ("suvdek ichmoq",)),
    ("chayon chaqib olganday (yoki chayon chaqqan odamday)", "chayon chaqib olganday", ("chayon chaqqan odamday",)),
    ("xudoga (ming marta, beadad) shukur!", "xudoga shukur!", ()),
    ("«ali» desa(...), «bali» demoq", "«ali» desa, «bali» demoq", ()),
    ("oyoq osti boʻlmoq – oyoq osti qilmoq", "oyoq osti boʻlmoq", ("oyoq osti qilmoq",)),
    ("bedananing uyi yoʻq, qayerga borsa – bitbildiq", "bedananing uyi yoʻq, qayerga borsa – bitbildiq", ()),
    ("jon kirdi – jon kirgizmoq //kiritmoq", "jon kirdi", ("jon kirgizmoq", "jon kiritmoq")),
    ("bola bahona – diydor gʻanimat (shakllari: gul bahona...)", "bola bahona – diydor gʻanimat", ()),
    ("yoqa- (si)ga yopishsin!", "yoqasiga yopishsin!", ("yoqaga yopishsin!",)),
    (
        "Aklını başına almak / toplamak / devşirmek",
        "Aklını başına almak",
        ("Aklını başına toplamak", "Aklını başına devşirmek"),
    ),
    ("Her kafadan bir ses (çıkmak)", "Her kafadan bir ses", ("Her kafadan bir ses çıkmak",)),
    ("Gözlerini (gözünü) kan bürümek", "Gözlerini kan bürümek", ("gözünü kan bürümek",)),
    ("Külünü (göğe) savurmak:", "Külünü savurmak", ()),
]


@pytest.mark.parametrize(("headword", "citation", "variants"), HEADWORDS)
def test_forms_of_a_headword(headword, citation, variants):
    assert resolve_forms(headword) == (citation, variants)
