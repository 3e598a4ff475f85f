"""SemEval-2022 Task 2 B: files in the form of its repository, its evaluator's figures, and its submission form."""

import csv

import pytest
from scipy.stats import spearmanr

from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.record import read_header
from turkic_idiom_tasks.tasks.siblings.semeval import semeval_dataset

RUN = ["run", "-m", "turkic-idiom/char-ngrams", "-t", "SemEvalIdiomSTS"]


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def evaluate(submission, gold, language, setting):
    """Return what the task's evaluator computes: all pairs, idiom pairs, general pairs."""
    stated = {row["ID"]: row["Sim"] for row in submission if (row["Language"], row["Setting"]) == (language, setting)}
    columns = {"all": ([], []), "idiom": ([], []), "general": ([], [])}
    for row in gold:
        if row["Language"] == language:
            kind = "general" if row["DataID"].split(".")[2] == "sts" else "idiom"
            for name in ("all", kind):
                columns[name][0].append(float(row["sim"] or stated[row["otherID"]]))
                columns[name][1].append(float(stated[row["ID"]]))
    return [spearmanr(*columns[name])[0] for name in ("all", "idiom", "general")]


def test_scores_are_those_of_the_evaluator_on_the_submission(semeval, tmp_path, capsys):
    assert main([*RUN, "-o", str(tmp_path / "out")]) == 0
    assert "SemEvalIdiomSTS" in capsys.readouterr().out
    form = tmp_path / "form.csv"
    form.write_text("mine")
    assert main([*RUN, "--submission", str(form)]) == 1
    assert form.read_text() == "mine"
    assert "exists; choose another --submission" in capsys.readouterr().err
    form.unlink()
    assert main([*RUN, "--submission", str(form), "--set", "setting=fine_tune"]) == 0
    submission, gold = read(form), read(semeval / "SubTaskB/EvaluationData/dev.gold.csv")
    assert list(submission[0]) == ["ID", "Language", "Setting", "Sim"]
    assert {row["Language"] for row in submission} == {"EN", "PT", "GL"}  # of the test, which has no gold
    assert [bool(row["Sim"]) for row in submission] == [row["Setting"] == "fine_tune" for row in submission]
    headers = {path.name.split(".")[1]: read_header(path) for path in (tmp_path / "out").rglob("*.record.jsonl.gz")}
    assert sorted(headers) == ["eng", "por"]
    for subset, language in (("eng", "EN"), ("por", "PT")):
        scores = headers[subset].scores("SemEvalSTS", subset)
        expected = evaluate(submission, gold, language, "fine_tune")
        names = ("spearman", "spearman_idiom", "spearman_general")
        assert [scores[name] for name in names] == pytest.approx(expected, abs=1e-6)
        assert scores["n_pairs"] == 6  # the repeated pair counts twice


def test_a_part_with_gold_comes_before_an_older_one(semeval, tmp_path, monkeypatch):
    assert semeval_dataset().pair_subsets("SemEvalSTS") == ("eng", "por")
    (tmp_path / "test.gold.csv").rename(semeval / "SubTaskB/TestData/test.gold.csv")
    dataset = semeval_dataset()
    assert dataset.pair_subsets("SemEvalSTS") == ("eng", "por", "glg")
    pairs = dataset.pairs("SemEvalSTS", "glg")
    assert " ".join(row.kind for row in pairs.rows) == "correct incorrect reference correct correct general general"
    assert pairs.other.tolist() == [-1, 2, -1, -1, -1, -1, -1]
    assert pairs.concepts[0] == "gold mine"
    monkeypatch.setenv("SEMEVAL_IDIOM_DATA", str(semeval / "SubTaskB/EvaluationData"))  # a folder of its own
    assert semeval_dataset().path.endswith("dev.csv")


def test_what_does_not_fit_is_named(semeval, monkeypatch, capsys):
    gold = semeval / "SubTaskB/EvaluationData/dev.gold.csv"
    text = gold.read_text(encoding="utf-8")
    for old, new, part in (("100,dev", "999,dev", "pair 999"), (",0.5,", ",2,", "between 0 and 1")):
        gold.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=f"{gold}.*{part}"):
            semeval_dataset()
    gold.unlink()
    with pytest.raises(InputError, match=r"SEMEVAL_IDIOM_DATA .*dev\.gold\.csv"):
        semeval_dataset()
    monkeypatch.delenv("SEMEVAL_IDIOM_DATA")
    with pytest.raises(InputError, match="not set"):
        semeval_dataset(gold=False)
    for more in (["-t", "T1"], ["-m", "mteb/baseline-random-encoder"]):
        assert main([*RUN, *more, "--submission", "form.csv"]) == 2
        assert "takes one model" in capsys.readouterr().err
