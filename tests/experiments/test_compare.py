"""`turkic-idiom compare` on true results: two models on a small lexicon, and two span grids of an untrained BERT."""

import csv
import gzip
import io
import json
import math
import shutil

import numpy as np
import pytest
from scipy.stats import wilcoxon
from seqeval.metrics import f1_score

from tests.finetuning.test_span import sentences
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.compare import compare_results, render
from turkic_idiom_tasks.experiments.span_grid import SpanGrid, run_grid
from turkic_idiom_tasks.finetuning.span import SpanConfig
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE
from turkic_idiom_tasks.retrieval.relevance import build_retrieval
from turkic_idiom_tasks.span_detection.sentences import open_spans
from turkic_idiom_tasks.splits import retrieval_split, span_split

GRAMS, RANDOM = "turkic-idiom/char-ngrams", "mteb/baseline-random-encoder"
T1, T2 = "TurkicIdiomT1", "TurkicIdiomT2"
LETTERS = "abcdefghilmnoprstuvz"


def words(n, code):
    """Distinct idioms; cognates of another language differ in the ending."""
    ending = {"tr": "mak", "az": "maq", "uz": "moq"}[code]
    syllables = [a + "aeiou"[k % 5] + b for k, (a, b) in enumerate((a, b) for a in LETTERS for b in LETTERS)]
    return [
        f"{syllables[7 * k % 400]}{syllables[(11 * k + 3) % 400]} {syllables[13 * k % 400]}{ending}" for k in range(n)
    ]


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    """36 test concepts in Turkish and Azerbaijani, 20 of them in Uzbek, and as many others; meanings for T2."""
    found = {
        split: [f"c{n}" for n in range(900) if retrieval_split(f"c{n}") == split][:36] for split in ("test", "train")
    }
    concepts = [*found["test"], *found["train"]]
    entries = {
        code: [
            Entry(concept, idiom, f"anlam {number * 37 % 101}")
            for number, (concept, idiom) in enumerate(zip(concepts, words(72, code), strict=True))
            if code != "uz" or number < 20 or number >= 36
        ]
        for code in ("tr", "az", "uz")
    }
    folder = tmp_path_factory.mktemp("compare") / "lexicon"
    write_lexicon(folder, [Concept(concept, "gloss") for concept in concepts], entries)
    return folder


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def runs(command, lexicon, shared_folder, monkeypatch):
    """The folders of the two models, each run once for this module by the command itself."""
    if not (shared_folder / "results").is_dir():
        arguments = ("run", "-m", RANDOM, "-m", GRAMS, "-t", "T1", "-t", "T2", "-o", shared_folder, "--data", lexicon)
        assert command("turkic-idiom", *arguments).returncode == 0
    monkeypatch.setenv(DATA_VARIABLE, str(lexicon))
    results = shared_folder / "results"
    return results / RANDOM.replace("/", "__"), results / GRAMS.replace("/", "__")


@pytest.fixture
def copied(runs, tmp_path):
    """The same folders, free to be damaged."""
    return [shutil.copytree(folder, tmp_path / side) for folder, side in zip(runs, "ab", strict=True)]


def only(folder, pattern):
    (path,) = folder.rglob(pattern)
    return path


def rewrite_rankings(path, change):
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    text = "".join(json.dumps(row) + "\n" for row in change(rows))
    path.write_bytes(gzip.compress(text.encode()))


