"""A toy task that a tiny model learns in seconds: what two words stand for."""

import json

from tests.encoders.untrained_models import WORDS
from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.training.config import RetrievalConfig
from turkic_idiom_tasks.training.regimes import Pair, RegimeData

QUICK = RetrievalConfig(epochs=5, learning_rate=5e-3, batch_size=16, evaluations=1, patience=9, seed=1)
COSINE_OPTIONS = {"loss": "cosine", "epochs": 8, "learning_rate": 2e-3}  # learns more slowly
IDIOM, MEANING = WORDS[:7], WORDS[7:14]


def regime(prefixes=("", ""), shift=0):
    """49 idioms of two words; the meaning is made of the words that stand for them. Every seventh is held out.

    With a shift the words stand for others: what is learnt is wrong for the held-out ones.
    """
    query, document = prefixes
    rows = [(n, a, b) for n, (a, b) in enumerate((a, b) for a in range(7) for b in range(7))]

    def meaning(a, b, moved=0):
        return f"{document}{MEANING[(a + moved) % 7]} {MEANING[(b + moved) % 7]}"

    held = [row for row in rows if row[0] % 6 == 3]
    pairs = tuple(
        Pair(f"c-{n}", "tr", f"{query}{IDIOM[a]} {IDIOM[b]}", meaning(a, b, shift)) for n, a, b in rows if n % 6 != 3
    )
    data = RetrievalData(
        queries={f"tur:c-{n}": f"{query}{IDIOM[a]} {IDIOM[b]}" for n, a, b in held},
        documents={f"tur:c-{n}": meaning(a, b) for n, a, b in rows},
        qrels={f"tur:c-{n}": {f"tur:c-{n}": 1} for n, _, _ in held},
    )
    return RegimeData("tr-only", ("tr",), "T2", pairs, {"tr": data}, len(data.queries), 0, 0)


def changed(config=QUICK, **changes):
    """The settings with some changes, checked."""
    return RetrievalConfig(**config.model_dump() | changes)


def record_of(trainee, tuned, *, config=QUICK):
    """The record of a training on the toy task, as the command makes it."""
    from turkic_idiom_tasks.training.cards import tuning_record

    data = {"path": "lexicon", "revision": "f" * 40} | regime().sizes()
    return tuning_record(trainee, tuned, config=config, data=data, regime="tr-only", languages=["tr"],
                         prompts=dict(trainee.prompts))  # fmt: skip


def change_json(path, change):
    """Change the value of a JSON file in place."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def dodiom_rows():
    """A table in the form of Dodiom: 30 idioms with six sentences of each label."""
    rows = [("idiom", "submission", "category")]
    for idiom in range(30):
        for number in range(12):
            rows.append((f"deyim {idiom}", f"cümle {idiom} {number}", ("idiom", "nonidiom")[number % 2]))
    return rows


def sentences(n, language="tr"):
    """Sentences whose idiom is always `göz kalp`, between other words in turn."""
    others = ["ev", "yol", "gün", "gece", "su"]
    rows = []
    for number in range(n):
        before, after = others[number % 5], others[(number * 2 + 1) % 5]
        tokens = (before, "göz", "kalp", after) if number % 2 else ("göz", "kalp", after, before)
        tags = tuple({"göz": "B-IDIOM", "kalp": "I-IDIOM"}.get(token, "O") for token in tokens)
        rows.append(TaggedSentence(f"s{number:03d}", language, f"idiom {number}", " ".join(tokens), tokens, tags))
    return rows
