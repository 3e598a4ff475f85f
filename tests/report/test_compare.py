"""`turkic-idiom compare` on records of two rankers, and of a true span classifier with more and with fewer errors."""

import csv
import io
import json
import math
import shutil
from itertools import product

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import wilcoxon
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import get_entities

from tests.dataset.conftest import concepts_of
from tests.leaderboard.conftest import read_lines, write_lines
from tests.results.conftest import header_of
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.cli.compare_output import WIDE, print_comparison
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.metrics.bootstrap import Interval
from turkic_idiom_tasks.metrics.comparison import Comparison
from turkic_idiom_tasks.report.compare import Report, Row, compare_results, comparison_frame, verdict
from turkic_idiom_tasks.report.frame import to_json
from turkic_idiom_tasks.results import record
from turkic_idiom_tasks.results.predictions import SPANS, Rankings, Tags
from turkic_idiom_tasks.results.record import SUFFIX, Training
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.spans import TAG_LETTERS, Span
from turkic_idiom_tasks.splits import retrieval_split

GOOD, RANDOM = "me/good", "me/random"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """36 retrieval test concepts in Turkish and Azerbaijani, 20 of them in Uzbek; meanings for T2."""
    test = concepts_of("test", 36, of=retrieval_split)
    entries = {
        code: [Entry(name, f"{code} {name}", f"{code} anlam {name}") for name in test[: 20 if code == "uz" else 36]]
        for code in ("tr", "az", "uz")
    }
    folder = tmp_path_factory.mktemp("compare") / "lexicon"
    write_lexicon(folder, [Concept(name, "gloss") for name in test], entries)
    return open_dataset(str(folder))


def save(path, dataset, predictions, *, model, settings=None, training=None):
    name = record.ModelName(name=model, revision=None)
    header = header_of(predictions, dataset, model=name, settings=settings or {}, training=training)
    record.write_record(path, header, predictions)


def ranked(dataset, task, subset, rng, *, skill):
    """Rankings that know the right documents more or less well; every fifth query ties with all documents."""
    pool = dataset.pool(task, subset)
    similarities = rng.random((len(pool.queries), len(pool.documents)))
    for row, columns in enumerate(pool.relevant):
        similarities[row, columns] += skill * rng.random()
    similarities[::5] = 0.5
    return Rankings.from_similarities(pool, similarities)


@pytest.fixture(scope="module")
def runs(dataset, tmp_path_factory):
    """Folders of two models with a record per task and subset of T1 and T2, as `run` writes them."""
    place = tmp_path_factory.mktemp("runs")
    folders = []
    for model, skill in ((RANDOM, 0.0), (GOOD, 3.0)):
        folders.append(place / model.replace("/", "__"))
        rng = np.random.default_rng(len(model))
        for task in ("T1", "T2"):
            for subset in dataset.subsets(task):
                predictions = {(task, subset): ranked(dataset, task, subset, rng, skill=skill)}
                save(folders[-1] / f"{task}-{subset}{SUFFIX}", dataset, predictions, model=model)
    return folders


@pytest.fixture
def copied(runs, tmp_path):
    """The same folders, free to be damaged."""
    return [shutil.copytree(folder, tmp_path / side) for folder, side in zip(runs, "ab", strict=True)]


def change_lines(path, change):
    write_lines(path, change(read_lines(path)))


def per_query(path, dataset):
    """Query -> nDCG of a record of one subset, by hand: every query has one relevant document."""
    _, head, *lines = read_lines(path)
    data = dataset.retrieval(head["task"], head["subset"])
    scores = {}
    for line in lines:
        (relevant,) = data.qrels[line["query"]]
        above = 0
        for group in line["ranking"]:
            tied = [head["documents"][position] for position in (group if isinstance(group, list) else [group])]
            if relevant in tied:
                ranks = range(above + 1, above + len(tied) + 1)
                scores[line["query"]] = sum(1 / math.log2(1 + rank) for rank in ranks) / len(tied)
            above += len(tied)
    return scores