def rewrite_json(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def per_query(folder, lexicon, subset):
    """Query -> nDCG of T1, from the ranking file by hand: every query has one relevant document."""
    data = build_retrieval(load_lexicon(lexicon), "T1", subset)
    rows = gzip.decompress(only(folder, f"{T1}.rankings.jsonl.gz").read_bytes()).decode().splitlines()[1:]
    scores = {}
    for row in map(json.loads, rows):
        if row["subset"] == subset:
            (relevant,) = data.qrels[row["query"]]
            above = 0
            for group in row["documents"]:
                tied = [group] if isinstance(group, str) else group
                if relevant in tied:
                    ranks = range(above + 1, above + len(tied) + 1)
                    scores[row["query"]] = sum(1 / math.log2(1 + rank) for rank in ranks) / len(tied)
                above += len(tied)
    return scores


def test_rows_are_those_of_the_rankings(command, runs, lexicon):
    run = command("turkic-idiom", "compare", *runs, "--format", "csv", data=lexicon)
    assert run.returncode == 0, run.stderr
    rows = {(row["task"], row["subset"]): row for row in csv.DictReader(io.StringIO(run.stdout))}
    t1 = [(T1, "tur-azj"), (T1, "tur-uzn"), (T1, "mean")]
    assert list(rows) == [*t1, (T2, "tur"), (T2, "azj"), (T2, "uzn"), (T2, "mean")]
    differences = {}
    for subset, n in (("tur-azj", 36), ("tur-uzn", 20)):
        a, b = (per_query(folder, lexicon, subset) for folder in runs)
        difference = np.array([b[query] - a[query] for query in a])
        differences[subset] = difference.mean()
        row = rows[T1, subset]
        assert (row["a"], row["b"], int(row["n"])) == (RANDOM, GRAMS, n)
        assert float(row["mean_a"]) == pytest.approx(np.mean(list(a.values())), abs=1e-6)
        assert float(row["mean_b"]) == pytest.approx(np.mean(list(b.values())), abs=1e-6)
        assert float(row["difference"]) == pytest.approx(difference.mean(), abs=1e-6)
        assert float(row["low"]) < float(row["difference"]) < float(row["high"])
        wins, losses = (difference > 1e-12).sum(), (difference < -1e-12).sum()
        assert [int(row[name]) for name in ("wins", "ties", "losses")] == [wins, n - wins - losses, losses]
        if n == 36:
            rounded = np.round(difference, 12)
            assert float(row["p_wilcox"]) == pytest.approx(wilcoxon(rounded).pvalue, rel=1e-5)
            assert float(row["p_pratt"]) == pytest.approx(wilcoxon(rounded, zero_method="pratt").pvalue, rel=1e-5)
        else:
            assert [row[name] for name in ("effect", "p", "p_pratt", "p_wilcox", "p_holm")] == [""] * 5
    mean = rows[T1, "mean"]
    assert float(mean["difference"]) == pytest.approx(np.mean(list(differences.values())), abs=2e-6)
    assert (mean["n"], mean["n_clusters"]) == ("56", "36")
    assert float(mean["p"]) == pytest.approx(1 / 10_001, rel=1e-4)  # cognates against chance
    assert differences["tur-azj"] > 0.3


def test_holm_is_over_the_rows_that_have_a_p(runs):
    rows = compare_results(*runs).rows
    tested = sorted((row.result.p, row.holm) for row in rows if row.result.p is not None)
    assert len(tested) == 5  # all rows but the two of Uzbek
    assert tested[0][1] == pytest.approx(5 * tested[0][0])
    assert all(adjusted >= p for p, adjusted in tested)
    alone = compare_results(*runs, tasks=["T1"]).rows
    assert [row.task for row in alone] == [T1] * 3
    assert alone[0].holm == pytest.approx(2 * alone[0].result.p)


def test_table_json_and_bytes(command, runs, lexicon):
    table = command("turkic-idiom", "compare", *runs, "--data", lexicon)
    assert table.returncode == 0, table.stderr
    assert f"A: {RANDOM}\nB: {GRAMS}\n" in table.stdout
    assert "* fewer than 30 concepts" in table.stdout
    again = command("turkic-idiom", "compare", *runs, "--data", lexicon)
    assert again.stdout == table.stdout
    records = json.loads(render(compare_results(*runs), style="json"))
    assert render(compare_results(*runs), style="json") == render(compare_results(*runs), style="json")
    for record in records:
        (line,) = [line for line in table.stdout.splitlines() if line.split()[:2] == [record["task"], record["subset"]]]
        assert f"{record['difference']:+.3f}" in line
        assert f"[{record['low']:+.3f}, {record['high']:+.3f}]" in line
        assert f" {record['n']}{'*' if record['subset'] in ('tur-uzn', 'uzn') else ''} " in line


def test_files_compare_like_folders_and_the_other_way_round(runs):
    files = [only(folder, f"{T1}.json") for folder in runs]
    forwards, backwards = compare_results(*files), compare_results(*reversed(files))
    assert forwards.rows == compare_results(*runs, tasks=[T1]).rows
    for one, other in zip(forwards.rows, backwards.rows, strict=True):
        assert other.result.difference == pytest.approx(-one.result.difference)
        assert (other.result.wins, other.result.losses) == (one.result.losses, one.result.wins)


def test_a_result_against_itself_is_all_ties(runs):
    report = compare_results(runs[0], runs[0])
    assert {row.result.difference for row in report.rows} == {0.0}
    assert {row.result.p for row in report.rows} == {1.0, None}
    assert "A and B score the same on every concept" in render(report, style="table")


def test_rankings_in_another_order_say_the_same(copied, runs):
    rewrite_rankings(only(copied[0], f"{T1}.rankings.jsonl.gz"), lambda rows: [rows[0], *reversed(rows[1:])])
    assert compare_results(*copied, tasks=["T1"]).rows == compare_results(*runs, tasks=["T1"]).rows


def test_other_precision_is_remarked_on(copied):
    for folder, dtype in zip(copied, ("float32", "bfloat16"), strict=True):
        settings = {"backend": "torch", "dtype": dtype}
        rewrite_rankings(
            only(folder, f"{T1}.rankings.jsonl.gz"), lambda rows, s=settings: [rows[0] | {"settings": s}, *rows[1:]]
        )
    text = render(compare_results(*copied, tasks=["T1"]), style="table")
    assert text.count("A was run with the dtype float32, B with bfloat16") == 1
    assert "backend" not in text


def cut(rows):
    return [rows[0] | {"top_k": 5}, *({**row, "documents": row["documents"][:5]} for row in rows[1:])]


def kept_cut(rows):
    return [rows[0], *cut(rows)[1:]]


def without_a_query(rows):
    return rows[:-1]


def other_document(rows):
    return [*rows[:-1], rows[-1] | {"documents": ["uzn:nothing"]}]


def other_format(rows):
    return [rows[0] | {"format": 7}, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cut, r"cut at 5 documents per query.* without --top-k and with --overwrite"),
        (kept_cut, r"gives the score 0\.\d+, but the result file says 0\.\d+"),
        (without_a_query, r"query 'tur:c\d+' is only in the data"),
        (other_document, r"document 'uzn:nothing' is not in the data"),
        (other_format, r"format 7, not 1"),
        (lambda rows: [], "not a ranking file"),
        (lambda rows: [rows[0], {"subset": "tur-azj"}], "not a ranking file"),
        (lambda rows: [{k: v for k, v in rows[0].items() if k != "top_k"}, *rows[1:]], "damaged .*top_k"),
    ],
)
def test_rankings_that_cannot_be_compared(copied, change, message):
    rewrite_rankings(only(copied[0], f"{T1}.rankings.jsonl.gz"), change)
    with pytest.raises(InputError, match=message):
        compare_results(*copied)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: rewrite_json(path, dataset_revision="f" * 40), "scored on different data .*ffffffffffff"),
        (lambda path: path.write_text("{"), "cannot be read"),
        (lambda path: path.unlink(), r"TurkicIdiomT1 is only in A \(.*choose what both have with --task"),
        (lambda path: rewrite_json(path, scores={}), "damaged .*test"),
        (lambda path: rewrite_json(path, scores={"test": json.loads(path.read_text())["scores"]["test"][:1]}),
         r"TurkicIdiomT1, tur-(azj|uzn) is only in A"),
        (lambda path: path.with_name(f"{T1}.rankings.jsonl.gz").unlink(), "needs the rankings; turkic-idiom run"),
        (lambda path: path.with_name(f"{T1}.rankings.jsonl.gz").write_text("no gzip"), "not a ranking file"),
        (lambda path: shutil.copytree(path.parent, path.parent.with_name("2nd")), f"several results of {T1}: .*2nd"),
    ],
)  # fmt: skip
def test_results_that_cannot_be_compared(copied, change, message):
    change(only(copied[1], f"{T1}.json"))
    with pytest.raises(InputError, match=message):
        compare_results(*copied)


