import csv
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub_datasets.import_report import Note, Reading
from hub_datasets.importing import import_source
from hub_datasets.sources import columns, paper, turkish, uzbek
from hub_datasets.sources.turkish import split_senses
from tests.hub_datasets.conftest import kevser_file, write_lines
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_table
from turkic_idiom_tasks.lexicon.load import BUNDLED

UZ_HEADER = "idiom,syntax_markers,meaning_uz,meaning_number,homonym_number,variants,example_uz"
TDK_HEADER = "soz_id,sozum,atara,anlami,anahtar,turu2,gosterim_tarihi"


def write(tmp_path, *lines, name="source"):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def uz(tmp_path, *rows):
    """Rows of (idiom, meaning, example[, variants]) as the Uzbek table; the readings that come out, by line."""
    cells = [(idiom, "", meaning, "", "", *(rest or ("",)), example) for idiom, meaning, example, *rest in rows]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    return list(uzbek.read(write(tmp_path, UZ_HEADER, *quoted)))


def paper_rows(tmp_path, *rows):
    """Rows, each a text or what JSON is made of, as lines of the release."""
    return list(paper.read(write_lines(tmp_path / "source", rows)))


def test_paper_keys_in_any_spelling_and_what_cannot_be_used(tmp_path):
    row = {"TR_DEYİM": "göz yummak", "tr-anlam": "görmezden gelmek", "TR–ÖRNEK": "Suça göz yumdu.", "AZ-Deyim": None}
    rows = paper_rows(tmp_path, row | {"UZ-Deyim": float("nan")}, "", {"TR-Deyim": "-", "AZ-Deyim": ""}, "7")
    assert rows[0].readings == {"tr": Reading("göz yummak", "görmezden gelmek", "Suça göz yumdu.")}
    faults = [(1, None), (3, "no idiom in any language"), (4, "not a JSON object")]
    assert [(row.line, row.problem) for row in rows] == faults
    row = {"TR-Deyim": "göz yummak", "TR-Anlam": 7, "AZ-Deyim": "göz yummaq", "UZ-Deyim": {"a": 1}}
    row |= {"TR-Örnekk": "x", "BA-Deyim": "x", "id": 3, "not": "x"}
    (source,) = paper_rows(tmp_path, json.dumps([row]))
    assert source.readings == {"tr": Reading("göz yummak"), "az": Reading("göz yummaq")}
    assert source.notes == (
        Note("meaning removed: not text", "7"),
        Note("idiom removed: not text", '{"a": 1}'),
        Note("unknown key 'TR-Örnekk' not read (nearest: TR-ORNEK)", '"x"'),
        Note("unknown key 'BA-Deyim' not read", '"x"'),  # Bashkir is no misspelt Azerbaijani
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (('{"TR-Deyim": "a"}', '{"TR-Deyim": '), r"source:2: malformed JSON at column \d+"),
        (("[", '{"TR-Deyim": "göz yummak"},', "oops]"), "source: malformed JSON at line 3, column 1"),
        (('{"idiom": "a", "meaning": "b"}',), "source:1: no key such as TR-Deyim.*found idiom, meaning"),
        (("[]",), "source:1: no key .*empty list"),
    ],
)
def test_paper_files_that_cannot_be_read(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        paper_rows(tmp_path, *lines)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            ("KO’Z(I)GA CHO’P SOLMOQ 1", "? aldamoq, firib bermoq.", "– kim? [o’zining] Ko’zimga cho’p solma, deydi."),
            Reading("koʻziga choʻp solmoq", "aldamoq, firib bermoq", "Ko’zimga cho’p solma, deydi.",
                    ("koʻzga choʻp solmoq",)),
        ),
        (("IT O’LGAN JOY", "juda uzoq.", ""), Reading("it oʻlgan joy", "juda uzoq")),  # capital I is dotted
        (("O D A M D A N CHIQMOQ", "a b.", ""), Reading("odamdan chiqmoq", None)),  # a meaning has three letters
        (("YER O’PMOQ [jer öp=]", "abc.", ""), Reading("yer oʻpmoq", "abc")),
        (("FI\u041aR YURITMOQ", "o’yl\u0430moq.", ""), Reading("fikr yuritmoq", "o’ylamoq")),  # Cyrillic К and а
        # pieces, a suffix alone and antonyms are no variants
        (
            ("QO’L UZATMOQ", "yordam.", "",
             "qo’l; uzatmoq; qo’llarni uzatmoq; QO’LINI UZATMOQ; qo’l uzatmaslik; pul uzat-"),
            Reading("qoʻl uzatmoq", "yordam", None, ("qoʻllarni uzatmoq", "qoʻlini uzatmoq")),
        ),
        # noise in meanings
        (("BIR GAP", "[γam je=] tar. tashvish chekmoq.", ""), Reading("bir gap", "tashvish chekmoq")),
        (("BIR GAP", "[kishi] kuzatish paytida aytiladi.", ""), Reading("bir gap", "kishi kuzatish paytida aytiladi")),
        (("BIR GAP", "(yoki", ""), Reading("bir gap")),
        (("BIR GAP", "A. Qahhor. Oltin yulduz.", ""), Reading("bir gap")),
        (("BIR GAP", "ayn. ado bo’lmoq.", ""), Reading("bir gap")),
        (("BIR GAP", "barbod bo’lmoq. Va r i a n t i :", ""), Reading("bir gap", "barbod bo’lmoq")),
        (("BIR GAP", "juda zolim. P", ""), Reading("bir gap", "juda zolim")),
        (("BIR GAP", "(«gap»ni) yashirmoq.", ""), Reading("bir gap", "(«gap»ni) yashirmoq")),
        # noise in examples
        (("BIR GAP", "", "da? nima? kimning? Uning qaddi dol."), Reading("bir gap", None, "Uning qaddi dol.")),
        (("BIR GAP", "", "– Sen kimsan? – dedi u."), Reading("bir gap", None, "– Sen kimsan? – dedi u.")),
        (("BIR GAP", "", "(jonlining)."), Reading("bir gap")),
        # cut off at 600 characters: 35 sentences of 17 are 595, and the last one is cut after 5
        (("BIR GAP", "", ("Bu gap rost edi. " * 40)[:600]), Reading("bir gap", None, ("Bu gap rost edi. " * 35)[:-1])),
        # headwords that cannot be restored
        (("YO’L OCHIL-", "biror narsa.", ""), "idiom is cut off"),
        (("– QO’L(", "biror narsa.", ""), "idiom has unmatched brackets"),
        (("ETMOQ", "biror narsa.", ""), "idiom is one short word"),
        (("BIR OYOG’(I) ..DA QOLMOQ", "biror narsa.", ""), "idiom has a gap"),
    ],
)  # fmt: skip
def test_uzbek_rows(tmp_path, row, expected):
    (source,) = uz(tmp_path, row)
    assert (source.problem or source.readings["uz"]) == expected