def test_rows_are_those_of_the_rankings(runs, dataset, capsys):
    assert main(["compare", *map(str, runs), "--format", "csv", "--data", dataset.path]) == 0
    rows = {(row["task"], row["subset"]): row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    t1, t2 = "TurkicIdiomT1", "TurkicIdiomT2"
    subsets = {t1: ["tur-azj", "tur-uzn", "mean"], t2: ["tur", "azj", "uzn", "mean"]}
    assert list(rows) == [(task, subset) for task, of_task in subsets.items() for subset in of_task]
    differences = {}
    for subset, n in (("tur-azj", 36), ("tur-uzn", 20)):
        a, b = (per_query(folder / f"T1-{subset}{SUFFIX}", dataset) for folder in runs)
        difference = np.array([b[query] - a[query] for query in a])
        differences[subset] = difference.mean()
        row = rows[t1, subset]
        assert (row["a"], row["b"], int(row["n"])) == (RANDOM, GOOD, n)
        assert float(row["mean_a"]) == pytest.approx(np.mean(list(a.values())), abs=1e-6)
        assert float(row["mean_b"]) == pytest.approx(np.mean(list(b.values())), abs=1e-6)
        assert float(row["difference"]) == pytest.approx(difference.mean(), abs=1e-6)
        assert float(row["low"]) < float(row["difference"]) < float(row["high"])
        wins, losses = (difference > 1e-12).sum(), (difference < -1e-12).sum()
        assert [int(row[name]) for name in ("wins", "ties", "losses")] == [wins, n - wins - losses, losses]
        if n == 36:
            rounded = np.round(difference, 9)
            assert float(row["p_wilcox"]) == pytest.approx(wilcoxon(rounded).pvalue, rel=1e-5)
            assert float(row["p_pratt"]) == pytest.approx(wilcoxon(rounded, zero_method="pratt").pvalue, rel=1e-5)
        else:
            assert [row[name] for name in ("effect", "p", "p_pratt", "p_wilcox", "p_holm")] == [""] * 5
    mean = rows[t1, "mean"]
    assert float(mean["difference"]) == pytest.approx(np.mean(list(differences.values())), abs=2e-6)
    assert (mean["n"], mean["n_clusters"]) == ("56", "36")
    assert float(mean["p"]) == pytest.approx(1 / 10_001, rel=1e-4)
    assert differences["tur-azj"] > 0.3


def test_holm_is_over_the_rows_that_have_a_p(runs, dataset):
    rows = compare_results(*runs, dataset).rows
    tested = sorted((row.result.p, row.holm) for row in rows if row.result.p is not None)
    assert len(tested) == 5  # all rows but the two of Uzbek
    assert tested[0][1] == pytest.approx(5 * tested[0][0])
    assert all(adjusted >= p for p, adjusted in tested)
    alone = compare_results(*runs, dataset, tasks=["TurkicIdiomT1"]).rows
    assert [row.task for row in alone] == ["T1"] * 3
    assert alone[0].holm == pytest.approx(2 * alone[0].result.p)
    (of_files,) = compare_results(*(folder / f"T1-tur-azj{SUFFIX}" for folder in runs), dataset).rows
    assert (of_files.result, of_files.holm) == (alone[0].result, alone[0].result.p)


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_begins_with_a_verdict_and_fits_the_width(runs, dataset, width):
    report = compare_results(*runs, dataset)
    text = io.StringIO()
    print_comparison(report, Console(file=text, width=width, highlight=False, markup=False))
    lines = text.getvalue().splitlines()
    assert " ".join(lines[: lines.index("")]).replace("  ", " ") == (
        f"{GOOD} is better on T1 (1 of 2 subsets); {GOOD} is better on T2 (2 of 3 subsets)."
    )
    assert f"A: {RANDOM}" in lines
    assert f"B: {GOOD}" in lines
    assert max(map(len, lines)) <= width
    assert "fewer than 30 concepts" in text.getvalue()
    for row in json.loads(to_json(comparison_frame(report))):
        short = row["task"].removeprefix("TurkicIdiom")
        place = next(n for n, line in enumerate(lines) if line.split()[:2] == [short, row["subset"]])
        shown = "\n".join(lines[place : place + (1 if width >= WIDE else 2)])  # the interval stands below
        assert f"{row['difference']:+.3f}" in shown
        assert f"[{row['low']:+.3f}, {row['high']:+.3f}]" in shown
        assert row["n_clusters"] == row["wins"] + row["ties"] + row["losses"]
        assert f" {row['n_clusters']}{'*' if row['subset'] in ('tur-uzn', 'uzn') else ''} " in shown
        if width >= WIDE and row["p"] is not None:
            for name in ("p", "p_holm", "p_pratt", "p_wilcox"):
                assert (f"{row[name]:.4f}" if row[name] >= 0.0001 else f"{row[name]:.1e}") in shown


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("T1", "tur-azj", 0.2, 0.01)], "b is better on T1."),
        ([("T1", "tur-azj", -0.2, 0.01)], "a is better on T1."),
        ([("T1", "tur-azj", 0.2, 0.05)], "no difference shown on T1."),
        ([("T1", "tur-azj", 0.2, None)], "too few concepts on T1 for a test."),
        (
            [("T1", "tur-azj", 0.2, 0.01), ("T1", "tur-tuk", 0.2, 0.2), ("T1", "tur-uzn", 0.2, 0.04),
             ("T1", "mean", 0.2, 0.001), ("T2", "tur", 0.1, 0.6), ("T2", "azj", -0.1, 0.03), ("T2", "mean", 0.0, 1.0)],
            "b is better on T1 (2 of 3 subsets); no difference shown on T2 (a is better on 1 of 2 subsets).",
        ),
        (
            [("T1", "tur-azj", 0.1, 0.2), ("T1", "tur-tuk", 0.1, 0.2), ("T1", "mean", 0.1, 0.04)],
            "b is better on T1 (over all 2 subsets, on none by itself).",
        ),
        (
            [("T1", "tur-azj", 0.0067, 0.01, 0.1293, 0.13), ("T1", "spelling-free", -0.002, None),
             ("T1", "spelt-alike", 0.03, None)],
            "b is better on T1 (-0.002 on spelling-free queries, +0.030 on spelt-alike queries; both are near the "
            "0.130 of a random ranking).",
        ),
        ([("T1", "tur-azj", 0.0507, 0.01, 0.1293, 0.13)], "b is better on T1."),  # (.18 - .13) / .87 = .057 is far
    ],
)  # fmt: skip
def test_the_verdict_counts_what_survives_holm(rows, expected):
    """Rows: task, subset, difference, and its p after Holm's correction, or None for fewer than 30 concepts.

    Where they are not .5 and unknown, the score of A and that of a random ranking follow.
    """
    compared = []
    for task, subset, difference, p, *scores in rows:
        n = 20 if p is None else 100
        first, floor = scores or (0.5, math.nan)
        result = Comparison(n, n, first, first + difference, difference, Interval(0.0, 1.0), 1, 1, 1, p=p)
        compared.append(Row(task, subset, result, p, floor))
    assert verdict(Report(("a", "b"), tuple(compared), ())) == expected
    # two results of one name can only be told apart by their side
    assert verdict(Report(("a", "a"), tuple(compared), ())) == expected.replace("b is", "B is").replace("a is", "A is")


