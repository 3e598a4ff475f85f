import csv
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub_datasets.cleaning import SLUG_LIMIT, clean_reading, clean_text, concept_stems, sense_id, slug
from hub_datasets.import_report import DROPPED, MERGED, REPORT_FILE, Reading
from hub_datasets.importing import import_source, write_import
from tests.hub_datasets.conftest import kevser_file, write_lines
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import CONCEPT_ID, Entry
from turkic_idiom_tasks.lexicon.load import read_lexicon

IDIOMS = st.text(alphabet="abçdeəgğhıiİIjkqlmnňoöpsştţuüvyýzʻʼ' -", min_size=1, max_size=90)
TURKISH, AZERBAIJANI, UZBEK = LANGUAGES["tr"], LANGUAGES["az"], LANGUAGES["uz"]
KEYS = {code: code.upper() for code in LANGUAGES} | {"gag": "GA"}


def import_paper(directory, *rows):
    """Imports rows of {language: (idiom, meaning, example)}, written as a release of the paper has them."""
    release = [{} for _ in rows]
    for cells, row in zip(release, rows, strict=True):
        for code, fields in row.items():
            for key, text in zip(("Deyim", "Anlam", "Ornek"), fields, strict=False):
                cells[f"{KEYS[code]}-{key}"] = text
    return import_source("paper", write_lines(directory / "release.json", [json.dumps(release)]))  # one JSON list


def account(report):
    """Readings that the report explains; must be all of them."""
    explained = [reason["count"] for part in ("dropped", "merged") for reason in report[part].values()]
    return report["entries"] + sum(explained)


def test_paper_rows_become_concepts_named_by_their_turkish_idiom(tmp_path):
    imported = import_paper(
        tmp_path,
        {"tr": ("gözü açılmak", "uyanmak", "Gözü açıldı."), "az": ("gözü açılmaq", "ayılmaq"), "gag": ("-", "", None)},
        {"tr": ("-", "-"), "az": ("ürəyi əsmək", "qorxmaq"), "uz": ("yuragi o’ynamoq", "qo’rqmoq")},
        {"tr": (" - ", "", None), "gag": ("aazı kulaanda",)},
    )
    assert imported.entries == {
        "tr": [Entry("gozu-acilmak", "gözü açılmak", "uyanmak", "Gözü açıldı.", source="paper:1")],
        "az": [
            Entry("gozu-acilmak", "gözü açılmaq", "ayılmaq", source="paper:1"),
            Entry("ureyi-esmek", "ürəyi əsmək", "qorxmaq", source="paper:2"),
        ],
        "uz": [Entry("ureyi-esmek", "yuragi oʻynamoq", "qoʻrqmoq", source="paper:2")],
        "gag": [Entry("aazi-kulaanda", "aazı kulaanda", source="paper:3")],
    }
    assert imported.readings == 5


def test_same_idiom_with_another_meaning_is_a_further_sense_in_the_order_of_the_file(tmp_path):
    path = kevser_file(tmp_path, "Yol vermek;Geçirmek;x", "Yol vermek;Kovmak;y", "yol  vermek;geçirmek.;z")
    imported = import_source("kevser", path)
    senses = [("yol-vermek", "geçirmek"), ("yol-vermek--2", "kovmak")]
    assert [(entry.concept, entry.meaning) for entry in imported.entries["tr"]] == senses
    assert [concept.gloss for concept in imported.concepts] == ["x", "y"]
    assert imported.counts(MERGED) == {"same idiom and meaning": 1}


def test_rows_without_a_meaning_fill_a_missing_example_and_are_no_sense(tmp_path):
    imported = import_paper(
        tmp_path,
        {"tr": ("göz yummak", "görmezden gelmek")},
        {"tr": ("göz yummak", None, "Suça göz yumdu.")},
        {"tr": ("kulak asmak", None, "Sözüme kulak asmadı.")},
        {"tr": ("kulak asmak", "dinlemek")},
    )
    assert imported.entries["tr"] == [
        Entry("goz-yummak", "göz yummak", "görmezden gelmek", "Suça göz yumdu.", source="paper:1"),
        Entry("kulak-asmak", "kulak asmak", "dinlemek", "Sözüme kulak asmadı.", source="paper:3"),
    ]
    assert imported.counts(MERGED) == {"no meaning, and the idiom is there already": 2}


