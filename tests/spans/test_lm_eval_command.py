"""The stock `lm-eval` command in processes of its own.

The command reads fourteen thousand task files at every start, so it starts here with few of them, and with all of them
once, in tests/harnesses/test_wheel.py.
"""

import pytest

import turkic_idiom_tasks
from hub_datasets.judge import read_explanations
from tests.items.model_server import answering
from tests.llm_server import running_llm
from tests.lm_eval_runs import results_of
from tests.warm_commands import WarmCommands
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.harnesses import TASK_FOLDER


@pytest.mark.long
@pytest.mark.slow
def test_the_stock_command_with_classifier_examples_limit_and_other_data(
    command, tmp_path, few_tasks, turkish_only, first_letter_classifier
):
    run = command(
        "lm-eval", "run", "--model", "token-classifier", "--model_args", f"pretrained={first_letter_classifier}",
        "--tasks", "turkic_idiom_span", "turkic_idiom_span_tr_xml", "turkic_idiom_span_tr_native", "--limit", "3",
        "--num_fewshot", "2", "--batch_size", "32", "--output_path", tmp_path / "out", "--log_samples",
        data=turkish_only, PYTHONPATH=few_tasks,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result, samples = results_of(tmp_path / "out")
    assert set(samples) == {"turkic_idiom_span_tr", "turkic_idiom_span_tr_xml", "turkic_idiom_span_tr_native"}
    assert result["group_subtasks"]["turkic_idiom_span"] == ["turkic_idiom_span_tr"]  # Azerbaijani is not annotated
    dataset = open_dataset(str(turkish_only))
    said = " ".join((run.stdout + run.stderr).split())
    absent = ", ".join(f"turkic_idiom_span_{code}" for code in ("az", "tk", "uz"))
    assert f"{turkish_only} has no data for {absent}; left out of the groups" in said
    assert f"turkic_idiom_span_tr: only 4 test sentences in {turkish_only}; read the interval, not the score" in said
    # what decided the result stands in it
    for task in samples:
        config = result["configs"][task]
        assert config["metadata"]["data"] == str(turkish_only)
        assert config["metadata"]["data_revision"] == dataset.revision
        assert config["metadata"]["turkic_idiom_tasks"] == turkic_idiom_tasks.__version__
    settings = result["config"]
    assert (settings["model"], settings["model_dtype"]) == ("token-classifier", "torch.float32")
    assert settings["model_sha"] == folder_revision(first_letter_classifier)
    assert settings["model_max_length"] == 512


@pytest.mark.long
@pytest.mark.slow
def test_without_the_hook_the_folder_is_included(command, tmp_path, few_tasks):
    run = command(
        "lm-eval", "run", "--model", "dummy", "--include_path", TASK_FOLDER, "--limit", "1", "--log_samples",
        "--tasks", "turkic_idiom_span_uz,turkic_idiom_span_gag_native,turkic_idiom_explain_uz",
        "--output_path", tmp_path / "out",
        TURKIC_IDIOM_NO_HOOK="1", PYTHONPATH=few_tasks,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result, samples = results_of(tmp_path / "out")
    assert set(samples) == {"turkic_idiom_span_uz", "turkic_idiom_span_gag_native", "turkic_idiom_explain_uz"}
    assert result["results"]["turkic_idiom_span_uz"]["unreadable,strict"] == 1
    assert result["results"]["turkic_idiom_explain_uz"]["answered,none"] == 1
    assert "turkic-idiom judge DIR" in run.stderr
    (case,) = read_explanations([tmp_path / "out"])
    assert (case.group, case.texts["answer"]) == ("uz alone", "lol")  # what lm-eval's dummy model says


@pytest.mark.slow
def test_the_stock_command_asks_a_chat_endpoint(tmp_path, few_tasks, item_lexicon):
    """lm-eval's own client, which needs the packages of its extra `api`."""
    endpoint = running_llm(answering(lambda question: "no list of words"), takes_all=True)
    task = ("--tasks", "turkic_idiom_span_uz", "--limit", "2", "--apply_chat_template")
    # In a child of a process that has its imports done, which takes half the time of a start of its own
    variables = {"PYTHONPATH": few_tasks, "TURKIC_IDIOM_DATA": str(item_lexicon)}
    with endpoint as server, WarmCommands("lm-eval", **variables) as commands:
        arguments = f"model=any,base_url={server.url}/chat/completions,max_retries=1"
        model = ("--model", "local-chat-completions", "--model_args", arguments)
        run = commands.run("run", *model, *task, "--output_path", "spans", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert [request["model"] for request in server.requests] == ["any", "any"]
    assert {request["messages"][-1]["role"] for request in server.requests} == {"user"}
    result, _ = results_of(tmp_path / "spans")
    scores = result["results"]["turkic_idiom_span_uz"]
    assert scores["sample_len"] == 2
    assert scores["unreadable,strict"] == 1.0  # the endpoint's answer is no list