def test_uzbek_torn_headword_is_joined_and_its_senses_with_it(tmp_path):
    rows = uz(
        tmp_path,
        ("AZIMAT QILMOQ", "(yoki", ""),
        ("ETMOQ", ") jazm qilmoq.", "Ketishga azimat qildi u."),
        ("ETMOQ", "qaror bermoq.", ""),
        ("OG’ZINI", "(yoki", ""),
        ("TILINI", ")", ""),
        ("TIYMOQ", "gapirmaslik.", ""),
    )
    assert [row.merged is not None for row in rows] == [True, False, False, True, True, False]
    assert [rows[number].readings["uz"] for number in (1, 2, 5)] == [
        Reading("azimat qilmoq", "jazm qilmoq", "Ketishga azimat qildi u.", ("azimat etmoq",)),
        Reading("azimat qilmoq", "qaror bermoq", None, ("azimat etmoq",)),
        Reading("ogʻzini tiymoq", "gapirmaslik", None, ("tilini tiymoq",)),
    ]


def test_kevser_initials_are_small_in_turkish_unless_they_are_of_names(tmp_path):
    path = kevser_file(
        tmp_path,
        "Işığı görmek;İyi anlamak.;To see",
        "İpe un sermek;Isrardan kaçmak;Excuses",
        "Nuh der peygamber demez;Çok inatçı;Stubborn",
        "Karaman’ın koyunu;Yanıltıcı;x",
    )
    path.write_text("\ufeff" + path.read_text("utf-8"), "utf-8")  # as Excel begins a file
    assert [(row.line, row.gloss, row.readings["tr"]) for row in turkish.read_kevser(path)] == [
        (2, "To see", Reading("ışığı görmek", "iyi anlamak")),
        (3, "Excuses", Reading("ipe un sermek", "ısrardan kaçmak")),
        (4, "Stubborn", Reading("Nuh der peygamber demez", "çok inatçı")),
        (5, "x", Reading("Karaman’ın koyunu", "yanıltıcı")),
    ]