def test_the_parts_of_t1_are_those_of_the_headline(tmp_path):
    """Two test concepts: one whose idioms share `göz`, one whose spelling points to the other."""
    concepts = concepts_of("test", 2, of=retrieval_split)
    words = {"tr": ["göz yummak", "göze girmek"], "az": ["göz yummaq", "rəğbət qazanmaq"]}
    entries = {code: [Entry(*pair) for pair in zip(concepts, idioms, strict=True)] for code, idioms in words.items()}
    write_lexicon(tmp_path / "two", [Concept(name, "") for name in concepts], entries)
    data = open_dataset(str(tmp_path / "two"))
    pool = data.pool("T1", "tur-azj")
    right = np.array([[column in columns for column in range(2)] for columns in pool.relevant], dtype=float)
    # A finds the one that spelling finds and B both
    only_spelling = right * np.array([[query.endswith(concepts[0]) or -1.0] for query in pool.queries])
    for side, similarities in (("a", only_spelling), ("b", right)):
        predictions = {("T1", "tur-azj"): Rankings.from_similarities(pool, similarities)}
        save(tmp_path / side / f"one{SUFFIX}", data, predictions, model=f"me/{side}")
    whole, free, alike = compare_results(tmp_path / "a", tmp_path / "b", data).rows
    assert (free.subset, alike.subset) == ("spelling-free", "spelt-alike")
    # second of two: 1 / log2(3), first: 1
    assert free.result.difference == pytest.approx(1 - 1 / math.log2(3))
    assert alike.result.difference == 0
    assert whole.result.difference == pytest.approx(free.result.difference / 2)
    assert (free.holm, alike.holm) == (None, None)  # they explain, and are no tests of their own


