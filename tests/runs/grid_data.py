"""Small data and grid files for tests of the grid: words that the untrained models know."""

import json

import numpy as np

from tests.training.toy_task import sentences
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon

PLAIN = ("dil", "el", "kalp", "su", "ev", "yol", "gece")


def small_lexicon(folder, *, seed=0, languages=("tr", "az", "uz"), size=60):
    """Concepts with the same idioms in every language and random meanings, with a tagged sentence in two languages."""
    rng = np.random.default_rng(seed)
    tagged = sentences(size)

    def idiom(number):
        return " ".join(PLAIN[(number // len(PLAIN) ** place) % len(PLAIN)] for place in range(3))

    concepts = [Concept(f"c-{number:02d}", "") for number in range(size)]
    entries = {}
    for code in languages:
        entries[code] = []
        for number, concept in enumerate(concepts):
            meaning = " ".join(rng.choice(PLAIN, size=5))
            has_sentence = code == "tr" or (code == "az" and number < 40)
            example, spans = (tagged[number].sentence, tagged[number].spans()) if has_sentence else (None, None)
            entries[code].append(Entry(concept.id, idiom(number), meaning, example, spans))
    write_lexicon(folder, concepts, entries)
    return folder


def retrieval_part(models, **changes):
    """A part of a grid file; `changes` replace keys, and settings of the training."""
    keys = {"regimes": ["pretrained", "tr-only", "monolingual", "cross-lingual"], "languages": ["az", "uz"]}
    keys |= {"poolings": ["mean", "max"], "seeds": [1], "training": {"evaluations": 1}}
    return {"models": [str(model) for model in models]} | keys | changes


def span_part(models, **changes):
    """Another part; Turkish is trained on, Azerbaijani adapted to."""
    training = {"epochs": 1, "learning_rate": 5e-3}
    return {"models": [str(model) for model in models], "sizes": [5], "seeds": [1], "training": training} | changes


def write_grid_file(folder, **parts):
    path = folder / "grid.yaml"
    path.write_text(json.dumps(parts))  # JSON is YAML
    return path


def stamps(out):
    """Name -> time of change of every record."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "records").glob("*.record.jsonl.gz")}
