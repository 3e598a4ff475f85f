"""A part of the bundled lexicon that is small enough for items to be made of it in a moment."""

import json

from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.splits import retrieval_split

LANGUAGES = ("tr", "az", "uz")
N_TEST, N_OTHERS = 24, 40  # concepts


def write_part(folder):
    """Writes the first verbs of the bundled lexicon, a third of them test concepts, in three languages."""
    concepts = _rows("concepts")
    verbs = [row["id"] for row in concepts if row.get("pos") == "verb"]
    test = [concept for concept in verbs if retrieval_split(concept) == "test"][:N_TEST]
    others = [concept for concept in verbs if retrieval_split(concept) != "test"][:N_OTHERS]
    kept = {*test, *others}
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("concepts", *LANGUAGES):
        rows = [row for row in _rows(name) if row.get("id", row.get("concept")) in kept]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pairs = [row for row in _rows("equivalents") if set(row["concepts"]) <= kept]
    (folder / "equivalents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs), "utf-8")
    return folder


def _rows(name):
    return [json.loads(line) for line in (BUNDLED / f"{name}.jsonl").read_text("utf-8").splitlines()]