def test_a_result_against_itself_is_all_ties(runs, dataset, capsys):
    report = compare_results(runs[0], runs[0], dataset)
    assert {row.result.difference for row in report.rows} == {0.0}
    assert {row.result.p for row in report.rows} == {1.0, None}
    assert main(["compare", str(runs[0]), str(runs[0]), "--data", dataset.path]) == 0
    printed = capsys.readouterr().out
    said = "no difference shown on T1 (both are near the 0.320 of a random ranking)"  # the model ranks at random
    assert " ".join(printed.split()).startswith(said)
    assert "A and B score the same on every concept" in printed


@pytest.mark.parametrize(("other", "n_remarks"), [("bfloat16", 1), ("float32", 0), (None, 0)])
def test_other_precision_is_remarked_on(copied, dataset, other, n_remarks):
    for folder, dtype in zip(copied, ("float32", other), strict=True):
        for path in folder.iterdir():
            change_lines(path, lambda lines, d=dtype: [lines[0] | {"settings": {"dtype": d}}, *lines[1:]])
    remark = "A was run in float32, B in bfloat16: rounding moves documents too"
    assert compare_results(*copied, dataset).remarks == (remark,) * n_remarks


def save_seeds(folder, dataset, *, dtype="float32", epochs=1):
    """Save T1 in Azerbaijani of an encoder as `a`, and tuned with two seeds as `b`; return the three scores."""
    rng, scored = np.random.default_rng(0), []
    for name, own_dtype, own_epochs in (("a/x", "float32", None), ("b/0", "float32", 1), ("b/1", dtype, epochs)):
        seed = len(scored) - 1
        rankings = ranked(dataset, "T1", "tur-azj", rng, skill=seed + 1.0)
        config = {"epochs": own_epochs, "seed": seed}
        training = None if own_epochs is None else Training(regime="tr-only", seed=seed, config=config)
        settings = {"pooling": "mean", "dtype": own_dtype}
        save(folder / f"{name}{SUFFIX}", dataset, {("T1", "tur-azj"): rankings}, model=GOOD, settings=settings,
             training=training)  # fmt: skip
        scored.append(score_subset(rankings))
    return scored