def test_kevser_definition_in_the_wrong_column_is_told_by_the_alphabet(tmp_path):
    path = kevser_file(
        tmp_path,
        "Dara düşmek;Darda kalmak;x",
        "Darda kalmak;Parasız kalmak;x",  # an idiom that also defines its neighbour: in order, kept
        "El ayak çekilmek;Ortalıkta kimse kalmamak;x",
        "Ortalıkta kimse kalmamak;İş yeri;x",
        "El açmak;Dilenmek;x",
    )
    problems = [row.problem for row in turkish.read_kevser(path)]
    assert problems == [None, None, None, "idiom is the meaning of another row", None]


@pytest.mark.parametrize(
    ("markup", "senses"),
    [
        (
            "1. çok yorulmak: <i>Bugün canım çıktı.</i> -H. Taner. <i>İkinci örnek.</i> 2. ölmek.",
            [("çok yorulmak", "Bugün canım çıktı."), ("ölmek", None)],
        ),
        ("1. <i>mec.</i> kızmak: <i>Küplere bindi.</i>", [("kızmak", "Küplere bindi.")]),
        ("&#39;a&#39; 3. sırada kalmak", [("'a' 3. sırada kalmak", None)]),  # 3 is no first sense
        ("1. bir 3. katta oturmak 2. inmek", [("bir 3. katta oturmak", None), ("inmek", None)]),
        ("&lt;i&gt;yalnız örnek&lt;/i&gt;", [(None, "yalnız örnek")]),
    ],
)
def test_tdk_senses(markup, senses):
    assert split_senses(markup) == senses


def test_tdk_rows_of_other_kinds_and_references(tmp_path):
    path = write(
        tmp_path,
        TDK_HEADER,
        '1,"canı çıkmak",,"1. ölmek. 2. çok yorulmak: <i>Canım çıktı bugün.</i>",,Deyim,2020',
        "2,damlaya damlaya göl olur,,azar azar birikir,,Atasözü,2020",
        "3,gözü açılmak (I),,bk. gözü açık,,DEYİM,2020",
    )
    rows = list(turkish.read_tdk(path))
    assert [(row.line, row.problem) for row in rows] == [(2, None), (2, None), (3, "not an idiom"), (4, None)]
    assert rows[1].readings["tr"] == Reading("canı çıkmak", "çok yorulmak", "Canım çıktı bugün.")
    assert rows[3].readings["tr"] == Reading("gözü açılmak")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "utf16").write_bytes("tr\nağız\n".encode("utf-16"))
    (tmp_path / "excel").write_bytes(b"PK\x03\x04\xff")
    (tmp_path / "latin5").write_bytes("a,b\nağız,çok\n".encode("iso8859-9"))
    write(tmp_path, "", name="empty")
    write(tmp_path, "kelime,anlam", "a,b", name="other")
    for name, message in [
        ("utf16", "iconv -f UTF-16 -t UTF-8"),
        ("excel", "an Excel or zip file; export it as CSV"),
        ("latin5", r"latin5:2: not UTF-8 \(byte 0xF0\)"),
        ("empty", "empty: is empty"),
        ("absent", r"absent: cannot be read \(No such file"),
        (".", "Is a directory"),
        ("other", "other:1: the columns Deyimler.* are missing; found kelime, anlam"),
    ]:
        with pytest.raises(InputError, match=message):
            import_source("kevser", tmp_path / name)


