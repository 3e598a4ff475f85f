"""`turkic-idiom dataset review FILES`: files from outside, agreement by hand arithmetic, what is written."""

import json
from dataclasses import replace
from datetime import date

import pytest

from hub_datasets.browse import page
from hub_datasets.cards import lexicon_card
from hub_datasets.lexicon_figures import language_figures
from hub_datasets.verdicts import compare_reviewers, krippendorff_alpha, pair_agreement, read_reviews
from tests.hub_datasets.conftest import kevser_file, read_lines, write_entries, write_lines
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon
from turkic_idiom_tasks.lexicon.reviews import REVIEWS_FILE, Review

TODAY = date(2026, 3, 1)
IDIOMS = {"a": "baş əymək", "b": "göz yummaq", "c": "qulaq asmaq"}
OK = {"form": "ok", "meaning": "ok", "concept": "ok", "example": "ok"}
UNKNOWN = dict.fromkeys(OK, "unknown")


@pytest.fixture
def directory(tmp_path):
    entries = [Entry(concept, idiom, "m") for concept, idiom in IDIOMS.items()]
    return write_entries(tmp_path / "lexicon", az=entries)


def row(concept, reviewer="AB", *, verdicts=OK, day="2026-02-01", **changes):
    # verdicts of another revision are accepted
    review = {"format": 1, "lexicon_revision": "0" * 40, "language": "az", "comment": "", "correction": ""}
    review |= {"concept": concept, "idiom": IDIOMS.get(concept, "x"), "reviewer": reviewer, "date": day}
    return review | {"verdicts": verdicts} | changes


def wrong(*fields):
    return OK | dict.fromkeys(fields, "wrong")