def test_seeds_of_a_tuned_encoder_are_averaged(dataset, tmp_path):
    untuned, *tuned = save_seeds(tmp_path, dataset)
    report = compare_results(tmp_path / "a", tmp_path / "b", dataset)
    assert report.names == (f"{GOOD} (pooling=mean)", f"{GOOD} (pooling=mean), tr-only")
    (only,) = report.rows
    assert only.result.second == pytest.approx(np.mean([one.main for one in tuned]))
    queries = np.mean([one.sums[:, 0] for one in tuned], axis=0)
    assert only.result.wins == (queries > untuned.sums[:, 0] + 1e-9).sum()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 50}, "training setting epochs: 1 and 50"),
        ({"dtype": "bfloat16"}, "setting dtype: 'float32' and 'bfloat16'"),
    ],
)
def test_only_results_that_differ_in_nothing_but_the_seed_are_averaged(dataset, tmp_path, changes, message):
    save_seeds(tmp_path, dataset, **changes)
    with pytest.raises(InputError, match=f"several results of T1, tur-azj: .*they differ in {message}"):
        compare_results(tmp_path / "a", tmp_path / "b", dataset)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_text("{"), "delete the file and compute it again"),
        (lambda path: path.unlink(), r"T1, tur-azj is only in A \(.*two files with the same subsets"),
        (lambda path: [other.unlink() for other in path.parent.glob("T1-*")], r"T1, .* is only in A \(.*--task"),
        (lambda path: shutil.copy(path, path.with_name(f"copy{SUFFIX}")), "several results of T1, tur-azj: .*copy"),
    ],
)
def test_results_that_cannot_be_compared(copied, dataset, spoil, message):
    spoil(copied[1] / f"T1-tur-azj{SUFFIX}")
    with pytest.raises(InputError, match=message):
        compare_results(*copied, dataset)


