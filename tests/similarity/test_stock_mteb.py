"""The similarity tasks under the stock `mteb` command and its API."""

import json

import mteb
import numpy as np
import pytest

from turkic_idiom_tasks import AStitchIdiomSTS, ChengyuSTS, SemEvalIdiomSTS, TurkicIdiomSTS
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.metrics.similarity import similarity_scores

BASELINE = "turkic-idiom/char-ngrams"


def test_the_scores_are_ours_on_the_cosine_similarities():
    (result,) = mteb.evaluate(mteb.get_model(BASELINE), mteb.get_task("TurkicIdiomSTS"), cache=None).task_results
    rows = {row["hf_subset"]: row for row in result.scores["test"]}
    assert sorted(rows) == ["azj", "tuk", "tur", "uzn"]
    dataset = open_dataset()
    for code, subset in (("tr", "tur"), ("uz", "uzn")):
        pairs = dataset.pairs("STS", subset)
        vectors = dict(zip(pairs.texts, encode_texts(pairs.texts, LANGUAGES[code]), strict=True))  # of length 1
        similarities = [float(vectors[pair.sentence1] @ vectors[pair.sentence2]) for pair in pairs.rows]
        expected = similarity_scores(pairs, np.array(similarities))
        for name in ("spearman", "spearman_idiom", "affinity", "accuracy", "n_pairs"):
            assert rows[subset][name] == pytest.approx(expected[name], abs=1e-6), (subset, name)
        # the headline of STS gives spelling chance by construction, and these are the vectors of spelling
        assert rows[subset]["main_score"] == pytest.approx(0.5)


@pytest.mark.long
def test_the_stock_command_runs_all_four(command, astitch, chengyu, semeval, tmp_path):
    tasks = ("TurkicIdiomSTS", "AStitchIdiomSTS", "ChengyuSTS", "SemEvalIdiomSTS")
    run = command(
        "mteb", "run", "-m", BASELINE, "-t", *tasks, "--output-folder", tmp_path / "out",
        ASTITCH_DATA=str(astitch), CHENGYU_STS_DATA=str(chengyu), SEMEVAL_IDIOM_DATA=str(semeval),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    for task in tasks:
        (path,) = (tmp_path / "out").rglob(f"{task}.json")
        result = json.loads(path.read_text())
        assert len(result["dataset_revision"]) == 40
        for row in result["scores"]["test"]:
            assert -1 <= row["main_score"] <= 1


def test_without_the_data_the_tasks_are_listed_and_say_what_is_missing(monkeypatch):
    for variable in ("ASTITCH_DATA", "CHENGYU_STS_DATA", "SEMEVAL_IDIOM_DATA"):
        monkeypatch.delenv(variable, raising=False)
    parts = {
        AStitchIdiomSTS: r"ASTITCH_DATA \(not set\) .*github.com/H-TayyarMadabushi/AStitchInLanguageModels",
        ChengyuSTS: "CHENGYU_STS_DATA",
        SemEvalIdiomSTS: "SEMEVAL_IDIOM_DATA",
    }
    tasks = mteb.get_tasks(tasks=["AStitchIdiomSTS", "ChengyuSTS", "SemEvalIdiomSTS"])
    assert {type(task) for task in tasks} == {*parts}
    for task in tasks:
        with pytest.raises(InputError, match=parts[type(task)]):
            task.load_data()


def test_a_lexicon_without_paraphrases_is_named(tmp_path, monkeypatch):
    write_lexicon(tmp_path / "lexicon", [Concept("a", "b")], {"tr": [Entry("a", "göz yummak", "anlam")]})
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(tmp_path / "lexicon"))
    with pytest.raises(InputError, match="no test entry"):
        TurkicIdiomSTS().load_data()