@pytest.mark.parametrize(
    ("observers", "alpha", "printed"),
    [
        # Section A: two observers, ten units, no value missing. Unlike in units 1, 3, 6 and 9: 4 * 2 ordered pairs of
        # 20 values, D_o = 8/20. There are 14 zeros and 6 ones: D_e = 2 * 14 * 6 / (20 * 19) = 168/380.
        # alpha = 1 - (8/20) * (380/168) = 1 - 152/168.
        (("0100000010", "1110010000"), 16 / 168, 0.095),
        # Section B: two observers, twelve units, five categories. Unlike in units 1, 5 and 12: D_o = 6/24. Of 24 values
        # a 4, b 6, c 6, d 6, e 2: D_e = 1 - (4*3 + 6*5 + 6*5 + 6*5 + 2*1) / (24*23) = 448/552.
        # alpha = 1 - (1/4) * (552/448).
        (("aabbdcccedda", "babbbccceddd"), 310 / 448, 0.692),
        # Section C: four observers, twelve units, values missing. The last unit has one value and does not count;
        # n = 40. Unlike ordered pairs by (values - 1): unit 2 has 2 3 2 2, 6/3; unit 6 has 1 2 3 4, 12/3; unit 8 has
        # 1 1 2 1, 6/3: D_o = 8/40. Of 40 values 1: 9, 2: 13, 3: 10, 4: 5, 5: 3:
        # D_e = 1 - (72 + 156 + 90 + 20 + 6) / (40*39) = 1216/1560. alpha = 1 - (8/40) * (1560/1216) = 1 - 312/1216.
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 904 / 1216, 0.743),
    ],
)
def test_alpha_of_the_papers_examples(observers, alpha, printed):
    """Krippendorff 2011, sections A to C; the last column is what is printed there."""
    units = [[value for value in unit if value != "."] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(alpha)
    assert round(krippendorff_alpha(units), 3) == printed


def test_of_perfect_disagreement_alpha_is_below_zero_and_no_pair_is_the_same():
    # D_o = 4/4, D_e = 2 * 2 * 2 / (4 * 3) = 8/12: alpha = 1 - 12/8
    assert krippendorff_alpha([["ok", "wrong"], ["wrong", "ok"]]) == pytest.approx(-0.5)
    assert pair_agreement([["ok", "wrong"], ["wrong", "ok"]]) == 0
    assert pair_agreement([["ok"], []]) is None
    assert krippendorff_alpha([["ok", "ok"], ["ok", "ok", "ok"], ["wrong"]]) is None  # where nothing varies
    assert pair_agreement([["ok", "ok", "wrong"]]) == pytest.approx(1 / 3)


def test_agreement_and_disagreements_of_a_lexicon(directory, tmp_path, dataset):
    rows = [
        row("a", "AB", verdicts=wrong("meaning")), row("b", "AB"), row("c", "AB", verdicts=UNKNOWN),
        row("a", "CD"), row("b", "CD", verdicts=wrong("example")), row("c", "CD"),
        row("a", "EF", verdicts=wrong("meaning", "example")),
    ]  # fmt: skip
    stdout, _ = dataset("review", write_lines(tmp_path / "all.jsonl", rows), "--data", directory)
    lexicon = load_lexicon(directory)
    agreements, disagreements = compare_reviewers(lexicon)
    by_field = {one.field: one for one in agreements}
    assert {one.entries for one in by_field.values()} == {2}  # c is unknown to one of its two reviewers
    # form: four pairs alike, no variation. meaning: a has wrong ok wrong, 1 of 3 pairs alike; b has ok ok, 1 of 1.
    assert (by_field["form"].share, by_field["form"].alpha) == (1, None)
    assert by_field["meaning"].share == pytest.approx(2 / 4)
    # Unlike ordered pairs: a 4/2 = 2; five values, 3 ok and 2 wrong: D_o = 2/5, D_e = 12/20; alpha = 1 - 2/3.
    assert by_field["meaning"].alpha == pytest.approx(1 / 3)
    # example: a has ok ok wrong, 1 of 3 pairs alike; b has ok wrong, 0 of 1. D_o = (2 + 2)/5, D_e = 12/20.
    assert by_field["example"].share == pytest.approx(1 / 4)
    assert by_field["example"].alpha == pytest.approx(1 - (4 / 5) / (12 / 20))
    assert [(one.concept, one.field, one.reviewers) for one in disagreements] == [
        ("a", "meaning", {"ok": ["CD"], "wrong": ["AB", "EF"]}),
        ("a", "example", {"ok": ["AB", "CD"], "wrong": ["EF"]}),
        ("b", "example", {"ok": ["AB"], "wrong": ["CD"]}),
    ]
    table = [line.split() for line in stdout.splitlines()]
    assert ["az", "form", "2", "100.0%", "undefined"] in table
    assert ["az", "meaning", "2", "50.0%", "0.333"] in table
    assert "disagreements: 3" in stdout
    assert "ok: CD; wrong: AB, EF" in stdout


def test_verdicts_are_written_sorted_and_the_newest_of_a_reviewer_wins(directory, tmp_path, dataset):
    before = load_lexicon(directory).revision
    first = write_lines(tmp_path / "one.jsonl", [row("b", comment="çox yaxşı"), row("a", day="2026-02-03")])
    dataset("review", first, "--data", directory)
    newer, other = row("b", day="2026-02-02"), row("c", "CD")
    second = write_lines(tmp_path / "two.jsonl", [row("a", comment="older"), newer, other])
    stdout, _ = dataset("review", second, first, "--data", directory)
    assert "1 reviews added, 1 replaced, 1 there already, 2 older than those there" in stdout
    assert read_lines(directory / REVIEWS_FILE) == [row("a", day="2026-02-03"), newer, other]
    assert load_lexicon(directory).revision == before
    dataset("check", directory, "--format-only")


def test_what_no_time_decides_is_kept_twice_reported_and_counts_for_nobody(directory, tmp_path, dataset):
    first = write_lines(tmp_path / "1.jsonl", [row("a", verdicts=wrong("meaning")), row("a", "CD")])
    files = (first, write_lines(tmp_path / "2.jsonl", [row("a")]))
    for _ in range(2):  # sent again they change nothing
        stdout, _ = dataset("review", *files, "--data", directory)
        assert "AB on 'a' in az: two reviews differ" in stdout
        assert "agreement: no entry was judged by two reviewers yet" in stdout
        assert [review.reviewer for review in load_lexicon(directory).reviews] == ["AB", "AB", "CD"]
    assert "0 reviews added, 0 replaced, 3 there already, 0 older than those there, 0 in conflict" in stdout
    dataset("check", directory, "--format-only")
    newest = write_lines(tmp_path / "3.jsonl", [row("a", day="2026-02-02")])
    stdout, _ = dataset("review", newest, "--data", directory)
    assert ("1 replaced" in stdout, "two reviews differ" in stdout) == (True, False)
    assert [row.entries for row in compare_reviewers(load_lexicon(directory))[0]] == [1, 1, 1, 1]


def test_stats_and_card_state_the_share(directory, tmp_path, dataset):
    assert language_figures(load_lexicon(directory))["az"]["reviewed_by_native_speakers"] == 0
    dataset("review", write_lines(tmp_path / "all.jsonl", [row("a"), row("b", verdicts=UNKNOWN)]), "--data", directory)
    # 1 of 3; who does not know b did not review it
    (share,) = (line for line in dataset("stats", directory)[0].splitlines() if "native speakers" in line)
    assert share.split()[-1] == "33.3%"
    assert "| reviewed by native speakers | 33.3% |" in dataset("stats", directory, "--format", "card")[0]
    figures = json.loads(dataset("stats", directory, "--format", "json")[0])["languages"]["az"]
    assert figures["reviewed_by_native_speakers"] == pytest.approx(1 / 3)


def test_the_bundled_lexicon_is_said_to_be_reviewed_once_it_is(bundled):
    concept, entry = next(iter(bundled.of("az").items()))
    bundled = replace(bundled, entries={"az": {concept: entry}})  # one entry, for speed
    reviewed = replace(bundled, reviews=[Review.model_validate(row(concept, idiom=entry.idiom))], source=str(BUNDLED))
    for text in (page, lexicon_card):
        assert "reviewed by native speakers" in text(bundled)
        assert "not yet" in text(bundled)
        assert "not yet" not in text(reviewed).split("## Known weaknesses")[0].split("<form")[0]


def test_annotating_and_importing_keep_the_reviews(directory, tmp_path, dataset):
    dataset("review", write_lines(tmp_path / "one.jsonl", [row("a")]), "--data", directory)
    dataset("annotate", "--in", directory, "--out", tmp_path / "spans")
    assert load_lexicon(tmp_path / "spans").reviewed("az") == {"a"}
    source = kevser_file(tmp_path, "Göz yummak;Görmezden gelmek;x")
    dataset("import", "--format", "kevser", source, "--out", directory, "--overwrite")
    lexicon = load_lexicon(directory)
    assert [one.concept for one in lexicon.reviews] == ["a"]
    assert not lexicon.is_reviewed  # the entry is gone


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("x"), "no entry 'x' in az"),
        (row("a", idiom="baş eymək"), "reads 'baş əymək' and was reviewed as 'baş eymək'"),
        (row("a", time="2026-03-03T00:00:00Z"), "in the future"),
        (row("a", comment="\u202egnorw"), "has U+202E"),
        (row("b"), "AB on 'b' in az: is on line 1 too"),
        ("{", "malformed JSON"),
    ],
)
def test_a_fault_is_named_with_file_and_line_and_nothing_is_written(directory, tmp_path, dataset, line, message):
    good = write_lines(tmp_path / "good.jsonl", [row("a", "CD")])
    bad = write_lines(tmp_path / "bad.jsonl", [row("b"), line])
    _, problems = read_reviews([good, bad], load_lexicon(directory), today=TODAY)
    (text,) = map(str, problems)
    assert text.startswith(f"{bad}:2: ")
    assert message in text
    if "future" not in message:
        stdout, stderr = dataset("review", good, bad, "--data", directory, code=1)
        assert (stdout, stderr.splitlines()[0]) == ("", printable(text))
    assert not (directory / REVIEWS_FILE).exists()


def test_every_fault_of_every_file_is_listed_up_to_a_limit(directory, tmp_path, dataset):
    many = write_lines(tmp_path / "many.jsonl", ["{"] * 70)
    empty, absent = write_lines(tmp_path / "empty.jsonl", []), tmp_path / "absent"
    lines = dataset("review", many, empty, absent, "--data", directory, code=1)[1].splitlines()
    assert sum(line.startswith(f"{many}:") for line in lines) == 51
    for start in (f"{many}: 20 faults more", f"{empty}: holds no reviews", f"{absent}: cannot be read"):
        assert any(line.startswith(start) for line in lines)
    assert "72 faults; nothing was written" in lines[-1]
