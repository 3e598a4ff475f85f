"""The item tasks through lm-eval's own API, with models whose every answer is known."""

import json
import math
import random
import re

import pytest
from lm_eval.api.metrics import mean_stderr

from tests.conftest import REPOSITORY
from tests.lm_eval_runs import Scripted, clustered_error, evaluate, our_tasks
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import TASK_FOLDER, lm_eval_yaml
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.tasks.items.items import KINDS, build_items
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, prompt
from turkic_idiom_tasks.version import __version__


def gold(document):
    return document["answer"]


def test_the_task_files_are_what_the_template_writes():
    for folder, texts in ((lm_eval_yaml.FOLDER, lm_eval_yaml.files()), (TASK_FOLDER, lm_eval_yaml.language_files())):
        assert {path.name: path.read_text("utf-8") for path in folder.glob("*.yaml")} == texts


def test_every_task_and_every_group_is_known(manager):
    codes = ("tr", "az", "tk", "gag", "uz")
    of_language = [f"{kind}_{{}}{ending}" for kind in ("meaning", "cloze", "situation") for ending in ("", "_gen")]
    of_language += [f"{kind}_{{}}" for kind in ("cloze_open", "recall", "recall_en", "recall_three", "situation_open")]
    names = {name.format(code) for name in of_language for code in codes}
    names |= {f"usage_{code}{ending}" for code in codes if code != "gag" for ending in ("", "_gen")}
    pairs = [f"{first}_{second}" for first in codes for second in codes if first != second]
    names |= {name.format(pair) for name in ("equivalent_{}", "equivalent_{}_gen", "translate_{}") for pair in pairs}
    assert {f"turkic_idiom_{name}" for name in names} <= set(manager.all_subtasks)
    groups = {name.removesuffix("_{}").replace("_{}_gen", "_gen") for name in of_language}
    groups |= {f"{kind}{ending}" for kind in ("equivalent", "usage", "lm") for ending in ("", "_gen")}
    groups |= {f"{group}_prompts" for group in groups}
    groups |= {f"translate_to_{code}" for code in codes if code != "gag"}  # it is provisional
    assert {f"turkic_idiom_{name}" for name in groups} <= set(manager.all_groups)


def test_every_name_of_the_documentation_is_known(manager):
    names = {}
    for page in ("language-models.md", "spans.md"):
        text = (REPOSITORY / "docs" / page).read_text("utf-8")
        names[page] = {*re.findall(r"\bturkic_idiom_(?!tasks)\w+", text)}
        assert names[page] <= {*manager.all_subtasks, *manager.all_groups}, page
    assert len(names["language-models.md"]) > 12
    assert "turkic_idiom_span" in names["spans.md"]


def test_large_groups_have_every_kind_and_hard_ones_the_languages_with_enough_items(manager):
    def members(group):
        return [
            member.removeprefix("turkic_idiom_") for member in manager.task_index[f"turkic_idiom_{group}"].cfg["task"]
        ]

    codes = ("tr", "az", "tk", "uz")  # in Gagauz there are too few
    pairs = [f"{first}_{second}" for first in codes for second in codes if first != second]
    assert members("lm") == [*KINDS]
    assert members("lm_open") == [task for task in OPEN_TASKS if "hard" not in task]
    assert members("lm_gen") == [*(f"{kind}_gen" for kind in KINDS), *members("lm_open")]
    assert [name.replace("_hard", "") for name in members("lm_hard")] == members("lm_gen")
    for group in members("lm_hard"):
        kind, way, _ = group.partition("_gen")
        subsets = pairs if group.startswith(("equivalent", "translate")) else codes
        assert members(group) == [f"{kind}_{subset}{way}" for subset in subsets]


@pytest.mark.parametrize("other", ["turkic_idiom_lm_gen", "turkic_idiom_lm_open"])
def test_likelihoods_and_written_answers_run_together(item_lexicon, monkeypatch, other):
    """lm-eval refuses groups that have a task in common. These data have no Turkmen, and no situations at all."""
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(item_lexicon))
    loaded = our_tasks().load(["turkic_idiom_lm", other])
    assert {"turkic_idiom_meaning_tr", "turkic_idiom_recall_tr"} <= loaded["tasks"].keys()
    assert ("turkic_idiom_meaning_tr_gen" in loaded["tasks"]) == (other == "turkic_idiom_lm_gen")
    assert not [name for name in loaded["tasks"] if "_tk" in name or "situation" in name]


