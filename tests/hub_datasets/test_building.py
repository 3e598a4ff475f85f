"""`turkic-idiom dataset enrich`, `verify` and `judge` against scripted models; nothing of this ran with a real one."""

import csv
import json
import signal
import subprocess
import sys
import time

import pytest

from hub_datasets.planting import EXAMPLE_KINDS, MEANING_KINDS, plant
from tests.hub_datasets.conftest import read_lines, write_entries, write_lines
from tests.hub_datasets.scripted_models import Knowledge, as_json, judgement, verification
from tests.llm_server import MODEL, Failure, Slow, asked, running_llm, share_of, texts_in
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span

LANGUAGES = ("tr", "az", "tk", "gag", "uz")


@pytest.fixture(scope="session")
def knowledge(bundled):
    return Knowledge(bundled)


@pytest.fixture
def build(ask_models):
    """A function that runs `judge`, or a command of `turkic-idiom dataset`, on a server."""
    return lambda command, *arguments, **options: ask_models(
        *(["dataset"] * (command != "judge")), command, *arguments, **options
    )


def small_lexicon(directory, bundled, n, languages=("tr", "az")):
    """Write a lexicon of the first concepts that all these languages have; return their ids."""
    concepts = [concept for concept in bundled.concepts if all(concept in bundled.of(code) for code in languages)][:n]
    entries = {code: [bundled.of(code)[concept] for concept in concepts] for code in languages}
    write_lexicon(directory, [bundled.concepts[concept] for concept in concepts], entries)
    return concepts


