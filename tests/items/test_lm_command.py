"""`turkic-idiom lm`: items, their numbers, their baselines and what they cost, in process."""

import json
import re

import pytest

from tests.items.test_answers import an_item
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.tasks.items.item_types import ItemSet
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.prompts import CHARACTERS_PER_TOKEN, cost, open_prompt, prompt


def test_a_lexicon_without_judgements_says_so(unjudged_lexicon, capsys):
    assert main(["lm", "stats", "--data", str(unjudged_lexicon), "-k", "meaning", "-l", "uz", "--json"]) == 0
    printed = capsys.readouterr()
    (row,) = json.loads(printed.out)
    assert (row["set"], row["items"], row["small_sample"]) == ("meaning_uz", row["concepts"], True)
    assert "no judged equivalents" in printed.err


@pytest.mark.parametrize("width", [80, 120])
def test_the_tables_fit_the_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["lm", "stats", "-k", "usage", "-l", "tk"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    sizes, accuracies, panel = (line.split() for line in printed.splitlines() if line.startswith("usage_tk"))
    assert sizes[1] == accuracies[1] == panel[1]
    assert panel[2] == "100.0"  # every reader chose the right sense each time
    assert ("longest" in printed.partition("lexical, random")[2].split("Accuracy")[0]) == (width == 120)
    assert "requests" not in printed


def test_what_the_panel_chose_and_produced_is_shown_of_tasks_that_it_answered(capsys):
    assert main(["lm", "stats", "-k", "situation", "-l", "tk", "-l", "gag", "--json"]) == 0
    turkmen, gagauz = json.loads(capsys.readouterr().out)
    # Of 66 situations nobody produced the idiom of 2, one of three readers that of 4, two that of 6, all that of 54
    produced = (4 * 1 + 6 * 2 + 54 * 3) / (66 * 3)
    chosen, row = turkmen["panel"]
    assert chosen == {"set": "situation_tk", "items": 66, "right": 1}
    assert row == {"set": "situation_open_tk", "items": 66, "right": pytest.approx(produced)}
    assert turkmen["hard"] == 2 + 4
    # Of 34 situations one reader produced the idiom of 1, all that of the others; one chose another idiom for 1
    shares = {"situation_gag": (2 + 33 * 3) / (34 * 3), "situation_open_gag": (1 + 33 * 3) / (34 * 3)}
    assert {row["set"]: row["right"] for row in gagauz["panel"]} == pytest.approx(shares)
    assert gagauz["hard"] == 0  # too few to ask
    assert main(["lm", "stats", "-k", "situation_open", "-l", "tk"]) == 0  # the items of its kind
    printed = capsys.readouterr().out
    assert re.match(r"set +items +concepts +hard .*\nsituation_tk +66 +66 +6 ", printed)
    assert re.search(r"\nset +items +right *\nsituation_tk +66 +100\.0 *\nsituation_open_tk +66 +89\.9 *\n", printed)


def test_requests_and_tokens_counted_by_hand():
    item = an_item("meaning")
    choice, recall = (ItemSet(task, "tr", "tr") for task in ("meaning", "recall"))
    n_tokens = len(prompt(item)) / CHARACTERS_PER_TOKEN
    # four options: 4 * (the prompt + 2 for the answer), for each of two items
    expected = ["meaning_tr", 2, 8, round(8 * (n_tokens + 2)), 2, round(2 * n_tokens)]
    assert list(cost(choice, [item, item]).values()) == expected
    n_open_tokens = len(open_prompt(item, "recall")) / CHARACTERS_PER_TOKEN
    assert list(cost(recall, [item, item]).values()) == ["recall_tr", 2, 0, 0, 2, round(2 * n_open_tokens)]
    with_examples = cost(choice, [item, item], shots=3)
    assert with_examples["choice_tokens"] == round(8 * (4 * n_tokens + 2))
    assert with_examples["written_tokens"] == round(2 * 4 * n_tokens)


def test_the_command_counts_requests_and_examples(capsys):
    tokens = []
    for shots in ("0", "1"):
        assert main(["lm", "stats", "--kind", "usage", "--lang", "uz", "--shots", shots, "--json"]) == 0
        (statistics,) = json.loads(capsys.readouterr().out)
        (row,) = statistics["cost"]
        tokens.append(row["written_tokens"])
    (baseline,) = statistics["baselines"]
    assert statistics["set"] == baseline["set"] == "usage_uz"
    assert (statistics["items"], statistics["small_sample"]) == (2 * statistics["concepts"], False)
    assert (baseline["chance"], baseline["longest"], baseline["position"]) == (0.5, 0.5, 0.5)
    items = build_items(current_dataset(), "usage", "uz")
    assert (row["n_items"], row["choice_requests"]) == (len(items), 2 * len(items))
    assert tokens[1] == pytest.approx(2 * tokens[0], abs=1)  # an example is as long as the mean question


def test_a_set_without_items_is_named(capsys):
    assert main(["lm", "stats", "--lang", "gag", "--kind", "usage"]) != 0
    assert "has no items" in capsys.readouterr().err