def test_results_of_other_data_than_the_data_in_use(command, runs):
    run = command("turkic-idiom", "compare", *runs, data="")  # the bundled lexicon
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert "scores of other data" in line
    assert "--data" in line


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("absent", "absent"), 2, "absent: no such file or folder"),
        ((".", "."), 1, r"no result; turkic-idiom run and turkic-idiom finetune span write them"),
        (("{a}", "{b}", "--task", "T9"), 2, "unknown task 'T9'"),
        (("{a}", "{b}", "--task", "spans"), 1, r"no result of spans; it has TurkicIdiomT1, TurkicIdiomT2"),
        (
            ("{meta}", "{meta}"),
            1,
            "model_meta.json: neither a result of TurkicIdiomT1, TurkicIdiomT2, TurkicIdiomT3 nor",
        ),
    ],
)
def test_wrong_arguments_are_one_line(command, runs, lexicon, arguments, code, message):
    places = {"a": runs[0], "b": runs[1], "meta": only(runs[0], "model_meta.json")}
    run = command("turkic-idiom", "compare", *(part.format(**places) for part in arguments), data=lexicon)
    (line,) = run.stderr.splitlines()
    assert run.returncode == code
    assert message in line


@pytest.fixture(scope="module")
def grids(untrained_bert, tmp_path_factory):
    """The sentences, and the folders of two systems: a true run of two seeds, with many and with fewer tags garbled.

    There are 40 test concepts in Turkish and 32 of them in Azerbaijani.
    """
    folder = tmp_path_factory.mktemp("spans")
    concepts = [
        concept
        for split, n in (("test", 40), ("train", 20), ("validation", 5))
        for concept in [f"c{k}" for k in range(900) if span_split(f"c{k}") == split][:n]
    ]
    rows = dict(zip(concepts, sentences(len(concepts)), strict=True))
    entries = {
        code: [Entry(concept, f"{code} {row.idiom}", None, row.sentence, row.spans()) for concept, row in rows.items()]
        for code in ("tr", "az")
    }
    del entries["az"][32:40]
    write_lexicon(folder / "lexicon", [Concept(concept, "") for concept in concepts], entries)
    source = open_spans(str(folder / "lexicon"))
    grid = SpanGrid((str(untrained_bert),), folder / "true", source, ("tr", "az"), seeds=(1, 2), adapts=False,
                    config=SpanConfig(epochs=8, learning_rate=5e-3))  # fmt: skip
    assert run_grid(grid) == {}
    generator = np.random.default_rng(0)
    for name, share in (("weak", 0.5), ("strong", 0.3)):
        shutil.copytree(grid.output / "cells", folder / name / "cells")
        for path in sorted((folder / name / "cells").glob("*.json")):
            garble(path, source, share, generator)
    return source, folder / "weak", folder / "strong"


