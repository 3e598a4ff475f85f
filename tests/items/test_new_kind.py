"""What a new kind of item needs, as CONTRIBUTING.md says; see "Add a kind of item" there."""

import os
import re
import sys

from tests.warm_commands import run_to_end

# A kind in the registry with its wording: everything else follows from these two
TOY = """
import os

from turkic_idiom_tasks.tasks.items import items, prompts
from turkic_idiom_tasks.tasks.items.item_types import Item, Kind, Option

def toy_items(relations, language, target, *, split):
    entries = sorted(relations.lexicon.of(language).values(), key=lambda entry: entry.concept)[:2]
    options = tuple(Option(entry.idiom, entry.concept) for entry in entries)
    return [
        Item(f"toy_{language}/{entry.concept}", "toy", language, target, entry.concept, entry.idiom, entry.meaning,
             options, gold)
        for gold, entry in enumerate(entries)
    ]

items.KINDS["toy"] = Kind(toy_items)
for wording in prompts.all_wordings():
    wording.tasks["toy"] = "Which idiom of {source} has this meaning?"

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.harnesses.lm_eval_yaml import files
from turkic_idiom_tasks.results.item_answers import ItemAnswers, find_items, item_subsets
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.cli import main

dataset = open_dataset(os.environ["TURKIC_IDIOM_DATA"])
assert item_subsets(dataset, "toy") == ("tr", "az", "uz")
found = find_items(dataset, "toy", "tr")
question = prompts.prompt(found.rows[0])
assert question.startswith("Which idiom of Turkish has this meaning?")
assert f"Sentence: {found.rows[0].text}" in question
# both answered by the first option: one of two is right
assert score_subset(ItemAnswers(found, (0, 0), "en1", "generation")).main == 0.5
texts = files()
assert "kind: toy, language: tr" in texts["turkic_idiom_toy_tr.yaml"]
assert "turkic_idiom_toy" in texts["turkic_idiom_lm.yaml"]
assert main(["lm", "stats", "--kind", "toy", "--lang", "tr"]) == 0
assert main(["lm", "stats", "--kind", "cloze_with_a_typo"]) == 2
"""


def test_a_new_kind_needs_its_builder_and_its_wording_alone(item_lexicon):
    run = run_to_end([sys.executable, "-c", TOY], env=os.environ | {"TURKIC_IDIOM_DATA": str(item_lexicon)})
    assert run.returncode == 0, run.stderr
    assert "toy_tr" in run.stdout
    assert re.search("unknown kind of items 'cloze_with_a_typo'; known: meaning, equivalent, .*, toy", run.stderr)