def test_a_model_that_is_always_right(manager, caplog):
    """Has full marks in every kind; a task has five lines at most, each a number with its standard error."""
    tasks = ["turkic_idiom_usage", "turkic_idiom_usage_tk_gen", "turkic_idiom_meaning_gag",
             "turkic_idiom_meaning_gag_gen", "turkic_idiom_cloze_open_gag", "turkic_idiom_recall_gag",
             "turkic_idiom_meaning_rivals_gag_gen", "turkic_idiom_equivalent_rivals_tr_gag",
             "turkic_idiom_recall_en_gag", "turkic_idiom_recall_three_gag", "turkic_idiom_recall_hard_tr",
             "turkic_idiom_usage_hard_az"]  # fmt: skip
    results = evaluate(gold, tasks, manager, bootstrap_iters=1)
    metrics = set()
    for name, row in results["results"].items():
        is_open = "open" in name or "recall" in name
        filters = ("strict", "flexible") if name.endswith("_gen") or is_open else ("none",)
        main = "first" if "three" in name else "exact_match" if is_open else "acc"
        others = ["accepted" if is_open else "acc_corrected", *(["pair_acc"] if "usage" in name else [])]
        scores = {row[f"{main},{reading}"] for reading in filters} | {row[f"{one},{filters[-1]}"] for one in others}
        assert scores == {1}, name
        if name == "turkic_idiom_usage":  # a group
            continue
        assert row[f"unreadable,{filters[-1]}"] == 0
        lines = [key for key in row if "," in key and "_stderr" not in key]
        assert len(lines) <= 5, name
        assert row["alias"] == name
        for line in lines:
            metric, _, reading = line.partition(",")
            metrics.add(metric)
            assert {type(row[line]), type(row[f"{metric}_stderr,{reading}"])} == {float}
        for sample in results["samples"][name]:  # a number for each answer, for loggers and viewers
            assert {type(json.loads(json.dumps(sample[metric]))) for metric in sample["metrics"]} <= {float, type(None)}
    assert metrics == {
        "acc", "acc_corrected", "near_share", "pair_acc", "unreadable", "exact_match", "accepted", "unjudged", "first",
    }  # fmt: skip
    judged = {name for name, config in results["configs"].items() if "judged_answers" in config["metadata"]}
    assert judged == {name for name in tasks if "recall" in name or "open" in name}
    asked = {sample["doc"]["id"] for sample in results["samples"]["turkic_idiom_recall_hard_tr"]}
    assert "meaning_tr/complete-stranger" in asked  # no reader of the panel produced it
    assert "meaning_tr/a-tiny-bit-of" not in asked  # all did
    letters = {sample["doc"]["answer"] for sample in results["samples"]["turkic_idiom_meaning_rivals_gag_gen"]}
    assert letters == set("ABCDEFGHJK")
    metadata, dataset = results["configs"]["turkic_idiom_usage_tr"]["metadata"], current_dataset()
    named = {"data": dataset.path, "data_revision": dataset.revision, "turkic_idiom_tasks": __version__}
    assert named.items() <= metadata.items()
    assert "--metadata" not in caplog.text


def test_standard_errors_are_lm_evals_and_clustered_where_a_concept_comes_again(manager):
    def answer(document):
        is_right = random.Random(document["concept"]).random() < 0.6
        return document["answer"] if is_right else "AB"[document["gold"] == 0]

    options = {"bootstrap_iters": 100}
    single = evaluate(answer, ["turkic_idiom_meaning", "turkic_idiom_meaning_gag"], manager, **options)
    for name in ("turkic_idiom_meaning_tr", "turkic_idiom_meaning_gag"):
        right = [sample["acc"] for sample in single["samples"][name]]
        assert single["results"][name]["acc_stderr,none"] == pytest.approx(mean_stderr(right))
    group = single["groups"]["turkic_idiom_meaning"]
    rows = [single["results"][f"turkic_idiom_meaning_{code}"] for code in ("tr", "az", "tk", "uz")]
    assert group["acc,none"] == pytest.approx(sum(row["acc,none"] for row in rows) / 4)  # without provisional gag
    # of four means that are taken for independent: sqrt of the sum of squares, / 4
    squares = sum(row["acc_stderr,none"] ** 2 for row in rows)
    assert group["acc_stderr,none"] == pytest.approx(math.sqrt(squares) / 4)
    # both sentences of a concept under four prompts, all right or all wrong: eight answers say no more than one
    repeated = evaluate(answer, ["turkic_idiom_usage_prompts"], manager, **options)
    samples = repeated["samples"]["turkic_idiom_usage_tr"]
    row = repeated["results"]["turkic_idiom_usage_tr"]
    right = [sample["acc"] for sample in samples]
    concepts = [sample["doc"]["concept"] for sample in samples]
    once = list(dict(zip(concepts, right, strict=True)).values())
    assert len(right) == 8 * len(once)
    assert row["acc_stderr,none"] == pytest.approx(clustered_error(right, concepts))
    for metric in ("acc", "pair_acc"):
        assert row[f"{metric}_stderr,none"] == pytest.approx(mean_stderr(once))
    assert row["acc_corrected_stderr,none"] == pytest.approx(2 * mean_stderr(once))  # (acc - 1/2) / (1/2)


