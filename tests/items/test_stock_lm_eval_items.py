"""The stock `lm-eval` command on the item tasks: chat and completion servers, and a real transformer.

The servers stand for language models, of which none can be had here. What each of them answers is known, so the scores
are too.
"""

import math

import pytest
from scipy.stats import binom

from tests.items.model_server import RUBBISH, Oracle, after_thoughts, by_chance, gold, near, rubbish, running_model
from tests.llm_server import Cut, Failure
from tests.lm_eval_runs import results_of
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.lm_eval_files import read_samples
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import open_prompt, prompt
from turkic_idiom_tasks.tasks.items.scoring import answers_digest

LIMIT = 40


def questions_of(*sets):
    """Question -> item and right answer of the first items of some sets; `cloze` and `meaning` are asked openly too."""
    dataset = open_dataset()
    questions = {}
    for kind, *languages in sets:
        for item in build_items(dataset, kind, *languages)[:LIMIT]:
            questions[prompt(item)] = (item, "ABCD"[item.gold])
        for task in {"cloze": ["cloze_open"], "meaning": ["recall"]}.get(kind, []):
            for item in build_items(dataset, task, *languages)[:LIMIT]:
                questions[open_prompt(item, task)] = (item, item.options[item.gold].text)
    return questions


def in_chance(accuracy, n, chance):
    """Whether a score lies in the interval that holds 99.9% of guessing models."""
    low, high = binom.interval(0.999, n, chance)
    return low <= accuracy * n <= high


