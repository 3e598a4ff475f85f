"""The stock `lm-eval` command on the item tasks, with a transformer and a completion server; a chat server: spans."""

import shutil

import pytest
from transformers import AutoTokenizer

from hub_datasets.found.annotations import found_layout, join
from tests.hub_datasets.test_found_text import annotations, corpora  # noqa: F401
from tests.llm_server import running_llm
from tests.lm_eval_runs import results_of
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, build_items
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import letters, prompt


@pytest.mark.long
@pytest.mark.slow
def test_every_task_runs_with_a_local_transformer_and_is_reported(
    command,
    tmp_path,
    few_tasks,
    untrained_gpt,
    item_lexicon,
    annotations,  # noqa: F811
    corpora,  # noqa: F811
):
    lexicon = load_lexicon()
    found_layout(join(annotations, corpora, lexicon), lexicon).write(tmp_path / "found")
    found = [f"turkic_idiom_{name}" for name in ("usage_found_tr", "usage_found_tr_gen", "cloze_open_found_tr")]
    spans = [f"turkic_idiom_span{ending}" for ending in ("", "_xml", "_native")]
    run = command(
        "lm-eval", "run", "--model", "hf", "--model_args", f"pretrained={untrained_gpt},dtype=float32", "--limit", "2",
        "--device", "cpu", "--batch_size", "16", "--log_samples", "--output_path", tmp_path / "out",
        "--tasks", "turkic_idiom_lm", "turkic_idiom_lm_gen", "turkic_idiom_lm_hard", *spans, *found,
        "turkic_idiom_explain_tr",
        data=item_lexicon, PYTHONPATH=few_tasks, TURKIC_IDIOM_FOUND=str(tmp_path / "found"),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "--metadata" not in run.stderr
    results, samples = results_of(tmp_path / "out")
    for task in found:
        assert len({row["doc"]["id"] for row in samples.pop(task)}) == results["n-samples"][task]["effective"]
    kinds = {task.removeprefix("turkic_idiom_").split("_")[0] for task in samples}
    assert kinds == {"meaning", "equivalent", "usage", "cloze", "recall", "translate", "span", "explain"}
    for rows in samples.values():
        for row in rows:
            asked = row["arguments"].get("gen_args_0", {}).get("arg_1")
            if row["doc"].get("mode") is None and isinstance(asked, dict):
                assert (asked["until"], asked["max_gen_toks"]) == (["\n"], 64)
    # Found text is other data, and has a report of its own.
    of_found = tmp_path / "of_found"
    of_found.mkdir()
    for path in [*(tmp_path / "out").rglob("*_found_*.jsonl")]:
        shutil.copy(next(path.parent.glob("results_*.json")), of_found)
        path.rename(of_found / path.name)
    report = command("turkic-idiom", "lm", "report", of_found, data=tmp_path / "found")
    assert report.returncode == 0, report.stderr
    rows = [line.split() for line in report.stdout.splitlines()]
    assert sorted(row[:3] for row in rows if row[1:2] == ["tr"]) == [
        ["cloze_open", "tr", "1"], ["usage", "tr", "2"], ["usage", "tr", "2"],
    ]  # fmt: skip
    report = command("turkic-idiom", "lm", "report", tmp_path / "out", data=item_lexicon, COLUMNS="100")
    assert report.returncode == 0, report.stderr
    assert {line.split()[0] for line in report.stdout.splitlines() if line[:1].isalpha()} >= {
        "meaning", "equivalent", "usage", "cloze", "spans",
        *(task for task in (*OPEN_TASKS, *HARD_TASKS) if "situation" not in task and "rivals" not in task),
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
def test_a_completion_server_that_finds_the_right_letter_likelier(command, tmp_path, few_tasks, byte_tokenizer):
    """As the documentation has it for vLLM; lm-eval sends tokens, and reads the likelihoods of all of them."""
    tokenizer = AutoTokenizer.from_pretrained(byte_tokenizer)
    right = {prompt(item): letters(item)[item.gold] for item in build_items(current_dataset(), "usage", "uz")}

    def answer(body):
        choices = []
        for index, tokens in enumerate(body["prompt"]):
            text = tokenizer.decode(tokens).strip()
            question, _, letter = text.rpartition(" ")
            values = [-0.1 if right[question] == letter else -3.0] * len(tokens)
            logprobs = {"token_logprobs": [*values, 0.0], "top_logprobs": [*({"x": -0.1} for _ in tokens), {}]}
            choices.append({"index": index, "text": text, "logprobs": logprobs})
        return {"choices": choices}

    with running_llm(answer, takes_all=True) as server:
        arguments = f"model=any,base_url={server.url}/completions,tokenizer={byte_tokenizer}"
        run = command(
            "lm-eval", "run", "--model", "local-completions", "--model_args",
            f"{arguments},tokenizer_backend=huggingface", "--tasks", "turkic_idiom_usage_uz", "--limit", "20",
            "--output_path", tmp_path / "out", PYTHONPATH=few_tasks,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result, _ = results_of(tmp_path / "out")
    row = result["results"]["turkic_idiom_usage_uz"]
    assert [row[f"{name},none"] for name in ("acc", "pair_acc", "unreadable")] == [1, 1, 0]