def test_from_a_bare_list_to_a_lexicon_that_is_scored(build, dataset, bundled, knowledge, tmp_path):
    expected = set()
    with (tmp_path / "idioms.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["gloss", *LANGUAGES])
        for concept in sorted(bundled.concepts)[:16]:
            row = {code: bundled.of(code)[concept].idiom for code in LANGUAGES if concept in bundled.of(code)}
            table.writerow([bundled.concepts[concept].gloss, *(row.get(code, "-") for code in LANGUAGES)])
            expected |= set(row.items())

    def answer(body):  # breaks the JSON of a fifth of its answers, but not when it is asked again
        text = knowledge.writer(body)
        return f"Certainly! {text[:-1]}" if len(body["messages"]) == 2 and share_of(body) < 0.2 else text

    with running_llm(answer) as server:
        _, err = build("enrich", "--in", "idioms.csv", "--out", "draft", server=server)
        # one question for each idiom, and a fifth of them twice
        assert len(expected) < len(server.requests) < 1.4 * len(expected)
    assert "0 without a readable one" in err
    enriched = load_lexicon(tmp_path / "draft")
    assert sum(len(rows) for rows in enriched.entries.values()) == len(expected)  # a dash stays empty
    for code in LANGUAGES:
        for entry in enriched.of(code).values():
            assert entry.meaning in {other.meaning for other in knowledge.entries[code, entry.idiom]}
            assert entry.example is None or entry.spans
            assert "enriched by scripted, enrich-2, 20" in entry.status
    build("verify", "draft", "--plant", "0.05", "--out", "verified", answer=knowledge.verifier)
    rejected = read_lines(tmp_path / "verified-rejected.jsonl")
    n_verified = sum(len(rows) for rows in load_lexicon(tmp_path / "verified").entries.values())
    assert n_verified + len(rejected) == len(expected)
    assert n_verified > 0.9 * len(expected)
    assert {row["reason"].partition(":")[0] for row in rejected} <= {"incomplete", "malformed", "duplicate"}
    dataset("annotate", "--in", "verified", "--out", "annotated")
    dataset("check", "--format-only", "annotated")


def test_what_is_there_is_never_overwritten(build, tmp_path):
    whole = {"meaning": "görmezden gelmek", "example": "Buna göz yumdu."}
    entries = {
        "tr": [Entry("a", "kulak asmak", "kendi anlamım", status="read"), Entry("b", "göz yummak", **whole)],
        "az": [Entry("a", "göz yummaq", **whole), Entry("b", "qulaq asmaq")],
    }
    write_entries(tmp_path / "gaps", **entries)

    def behave(body):
        example = f"Dün onlar yine {texts_in(body)[0]} dediler."
        return as_json(citation_form="başka bir deyim", meaning="yeni", example=example)

    with running_llm(behave) as server:
        build("enrich", "--in", "gaps", "--out", "filled", server=server)
        assert len(server.requests) == 2  # one for each gap
    filled = load_lexicon(tmp_path / "filled")
    entry = filled.of("tr")["a"]
    assert (entry.idiom, entry.meaning) == ("kulak asmak", "kendi anlamım")
    assert "kulak asmak" in entry.example
    assert entry.status.startswith("read; enriched by scripted, enrich-2")
    assert filled.of("az")["b"].meaning == "yeni"
    assert (filled.of("tr")["b"], filled.of("az")["a"]) == (entries["tr"][1], entries["az"][0])


def test_a_citation_form_takes_the_place_of_a_list_only_if_it_is_the_same_idiom(build, tmp_path):
    (tmp_path / "list.csv").write_text("tr,az\ngöz yumdu,-\nkulak asmadı,\n", "utf-8")
    answers = {"göz yumdu": ("göz yummak", "Bu kez ona göz yumdu."), "kulak asmadı": ("yan çizmek", "Bana yan çizdi.")}

    def behave(body):
        form, example = answers[texts_in(body)[0]]
        return as_json(citation_form=form, meaning="görmezden gelmek", example=example)

    out, _ = build("enrich", "--in", "list.csv", "--out", "draft", answer=behave)
    lexicon = load_lexicon(tmp_path / "draft")
    assert list(lexicon.entries) == ["tr"]
    same, other = lexicon.of("tr").values()
    assert (same.idiom, same.variants) == ("göz yummak", ("göz yumdu",))
    assert same.spans[0].of(same.example) == "göz yumdu"
    assert (other.idiom, other.example) == ("kulak asmadı", None)  # another idiom stands in it
    assert "no word in common" in out


def test_the_paper_s_prompt_asks_about_a_row_of_languages(build, tmp_path):
    row = {"TR-Deyim": "göz yummak", "AZ-Deyim": "göz yummaq", "GA-Deyim": "-", "TK-Deyim": ""}
    write_lines(tmp_path / "paper.json", [row | {"UZ-Deyim": "koʻz yummoq"}])
    answer = {
        "TR-Deyim": "göz yummak", "TR-Anlam": "görmezden gelmek", "TR-Ornek": "Annem bu hataya göz yumdu.",
        "AZ-Deyim": "göz yummaq", "AZ-Anlam": "görməməzliyə vurmaq", "AZ-Ornek": "Anam bu səhvə göz yumdu.",
        "GA-Deyim": "göz yummaa", "GA-Anlam": "görmemää", "GA-Ornek": "Anam göz yumdu.", "TK-Deyim": "-",
        "UZ-Deyim": "koʻz yummoq", "UZ-Anlam": "koʻrmaganga olmoq", "UZ-Ornek": "-",
    }  # fmt: skip
    with running_llm(lambda body: json.dumps([answer])) as server:
        build("enrich", "--in", "paper.json", "--out", "draft", "--set", "prompt=1", server=server)
    (body,) = server.requests
    assert "If an idiom cell in a dialect is empty or contains only a hyphen (-)" in body["messages"][0]["content"]
    assert '"TK-Deyim": "-", "GA-Deyim": "-", "UZ-Deyim": "koʻz yummoq"' in asked(body)
    assert "AZ-Ornek" in body["response_format"]["json_schema"]["schema"]["properties"]
    lexicon = load_lexicon(tmp_path / "draft")
    assert set(lexicon.entries) == {"tr", "az", "uz"}  # nothing is written where there was no idiom
    (uzbek,), (turkish,) = lexicon.of("uz").values(), lexicon.of("tr").values()
    assert (uzbek.meaning, uzbek.example) == ("koʻrmaganga olmoq", None)
    assert "enrich-1" in turkish.status


def test_only_a_consistent_and_sure_acceptance_of_a_sound_entry_accepts(build, bundled, tmp_path):
    concepts = small_lexicon(tmp_path / "whole", bundled, 9, languages=("tr",))
    entries = [bundled.of("tr")[concept] for concept in concepts]
    first, *_, bare, twin, foreign = entries
    entries[6:] = [
        Entry(bare.concept, bare.idiom, bare.meaning),
        Entry(twin.concept, first.idiom, twin.meaning, first.example, first.spans),
        Entry(foreign.concept, foreign.idiom, foreign.meaning, "Bugün hava çok güzel ve sıcak."),
    ]
    write_lexicon(tmp_path / "lexicon", [bundled.concepts[concept] for concept in concepts], {"tr": entries})
    answers = [
        verification(True, True, True),
        verification(True, False, True, decision="Accept"),  # contradicts itself
        verification(True, True, True, decision="Reject"),  # likewise
        verification(True, True, True, confidence=0.3),
        verification(False, True, True, confidence="95%"),
        "Accept",
        *[verification(True, True, True)] * 3,
    ]
    idioms = [entry.idiom for entry in entries]
    out, _ = build("verify", "lexicon", "--out", "kept", answer=lambda body: answers[idioms.index(texts_in(body)[0])])
    assert list(load_lexicon(tmp_path / "kept").of("tr")) == concepts[:1]
    rejected = read_lines(tmp_path / "kept-rejected.jsonl")
    assert [row["entry"]["concept"] for row in rejected] == concepts[1:]
    *reasons, malformed = (row["reason"].partition(" (")[0] for row in rejected)
    assert reasons == [
        "the verdict contradicts itself",
        "the verdict contradicts itself",
        "low confidence",
        "rejected",
        "the answer is not readable",
        "incomplete: no meaning or no example",
        f"duplicate: the same idiom as {first.concept}",
    ]
    assert malformed.startswith("malformed: ")
    verdicts = read_lines(tmp_path / "lexicon-verdicts.jsonl")
    assert [row["confidence"] for row in verdicts] == [0.9, 0.9, 0.9, 0.3, 0.95, None, 0.9, 0.9]
    assert {(row["model"], row["prompt"]) for row in verdicts} == {(MODEL, "verify-2")}
    assert "tr the verdict contradicts itself" in out


def test_planted_errors_are_counted_and_never_kept(build, bundled, knowledge, tmp_path):
    concepts = small_lexicon(tmp_path / "lexicon", bundled, 24)
    planting = ("lexicon", "--plant", "0.25")
    with running_llm(knowledge.verifier) as server:
        out, _ = build("verify", *planting, "--min-caught", "0.9", "--out", "kept", server=server)
        assert len(server.requests) == 2 * (24 + 6)
    planted = [row for row in read_lines(tmp_path / "lexicon-verdicts.jsonl") if row["planted"]]
    assert {row["planted"] for row in planted} >= {"other", "other example"}
    assert all(row["decision"] == "reject" for row in planted)
    for row in planted:  # each has one text that is not its own
        own = bundled.of(row["language"])[row["concept"]]
        assert (row["meaning"] == own.meaning) != (row["example"] == own.example)
    assert out.splitlines()[-2].split() == ["all", "12", "12", "100.0%"]
    kept = load_lexicon(tmp_path / "kept")
    assert {entry.meaning for entry in kept.of("tr").values()} <= {bundled.of("tr")[name].meaning for name in concepts}
    arguments = (*planting, "--min-caught", "0.5", "--out", "none", "--set", "prompt=1")
    _, err = build("verify", *arguments, code=1, answer=lambda body: verification(True, True, True))
    assert not (tmp_path / "none").exists()
    assert "0.0% of the planted errors were caught" in err


def test_what_is_planted_is_wrong_and_of_the_kind_that_is_said():
    literal = {"literal_example": "Göle taş attı.", "literal_paraphrase": "Bana kaya parçası fırlattı."}
    entries = {
        "a": Entry("a", "taş atmak", "birine iğneleyici söz söylemek", "Bana taş attı.", (Span(5, 13),), **literal),
        "b": Entry("b", "laf sokmak", "birine iğneleyici ve kırıcı söz söylemek"),
        "c": Entry("c", "diş bilemek", "birine öç almak için söz vermek"),
        "d": Entry("d", "küplere binmek", "çok öfkelenmek"),
    }
    concepts = {name: Concept(name, "") for name in entries}
    lexicon = Lexicon(concepts, {"tr": entries}, "0" * 40, equivalents={("a", "b"): "near"})
    kinds = {}
    for kind in (*MEANING_KINDS, *EXAMPLE_KINDS):
        kinds.update(plant(lexicon, "tr", ["a"], share=1, kinds=[kind]))
    assert kinds["other"].meaning in (entries["c"].meaning, entries["d"].meaning)
    assert kinds["shifted"].meaning == entries["c"].meaning  # b is closer, but judged near: it would be no error
    assert kinds["literal"].meaning == "kaya parçası fırlattı"
    assert kinds["literal example"].example == "Göle taş attı."
    assert "other example" not in kinds  # no other entry has one


def test_judge_prints_shares_with_intervals_beside_the_paper_s(build, bundled, tmp_path):
    concepts = small_lexicon(tmp_path / "lexicon", bundled, 10)
    low = {bundled.of("tr")[concept].idiom for concept in concepts[:3]} | {bundled.of("az")[concepts[0]].idiom}
    out, _ = build("judge", "lexicon", answer=lambda body: judgement("low" if texts_in(body)[0] in low else "HIGH"))
    turkish, azerbaijani, both, paper, *_ = (line.split() for line in out.splitlines()[1:])
    # Turkish: 7 of 10 are HIGH; Azerbaijani: 9 of 10; their mean is 80%
    assert (turkish[:4], turkish[-2:]) == (["tr", "10", "0", "70.0%"], ["0.0%", "30.0%"])
    assert float(turkish[4].rstrip("%")) < 70 < float(turkish[6].rstrip("%"))
    assert azerbaijani[:4] == ["az", "10", "0", "90.0%"]
    assert both[:4] == ["all", "20", "0", "80.0%"]
    assert paper[2] == "92.8%"
    assert "judged by scripted, judge-monolingual-2, 20" in out


def test_a_panel_has_the_majority_and_its_agreement(build, bundled, tmp_path):
    small_lexicon(tmp_path / "lexicon", bundled, 4, languages=("tr",))
    idioms = [entry.idiom for _, entry in sorted(load_lexicon(tmp_path / "lexicon").of("tr").items())]
    votes = {
        "scripted-a": ["HIGH", "HIGH", "LOW", "?"],
        "scripted-b": ["HIGH", "LOW", "MEDIUM", "?"],
        "openai-api/openai/scripted-c": ["HIGH", "HIGH", "?", "?"],
    }
    answers = {name.rpartition("/")[2]: own for name, own in votes.items()}
    with running_llm(lambda body: judgement(answers[body["model"]][idioms.index(texts_in(body)[0])])) as server:
        out, _ = build("judge", "lexicon", "--verdicts", "all.jsonl", server=server, models=list(votes))
    rows = read_lines(tmp_path / "all.jsonl")
    # a tie of LOW and MEDIUM counts as the lower one; a case without a readable vote has no quality
    assert [row["quality"] for row in rows] == ["HIGH", "HIGH", "LOW", None]
    assert [vote["quality"] for vote in rows[2]["votes"]] == ["LOW", "MEDIUM", None]
    assert [vote["model"] for vote in rows[0]["votes"]] == list(votes)
    assert "66.7%" in out.splitlines()[1]
    # pairs: 3 of 3, 1 of 3 and 0 of 1 are the same, 4 of 7. Alpha by hand: the units have 3, 3 and 2 values, n = 8, of
    # which 5 HIGH, 2 LOW, 1 MEDIUM. Unlike pairs within: 4 / 2 + 2 / 1 = 4; at all: 56 - (20 + 2) = 34;
    # 1 - 7 * 4 / 34 = 0.176
    assert "agreement of the panel on 3 cases: 57.1% of pairs, alpha 0.176" in out


def test_across_languages_the_idiom_of_one_stands_with_the_meaning_of_the_other(build, bundled, tmp_path):
    concepts = small_lexicon(tmp_path / "lexicon", bundled, 30, languages=("tr", "uz"))
    right = {(bundled.of("tr")[concept].idiom, bundled.of("uz")[concept].meaning) for concept in concepts}
    with running_llm(lambda body: judgement("HIGH" if tuple(texts_in(body)) in right else "LOW")) as server:
        arguments = ("lexicon", "--cross-lingual", "tr:uz", "--plant", "0.2", "--min-caught", "1")
        out, _ = build("judge", *arguments, server=server)
        build("judge", "lexicon", "--cross-lingual", "tr:gag", code=2, server=server)
    assert len(server.requests) == 36
    assert right <= {tuple(texts_in(body)) for body in server.requests}
    assert "tr:uz" in out
    assert "70%" in out
    arguments += ("--set", "cache=b", "--verdicts", "b.jsonl")
    _, err = build("judge", *arguments, answer=lambda body: judgement("HIGH"), code=1)
    assert "0.0% of the planted errors were caught" in err


def test_a_dry_run_prints_requests_and_cost_and_sends_nothing(build, bundled, tmp_path):
    small_lexicon(tmp_path / "lexicon", bundled, 5)
    (tmp_path / "prices.yaml").write_text("scripted: {input: 1000000, output: 2000000}\n")
    with running_llm(lambda body: judgement("HIGH")) as server:
        out, _ = build("judge", "lexicon", "--dry-run", "--set", "prices=prices.yaml", server=server)
        assert server.requests == []
        cells = out.splitlines()[1].split()
        assert cells[:4] == ["scripted", "judge-monolingual-2", "10", "10"]
        tokens = [int(cell.replace(",", "")) for cell in cells[4:6]]
        assert tokens[1] == 10 * 150
        assert float(cells[6]) == tokens[0] + 2 * tokens[1]  # at a price of one and two for each token
        assert not list(tmp_path.glob("*judged*"))
        build("judge", "lexicon", server=server)
        out, _ = build("judge", "lexicon", "--dry-run", server=server)
        assert out.splitlines()[1].split()[2:] == ["10", "0", "0", "0", "unknown"]
        assert len(server.requests) == 10


@pytest.mark.parametrize("behave", [lambda body: Failure(500), lambda body: "Hayır."], ids=["dead", "unreadable"])
def test_a_command_to_which_nothing_was_answered_fails_and_writes_nothing(build, bundled, tmp_path, behave):
    small_lexicon(tmp_path / "lexicon", bundled, 2, languages=("tr",))  # too few questions for a row of five failures
    (tmp_path / "idioms.csv").write_text("tr\ngöz yummak\nkulak asmak\n", "utf-8")
    row = {"id": "1", "language": "tr", "idiom": "göz yummak", "reference": "görmezden gelmek", "answer": "bakmamak"}
    write_lines(tmp_path / "mine.jsonl", [row])
    before = set(tmp_path.iterdir())
    with running_llm(behave) as server:
        for arguments in (
            ("verify", "lexicon", "--out", "verified", "--plant", "0.5"),
            ("enrich", "--in", "idioms.csv", "--out", "draft"),
            ("judge", "lexicon"),
            ("judge", "mine.jsonl"),
        ):
            out, err = build(*arguments, "--set", "retries=0", code=1, server=server)
            assert out == "", arguments
            assert "none of the questions has a readable answer" in err.splitlines()[-1]
    assert {path for path in set(tmp_path.iterdir()) - before if "language-model-answers" not in path.name} == set()


def test_wrong_arguments(build, bundled, tmp_path):
    small_lexicon(tmp_path / "lexicon", bundled, 3)
    (tmp_path / "prices.yaml").write_text("scripted: {input: much, output: 1}\n")
    write_entries(tmp_path / "bare", tr=[Entry("a", "göz yummak")])
    with running_llm(lambda body: judgement("HIGH")) as server:
        for command, arguments, expected, message in (
            ("judge", ("lexicon", "--set", "temperature=hot"), 2, "field 'temperature': Input should be"),
            ("judge", ("lexicon", "--language", "gag"), 2, "there are no entries in it"),
            ("judge", ("lexicon", "--cross-lingual", "tr"), 2, "expected two languages"),
            ("judge", ("lexicon", "--set", "prices=prices.yaml"), 1, "'scripted.input': Input should be"),
            ("judge", ("bare",), 1, "run dataset enrich first"),
        ):
            _, err = build(command, *arguments, code=expected, server=server)
            assert message in err
        assert not server.requests


@pytest.mark.long
def test_a_command_that_is_interrupted_or_killed_goes_on_where_it_was(build, bundled, tmp_path):
    small_lexicon(tmp_path / "lexicon", bundled, 60, languages=("tr",))
    arguments = ["judge", "lexicon", "--set", "concurrency=3"]
    with running_llm(lambda body: Slow(0.02, judgement("HIGH" if share_of(body) < 0.5 else "LOW"))) as server:
        command = [sys.executable, "-m", "turkic_idiom_tasks", *arguments, "--model", MODEL]
        command += ["--set", f"base_url={server.url}"]
        for end, n_requests in ((signal.SIGINT, 15), (signal.SIGKILL, 30)):
            process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            while len(server.requests) < n_requests:
                time.sleep(0.005)
                assert process.poll() is None
            process.send_signal(end)
            start = time.monotonic()
            _, err = process.communicate()
            assert time.monotonic() - start < 2
            said = [line for line in err.splitlines() if not line.startswith("scripted: ")]  # which tell the progress
            interrupted = "turkic-idiom: interrupted; run the same command again to continue"
            assert said == ([interrupted] if end == signal.SIGINT else [])
            time.sleep(0.1)
        assert len(server.requests) < 60
        build(*arguments, server=server)
        assert 60 <= len(server.requests) <= 60 + 2 * 3  # at most those under way at either end were sent twice
        n_sent, texts = len(server.requests), (tmp_path / "lexicon-judged.jsonl").read_text()
        build("judge", "lexicon", server=server)
        assert len(server.requests) == n_sent
    assert (tmp_path / "lexicon-judged.jsonl").read_text() == texts
