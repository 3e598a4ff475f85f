"""Does fine-tuning help on concepts that were never trained on? MiniLM before and after, on up to three data sets.

    python benchmarks/finetuning_study.py --out DIR [--uz-idioms CSV] [--kevser CSV] [--jobs 2]

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
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import minilm
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.preprocessing import normalize

from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.dataset.retrieval import target_language
from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, PRETRAINED, TR_ONLY
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.metrics.bootstrap import Stratum
from turkic_idiom_tasks.metrics.comparison import Comparison, compare, holm
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.results.predictions import Rankings
from turkic_idiom_tasks.results.record import Record, find_records, read_record
from turkic_idiom_tasks.results.scored import ScoredSubset, score_record, score_subset
from turkic_idiom_tasks.training.regimes import build_regime

BIN = Path(sys.executable).parent
SEED = 42
PAPER = "paper"
LONGER = {"epochs": 3, "learning_rate": 2e-4, "evaluations": 2, "patience": 6}  # 6 evaluations: none stops it
SETTINGS: dict[str, dict[str, Any]] = {PAPER: {}, "longer": LONGER}
REGIMES: dict[str, dict[str, Any]] = {  # data -> what it allows
    "bundled": {"regimes": [TR_ONLY, MONOLINGUAL, CROSS_LINGUAL], "languages": ["az", "tk", "gag", "uz"]},
    "uz-idioms": {"regimes": [MONOLINGUAL], "languages": ["uz"]},
    "kevser": {"regimes": [TR_ONLY]},
}
N_FACTORS, RIDGE = 300, 1.0  # of the linear map: round numbers, not tuned; a ridge of 0.3 scores alike

Scores = Mapping[tuple[str, str], ScoredSubset]  # (task, subset) -> its scored queries


Row = tuple[str, str, str, str, Comparison]  # data, training, task, languages


def run_grid(name: str, setting: str, *, data: Path, out: Path, jobs: int) -> list[Record]:
    """Return the records of a grid, which is run as far as it is missing."""
    regimes = ([PRETRAINED] if setting == PAPER else []) + REGIMES[name]["regimes"]
    part = REGIMES[name] | {"regimes": regimes, "models": [str(minilm())], "poolings": ["mean"], "seeds": [SEED]}
    file, folder = out / f"{name}-{setting}.yaml", out / f"{name}-{setting}"
    file.write_text(json.dumps({"retrieval": part | {"training": SETTINGS[setting]}}), "utf-8")  # JSON is YAML
    command = [BIN / "turkic-idiom", "grid", "run", file, "--out", folder, "--data", data, "--jobs", jobs]
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)
    dataset = open_dataset(str(data))
    return [read_record(path, dataset) for path in find_records(folder / "records")]


def scores_of(record: Record) -> Scores:
    """Return (task, subset) -> the scored test queries of a record."""
    return {(scored.task, scored.subset): scored for scored in score_record(record)}


def regime_of(record: Record) -> str:
    """Return the regime of a record."""
    return record.header.training.regime if record.header.training else PRETRAINED


def tuned_scores(records: Sequence[Record]) -> Iterator[tuple[str, str, Scores]]:
    """Yield (regime, task, scores in every language that the regime has)."""
    wanted = {TR_ONLY: ("T1", "T2", "T3"), MONOLINGUAL: ("T2",), CROSS_LINGUAL: ("T1", "T3")}
    for regime, tasks in wanted.items():
        for task in tasks:
            scores: dict[tuple[str, str], ScoredSubset] = {}
            for record in records:
                if regime_of(record) == regime:
                    scores |= {key: scored for key, scored in scores_of(record).items() if key[0] == task}
            if regime == TR_ONLY and task == "T2":  # the other languages were not trained for
                scores = {key: scored for key, scored in scores.items() if key[1] == LANGUAGES[PIVOT].subset}
            if scores:
                yield regime, task, scores


def compared(before: Scores, after: Scores) -> Comparison:
    """Compare after with before, languages weighing alike and concepts resampled whole."""
    strata = {}
    for key, scored in after.items():
        strata[" ".join(key)] = (Stratum(scored.concepts, before[key].sums), Stratum(scored.concepts, scored.sums))
    return compare(strata)


def encoder_rows(name: str, *, data: Path, out: Path, jobs: int) -> Iterator[Row]:
    """Yield the rows of MiniLM in every setting and regime; T2 also language by language."""
    untuned: Scores = {}
    for setting in SETTINGS:
        records = run_grid(name, setting, data=data, out=out, jobs=jobs)
        for record in records:
            if regime_of(record) == PRETRAINED:
                untuned = scores_of(record)
        for regime, task, after in tuned_scores(records):
            languages = ", ".join(map(_language, after))
            yield name, f"{regime}, {setting}", task, languages, compared(untuned, after)
            if task == "T2" and len(after) > 1:
                for key, scored in after.items():
                    yield name, f"{regime}, {setting}", task, _language(key), compared(untuned, {key: scored})


def _language(key: tuple[str, str]) -> str:
    task, subset = key
    return target_language(task, subset).code


def character_rows(name: str, dataset: Dataset) -> Iterator[Row]:
    """Yield untrained character n-grams against the linear map, in every language with enough pairs."""
    for code in LANGUAGES if name == "bundled" else dataset.lexicon.entries:
        language = LANGUAGES[code]
        if language.subset not in dataset.subsets("T2"):
            sys.exit(f"{name}: no test queries in {language.name}")
        pool, data = dataset.pool("T2", language.subset), dataset.retrieval("T2", language.subset)
        idioms = [data.queries[query] for query in pool.queries]
        meanings = [data.documents[document] for document in pool.documents]
        plain = encode_texts(idioms, language) @ encode_texts(meanings, language).T
        learnt = linear_map(dataset, language, idioms=idioms, meanings=meanings)
        before, after = (score_subset(Rankings.from_similarities(pool, cosines)) for cosines in (plain, learnt))
        key = ("T2", language.subset)
        yield name, "characters", "T2", code, compared({key: before}, {key: after})


def linear_map(
    dataset: Dataset, language: Language, *, idioms: Sequence[str], meanings: Sequence[str]
) -> npt.NDArray[np.floating]:
    """Return (Q, N) cosines of what a ridge regression makes of idioms, and meanings, in the meanings' factors."""

    def ngrams() -> TfidfVectorizer:
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, preprocessor=lambda text: fold(text, language)
        )

    pairs = build_regime(dataset, MONOLINGUAL, language=language.code).pairs
    of_idioms, of_meanings = ngrams().fit([pair.idiom for pair in pairs]), ngrams().fit(meanings)
    factors = TruncatedSVD(min(N_FACTORS, len(meanings) - 1), random_state=SEED).fit(of_meanings.transform(meanings))

    def project(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        return np.asarray(normalize(factors.transform(of_meanings.transform(texts))))

    targets = project([pair.meaning for pair in pairs])
    ridge = Ridge(alpha=RIDGE).fit(of_idioms.transform([pair.idiom for pair in pairs]), targets)
    predicted = normalize(ridge.predict(of_idioms.transform(idioms)))
    return np.asarray(predicted @ project(meanings).T)


def render(rows: Sequence[Row]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| data | training | task | languages | concepts | before | after | difference | p | Holm |",
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    adjusted = holm([comparison.p for *_, comparison in rows])
    for (*names, comparison), corrected in zip(rows, adjusted, strict=True):
        change = f"{comparison.difference:+.3f} [{comparison.interval.low:+.3f}, {comparison.interval.high:+.3f}]"
        p = ["-" if value is None else f"{value:.4f}" for value in (comparison.p, corrected)]
        cells = (*names, comparison.n_concepts, f"{comparison.first:.3f}", f"{comparison.second:.3f}", change, *p)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def import_data(name: str, file: Path, out: Path) -> Path:
    """Return the lexicon of a dictionary's file, imported once."""
    folder = out / f"{name}-lexicon"
    if not folder.is_dir():
        command = [BIN / "turkic-idiom", "dataset", "import", "--format", name, file, "--out", folder]
        subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)
    return folder


def main() -> None:
    """Run the grids and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="of the grids")
    parser.add_argument("--uz-idioms", type=Path, metavar="CSV", help="Uzbek dictionary")
    parser.add_argument("--kevser", type=Path, metavar="CSV", help="Turkish idioms")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="cells at a time; default: %(default)s")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    options.out.mkdir(parents=True, exist_ok=True)
    folders = {"bundled": BUNDLED}
    for name, file in (("uz-idioms", options.uz_idioms), ("kevser", options.kevser)):
        if file is not None:
            folders[name] = import_data(name, file, options.out)
    rows: list[Row] = []
    for name, folder in folders.items():
        rows += encoder_rows(name, data=folder, out=options.out, jobs=options.jobs)
        rows += character_rows(name, open_dataset(str(folder)))
    print(render(rows))


if __name__ == "__main__":
    main()
