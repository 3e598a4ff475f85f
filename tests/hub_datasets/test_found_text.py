"""`dataset mine` and `dataset found`: candidates in corpora, and annotations joined with their sentences again."""

import csv
import functools
import http.server
import json
import re
import shutil
import threading
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hub_datasets.found.annotations import FOLDER, SENSES, digest, read_annotations
from hub_datasets.found.corpora import CorpusSentence, read_sentences
from hub_datasets.found.mining import Miner
from tests.hub_datasets.conftest import read_lines, write_lines
from tests.lm_eval_runs import evaluate, manager, write_samples  # noqa: F401
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import inspect_tasks
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.results.lm_eval_files import SAMPLES
from turkic_idiom_tasks.splits import TEST, span_split

OVERHEAR, DECEIVE = "overhear-by-chance", "deceive-by-outward-show"  # kulak misafiri olmak, göz boyamak
# Our own sentences. In the first one `evdeydi` is two words of one token, and no space stands before the full stop.
TREEBANK = """\
# sent_id = first
# text = Komşu konuşmaya kulak misafiri oldu, o evdeydi.
1\tKomşu\tkomşu\tNOUN\t_\t_\t5\tnsubj\t_\t_
2\tkonuşmaya\tkonuşma\tNOUN\t_\t_\t5\tobl\t_\t_
3\tkulak\tkulak\tNOUN\t_\t_\t4\tnmod\t_\t_
4\tmisafiri\tmisafir\tNOUN\t_\t_\t5\tcompound\t_\t_
5\toldu\tol\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
6\t,\t,\tPUNCT\t_\t_\t8\tpunct\t_\t_
7\to\to\tPRON\t_\t_\t8\tnsubj\t_\t_
8-9\tevdeydi\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
8\tevde\tev\tNOUN\t_\t_\t5\tconj\t_\t_
9\tydi\ti\tAUX\t_\t_\t8\tcop\t_\t_
10\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\tSpaceAfter=No

# sent_id = second
1\tUsta\tusta\tNOUN\t_\t_\t3\tnsubj\t_\t_
2\tgözünü\tgöz\tNOUN\t_\t_\t1\tdep\t_\t_
3\tboyadı\tboya\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\tSpaceAfter=No

"""
LINES = ["Reklamlar müşterinin gözünü boyar.", "", "Akşama misafir gelecek.", "Бу китап жаңы."]


@pytest.fixture
def corpora(tmp_path):
    folder = tmp_path / "corpora"
    for name in ("mini-ud", "mini-lines"):
        (folder / name).mkdir(parents=True)
    (folder / "mini-ud" / "a.conllu").write_text(TREEBANK, encoding="utf-8")
    (folder / "mini-lines" / "b.txt").write_text("\n".join(LINES), encoding="utf-8")
    return folder


@pytest.fixture
def annotations(tmp_path, corpora):
    """A folder of annotations: an idiom in each of the corpora, a literal use, and a sentence without one."""
    folder = tmp_path / "annotations"
    folder.mkdir()
    corpus = {"licence": "cc0-1.0", "url": "http://127.0.0.1:9/commit"}
    treebank, lines = ("mini-ud", "not-to-release/a.conllu"), ("mini-lines", "b.txt")
    files = [corpus | {"corpus": name, "files": {file: "tr"}} for name, file in (treebank, lines)]
    write_lines(folder / "corpora.jsonl", files)
    first = "Komşu konuşmaya kulak misafiri oldu, o evdeydi."
    rows = []
    for (name, file), sentence, text, concept, part, sense in (
        (treebank, "first", first, OVERHEAR, "kulak misafiri oldu", "idiomatic"),
        (treebank, "second", "Usta gözünü boyadı.", DECEIVE, "gözünü boyadı", "literal"),
        (lines, "1", LINES[0], DECEIVE, "gözünü boyar", "idiomatic"),
        (lines, "3", LINES[2], None, "", "none"),
    ):
        spans = [[text.index(part), text.index(part) + len(part)]] if part else None
        row = {"corpus": name, "file": file, "sentence": sentence, "sha256": digest(text), "concept": concept}
        rows.append(row | {"spans": spans, "sense": sense, "readers": [sense, sense], "cloze": concept == OVERHEAR})
    write_lines(folder / "tr.jsonl", rows)
    return folder


@pytest.fixture(scope="module")
def miner(bundled):
    return Miner(bundled.of("tr").values(), LANGUAGES["tr"])