def test_a_cut_ranking_without_exact_places_is_refused(copied, dataset):
    """As nobody of ours writes it: its header states the scores that the cut ranking seems to have."""
    path = copied[0] / f"T1-tur-azj{SUFFIX}"
    lines = read_lines(path)
    rankings = [{"query": line["query"], "ranking": line["ranking"][:5]} for line in lines[2:]]
    write_lines(path, [*lines[:2], *rankings])
    ((key, cut),) = record.read_record(path, dataset).predictions.items()
    stated = header_of({key: cut}, dataset).subsets[0].model_dump()
    change_lines(path, lambda lines: [lines[0] | {"subsets": [stated]}, *lines[1:]])
    with pytest.raises(InputError, match=r"cut at 5 documents per query.*compute it again"):
        compare_results(*copied, dataset)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("absent", "absent"), 2, "absent: no such file or folder"),
        (("{empty}", "{empty}"), 1, "no result in it; give a result of turkic-idiom run"),
        (("{a}", "{b}", "--task", "T9"), 2, "unknown task 'T9'"),
        (("{a}", "{b}", "--task", "spans"), 1, "no result of spans; it has T1, T2"),
        (("{a}", "{b}", "--data", ""), 1, "a result of other data"),
    ],
)
def test_wrong_arguments_are_one_line(runs, dataset, tmp_path, capsys, arguments, code, message):
    given = [part.format(a=runs[0], b=runs[1], empty=tmp_path) for part in arguments]
    data = [] if "--data" in given else ["--data", dataset.path]
    assert main(["compare", *given, *data]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.fixture(scope="module")
def span_dataset(tmp_path_factory):
    """40 test sentences in Turkish, 32 of them in Azerbaijani, each with an idiom of two words."""
    entries = []
    for name in concepts_of("test", 40):
        sentence = f"{name} göz kalp yol gece"
        entries.append(Entry(name, f"göz {name}", None, sentence, (Span(len(name) + 1, len(name) + 9),)))
    folder = tmp_path_factory.mktemp("spans") / "lexicon"
    write_lexicon(folder, [Concept(entry.concept, "") for entry in entries], {"tr": entries, "az": entries[:32]})
    return open_dataset(str(folder))


@pytest.fixture(scope="module")
def span_runs(span_dataset, tmp_path_factory):
    """The folders of two classifiers of two seeds; the tags of many and of fewer sentences are random."""
    folder = tmp_path_factory.mktemp("span-runs")
    rng = np.random.default_rng(0)
    for (name, share), seed, (language, size) in product(
        (("weak", 0.7), ("strong", 0.4)), (1, 2), (("tr", "all"), ("az", 0))
    ):
        sentences = span_dataset.test_sentences(language)
        letters = []
        for sentence in sentences.rows:
            gold = "".join(tag[0] for tag in sentence.tags)
            letters.append("".join(rng.choice(("O", "B", "I"), len(gold))) if rng.random() < share else gold)
        path = folder / name / f"{language}-{size}-{seed}{SUFFIX}"
        training = Training(regime="from-tr", language="tr", seed=seed, size=size)
        tags = {(SPANS, language): Tags(sentences, tuple(letters))}
        save(path, span_dataset, tags, model="me/classifier", training=training)
    return folder / "weak", folder / "strong"


def tags_of(dataset, folder, language):
    """Gold and predicted tags of the test sentences, seed after seed, from the records."""
    gold = {row.id: list(row.tags) for row in dataset.test_sentences(language).rows}
    found = []
    for path in sorted(folder.glob(f"{language}-*{SUFFIX}")):
        found += [(line["sentence"], line["tags"]) for line in read_lines(path)[2:]]
    return [gold[key] for key, _ in found], [[TAG_LETTERS[letter] for letter in tags] for _, tags in found]


def wrong_spans(gold, predicted):
    """(sentences,) spans that are missed or invented, by seqeval's default reading, of both seeds."""
    rows = []
    for tags in zip(gold, predicted, strict=True):
        in_gold, marked = ({(start, end) for _, start, end in get_entities(part)} for part in tags)
        rows.append(len(in_gold ^ marked))
    return np.array(rows).reshape(2, -1).sum(axis=0)


def test_span_classifiers_of_several_seeds(span_dataset, span_runs, capsys):
    report = compare_results(*span_runs, span_dataset)
    assert [(row.task, row.subset) for row in report.rows] == [("spans-all", "tr"), ("spans-0", "az")]
    for one in report.rows:
        found = [tags_of(span_dataset, folder, one.subset) for folder in span_runs]
        assert (one.result.first, one.result.second) == pytest.approx([f1_score(*tags) for tags in found])
        assert one.result.n == one.result.n_concepts == {"tr": 40, "az": 32}[one.subset]
        a, b = (wrong_spans(*tags) for tags in found)
        fewer_wrong = np.sign(a - b)
        assert [one.result.wins, one.result.ties, one.result.losses] == [(fewer_wrong == s).sum() for s in (1, 0, -1)]
        assert min(one.result.wins, one.result.ties, one.result.losses) > 0
        assert one.result.interval.low < one.result.difference < one.result.interval.high
    assert main(["compare", *map(str, span_runs), "--data", span_dataset.path]) == 0
    assert "micro-averaged F1 of whole spans" in capsys.readouterr().out


def test_span_classifiers_of_other_seeds_are_compared_as_files_alone(span_dataset, span_runs, tmp_path):
    files = [span_runs[0] / f"az-0-1{SUFFIX}", span_runs[1] / f"az-0-2{SUFFIX}"]
    (only,) = compare_results(*files, span_dataset).rows
    stated = [read_lines(path)[0]["subsets"][0]["scores"]["span_f1"] for path in files]
    assert (only.task, only.subset) == ("spans", "az")
    assert [only.result.first, only.result.second] == pytest.approx(stated)
    shutil.copytree(span_runs[1], tmp_path / "b")
    (tmp_path / "b" / f"az-0-1{SUFFIX}").unlink()
    with pytest.raises(InputError, match="the seeds differ: 1, 2 and 2"):
        compare_results(span_runs[0], tmp_path / "b", span_dataset)
