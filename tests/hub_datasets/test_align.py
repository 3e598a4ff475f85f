"""Alignment of a further language: the assignment, the thresholds, and `turkic-idiom dataset align`."""

import csv
from itertools import permutations

import numpy as np
import pytest

from hub_datasets import align
from hub_datasets.align import Candidate, CurvePoint, Match, Problem
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon


def problem(n_rows, n_columns, right=None):
    candidates = [Candidate(Entry(f"c{number}", f"idiom {number}", "x"), {}) for number in range(n_columns)]
    right = right or [frozenset()] * n_rows
    taken = frozenset().union(*right)
    return Problem("uz", [f"c{n}" for n in range(n_rows)], [{}] * n_rows, candidates, right, taken)


@pytest.mark.parametrize("floor", [-0.2, 0.3])
def test_pairs_have_the_largest_sum_above_the_floor(floor):
    generator = np.random.default_rng(3)
    vectors = generator.normal(size=(9, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    concepts, candidates = vectors[:5], vectors[5:]
    matches = align.assign(problem(5, 4), concepts, candidates, floor=floor)
    cosines = concepts.astype(np.float64) @ candidates.T.astype(np.float64)
    best = 0.0
    for rows in permutations(range(5), 4):  # every assignment of the four candidates, by hand
        best = max(best, sum(max(0.0, cosines[row, column] - floor) for column, row in enumerate(rows)))
    assert sum(match.cosine - floor for match in matches) == pytest.approx(best, abs=1e-5)
    assert all(match.cosine >= floor for match in matches)
    assert len({match.row for match in matches}) == len({match.column for match in matches}) == len(matches)
    assert [match.cosine for match in matches] == sorted((match.cosine for match in matches), reverse=True)


def test_precision_and_recall_by_hand():
    known = problem(5, 6, [frozenset({0}), frozenset({1}), frozenset({2, 3}), frozenset(), frozenset()])
    rights = [True, None, False, True, False]
    matches = [Match(0, 0, cosine, right) for cosine, right in zip([0.9, 0.8, 0.7, 0.7, 0.4], rights, strict=True)]
    # from .9: 1 of 1; from .7: 2 of 3; from .4: 2 of 4. Three concepts have a known right candidate
    assert align.precision_recall(known, matches) == [
        CurvePoint(0.9, 1.0, 1 / 3, 1),
        CurvePoint(0.7, 2 / 3, 2 / 3, 3),
        CurvePoint(0.4, 0.5, 2 / 3, 4),
    ]


def test_a_threshold_needs_known_pairs_and_the_precision_must_be_reached():
    points = [CurvePoint(1 - n / 100, 1 - n / 100, n / 40, n) for n in range(1, 41)]
    assert align.choose_threshold(points, 0.7).n_known == 30
    with pytest.raises(InputError, match=r"no threshold has a precision of 0\.95.*best is 0\.800"):
        align.choose_threshold(points, 0.95)  # which only fewer than twenty pairs have
    with pytest.raises(InputError, match="only 10 pairs"):
        align.choose_threshold(points[:10], 0.5)


def test_what_is_known_gets_no_new_entry():
    lexicon = Lexicon({"c0": Concept("c0", "")}, {"uz": {"c0": Entry("c0", "bosh egmoq")}}, "0" * 40)
    known = problem(3, 3, [frozenset(), frozenset({1}), frozenset()])  # the idiom of candidate 1 is there already
    matches = [Match(0, 0, 0.9, None), Match(2, 1, 0.8, False), Match(2, 2, 0.7, None)]
    assert align.new_matches(known, lexicon, matches) == matches[2:]


def test_of_a_dictionary_definitions_and_english_glosses_are_compared(tmp_path):
    (tmp_path / "a.csv").write_text("gloss,uz,uz-meaning\nto die,jon bermoq,oʻlmoq\n,qoʻl qoʻymoq,imzolamoq\n", "utf-8")
    candidates = align.read_candidates(tmp_path / "a.csv", "uz", format_name="columns")
    assert [candidate.texts for candidate in candidates] == [{"uz": "oʻlmoq", "en": "to die"}, {"uz": "imzolamoq"}]


def test_what_is_known_comes_from_the_idioms_and_the_judged_equivalents():
    entries = {
        "tr": {name: Entry(name, f"deyim {name}", f"anlam {name}") for name in "abc"},
        "uz": {"a": Entry("a", "koʻz yummoq", variants=("koʻzini yummoq",)), "d": Entry("d", "jon bermoq")},
    }
    concepts = {name: Concept(name, f"gloss {name}") for name in "abcd"}
    lexicon = Lexicon(concepts, entries, "0" * 40, equivalents={("a", "b"): "same", ("a", "c"): "near"})
    idioms = ("Koʻzini yummoq", "bosh egmoq", "jon bermoq", "ko'z yummoq")
    candidates = [Candidate(Entry(f"x{number}", idiom, "taʼrif"), {}) for number, idiom in enumerate(idioms)]
    known = align.build_problem(lexicon, "uz", candidates)
    assert known.concepts == ["a", "b", "c"]  # d has no meaning in another language
    assert known.right == [{0, 3}, {0, 3}, frozenset()]
    assert known.taken == {0, 2, 3}
    assert known.concept_texts[0] == {"tr": "anlam a", "en": "gloss a"}
    with pytest.raises(InputError, match="no concept has a meaning except in tr"):
        align.build_problem(lexicon, "tr", candidates)


@pytest.fixture(scope="module")
def partly_aligned(bundled, tmp_path_factory):
    """A lexicon whose Uzbek half is known, and a dictionary with all of its Uzbek idioms whose definitions are Turkic.

    The definitions are the Azerbaijani meanings in Uzbek letters, so that spelling alone can align them.
    """
    folder = tmp_path_factory.mktemp("align")
    concepts = [name for name in sorted(bundled.concepts) if name in bundled.of("uz")][:120]
    known = concepts[::2]
    entries = {code: [bundled.of(code)[name] for name in concepts] for code in ("tr", "az")}
    entries["uz"] = [bundled.of("uz")[name] for name in known]
    write_lexicon(folder / "lexicon", [bundled.concepts[name] for name in concepts], entries)
    letters = str.maketrans(dict(zip("əıöüşçğcw", ["e", "i", "oʻ", "u", "sh", "ch", "gʻ", "j", "v"], strict=True)))
    with (folder / "dictionary.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["uz", "uz-meaning", "uz-example"])
        for name in concepts:
            entry = bundled.of("uz")[name]
            table.writerow([entry.idiom, bundled.of("az")[name].meaning.translate(letters), entry.example])
    return folder, concepts, known


def test_align_adds_what_is_certain_and_leaves_the_doubtful_to_people(partly_aligned, dataset, bundled, tmp_path):
    folder, _, known = partly_aligned
    arguments = (folder / "lexicon", "-l", "uz", "--in", folder / "dictionary.csv", "--out", tmp_path / "out")
    out, _ = dataset("align", *arguments, "--precision", "0.98", "--review-precision", "0.9")
    added = dict(load_lexicon(tmp_path / "out").of("uz"))
    assert {name: added.pop(name) for name in known} == load_lexicon(folder / "lexicon").of("uz")
    assert len(added) > 25
    assert sum(entry.idiom == bundled.of("uz")[name].idiom for name, entry in added.items()) >= 0.9 * len(added)
    for entry in added.values():
        assert entry.status.startswith("aligned by turkic-idiom/char-ngrams from a cosine of")
        assert entry.source.startswith("columns:")
        assert entry.spans is None or entry.spans[0].of(entry.example)
    with (tmp_path / "out-review.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    low, high = (float(part) for part in out.split("(")[0].removeprefix("thresholds ").split(" and "))
    assert f"{len(added)} entries in uz added" in out
    for row in rows:
        assert row["concept"] not in added
        assert low - 0.001 <= float(row["cosine"]) <= high + 0.001
        assert row["tr"] == bundled.of("tr")[row["concept"]].idiom


def test_a_language_without_entries_is_calibrated_on_another_one(partly_aligned, dataset, bundled, tmp_path):
    folder, concepts, _ = partly_aligned
    entries = {code: [bundled.of(code)[name] for name in concepts] for code in ("tr", "az")}
    write_lexicon(tmp_path / "lexicon", [bundled.concepts[name] for name in concepts], entries)
    arguments = (tmp_path / "lexicon", "-l", "uz", "--in", folder / "dictionary.csv", "--out", tmp_path / "out")
    _, err = dataset("align", *arguments, code=1)
    assert ("only 0 pairs" in err, "--calibrate-on" in err) == (True, True)
    assert not (tmp_path / "out").exists()
    assert "known pairs of az" in dataset("align", *arguments, "--calibrate-on", "az", "--precision", "0.5")[0]
    assert len(load_lexicon(tmp_path / "out").of("uz")) > 40


@pytest.mark.long
def test_without_out_precision_and_recall_are_printed_with_any_encoder(partly_aligned, dataset, untrained_bert):
    folder, _, known = partly_aligned
    precisions = []
    for encoder in ((), ("-m", f"{untrained_bert} (pooling=max)", "--prefix", "query: ")):
        out, _ = dataset("align", folder / "lexicon", "-l", "uz", *encoder)
        assert f"120 concepts, {len(known)} definitions in uz, 6" in out
        precisions += [float(line.split()[2]) for line in out.splitlines() if line.startswith("all pairs")]
    by_spelling, untrained = precisions
    assert 0 <= untrained < by_spelling < 1


def test_wrong_arguments(partly_aligned, dataset, tmp_path):
    folder, _, _ = partly_aligned
    for arguments, code, message in (
        (("-l", "uz", "--out", tmp_path / "out"), 2, "--in is missing"),
        (("-l", "gag"), 2, "has no meanings in gag"),
        (("-l", "uz", "--prefix", "query: "), 2, "takes no --prefix"),
        (("-l", "tk", "--in", folder / "dictionary.csv", "--out", tmp_path / "out"), 1, "has no definition in tk"),
    ):
        assert message in dataset("align", folder / "lexicon", *arguments, code=code)[1]