def test_treebank_gives_text_and_arcs_between_written_words(corpora):
    first, second = read_sentences(corpora / "mini-ud" / "a.conllu")
    assert (first.id, second.id, second.text) == ("first", "second", "Usta gözünü boyadı.")
    arcs = {(word.of(first.text), head.of(first.text)) for word, head in first.arcs}
    assert ("misafiri", "oldu") in arcs
    assert ("evdeydi", "oldu") in arcs  # the noun in it is joined to the verb
    assert ("evdeydi", "evdeydi") not in arcs  # as the copula is to the noun


def test_lines_keep_their_numbers_and_are_composed(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(unicodedata.normalize("NFD", "Göz\u2028boyar.\n\nSöz verdi."), encoding="utf-8")
    assert [(row.id, row.text) for row in read_sentences(path)] == [("1", "Göz\u2028boyar."), ("3", "Söz verdi.")]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Herkesin gözünü boyadılar.", ["gözünü boyadılar"]),
        ("Gözümü güzelce boyamış adam.", ["Gözümü", "boyamış"]),
        ("Boyadı gözümüzü.", ["Boyadı gözümüzü"]),
        ("Gözünü sildi, sonra eve gidip duvarı boyadı.", None),  # five words in between
        ("Göüzünü boyadı.", None),  # a misspelling, which the annotator takes
        ("Gözlükçü duvarı boyadı.", None),
    ],
)
def test_miner_finds_forms_that_stand_close_together(sentence, parts, miner):
    candidates = miner.candidates(CorpusSentence("1", sentence))
    spans = [candidate.spans for candidate in candidates if candidate.concept == DECEIVE]
    assert [[span.of(sentence) for span in part] for part in spans] == ([parts] if parts else [])


def test_words_that_no_dependency_joins_are_less_certain(corpora, miner):
    costs = []
    for head in (1, 3):  # `gözünü` depends on `Usta`, which depends on the verb; or on the verb itself
        text = TREEBANK.replace("gözünü\tgöz\tNOUN\t_\t_\t1", f"gözünü\tgöz\tNOUN\t_\t_\t{head}")
        (corpora / "mini-ud" / "a.conllu").write_text(text, encoding="utf-8")
        _, second = read_sentences(corpora / "mini-ud" / "a.conllu")
        (candidate,) = miner.candidates(second)
        costs.append(candidate.cost)
    assert costs[0] == costs[1] + 0.5


@pytest.fixture
def find(corpora, annotations, dataset, tmp_path):
    """Joins annotations, if given others, with the corpora; returns tagged parts of sentences, and what is printed."""

    def run(rows=None, *options, code=0):
        if rows is not None:
            write_lines(annotations / "tr.jsonl", rows)
        places = ("--corpora", corpora, "--annotations", annotations, "--out", tmp_path / "o")
        printed = "".join(dataset("found", *places, *options, code=code))
        assert (tmp_path / "o").exists() == (code == 0)
        sentences = open_dataset(str(tmp_path / "o")).test_sentences("tr").rows if code == 0 else ()
        return {row.id: [span.of(row.sentence) for span in row.spans()] for row in sentences}, printed

    return run


@pytest.fixture
def rows(annotations):
    return read_lines(annotations / "tr.jsonl")


def test_mined_candidates_become_annotations(corpora, find, dataset, tmp_path):
    files = sorted(corpora.rglob("*.*"))
    stdout, stderr = dataset("mine", "--lang", "tr", "--out", tmp_path / "c.jsonl", *files)
    assert "1 sentences in another script" in stderr
    assert "3 candidates of 2 idioms in 5 sentences" in stdout
    rows = read_lines(tmp_path / "c.jsonl")
    assert rows == sorted(rows, key=lambda row: row["cost"])
    line = next(row for row in rows if row["file"] == "b.txt")
    assert (line["before"], line["after"]) == (None, "Akşama misafir gelecek.")
    read = {"b.txt": {"sense": "idiomatic"}, "a.conllu": {"sense": "idiomatic", "file": "not-to-release/a.conllu"}}
    found, _ = find([row | read[row["file"]] for row in rows])
    assert sorted(found.values()) == [["gözünü boyadı"], ["gözünü boyar"], ["kulak misafiri oldu"]]


