"""The concepts nearest to each other in meaning, by a real encoder: the traps of the kinds of items with ten options.

    make encoders
    python benchmarks/nearest_concepts.py [MODEL]    # by default the multilingual-e5-small of benchmarks/encoders.py

Adds the concepts that ``turkic_idiom_tasks/tasks/items/nearest_concepts.jsonl`` lacks. The rows that are there stay,
because readers answered their items. The vector of a concept is the mean of those of its English gloss and of its
meanings in all languages, less the mean of all concepts. It takes minutes.
"""

import json
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from encoders import FOLDER
from sentence_transformers import SentenceTransformer

from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.reading import read_json_lines
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.splits import TEST, retrieval_split
from turkic_idiom_tasks.tasks.items.item_types import stable_hash
from turkic_idiom_tasks.tasks.items.rivals import NEAREST

N_NEAREST = 60  # concepts of any part of speech; of those judged `same` or `near`, 81% are among the nearest 40
N_EXAMPLES = 60  # concepts of other splits, for examples in a prompt


def main(model: str) -> None:
    """Write the file by the vectors of a model."""
    lexicon = load_lexicon()
    names = sorted(lexicon.concepts)
    texts, owners = [], []
    for number, name in enumerate(names):
        entries = [lexicon.of(language).get(name) for language in lexicon.entries]
        own = [lexicon.concepts[name].gloss, *(entry.meaning for entry in entries if entry is not None)]
        own = [text for text in own if text]
        texts += own
        owners += [number] * len(own)
    encoder = SentenceTransformer(model, device="cpu")
    encoded = encoder.encode([f"query: {text}" for text in texts], normalize_embeddings=True)
    vectors = np.zeros((len(names), encoded.shape[1]))
    np.add.at(vectors, np.array(owners), encoded)
    rows = nearest_rows(lexicon, names, vectors) | {row["concept"]: row for _, row, _ in read_json_lines(NEAREST)}
    write_text(NEAREST, "".join(json.dumps(rows[name]) + "\n" for name in sorted(rows)))


def nearest_rows(lexicon: Lexicon, names: list[str], vectors: npt.NDArray[np.float64]) -> dict[str, dict[str, object]]:
    """Return concept -> row of the file."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarities = vectors @ vectors.T
    pos = {name: lexicon.concepts[name].pos for name in names}
    others = [name for name in names if retrieval_split(name) != TEST and pos[name] == "verb"]
    examples = set(sorted(others, key=lambda name: stable_hash("example", name))[:N_EXAMPLES])
    rows: dict[str, dict[str, object]] = {}
    for number, name in enumerate(names):
        if retrieval_split(name) != TEST and name not in examples:
            continue
        order = np.argsort(-similarities[number], kind="stable")
        nearest = [names[other] for other in order if other != number][:N_NEAREST]
        rows[name] = {"concept": name, "nearest": [other for other in nearest if pos[other] == pos[name]]}
    return rows


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(FOLDER).expanduser()))