def test_scores_are_those_counted_by_hand(manager):
    answers = ["A", "The answer is B.", "C", "Answer: D", "", "A or B", "E", "Б"]
    readable = {"A": 0, "C": 2, "The answer is B.": 1, "Answer: D": 3}

    def mixed(document):
        return answers[int(document["id"].encode("utf-8").hex(), 16) % len(answers)]

    results = evaluate(mixed, ["turkic_idiom_meaning_gag_gen"], manager)
    row = results["results"]["turkic_idiom_meaning_gag_gen"]
    samples = [sample for sample in results["samples"]["turkic_idiom_meaning_gag_gen"] if sample["filter"] == "strict"]
    n_right, n_strictly, positions, wrong = 0, 0, [], []
    for sample in samples:
        response = sample["resps"][0][0]
        positions.append(readable.get(response))
        if positions[-1] == sample["doc"]["gold"]:
            n_right += 1
            n_strictly += len(response) == 1
        elif positions[-1] is not None:
            wrong.append(sample["doc"]["traps"][positions[-1]])
    n = len(samples)
    assert row["acc,strict"] == pytest.approx(n_strictly / n)
    assert row["acc,flexible"] == pytest.approx(n_right / n)
    assert row["acc_corrected,flexible"] == pytest.approx((n_right / n - 1 / 4) / (3 / 4))
    assert row["unreadable,flexible"] == pytest.approx(positions.count(None) / n)
    assert row["near_share,flexible"] == pytest.approx(wrong.count("near") / len(wrong))


def test_all_prompts_have_a_mean():
    right_under = {"en1": 1.0, "en2": 0.5, "en3": 0.5, "native": 0.0}  # shares of right answers

    def answer(document):
        is_right = random.Random(document["id"] + document["prompt"]).random() < right_under[document["prompt"]]
        return document["answer"] if is_right else "AB"[document["gold"] - 1]

    results = evaluate(answer, ["turkic_idiom_usage_uz"], our_tasks(metadata={"prompt": "all"}))
    samples, row = results["samples"]["turkic_idiom_usage_uz"], results["results"]["turkic_idiom_usage_uz"]
    accuracies = []
    for variant in VARIANTS:
        own = [sample["acc"] for sample in samples if sample["doc"]["prompt"] == variant]
        assert len(own) == len(samples) / 4
        accuracies.append(sum(own) / len(own))
    assert (accuracies[0], accuracies[3]) == (1, 0)
    assert row["acc,none"] == pytest.approx(sum(accuracies) / 4)
    assert 0.25 < row["pair_acc,none"] < 0.5  # 1, 1/4, 1/4 and 0


def test_the_user_chooses_a_prompt():
    other = our_tasks(metadata={"prompt": "native", "model": "any"})
    results = evaluate(gold, ["turkic_idiom_usage_uz_gen"], other, limit=2)
    for sample in results["samples"]["turkic_idiom_usage_uz_gen"]:
        assert sample["doc"]["prompt"] == "native"
        assert sample["arguments"][0][0].startswith("Bu birikma gapda")
    unknown = our_tasks(metadata={"prompt": "en9"})
    with pytest.raises(InputError, match="unknown prompt 'en9'; known: en1, en2, en3, native"):
        unknown.load(["turkic_idiom_usage_uz"])


