"""Similarity and idiomaticity cells of a grid: what they train, what their records and tables say."""

import dataclasses

import pandas as pd
import pytest

from tests.similarity.conftest import write_csv
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.metrics.classification import macro_f1
from turkic_idiom_tasks.report.grid_tables import write_grid_tables
from turkic_idiom_tasks.report.published import sibling_tables
from turkic_idiom_tasks.results.harness_files import find_predictions
from turkic_idiom_tasks.results.record import read_record
from turkic_idiom_tasks.results.scored import score_record
from turkic_idiom_tasks.runs.grid import open_grid, run_here
from turkic_idiom_tasks.runs.grid_file import read_grid_file
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split
from turkic_idiom_tasks.training.config import IdiomaticityConfig
from turkic_idiom_tasks.training.siblings.idiomaticity import load_classifier, train_seed
from turkic_idiom_tasks.training.siblings.labelled import SETUPS, build_labelled
from turkic_idiom_tasks.training.triplets import build_triplets

GRID = """
similarity:
  models: [{model}]
  losses: [simcse, cosine]
  seeds: [1]
  training: {{epochs: 1, batch_size: 8}}
idiomaticity:
  models: [{model}]
  seeds: [1, 2]
  training: {{epochs: 1, batch_size: 8}}
"""
DODIOM_GRID = """
idiomaticity:
  models: [{model}]
  source: dodiom
  setups: [zero-shot, one-shot, few-shot]
  seeds: [1]
  training: {{epochs: 1, learning_rate: 1e-3}}
"""
NOUNS = ("göz", "kulak", "burun", "diş", "saç", "kol", "ayak", "el", "yüz", "kan")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Sixty Turkish concepts with all sentences that the two kinds of cells need, in every split."""
    folder = tmp_path_factory.mktemp("meaning") / "lexicon"
    concepts = [f"m-{number}" for number in range(60)]
    rows = []
    for number, concept in enumerate(concepts):
        noun = f"{NOUNS[number % 10]}{'ı' * (number // 10)}"
        sentence = f"Dün {noun} tuttu."
        rows.append(
            Entry(
                concept,
                f"{noun} tutmak",
                f"anlam {number}",
                sentence,
                (Span(4, len(sentence) - 1),),
                paraphrase=f"Dün {number} kez durdu.",
                literal_paraphrase=f"Dün {noun} elinde kaldı.",
                literal_example=f"Eliyle {noun} tuttu.",
            )
        )
    write_lexicon(folder, [Concept(concept, "gloss") for concept in concepts], {"tr": rows})
    return open_dataset(str(folder))


@pytest.fixture(scope="module")
def grid(dataset, untrained_bert, tmp_path_factory):
    """A finished grid of both kinds, and the outcomes of its cells."""
    folder = tmp_path_factory.mktemp("grid")
    file = folder / "meaning.yaml"
    file.write_text(GRID.format(model=untrained_bert))
    grid = open_grid(read_grid_file(file), dataset, folder / "out")
    outcomes = list(grid.run(run_here))
    assert [outcome.error for outcome in outcomes] == [None] * 5, [outcome.error for outcome in outcomes]
    return grid


def workload(grid, kind, regime):
    """The work of the first cell of a kind and regime."""
    for job in grid.jobs:
        for cell in job.names:
            if (cell.kind, cell.regime) == (kind, regime):
                return job.kind.workload(job.part, [cell], grid.dataset)
    raise AssertionError((kind, regime))


def test_the_work_of_similarity_cells_is_that_of_the_triplets_and_pairs(grid, dataset):
    triplets = build_triplets(dataset)
    n_tests = sum(len(pairs.texts) for pairs in triplets.test.values())
    n_development = len(triplets.development.texts)
    pretrained = workload(grid, "similarity", "pretrained")
    assert (pretrained.encoded.n_texts, pretrained.trained.n_texts) == (n_tests, 0)
    simcse, cosine = workload(grid, "similarity", "simcse"), workload(grid, "similarity", "cosine")
    # one epoch; a triplet has three sentences, or two pairs; the tests are scored before and after
    assert simcse.trained.n_texts == 3 * len(triplets.training)
    assert cosine.trained.n_texts == 4 * len(triplets.training)
    for work in (simcse, cosine):
        assert work.encoded.n_texts == 2 * n_tests + 2 * n_development


def test_the_work_of_idiomaticity_cells_is_that_of_the_rows(grid, dataset):
    rows = build_labelled(dataset)
    work = workload(grid, "idiomaticity", "zero-shot")
    assert work.trained.n_texts == sum(len(stage) for stage in rows.stages)
    assert work.encoded.n_texts == len(rows.test) + len(rows.stages) * len(rows.development)
    first = rows.test[0]
    assert work.encoded.n_words >= len(rows.test) * len(first.second.split()) > 0  # the idiom is given too


def test_the_cells_are_the_untrained_encoder_and_every_loss_setup_and_seed(grid):
    cells = [(cell.kind, cell.regime, cell.seed) for cell in grid.cells()]
    assert cells == [
        ("similarity", "pretrained", None),
        ("similarity", "simcse", 1),
        ("similarity", "cosine", 1),
        ("idiomaticity", "zero-shot", 1),
        ("idiomaticity", "zero-shot", 2),
    ]


def test_similarity_records_give_their_scores_again_and_can_be_submitted(grid, dataset):
    paths = {cell: path for cell, path in grid.record_paths().items() if cell.kind == "similarity"}
    for path in paths.values():
        (scored,) = score_record(read_record(path, dataset))
        assert (scored.task, scored.subset) == ("STS", "tur")
    found = find_predictions([grid.folder / "records"], dataset)
    assert {key for item in found for key in item.predictions} == {("STS", "tur")}  # idiomaticity is left out


def test_similarity_joins_the_retrieval_of_the_same_model_in_a_submission(dataset, minilm, tmp_path):
    file = tmp_path / "joined.yaml"
    retrieval = f"retrieval:\n  models: [{minilm}]\n  regimes: [pretrained]\n  poolings: [native]\n"
    file.write_text(f"{retrieval}similarity:\n  models: [{minilm}]\n  losses: []\n")
    grid = open_grid(read_grid_file(file), dataset, tmp_path / "out")
    assert [outcome.error for outcome in grid.run(run_here)] == [None, None]
    found = find_predictions([grid.folder / "records"], dataset)
    assert {key for item in found for key in item.predictions} == {("T2", "tur"), ("STS", "tur")}
    assert len({(item.name, item.revision, item.type, item.pooling, item.regime) for item in found}) == 1


def test_idiomaticity_records_hold_the_labels_that_give_their_score(grid, dataset):
    rows = [row for row in dataset.lexicon.of("tr").values() if retrieval_split(row.concept) == "test"]
    gold = [0, 1] * len(rows)  # the example of each, then its literal example
    for cell, header in grid.headers().items():
        if cell.kind == "idiomaticity":
            labels = [int(digit) for digit in header.training.outcome["test_labels"]]
            scores = header.scores("idiomaticity", dataset.path)
            assert scores["macro_f1"] == pytest.approx(macro_f1(gold, labels))
            assert scores["n_sentences"] == len(gold)


def test_the_setups_of_a_seed_share_their_first_training_and_score_as_if_trained_alone(
    dataset, untrained_bert, tmp_path, monkeypatch
):
    rows = [("idiom", "submission", "category")]
    for idiom in range(30):
        for number in range(12):
            rows.append((f"deyim {idiom}", f"cümle {idiom} {number}", ("idiom", "nonidiom")[number % 2]))
    monkeypatch.setenv("DODIOM_DATA", str(write_csv(tmp_path / "dodiom.csv", rows)))
    file = tmp_path / "dodiom.yaml"
    file.write_text(DODIOM_GRID.format(model=untrained_bert))
    grid = open_grid(read_grid_file(file), dataset, tmp_path / "out")
    (job,) = grid.jobs
    setups = {setup: build_labelled("dodiom", setup=setup) for setup in SETUPS}
    trained = job.kind.workload(job.part, list(job.names), dataset).trained.n_texts
    assert trained == len(setups["zero-shot"].stages[0]) + sum(len(setups[setup].stages[1]) for setup in SETUPS[1:])

    assert [outcome.error for outcome in grid.run(run_here)] == [None] * 3
    for cell, header in grid.headers().items():
        classifier = load_classifier(str(untrained_bert), seed=1)
        config = IdiomaticityConfig(epochs=1, learning_rate=1e-3)
        scores, labels = train_seed(classifier, setups[cell.regime], config=config, seed=1)
        assert header.training.outcome == {"best_epoch": scores.best_epoch, "test_labels": "".join(map(str, labels))}
        assert header.scores("idiomaticity", "dodiom")["development_macro_f1"] == scores.development_f1


def test_the_tables_have_a_mean_over_seeds(grid):
    written = {path.name: path for path in write_grid_tables(grid)}
    path = written["idiomaticity.md"]
    table = pd.read_csv(path.with_suffix(".csv"))
    values = [
        header.scores("idiomaticity", header.data.path)["macro_f1"]
        for cell, header in grid.headers().items()
        if cell.kind == "idiomaticity"
    ]
    assert table["macro_f1"].tolist() == pytest.approx([sum(values) / 2])
    assert table["seeds"].tolist() == [2]
    assert "AStitch" not in path.read_text()  # of other data
    similarity = written["similarity_sts.md"].read_text()
    for regime in ("pretrained", "simcse", "cosine"):
        assert regime in similarity


def test_a_finished_cell_is_that_of_its_data_and_settings(grid, dataset, untrained_bert, tmp_path):
    """The same grid again runs nothing; another batch size, or another seed, only what is new."""
    assert list(grid.run(run_here)) == []
    changes = (("batch_size: 8", "batch_size: 16", 2 + 2), ("seeds: [1, 2]", "seeds: [1, 3]", 1), ("", "", 0))
    for old, new, n_missing in changes:
        file = tmp_path / "again.yaml"
        file.write_text(GRID.format(model=untrained_bert).replace(old, new))
        again = open_grid(read_grid_file(file), dataset, grid.folder)
        assert sum(state == "missing" for state in again.states().values()) == n_missing


def test_a_source_without_its_folder_is_named_when_the_grid_is_opened(dataset, untrained_bert, tmp_path, monkeypatch):
    monkeypatch.delenv("ASTITCH_DATA", raising=False)
    for part in ("similarity", "idiomaticity"):
        file = tmp_path / "astitch.yaml"
        file.write_text(f"{part}:\n  models: [{untrained_bert}]\n  source: astitch\n")
        with pytest.raises(InputError, match="ASTITCH_DATA"):
            open_grid(read_grid_file(file), dataset, tmp_path / "out")
    file.write_text(f"similarity:\n  models: [{untrained_bert}]\n  source: astich\n")
    with pytest.raises(InputError, match="nearest: astitch"):
        read_grid_file(file)


def test_sibling_figures_are_those_that_the_papers_print():
    """Cross-checks with what the papers say of their own tables in words."""
    tables = {table.source.rpartition(", ")[2]: table for table in sibling_tables()}
    assert set(tables) == {"Table 4", "Table 5", "Tables 6 and 8", "Tables 7 and 9", "Table 8", "Table 9"}
    of_2a = {(row["subset"], row["training"]): row for row in tables["Tables 6 and 8"].rows}
    of_2b = {(row["subset"], row["training"]): row for row in tables["Tables 7 and 9"].rows}
    for subset in ("eng", "por"):
        assert (
            of_2b[subset, "2B, default tokens"]["spearman_idiom"]
            > of_2a[subset, "2A, default tokens"]["spearman_idiom"]
        )
    chengyu = [row["spearman_idiom"] for row in tables["Table 9"].rows]
    assert max(chengyu) == 0.844  # "Chinese-RoBERTa-WWM receives the best fine-tuning performance on iSTS data"
    for table in tables.values():
        for row in table.rows:
            numbers = [value for value in row.values() if isinstance(value, float)]
            assert len(numbers) == 2
            assert all(0 < value < 1 for value in numbers)


def test_cells_of_earlier_kinds_keep_their_names():
    """The field `data` of a cell was added later; cells without it are named as before."""
    from turkic_idiom_tasks.runs.cells import Cell, cell_name

    cell = Cell("retrieval", "toy/model", "pretrained", pooling="mean")
    assert {field.name for field in dataclasses.fields(cell)} >= {"data"}
    name = cell_name(cell, settings={}, model_revision=None, data_revision="0" * 40)
    assert name == "toy__model-pretrained-mean-123becb9a3ee511b"
