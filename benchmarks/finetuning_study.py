"""Does fine-tuning help on concepts that were never trained on? MiniLM before and after, on up to three data sets.

    python benchmarks/finetuning_study.py --out DIR [--uz-idioms CSV] [--kevser CSV] [--slots 2]

Runs `turkic-idiom grid run` on the bundled lexicon and, where their files are given, on the Uzbek and the Turkish
dictionary, in every regime that they allow: with the paper's settings, and with ten times its learning rate for three
epochs. Then it prints a Markdown table: nDCG before and after on the test queries, the difference with its bootstrap
interval over concepts, sign-flip p, and p after Holm for the whole table. It goes on where it was stopped.

The rows "characters" are a contrast that knows no language beforehand: before, the built-in character n-grams; after, a
linear map from the n-grams of idioms to those of meanings, fitted to the very pairs that the encoder is trained on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from retrieval_suite import minilm

from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.finetuning.regimes import MONOLINGUAL, TR_ONLY, build_regime
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare, holm
from turkic_idiom_tasks.metrics.ranking import score_rankings
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.retrieval.relevance import TASKS, RetrievalData, build_retrieval, concept_of

BIN = Path(sys.executable).parent
SEED = 42
PRETRAINED = "pretrained"
PAPER = "paper"
LONGER = {"epochs": 3, "learning_rate": 2e-4, "evaluations": 2, "patience": 6}  # 6 evaluations: none stops it
SETTINGS: dict[str, dict[str, Any]] = {PAPER: {}, "longer": LONGER}
REGIMES: dict[str, dict[str, Any]] = {  # data -> what it allows
    "bundled": {"regimes": [TR_ONLY, MONOLINGUAL, "cross-lingual"], "languages": ["az", "tk", "gag", "uz"]},
    "uz-idioms": {"regimes": [MONOLINGUAL], "languages": ["uz"]},
    "kevser": {"regimes": [TR_ONLY]},
}
N_FACTORS, RIDGE = 300, 1.0  # of the linear map: round numbers, not tuned; a ridge of 0.3 scores alike

Scores = Mapping[tuple[str, str], Mapping[str, float]]  # (task, subset) -> query -> nDCG


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    data: str
    training: str
    task: str
    languages: str
    found: Comparison


def run_grid(name: str, setting: str, *, data: Path, out: Path, slots: int) -> list[dict[str, Any]]:
    """The records of a grid, which is run as far as it is missing."""
    regimes = ([PRETRAINED] if setting == PAPER else []) + REGIMES[name]["regimes"]
    part = REGIMES[name] | {"regimes": regimes, "models": [str(minilm())], "poolings": ["mean"], "seeds": [SEED]}
    file, folder = out / f"{name}-{setting}.yaml", out / f"{name}-{setting}"
    file.write_text(json.dumps({"retrieval": part | {"training": SETTINGS[setting]}}), "utf-8")  # JSON is YAML
    command = [BIN / "turkic-idiom", "grid", "run", file, "--out", folder, "--data", data, "--slots", slots]
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)
    return [json.loads(path.read_text("utf-8")) for path in sorted((folder / "retrieval").glob("*.json"))]


def scores_of(record: Mapping[str, Any]) -> Scores:
    """The test queries of a record."""
    per_query = record["poolings"]["mean"]["per_query"]
    return {(task, subset): queries for task, of_task in per_query.items() for subset, queries in of_task.items()}


def tuned_scores(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, Scores]]:
    """(regime, task, scores in every language that the regime has)."""
    wanted = {TR_ONLY: ("T1", "T2", "T3"), MONOLINGUAL: ("T2",), "cross-lingual": ("T1", "T3")}
    for regime, tasks in wanted.items():
        for task in tasks:
            found: dict[tuple[str, str], Mapping[str, float]] = {}
            for record in records:
                if record["regime"] == regime:
                    found |= {key: queries for key, queries in scores_of(record).items() if key[0] == task}
            if regime == TR_ONLY and task == "T2":  # the other languages were not trained for
                found = {key: queries for key, queries in found.items() if key[1] == LANGUAGES[PIVOT].subset}
            if found:
                yield regime, task, found


def compared(before: Scores, after: Scores) -> Comparison:
    """After against before, languages weighing alike and concepts resampled whole."""
    strata = {}
    for key, queries in after.items():
        first, second = (np.array([[scores[query], 1.0] for query in queries]) for scores in (before[key], queries))
        strata[" ".join(key)] = Paired([concept_of(query) for query in queries], first, second)
    return compare(strata)


def encoder_rows(name: str, *, data: Path, out: Path, slots: int) -> Iterator[Row]:
    """MiniLM in every setting and regime; T2 also language by language."""
    untuned: Scores = {}
    for setting in SETTINGS:
        records = run_grid(name, setting, data=data, out=out, slots=slots)
        for record in records:
            if record["regime"] == PRETRAINED:
                untuned = scores_of(record)
        for regime, task, after in tuned_scores(records):
            yield Row(name, f"{regime}, {setting}", task, ", ".join(map(_language, after)), compared(untuned, after))
            if task == "T2" and len(after) > 1:
                for key, queries in after.items():
                    one = compared(untuned, {key: queries})
                    yield Row(name, f"{regime}, {setting}", task, _language(key), one)


def _language(key: tuple[str, str]) -> str:
    task, subset = key
    return TASKS[task].subsets[subset][1].code


def character_rows(name: str, lexicon: Lexicon) -> Iterator[Row]:
    """Untrained character n-grams against the linear map, in every language with enough pairs."""
    for code in LANGUAGES if name == "bundled" else lexicon.entries:
        language = LANGUAGES[code]
        data = build_retrieval(lexicon, "T2", language.subset)
        if data is None:
            sys.exit(f"{name}: no test queries in {language.name}")
        idioms, meanings = list(data.queries.values()), list(data.documents.values())
        plain = encode_texts(idioms, language) @ encode_texts(meanings, language).T
        learnt = linear_map(lexicon, language, idioms=idioms, meanings=meanings)
        key = ("T2", language.subset)
        found = compared({key: per_query(plain, data)}, {key: per_query(learnt, data)})
        yield Row(name, "characters", "T2", code, found)


def linear_map(
    lexicon: Lexicon, language: Language, *, idioms: Sequence[str], meanings: Sequence[str]
) -> npt.NDArray[np.floating]:
    """(Q, N) cosines of what a ridge regression makes of idioms, and meanings, in the factors of the meanings."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import normalize

    def ngrams() -> Any:
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, preprocessor=lambda text: fold(text, language)
        )

    pairs = build_regime(lexicon, MONOLINGUAL, language=language.code).pairs
    of_idioms, of_meanings = ngrams().fit([pair.idiom for pair in pairs]), ngrams().fit(meanings)
    factors = TruncatedSVD(min(N_FACTORS, len(meanings) - 1), random_state=SEED).fit(of_meanings.transform(meanings))

    def project(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        return np.asarray(normalize(factors.transform(of_meanings.transform(texts))))

    targets = project([pair.meaning for pair in pairs])
    ridge = Ridge(alpha=RIDGE).fit(of_idioms.transform([pair.idiom for pair in pairs]), targets)
    found = normalize(ridge.predict(of_idioms.transform(idioms))) @ project(meanings).T
    return np.asarray(found)


def per_query(similarities: npt.NDArray[np.floating], data: RetrievalData) -> dict[str, float]:
    """Query -> nDCG."""
    columns = {document: column for column, document in enumerate(data.documents)}
    relevant = [[columns[document] for document in data.qrels[query]] for query in data.queries]
    return dict(zip(data.queries, score_rankings(similarities, relevant).ndcg.tolist(), strict=True))


def render(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    lines = [
        "| data | training | task | languages | concepts | before | after | difference | p | Holm |",
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    adjusted = holm([row.found.p for row in rows])
    for row, corrected in zip(rows, adjusted, strict=True):
        found = row.found
        change = f"{found.difference:+.3f} [{found.interval.low:+.3f}, {found.interval.high:+.3f}]"
        p = ["-" if value is None else f"{value:.4f}" for value in (found.p, corrected)]
        cells = (row.data, row.training, row.task, row.languages, found.n_clusters, f"{found.first:.3f}",
                 f"{found.second:.3f}", change, *p)  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def import_data(name: str, file: Path, out: Path) -> Path:
    """The lexicon of a dictionary's file, imported once."""
    folder = out / f"{name}-lexicon"
    if not folder.is_dir():
        command = [BIN / "turkic-idiom", "dataset", "import", "--format", name, file, "--out", folder]
        subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)
    return folder


def main() -> None:
    """Runs the grids and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="of the grids")
    parser.add_argument("--uz-idioms", type=Path, metavar="CSV", help="Uzbek dictionary")
    parser.add_argument("--kevser", type=Path, metavar="CSV", help="Turkish idioms")
    parser.add_argument("--slots", type=int, default=2, metavar="N", help="cells at a time; default: %(default)s")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    options.out.mkdir(parents=True, exist_ok=True)
    folders = {"bundled": BUNDLED}
    for name, file in (("uz-idioms", options.uz_idioms), ("kevser", options.kevser)):
        if file is not None:
            folders[name] = import_data(name, file, options.out)
    rows: list[Row] = []
    for name, folder in folders.items():
        rows += encoder_rows(name, data=folder, out=options.out, slots=options.slots)
        rows += character_rows(name, load_lexicon(folder))
    print(render(rows))


if __name__ == "__main__":
    main()