def test_found_sentences_are_test_sentences_with_their_source(find, dataset, tmp_path):
    found, printed = find()
    dataset("check", tmp_path / "o")  # each file has the canary
    assert "tr: 4 sentences; annotations: 2 idiomatic, 1 literal, 0 unclear, 1 none; 2 idioms\n" in printed
    assert found == {
        "mini-ud/not-to-release/a.conllu/first": ["kulak misafiri oldu"],
        "mini-ud/not-to-release/a.conllu/second": [],  # in literal use nothing is tagged
        "mini-lines/b.txt/1": ["gözünü boyar"],
        "mini-lines/b.txt/3": [],
    }
    card = (tmp_path / "o" / "README.md").read_text(encoding="utf-8")
    assert "http://127.0.0.1:9/commit" in card
    assert "cc0-1.0" in card
    assert "cc-by-4.0" in card  # the idioms of the bundled lexicon
    assert len(inspect_tasks.usage(data=str(tmp_path / "o")).dataset) == 2
    assert TEST not in (span_split(OVERHEAR), span_split(DECEIVE))
    assert list(find(None, "--unseen")[0]) == ["mini-lines/b.txt/3"]


def test_found_text_has_a_leaderboard_of_its_own(find, manager, tmp_path, monkeypatch):  # noqa: F811
    with pytest.raises(InputError, match="TURKIC_IDIOM_FOUND is not set"):
        manager.load(["turkic_idiom_span_found_tr"])
    find()
    data = ["--data", str(tmp_path / "o")]
    monkeypatch.setenv("TURKIC_IDIOM_FOUND", data[1])

    def answer(document):  # finds one of the two idioms, and one where none is
        found = "gözünü" in document["sentence"] and document["sentence"].split(maxsplit=1)[1].rstrip(".")
        return json.dumps({"idioms": [found.removeprefix("müşterinin ")] if found else []})

    logged = evaluate(answer, ["turkic_idiom_span_found_tr"], manager)
    metadata = logged["configs"]["turkic_idiom_span_found_tr"]["metadata"]
    assert metadata["data_revision"] == open_dataset(data[1]).revision
    assert SAMPLES.fullmatch("samples_turkic_idiom_span_found_tr_2026-11-26T22-05-10.3.jsonl")["language"] == "tr"
    write_samples(tmp_path, logged)
    stated = ["--contact", "me", "--training-data", "none", "--regime", "pretrained", "--out", str(tmp_path / "s")]
    assert main(["submit", str(tmp_path), *data, *stated]) == 0
    assert main(["leaderboard", "build", str(tmp_path / "s"), *data, "--out", str(tmp_path / "site")]) == 0
    (row,) = csv.DictReader((tmp_path / "site" / "leaderboard.csv").open(encoding="utf-8"))
    assert float(row["spans tr"]) == 0.5  # 2 * 1 right / (2 gold + 2 predicted)


def test_items_of_found_text_in_lm_eval_and_their_report(find, manager, tmp_path, monkeypatch):  # noqa: F811
    find()
    monkeypatch.setenv("TURKIC_IDIOM_FOUND", str(tmp_path / "o"))
    usage, cloze = "turkic_idiom_usage_found_tr", "turkic_idiom_cloze_open_found_tr"
    written = f"{usage}_gen"
    asked = {}

    def answer(document):
        asked[document["text"]] = document
        if document["kind"] == "cloze_open":
            return "kulak misafiri olmuştu"  # another form
        return document["letters"][document["options"].index("literal")]

    found = evaluate(answer, [usage, written, cloze], manager)
    # The only literal use, and the idiomatic one of the same idiom rather than that of another one
    assert set(asked) == {"Usta gözünü boyadı.", LINES[0], "Komşu konuşmaya _____, o evdeydi."}
    assert {asked[LINES[0]]["idiom"], asked["Usta gözünü boyadı."]["idiom"]} == {"göz boyamak"}
    assert {document["gold"] for document in asked.values() if document["kind"] == "usage"} == {0, 1}
    for task, reading in ((usage, "none"), (written, "flexible")):
        scores = found["results"][task]
        assert (scores[f"acc,{reading}"], scores[f"acc_corrected,{reading}"]) == (0.5, 0)  # one of two is literal
        assert f"pair_acc,{reading}" not in scores
    scores = found["results"][cloze]
    assert (scores["exact_match,flexible"], scores["accepted,flexible"]) == (0, 1)
    # Examples are training items of the bundled lexicon.
    (example,) = evaluate(answer, [usage], manager, num_fewshot=1, limit=1)["samples"][usage]
    assert example["arguments"][0][0].count("?") == 2 * example["doc"]["query"].count("?")


def test_wrong_uses_in_a_dataset_are_refused_by_name(find, tmp_path):
    find()
    path = tmp_path / "o" / "data" / "use-tr" / "test.parquet"
    use = pq.read_table(path).to_pylist()[0] | {"id": "deceive-by-outward-show--2"}
    for change, fact in (
        ({"spans": [[0, 99]]}, "span [0, 99] is not inside"),
        ({"spans": []}, "spans"),
        ({"sense": "unclear"}, "sense"),
        ({"concept": "Göz"}, "concept"),
        ({"id": use["id"]}, "appears twice"),
    ):
        rows = [use | {"id": "other"} | change, use]
        pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path)
        with pytest.raises(InputError, match=re.escape(fact)):
            open_dataset(str(tmp_path / "o")).uses("tr")