def test_examples_are_training_items_under_the_prompt_of_the_question():
    task = "turkic_idiom_usage_uz_gen"
    other = our_tasks(metadata={"prompt": "all"})
    results = evaluate(gold, [task], other, num_fewshot=2, limit=8)
    train = build_items(current_dataset(), "usage", "uz", split="train")
    test = build_items(current_dataset(), "usage", "uz")
    shown = set()
    for sample in results["samples"][task]:
        text = sample["arguments"][0][0]
        variant = sample["doc"]["prompt"]
        examples = [item for item in train if f"{prompt(item, variant)} {'AB'[item.gold]}\n\n" in text]
        assert len(examples) == 2
        questions = [item.id for item in test if prompt(item, variant) in text]
        assert questions == [sample["doc"]["id"]]
        assert text.endswith(sample["doc"]["query"])
        shown.add(tuple(item.id for item in examples))
    assert len(shown) > 1  # drawn anew for each question
    again = evaluate(gold, [task], other, num_fewshot=2, limit=8)
    assert [s["arguments"] for s in again["samples"][task]] == [s["arguments"] for s in results["samples"][task]]


@pytest.mark.parametrize("task", ["turkic_idiom_usage_uz_gen", "turkic_idiom_span_uz"])
def test_a_model_that_continues_a_text_stops_at_the_end_of_the_line(task):
    """A chat model may think first, and the user's own length is kept."""
    asked = []

    class Asked(Scripted):
        def generate_until(self, requests, disable_tqdm=False):
            asked.append({(*request.args[1]["until"], request.args[1]["max_gen_toks"]) for request in requests})
            return super().generate_until(requests)

    for options in ({}, {"apply_chat_template": True}, {"gen_kwargs": {"max_gen_toks": 8192}}):
        evaluate(Asked(gold if "span" not in task else str), [task], our_tasks(), limit=3, **options)
    assert asked == [{("\n", 64)}, {(256,)}, {(8192,)}]


def test_equal_and_undefined_likelihoods(manager):
    results = evaluate(lambda _: "none of them", ["turkic_idiom_usage_uz"], manager)
    row = results["results"]["turkic_idiom_usage_uz"]
    # all are equally likely: the first one, which is right in one half
    assert row["acc,none"] == 0.5
    assert (row["unreadable,none"], row["pair_acc,none"]) == (0, 0)

    class Broken(Scripted):
        def loglikelihood(self, requests, disable_tqdm=False):
            return [(math.nan, False) for _ in requests]

    results = evaluate(Broken(gold), ["turkic_idiom_usage_uz"], manager)
    row = results["results"]["turkic_idiom_usage_uz"]
    assert (row["acc,none"], row["unreadable,none"]) == (0, 1)


def test_groups_leave_out_what_the_data_lacks_and_then_have_no_mean(unjudged_lexicon, monkeypatch, caplog):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(unjudged_lexicon))
    fresh = our_tasks()
    results = evaluate(gold, ["turkic_idiom_meaning"], fresh)
    assert results["group_subtasks"]["turkic_idiom_meaning"] == ["turkic_idiom_meaning_az", "turkic_idiom_meaning_uz"]
    assert "turkic_idiom_meaning" not in results.get("groups", {})
    assert results["results"]["turkic_idiom_meaning_uz"]["acc,none"] == 1
    assert "has no data for turkic_idiom_meaning_tr, turkic_idiom_meaning_tk" in caplog.text
    n_items = len(results["samples"]["turkic_idiom_meaning_uz"])
    assert n_items < 30
    assert f"meaning_uz: only {n_items} test items" in caplog.text
    assert "no judged equivalents" in caplog.text
    with pytest.raises(InputError, match=r"no test item for meaning_tr; `turkic-idiom lm stats`"):
        fresh.load(["turkic_idiom_meaning_tr"])
    with pytest.raises(InputError, match=r"no test item for usage_"):  # nothing is left of this group
        our_tasks().load(["turkic_idiom_usage_tr"])


def test_requests_that_lm_eval_cached_for_another_prompt_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "cache"))
    first, second = (our_tasks(metadata={"prompt": variant}) for variant in ("en1", "en2"))
    for task in ("turkic_idiom_usage_uz", "turkic_idiom_usage_uz_gen"):
        evaluate(gold, [task], first, cache_requests=True, limit=4)
        with pytest.raises(InputError, match=r"document 'usage_uz/.*--cache_requests refresh"):
            evaluate(gold, [task], second, cache_requests=True, limit=4)