@pytest.mark.long
@pytest.mark.slow
def test_chat_models_that_are_right_near_lucky_and_useless(command, tmp_path, few_tasks):
    questions = questions_of(
        *[("usage", code) for code in ("tr", "az", "tk", "uz")],
        ("meaning", "tr"), ("meaning", "gag"), ("equivalent", "tr", "gag"), ("cloze", "tr"),
    )  # fmt: skip
    answers = {"tr": gold, "gag": near, "tk": by_chance, "az": rubbish, "uz": after_thoughts}
    oracle = Oracle(questions, answers, failures=[Failure(429), Cut(), Failure(429)])
    with running_model(oracle) as url:
        run = command(
            "lm-eval", "run", "--model", "local-chat-completions", "--apply_chat_template", "--log_samples",
            "--model_args", f"model=any,base_url={url}/chat/completions,max_retries=5", "--limit", LIMIT,
            "--tasks", "turkic_idiom_usage_gen", "turkic_idiom_meaning_tr_gen", "turkic_idiom_meaning_gag_gen",
            "turkic_idiom_equivalent_tr_gag_gen", "turkic_idiom_cloze_tr_gen", "turkic_idiom_cloze_open_tr",
            "turkic_idiom_recall_tr",
            "--output_path", tmp_path / "out",
            PYTHONPATH=few_tasks,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result, samples = results_of(tmp_path / "out")
    rows = result["results"]
    # the gold answers: full marks in every kind, by both readings
    for task in ("meaning_tr_gen", "usage_tr_gen", "equivalent_tr_gag_gen", "cloze_tr_gen"):
        for reading in ("strict", "flexible"):
            row = rows[f"turkic_idiom_{task}"]
            assert row[f"acc,{reading}"] == 1
        assert (row["acc_corrected,flexible"], row["unreadable,flexible"], row["sample_len"]) == (1, 0, LIMIT)
        assert (row["acc_stderr,flexible"], row["acc_stderr,strict"]) == (0, 0)
        assert math.isnan(row.get("near_share,flexible", math.nan))  # no error has no type
    usage = rows["turkic_idiom_usage_tr_gen"]
    assert usage["pair_acc,flexible"] == 1
    cloze = rows["turkic_idiom_cloze_open_tr"]
    assert [cloze[f"{name},flexible"] for name in ("exact_match", "accepted", "unreadable")] == [1, 1, 0]
    recall = rows["turkic_idiom_recall_tr"]
    scores = [recall[f"{name},flexible"] for name in ("exact_match", "accepted", "unjudged", "unreadable")]
    assert scores == [1, 1, 0, 0]
    metadata = result["configs"]["turkic_idiom_recall_tr"]["metadata"]
    assert metadata["judged_answers"] == answers_digest()
    # the near trap wherever there is one
    asked = {item for item, _ in questions.values() if item.language == "gag"}  # each also stands there for `recall`
    n_near = sum("near" in [option.trap for option in item.options] for item in asked)
    row = rows["turkic_idiom_meaning_gag_gen"]
    assert (row["acc,strict"], row["acc_corrected,flexible"]) == (0, pytest.approx(-1 / 3))
    assert row["near_share,flexible"] == pytest.approx(n_near / LIMIT)
    assert n_near > LIMIT * 0.8
    # guessing
    assert in_chance(rows["turkic_idiom_usage_tk_gen"]["acc,strict"], LIMIT, 1 / 2)
    # rubbish and refusals: unreadable, and wrong
    row = rows["turkic_idiom_usage_az_gen"]
    assert {sample["resps"][0][0] for sample in samples["turkic_idiom_usage_az_gen"]} <= set(RUBBISH)
    assert (row["acc,strict"], row["acc,flexible"], row["unreadable,flexible"]) == (0, 0, 1)
    # thoughts before the answer, and a sentence around it: only the flexible reading takes the sentence
    row = rows["turkic_idiom_usage_uz_gen"]
    assert (row["acc,flexible"], row["unreadable,flexible"], row["acc,strict"]) == (1, 0, 0)
    # languages weigh alike
    accuracies = [rows[f"turkic_idiom_usage_{code}_gen"]["acc,flexible"] for code in ("tr", "az", "tk", "uz")]
    assert result["groups"]["turkic_idiom_usage_gen"]["acc,flexible"] == pytest.approx(sum(accuracies) / 4)
    assert 0 < result["groups"]["turkic_idiom_usage_gen"]["acc_stderr,flexible"] < 0.1
    # every question was asked as a chat, those that met a failure once more
    n_questions = 10 * LIMIT
    assert len(oracle.requests) == n_questions + 3
    assert not oracle.failures
    for request in oracle.requests:
        assert [message["role"] for message in request["messages"]] == ["user"]
        assert not request["stop"]
        assert request["max_tokens"] == 256
    metadata = result["configs"]["turkic_idiom_cloze_open_tr"]["metadata"]
    dataset = open_dataset()
    for file in (tmp_path / "out").rglob("samples_*.jsonl"):  # submissions read them, and refuse a part of the items
        with pytest.raises(InputError, match="without --limit"):
            next(read_samples(file, dataset))
    assert (metadata["data"], metadata["data_revision"]) == (dataset.path, dataset.revision)


@pytest.mark.long
@pytest.mark.slow
def test_completions_with_likelihoods(command, tmp_path, few_tasks, byte_tokenizer):
    from transformers import AutoTokenizer

    questions = questions_of(("usage", "tr"), ("usage", "uz"), ("meaning", "gag"), ("cloze", "gag"), ("usage", "az"))
    answers = {"tr": gold, "uz": by_chance, "gag": near, "az": rubbish}  # no option is as likely as rubbish: all equal
    oracle = Oracle(questions, answers, failures=[Failure(429)])
    with running_model(oracle, AutoTokenizer.from_pretrained(byte_tokenizer)) as url:
        run = command(
            "lm-eval", "run", "--model", "local-completions", "--log_samples", "--limit", LIMIT, "--batch_size", "16",
            "--model_args", f"model=any,base_url={url}/completions,tokenizer={byte_tokenizer},"
            "tokenizer_backend=huggingface,max_retries=5",
            "--tasks", "turkic_idiom_usage_tr", "turkic_idiom_usage_uz", "turkic_idiom_usage_az",
            "turkic_idiom_meaning_gag", "turkic_idiom_cloze_gag", "--output_path", tmp_path / "out",
            PYTHONPATH=few_tasks,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result, _ = results_of(tmp_path / "out")
    for file in (tmp_path / "out").rglob("samples_*.jsonl"):
        with pytest.raises(InputError, match="without --limit"):
            next(read_samples(file, open_dataset()))
    rows = result["results"]
    usage = rows["turkic_idiom_usage_tr"]
    assert (usage["acc,none"], usage["pair_acc,none"]) == (1, 1)
    assert in_chance(rows["turkic_idiom_usage_uz"]["acc,none"], LIMIT, 1 / 2)
    for task in ("turkic_idiom_meaning_gag", "turkic_idiom_cloze_gag"):
        assert rows[task]["acc,none"] == 0
        assert rows[task]["near_share,none"] > 0.5
    constant = rows["turkic_idiom_usage_az"]  # always the first option, which is right once in every pair
    assert [constant[f"{name},none"] for name in ("acc", "pair_acc", "unreadable")] == [0.5, 0, 0]
    asked = [len(request["prompt"]) for request in oracle.requests]
    assert sum(asked) - asked[0] == (3 * 2 + 2 * 4) * LIMIT  # one request for each option; the first batch twice


@pytest.mark.long
@pytest.mark.slow
def test_a_real_transformer_by_likelihood_and_by_writing(command, tmp_path, few_tasks, untrained_gpt):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    run = command(
        "lm-eval", "run", "--model", "hf", "--model_args", f"pretrained={untrained_gpt},dtype=float32", "--limit", "8",
        "--device", "cpu", "--batch_size", "16", "--gen_kwargs", "max_gen_toks=4", "--num_fewshot", "1",
        "--log_samples",
        "--tasks", "turkic_idiom_usage_tr", "turkic_idiom_usage_tr_gen", "turkic_idiom_meaning_gag",
        "--output_path", tmp_path / "out", PYTHONPATH=few_tasks,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result, samples = results_of(tmp_path / "out")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(untrained_gpt), AutoTokenizer.from_pretrained(untrained_gpt)
    for task in ("turkic_idiom_usage_tr", "turkic_idiom_meaning_gag"):
        right = []
        for sample in samples[task]:
            likelihoods = []
            for arguments in sample["arguments"].values():
                context = tokenizer(arguments["arg_0"])["input_ids"]
                tokens = context + tokenizer(arguments["arg_1"])["input_ids"]
                with torch.no_grad():
                    logits = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
                likelihoods.append(sum(float(logits[n - 1, tokens[n]]) for n in range(len(context), len(tokens))))
            logged = [float(value) for _, value in sample["filtered_resps"]]
            assert logged == pytest.approx(likelihoods, abs=1e-3)
            right.append(likelihoods.index(max(likelihoods)) == sample["doc"]["gold"])
        assert result["results"][task]["acc,none"] == pytest.approx(sum(right) / len(right))
    written = result["results"]["turkic_idiom_usage_tr_gen"]
    assert 0 <= written["acc,flexible"] <= 1 - written["unreadable,flexible"] <= 1


@pytest.mark.long
@pytest.mark.slow
def test_every_task_runs_with_a_local_transformer_and_is_reported(
    command, tmp_path, few_tasks, untrained_gpt, item_lexicon
):
    spans = [f"turkic_idiom_span{ending}" for ending in ("", "_xml", "_native")]
    run = command(
        "lm-eval", "run", "--model", "hf", "--model_args", f"pretrained={untrained_gpt},dtype=float32", "--limit", "2",
        "--device", "cpu", "--batch_size", "16", "--log_samples", "--output_path", tmp_path / "out",
        "--tasks", "turkic_idiom_lm", "turkic_idiom_lm_gen", *spans, "turkic_idiom_explain_tr",
        data=item_lexicon, PYTHONPATH=few_tasks,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "--metadata" not in run.stderr
    _, samples = results_of(tmp_path / "out")
    kinds = {task.removeprefix("turkic_idiom_").split("_")[0] for task in samples}
    assert kinds == {"meaning", "equivalent", "usage", "cloze", "recall", "translate", "span", "explain"}
    for rows in samples.values():
        for row in rows:
            asked = row["arguments"].get("gen_args_0", {}).get("arg_1")
            if row["doc"].get("mode") is None and isinstance(asked, dict):
                assert (asked["until"], asked["max_gen_toks"]) == (["\n"], 64)
    report = command("turkic-idiom", "lm", "report", tmp_path / "out", data=item_lexicon)
    assert report.returncode == 0, report.stderr
    assert {line.split()[0] for line in report.stdout.splitlines() if line[:1].isalpha()} >= {
        "meaning", "equivalent", "usage", "cloze", "spans",
        *(set(OPEN_TASKS) - {"situation_open", "situation_open_hard"}),
    }  # fmt: skip