def garble(path, source, share, generator):
    """Random tags for a share of the sentences of a result, and the score to go with them."""
    record = json.loads(path.read_text())
    garbled = {key: "".join(generator.choice(list("OBI"), len(tags))) for key, tags in record["tags"].items()}
    tags = {key: garbled[key] if generator.random() < share else old for key, old in record["tags"].items()}
    rewrite_json(path, tags=tags)
    gold, predicted = tags_of(source, [path], record["language"])
    rewrite_json(path, scores=record["scores"] | {"span_f1": f1_score(gold, predicted)})


@pytest.fixture
def span_data(grids, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, grids[0].path)
    return grids


def cells(folder, language, seed="[12]"):
    """The result files of a language, by seed."""
    return sorted((folder / "cells").glob(f"*-{language}-{'all' if language == 'tr' else 0}-{seed}-*.json"))


def tags_of(source, paths, language):
    """Gold and predicted tags of the test sentences, once per file."""
    test = source.load(language)["test"]
    labels = {"O": "O", "B": "B-IDIOM", "I": "I-IDIOM"}
    records = [json.loads(path.read_text()) for path in paths]
    predicted = [[labels[letter] for letter in record["tags"][row.id]] for record in records for row in test]
    return [list(row.tags) for row in test] * len(records), predicted


def test_span_grids(span_data):
    source, *folders = span_data
    report = compare_results(*folders)
    assert sorted((row.task, row.subset) for row in report.rows) == [("spans-0", "az"), ("spans-all", "tr")]
    for row in report.rows:
        found = [tags_of(source, cells(folder, row.subset), row.subset) for folder in folders]
        assert (row.result.first, row.result.second) == pytest.approx([f1_score(*tags) for tags in found])
        assert row.result.n == row.result.n_clusters == {"tr": 40, "az": 32}[row.subset]
        a, b = (counts(*tags) for tags in found)
        fewer_wrong = np.sign((a[:, 1] - 2 * a[:, 0]) - (b[:, 1] - 2 * b[:, 0]))
        assert [row.result.wins, row.result.ties, row.result.losses] == [(fewer_wrong == s).sum() for s in (1, 0, -1)]
        assert min(row.result.wins, row.result.ties, row.result.losses) > 0
        assert row.result.p == pytest.approx(exchange_p(a, b), abs=0.03)
        assert row.result.interval.low < row.result.difference < row.result.interval.high
    assert "micro-averaged F1 of whole spans" in render(report, style="table")