def test_same_concept_twice_takes_languages_and_variants_together(tmp_path):
    turkish = ("göz yummak", "görmezden gelmek")
    imported = import_paper(
        tmp_path,
        {"tr": turkish, "az": ("göz yummaq", "görməmək")},
        {"tr": turkish, "az": ("gözünü yummaq", "görməmək"), "uz": ("koʻz yummoq", "koʻrmaslik")},
        {"tr": turkish, "az": ("göz yummaq", "əhəmiyyət verməmək")},
    )
    variants = ("gözünü yummaq",)
    assert imported.entries["az"] == [
        Entry("goz-yummak", "göz yummaq", "görməmək", variants=variants, source="paper:1")
    ]
    assert [entry.idiom for entry in imported.entries["uz"]] == ["koʻz yummoq"]
    merged = {"same idiom and meaning": 2, "another idiom of the same concept, kept as a variant": 1}
    assert imported.counts(MERGED) == merged
    assert imported.counts(DROPPED) == {"another meaning of the same concept": 1}


def test_idioms_that_differ_only_in_turkish_letters_keep_their_own_concepts(tmp_path):
    path = kevser_file(tmp_path, "Kin tutmak;öç almak istemek;x", "Kın tutmak;kılıfı tutmak;y")
    entries = import_source("kevser", path).entries["tr"]
    assert len({entry.idiom for entry in entries}) == len({entry.concept for entry in entries}) == 2
    assert all(entry.concept.startswith("kin-tutmak-") for entry in entries)


def test_report_accounts_for_every_reading(tmp_path):
    rows = (
        "Göz yummak;Görmezden gelmek;x",  # kept
        "Göz yummak;Görmezden gelmek;x",  # merged
        ";Anlam;x",  # no idiom
        "Kulak asmak;;x",  # nothing said of it
        "Quş uçmaq;Anlam;x",  # q is no Turkish letter
        "El açmak;Ω;x",  # its meaning is no Turkish, and there is no example
        "göz \u202eyummak;Anlam;x",
        f"{'a' * 101};Anlam;x",
        "a;b",  # two cells
    )
    write_import(import_source("kevser", kevser_file(tmp_path, *rows)), tmp_path / "out")
    report = json.loads((tmp_path / "out" / REPORT_FILE).read_text(encoding="utf-8"))
    assert report["rows"] == report["readings"] == 9
    assert account(report) == 9
    assert {reason: part["count"] for reason, part in report["dropped"].items()} == {
        "no idiom": 1,
        "neither meaning nor example": 2,
        "idiom: letters outside the Turkish alphabet": 1,
        "wrong number of cells": 1,
        "idiom: characters that cannot be seen": 1,
        "idiom: longer than 100 characters": 1,
    }
    (case,) = report["dropped"]["idiom: letters outside the Turkish alphabet"]["examples"]
    assert case == {"line": 6, "language": "tr", "value": "quş uçmaq"}


LETTERS = "abcçdeəfgğhxıiİIjkqlmnňoöprsştţuüvwyýzžäê âîû'’ʻʼ`‘-–().,?!:;«»\"[]/1\u00ad\u200b\u0307\u0301жК\u202e\x07\n"
TEXTS = st.none() | st.sampled_from(["-", "göz", "göz yummak", "ko’z", "ürək"]) | st.text(LETTERS, max_size=24)
FIELDS = st.tuples(TEXTS, TEXTS, TEXTS)
ROWS = st.lists(st.dictionaries(st.sampled_from(list(LANGUAGES)), FIELDS, max_size=5), min_size=1, max_size=8)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=ROWS)
def test_an_import_of_the_papers_format_is_always_valid_and_accounted_for(tmp_path, rows):
    try:
        imported = import_paper(tmp_path, *rows)
    except InputError:  # not one entry was good
        return
    write_import(imported, tmp_path / "out", overwrite=True)
    lexicon, problems = read_lexicon(tmp_path / "out")
    assert problems == []
    report = json.loads((tmp_path / "out" / REPORT_FILE).read_text(encoding="utf-8"))
    assert account(report) == report["readings"]
    assert sum(map(len, lexicon.entries.values())) == report["entries"]