@pytest.mark.parametrize("stray", ['"Göz yummak;Anlam;x', 'Göz yummak;Anlam;"x'])
@pytest.mark.parametrize("second", [{}, {9: '"Söz kesmek;Anlam;x'}])
def test_a_stray_quotation_mark_costs_its_own_row_alone(tmp_path, stray, second):
    faulty = {4: stray} | second
    rows = [faulty.get(line, f"İdiom {line};Anlam {line};x") for line in range(2, 11)]
    read = list(turkish.read_kevser(kevser_file(tmp_path, *rows)))
    assert [row.line for row in read] == list(range(2, 11))  # every physical line is accounted for
    assert {row.line: row.value for row in read if row.problem == "stray quotation mark"} == faulty
    assert sum("tr" in row.readings for row in read) == 9 - len(faulty)


def test_a_cell_whose_lines_look_like_rows_is_refused_with_this_reason(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('first,second\n"a, b\nc",d\ne,f\n', encoding="utf-8")
    records = list(read_table(path, ("first",)))
    assert [record.line for record in records] == [2, 3, 4]
    assert ["line breaks in a cell" in (record.problem or "") for record in records] == [True, True, False]


ONE_LINE = st.text(st.sampled_from('ab";,\t ğ'), max_size=8)
SEVERAL_LINES = st.text(st.sampled_from('ab"\n ğ'), max_size=8)
CELLS = st.tuples(ONE_LINE, ONE_LINE, ONE_LINE) | st.tuples(SEVERAL_LINES, SEVERAL_LINES, SEVERAL_LINES)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(CELLS, min_size=1, max_size=6), delimiter=st.sampled_from(",;\t"))
def test_tables_that_csv_wrote_are_read_back(tmp_path, rows, delimiter):
    path = tmp_path / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([("first", "second", "third"), *rows])
    records = list(read_table(path, ("first",)))
    assert [tuple(record.cells.values()) for record in records] == [
        row for row in rows if any(cell.strip() for cell in row)
    ]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("tr,az,tr-meanings", r"table:1: unknown column 'tr-meanings'; nearest: tr-meaning;"),
        ("tr,az,az", "the column az appears twice"),
        ("tr,tr-meanings,az-exampel", "unknown column 'tr-meanings'; .*unknown column 'az-exampel'; nearest: az-ex"),
        # another language, not a misspelt one of ours
        ("tr,az,ba-idiom", r"unknown column 'ba-idiom'; no language has the code ba; fill in .*/languages.jsonl,"),
    ],
)
def test_a_misspelt_column_of_a_table_is_named(tmp_path, header, message):
    (row,) = columns.read(write(tmp_path, "tr,az,number", "göz yummak,göz yummaq,3"))  # a column of something else
    assert set(row.readings) == {"tr", "az"}
    assert [note.value for note in row.notes] == ["number"]
    with pytest.raises(InputError, match=message):
        list(columns.read(write(tmp_path, header, "göz yummak,göz yummaq,x", name="table")))


def test_the_record_of_another_language_begins_on_a_line_of_its_own(tmp_path):
    known = (BUNDLED.parent.parent / "languages.jsonl").read_text("utf-8").splitlines()[0]
    records = tmp_path / "languages.jsonl"
    records.write_text(known, "utf-8")  # as editors save it, without a line end
    with pytest.raises(InputError, match=r"no language has the code ba.*no language has the code sah"):
        list(columns.read(write(tmp_path, "tr,ba-idiom,ba-meaning,sah-idiom", "göz,күҙ,йомоу,харах", name="table")))
    first, *others = records.read_text("utf-8").splitlines()
    assert (first, [json.loads(record)["code"] for record in others]) == (known, ["ba", "sah"])
