"""How hard the items of open tasks are: how many readers of a panel produced an idiom that is accepted.

The readers are language models that saw neither lexicon nor key. ``panel.jsonl`` has what each answered, its best
answer first.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from turkic_idiom_tasks.io.reading import read_json_lines
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.tasks.items.item_types import Item
from turkic_idiom_tasks.tasks.items.scoring import judge_open

HARD = 0.5  # share of the panel that produced the idiom of a hard item, at most
_FILE = Path(__file__).with_name("panel.jsonl")


def produced_shares(task: str, items: Sequence[Item], lexicon: Lexicon) -> dict[str, float]:
    """Return concept -> share of the panel whose first answer is accepted, of the items that the panel was asked.

    Shares are not stored, because they change with the judged answers as the scores of models do.
    """
    shares = {}
    for item in items:
        answers = panel_answers().get((task, item.language), {}).get(item.concept)
        if answers:
            judgements = judge_open(task, [item] * len(answers), answers, lexicon)
            shares[item.concept] = sum(judgement.is_accepted for judgement in judgements) / len(answers)
    return shares


@cache
def panel_answers() -> dict[tuple[str, str], dict[str, list[str | None]]]:
    """Return task and language -> concept -> the first answer of each reader; None from one who knew no idiom."""
    answers: dict[tuple[str, str], dict[str, list[str | None]]] = {}
    for line in read_json_lines(_FILE):
        row = line.value
        firsts = [reader[0] if reader else None for reader in row["answers"]]
        answers.setdefault((row["kind"], row["language"]), {})[row["concept"]] = firsts
    return answers