def test_native_speakers_confirm_uses_or_reject_them(find, rows, annotations, dataset, tmp_path):
    find()
    page = tmp_path / "review.html"
    printed, _ = dataset("review", "--lang", "tr", "--found", tmp_path / "o", "--out", page)
    assert printed == f"{page}: 3 of 3 Turkish uses\n"
    body, script = page.read_text(encoding="utf-8").split('id="data">')
    assert ("Wrong sense" in body, "Wrong concept" in body) == (True, False)
    data = json.loads(script.split("</script>")[0])
    shown, judged = {}, []
    for number, entry in enumerate(data["entries"], start=1):
        marked = " ".join(text for text, is_idiom in entry["example"] if is_idiom)
        shown[marked] = (entry["idiom"], entry["gloss"])
        verdict = {"gözünü boyadı": "wrong", "gözünü boyar": "unknown", "kulak misafiri oldu": "ok"}[marked]
        judged.append(
            {"format": data["format"], "lexicon_revision": data["revision"], "language": "tr"}
            | {"concept": entry["concept"], "idiom": entry["idiom"], "verdicts": dict.fromkeys(data["fields"], verdict)}
            | {"reviewer": "AB", "date": "2026-01-01", "time": "2026-01-01T10:00:00Z", "sequence": number}
        )
    assert shown == {
        "gözünü boyadı": ("göz boyamak", data["words"]["used literally"]),
        "gözünü boyar": ("göz boyamak", data["words"]["used as an idiom"]),
        "kulak misafiri oldu": ("kulak misafiri olmak", data["words"]["used as an idiom"]),
    }
    write_lines(tmp_path / "review-tr-AB.jsonl", judged)
    printed, _ = dataset("review", tmp_path / "review-tr-AB.jsonl", "--found", annotations)
    assert "1 annotations confirmed, 1 rejected" in printed
    changed = read_lines(annotations / "tr.jsonl")
    status = [row.pop("status", None) for row in changed]
    assert (status, changed) == (["confirmed", "rejected", None, None], rows)
    found, printed = find()
    assert "native speaker" in printed
    assert "mini-ud/not-to-release/a.conllu/second" not in found
    write_lines(tmp_path / "other.jsonl", [judged[0] | {"concept": "no-such-use"}])
    assert "no-such-use" in dataset("review", tmp_path / "other.jsonl", "--found", annotations, code=1)[1]


def test_what_is_not_found_again_is_left_out_and_counted(corpora, find, tmp_path):
    (corpora / "mini-lines" / "b.txt").unlink()
    treebank = corpora / "mini-ud" / "a.conllu"
    treebank.write_text(TREEBANK.replace("Usta", "Ustam"), encoding="utf-8")
    found, printed = find()
    left_out = [line.split() for line in printed.splitlines() if line.startswith("mini-")]
    assert [(cells[0], cells[-1]) for cells in left_out] == [("mini-lines", "2"), ("mini-ud", "1")]
    assert list(found) == ["mini-ud/not-to-release/a.conllu/first"]
    assert "2 annotations of mini-lines" in (tmp_path / "o" / "README.md").read_text(encoding="utf-8")


def test_a_sentence_counts_once_and_not_where_it_reads_otherwise(corpora, find, rows):
    (corpora / "mini-lines" / "b.txt").write_text("\n".join([*LINES, LINES[0]]), encoding="utf-8")
    other_text = rows[0] | {"concept": None, "spans": [[0, 5]], "sha256": "0" * 64}
    found, printed = find([*rows, rows[2] | {"sentence": "5"}, other_text])
    assert ("another corpus" in printed, "reads otherwise" in printed) == (True, True)
    assert set(found) == {"mini-ud/not-to-release/a.conllu/second", "mini-lines/b.txt/1", "mini-lines/b.txt/3"}