def spans(tags):
    """Half-open spans by seqeval's default reading."""
    from seqeval.metrics.sequence_labeling import get_entities

    return {(start, end + 1) for _, start, end in get_entities(tags)}


def counts(gold, predicted):
    """(sentences, 3): correct, predicted and gold spans of both seeds."""
    rows = [(len(spans(g) & spans(p)), len(spans(p)), len(spans(g))) for g, p in zip(gold, predicted, strict=True)]
    return np.array(rows).reshape(2, -1, 3).sum(axis=0)


def exchange_p(a, b):
    """The sign-flip p by 4,000 exchanges, one after the other."""

    def f1(part):
        correct, predicted, gold = part.sum(axis=0)
        return 2 * correct / (predicted + gold)

    observed = abs(f1(b) - f1(a))
    generator = np.random.default_rng(99)
    extreme = 0
    for _ in range(4000):
        exchanged = generator.random(len(a)) < 0.5
        one, other = np.where(exchanged[:, None], b, a), np.where(exchanged[:, None], a, b)
        extreme += abs(f1(other) - f1(one)) >= observed - 1e-12
    return (extreme + 1) / 4001


def test_single_span_files_of_any_seed(span_data):
    _, weak, strong = span_data
    files = cells(weak, "az", 1) + cells(strong, "az", 2)
    (row,) = compare_results(*files).rows
    assert (row.task, row.subset) == ("spans", "az")
    scores = [json.loads(path.read_text())["scores"]["span_f1"] for path in files]
    assert (row.result.first, row.result.second) == pytest.approx(scores)


def test_languages_of_a_task_are_combined_by_concept(span_data, tmp_path):
    """Both languages as one task: their idioms differ, their concepts are the same 40."""
    for name, folder in zip("ab", span_data[1:], strict=True):
        shutil.copytree(folder, tmp_path / name)
        for path in cells(tmp_path / name, "az"):
            rewrite_json(path, size="all")
    rows = {row.subset: row.result for row in compare_results(tmp_path / "a", tmp_path / "b").rows}
    assert set(rows) == {"tr", "az", "mean"}
    assert rows["mean"].difference == pytest.approx((rows["tr"].difference + rows["az"].difference) / 2)
    assert (rows["mean"].n, rows["mean"].n_clusters) == (72, 40)


def first_tags(path, change):
    tags = json.loads(path.read_text())["tags"]
    key = next(iter(tags))
    rewrite_json(path, tags={**tags, key: change(tags[key])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: first_tags(path, lambda tags: tags + "O"), r"has 4 words, but the tags '[OBI]{5}'"),
        (lambda path: first_tags(path, lambda tags: "X" * len(tags)), "has 4 words, but the tags 'XXXX'"),
        (lambda path: rewrite_json(path, tags={}), r"sentence 'c\d+' is only in the data"),
        (lambda path: rewrite_json(path, scores={"span_f1": 2.0}), "but the result file says 2.00000"),
        (lambda path: rewrite_json(path, scores={"span_f1": None}), "damaged"),
        (lambda path: rewrite_json(path, data={"revision": "f" * 40}), "different data .*ffffffffffff"),
        (lambda path: path.unlink(), "the seeds differ: 1, 2 and 2"),
        (lambda path: shutil.copy(path, path.with_name("copy.json")), "several results of spans-0, az, seed 1"),
        (lambda path: [other.unlink() for other in path.parent.glob("*-az-*")], "spans-0, az is only in A"),
    ],
)
def test_spans_that_cannot_be_compared(span_data, tmp_path, change, message):
    for name, folder in zip("ab", span_data[1:], strict=True):
        shutil.copytree(folder, tmp_path / name)
    change(*cells(tmp_path / "b", "az", 1))
    with pytest.raises(InputError, match=message):
        compare_results(tmp_path / "a", tmp_path / "b")
