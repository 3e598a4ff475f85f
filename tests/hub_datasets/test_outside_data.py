"""The real files, when they are there; rows and their faults were counted by other means, see each test."""

import csv

import pytest

from hub_datasets.importing import FORMATS, import_source, write_import
from turkic_idiom_tasks.lexicon.load import read_lexicon


@pytest.fixture
def uzbek(outside_data):
    return outside_data / "uz-idioms" / "uzbek_idioms.csv"


@pytest.fixture
def turkish(outside_data):
    return outside_data / "tr-kevser" / "Teknofest" / "Data" / "idioms_translation_2.csv"


def test_uzbek_dictionary(uzbek, tmp_path):
    imported = import_source(FORMATS["uz-idioms"], uzbek)
    report = imported.report
    assert report.rows == report.readings == 4408  # as its README says
    kept = len(imported.entries["uz"])
    assert kept + report.merged.total() + report.dropped.total() == 4408
    with uzbek.open(encoding="utf-8", newline="") as file:
        cut_off = sum(row["idiom"].rstrip().endswith("-") for row in csv.DictReader(file))
    assert report.dropped.counts()["idiom is cut off"] == cut_off
    assert kept >= 0.95 * 4408
    write_import(imported, tmp_path / "out")
    assert read_lexicon(tmp_path / "out")[1] == []
    idioms = {entry.idiom: entry for entry in imported.entries["uz"]}
    assert idioms["adabi berildi"].variants == ("adab berildi", "adabini bermoq")
    assert idioms["azimat qilmoq"].variants == ("azimat etmoq",)
    assert "fikr yuritmoq" in idioms
    assert "odamgarchilikdan chiqmoq" in idioms
    for entry in imported.entries["uz"]:
        assert entry.idiom == entry.idiom.lower()
        assert not entry.meaning or not entry.meaning.startswith(("?", "[", "yoki"))
        assert "=" not in (entry.meaning or "")


def test_turkish_list(turkish, tmp_path):
    imported = import_source(FORMATS["kevser"], turkish)
    report = imported.report
    assert report.rows == report.readings == 1308
    kept = len(imported.entries["tr"])
    assert kept + report.merged.total() + report.dropped.total() == 1308
    assert report.dropped.counts()["idiom is the meaning of another row"] == 2  # lines 304 and 635, found by eye
    assert kept >= 1300
    write_import(imported, tmp_path / "out")
    assert read_lexicon(tmp_path / "out")[1] == []
    idioms = {entry.idiom: entry for entry in imported.entries["tr"]}
    assert idioms["ağzı açık kalmak"].concept == "agzi-acik-kalmak"
    assert idioms["aklını başına almak"].variants == ("aklını başına toplamak", "aklını başına devşirmek")
    assert all(concept.gloss for concept in imported.concepts)