def test_further_idioms_are_tagged_and_doubtful_sentences_left_out(find, rows, tmp_path):
    first, second, *others = rows
    further = first | {"concept": None, "spans": [[0, 5]]}  # an idiom that the lexicon lacks: `Komşu`, for the test
    doubtful = second | {"concept": None, "sense": "unclear", "spans": [[0, 4]]}
    found, printed = find([further, first, second, doubtful, *others])
    assert found["mini-ud/not-to-release/a.conllu/first"] == ["Komşu", "kulak misafiri oldu"]
    assert "mini-ud/not-to-release/a.conllu/second" not in found
    assert "unclear" in printed
    sentences = open_dataset(str(tmp_path / "o")).test_sentences("tr").rows
    assert {sentence.idiom for sentence in sentences} == {"kulak misafiri olmak", "göz boyamak", LINES[2]}
    # What is doubtful beside it does not change the sense of an idiom of the lexicon.
    assert "Usta gözünü boyadı." in {use.sentence for use in open_dataset(str(tmp_path / "o")).uses("tr")}


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"spans": [[0, 99]]}, "first"),
        ({"spans": [[3, 3]]}, "first"),
        ({"sense": "figurative"}, "tr.jsonl:1"),
        ({"corpus": "elsewhere"}, "elsewhere"),
        ({"concept": None, "spans": [[14, 21]]}, "overlaps"),  # an idiom that shares `kulak` with that of the entry
    ],
)
def test_wrong_annotations_are_refused_by_name(change, fact, find, rows):
    assert rows[0]["spans"] == [[16, 35]]
    assert fact in find([rows[0] | change, *rows], code=1)[1]


@pytest.mark.parametrize(
    "text",
    [
        *(f"# text = bad\n{line}\n\n" for line in ("1\tbad", "no tabs")),
        TREEBANK.replace("\t5\tnsubj", "\tfive\tnsubj"),
        TREEBANK.replace("8-9\t", "8-x\t"),
        TREEBANK.replace("\toldu\t", "\toldular\t"),
    ],
    ids=range(5),
)
def test_what_is_no_treebank_is_one_line_of_error(text, tmp_path, dataset):
    (tmp_path / "a.conllu").write_text(text, encoding="utf-8")
    _, stderr = dataset("mine", "--lang", "tr", "--out", tmp_path / "c.jsonl", tmp_path / "a.conllu", code=1)
    assert ("a.conllu" in stderr, len(stderr.splitlines())) == (True, 1)
    assert not (tmp_path / "c.jsonl").exists()


def test_missing_corpora_are_fetched_from_their_addresses(corpora, annotations, find, tmp_path):
    served = tmp_path / "commit"
    (served / "not-to-release").mkdir(parents=True)
    (corpora / "mini-ud" / "a.conllu").rename(served / "not-to-release" / "a.conllu")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = annotations / "corpora.jsonl"
        path.write_text(path.read_text().replace(":9/", f":{server.server_port}/"))
        found, _ = find(None, "--fetch")
        server.shutdown()
    assert (corpora / "mini-ud" / "not-to-release" / "a.conllu").read_text(encoding="utf-8") == TREEBANK
    assert len(found) == 4
    shutil.rmtree(tmp_path / "o")
    (corpora / "mini-lines" / "b.txt").unlink()
    assert "/commit/b.txt" in find(None, "--fetch", code=1)[1]


def test_bundled_annotations_name_entries_and_files_of_the_corpora(bundled):
    corpora = {corpus["corpus"]: corpus for corpus in read_lines(FOLDER / "corpora.jsonl")}
    for language in ("tr", "az", "uz", "tk"):
        rows = read_annotations(FOLDER, language)
        assert rows
        for row in rows:
            assert corpora[row.corpus]["files"][row.file] == language
            assert row.sense in SENSES
            assert (row.sense == "none") == (row.spans is None)
            assert row.sense != "none" or row.concept is None
            assert row.concept is None or row.concept in bundled.of(language)
    assert not any("text" in line for path in FOLDER.glob("*.jsonl") for line in read_lines(path))
    for proposal in read_lines(FOLDER / "proposals.jsonl"):
        language = LANGUAGES[proposal["language"]]
        known = {fold(entry.idiom, language) for entry in bundled.of(language.code).values()}
        assert fold(proposal["idiom"], language) not in known


def test_bundled_annotations_fit_their_corpora(outside_data, dataset, tmp_path):
    corpora = outside_data / "found"
    if not corpora.is_dir():
        pytest.skip("the corpora are not there")
    _, stderr = dataset("found", "--corpora", corpora, "--out", tmp_path / "o")
    for line in stderr.splitlines()[1:]:  # the files of common-voice have other names there
        assert "unclear" in line or line.startswith("common-voice")
    for row in open_dataset(str(tmp_path / "o")).test_sentences("tr").rows:
        for span in row.spans():  # every span begins and ends with a word
            assert {span.start, span.end} <= {edge for word in words(row.sentence) for edge in (word.start, word.end)}