def test_text_gets_the_letters_of_its_language():
    assert clean_text("  g\u0131\u0307 o\u0308z\u00a0 ucu\u200b ", TURKISH).split()[1] == "öz"
    assert clean_text("ürәyi \u01ddsmək", AZERBAIJANI) == "ürəyi əsmək"  # Cyrillic ә and the reversed e
    assert clean_text("ko`z, ta'bi, jam’ ichida", UZBEK) == "koʻz, taʼbi, jamʼ ichida"
    assert clean_text("‘yaxshi so'z’ dedi", UZBEK) == "“yaxshi soʻz” dedi"
    assert clean_text("bir işe , birine", TURKISH) == "bir işe, birine"


def test_another_script_keeps_its_letters_and_is_reported_for_latin_ones():
    kazakh = LANGUAGES["kk"]
    assert clean_text(" Жү\u00adрегі  е\u0306, Сен ", kazakh) == "Жүрегі ӗ, Сен"  # composed, С and е stay Cyrillic
    mixed = clean_reading(Reading("бас тарту", "кeлiспеу", "Ол бас тартты."), kazakh)  # e and i are Latin
    assert (mixed.reading.meaning, mixed.reading.example) == (None, "Ол бас тартты.")
    assert mixed.notes[0].what == "meaning removed: letters outside the Kazakh alphabet"


def test_slugs_are_readable_ascii():
    assert slug("ağzı kulaklarına varmak", "tr") == "agzi-kulaklarina-varmak"
    assert slug("ISLIK ÇALMAK", "tr") == "islik-calmak"
    assert slug("gözüň ýaşy", "tk") == "gozun-yasy"
    assert slug("koʻzi ogʻriq, taʼbi yoʻq", "uz") == "kozi-ogriq-tabi-yoq"
    assert slug("көз жұму", "kk") == "koz-yumu"


@given(st.sets(st.tuples(st.sampled_from(["tr", "az", "uz"]), IDIOMS), max_size=12))
def test_ids_are_valid_unique_and_do_not_depend_on_unrelated_idioms(keys):
    stems = concept_stems(keys)
    assert concept_stems(sorted(keys, reverse=True)) == stems
    assert len(set(stems.values())) == len(keys)
    for key, stem in stems.items():
        assert CONCEPT_ID.fullmatch(sense_id(stem, 2))
        assert len(stem) <= SLUG_LIMIT + 7
        if stem == slug(key[1], key[0]):
            assert concept_stems([key]) == {key: stem}


# the real files, when they are there; rows and their faults were counted by other means, see each test


def test_uzbek_dictionary(outside_data, uzbek_import, tmp_path):
    imported = uzbek_import
    assert len(imported.lines) == imported.readings == account(imported.to_json()) == 4408  # as its README says
    with (outside_data / "uz-idioms" / "uzbek_idioms.csv").open(encoding="utf-8", newline="") as file:
        cut_off = sum(row["idiom"].rstrip().endswith("-") for row in csv.DictReader(file))
    assert imported.counts(DROPPED)["idiom is cut off"] == cut_off
    assert len(imported.entries["uz"]) >= 0.95 * 4408
    write_import(imported, tmp_path / "out")
    assert read_lexicon(tmp_path / "out")[1] == []
    idioms = {entry.idiom: entry for entry in imported.entries["uz"]}
    assert idioms["adabi berildi"].variants == ("adab berildi", "adabini bermoq")
    for entry in imported.entries["uz"]:
        assert entry.idiom == entry.idiom.lower()
        assert not entry.meaning or not entry.meaning.startswith(("?", "[", "yoki"))
        assert "=" not in (entry.meaning or "")


def test_turkish_list(outside_data):
    path = outside_data / "tr-kevser" / "Teknofest" / "Data" / "idioms_translation_2.csv"
    imported = import_source("kevser", path)
    assert len(imported.lines) == imported.readings == account(imported.to_json()) == 1308
    assert imported.counts(DROPPED)["idiom is the meaning of another row"] == 2  # lines 304 and 635, found by eye
    assert len(imported.entries["tr"]) >= 1300
    idioms = {entry.idiom: entry for entry in imported.entries["tr"]}
    assert idioms["ağzı açık kalmak"].concept == "agzi-acik-kalmak"
    assert idioms["aklını başına almak"].variants == ("aklını başına toplamak", "aklını başına devşirmek")
    assert all(concept.gloss for concept in imported.concepts)
