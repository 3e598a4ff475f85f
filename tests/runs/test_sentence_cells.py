"""Similarity and idiomaticity cells, without idiom tokens and with them: what they train, what is said of them."""

import json
from itertools import product

import pandas as pd
import pytest
import torch

from tests.similarity.conftest import write_csv
from tests.training.toy_task import dodiom_rows
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IDIOMATICITY_RECORD
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.metrics.classification import macro_f1
from turkic_idiom_tasks.report.grid_tables import write_grid_tables
from turkic_idiom_tasks.report.published import sibling_tables
from turkic_idiom_tasks.report.similarity_tables import similarity_tables
from turkic_idiom_tasks.results.harness_files import find_predictions
from turkic_idiom_tasks.results.record import read_record
from turkic_idiom_tasks.results.scored import score_record
from turkic_idiom_tasks.runs.grid import open_grid
from turkic_idiom_tasks.runs.grid_file import read_grid_file
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split
from turkic_idiom_tasks.training.cards import SIMILARITY_RECORD
from turkic_idiom_tasks.training.config import IdiomaticityConfig
from turkic_idiom_tasks.training.siblings.idiomaticity import load_classifier, save_classifier, train_seed
from turkic_idiom_tasks.training.siblings.labelled import build_labelled
from turkic_idiom_tasks.training.triplets import build_triplets

IDIOM_WORDS, MEANING_WORDS = ("baş", "boş", "eğmek", "göz", "dil", "el", "kalp"), ("yürek", "su", "ateş", "ev", "yol")
TRAINING = "{epochs: 1, batch_size: 8, learning_rate: 1e-3}"
GRID = """
similarity: {{models: [{model}], losses: [simcse, cosine], seeds: [1], idiom_tokens: {tokens}, training: {training}}}
idiomaticity: {{models: [{model}], seeds: [1, 2], training: {{epochs: 1, batch_size: 8}}}}
"""
NAMED_GRID = f"""
retrieval: {{models: [toy/encoder], poolings: [mean], seeds: [7], regimes: [pretrained, tr-only]}}
span: {{models: [toy/encoder], seeds: [7]}}
similarity: {{models: [toy/encoder], losses: [cosine], seeds: [7], training: {TRAINING}}}
idiomaticity: {{models: [toy/encoder], seeds: [7]}}
"""
PLAIN = [("similarity", "pretrained", None), ("similarity", "simcse", 1), ("similarity", "cosine", 1),
         ("idiomaticity", "zero-shot", 1), ("idiomaticity", "zero-shot", 2)]  # fmt: skip
WITH_TOKENS = [("similarity", "pretrained-all-tokens", None), ("similarity", "simcse-all-tokens", 1),
               ("similarity", "cosine-all-tokens", 1)]  # fmt: skip
CLASSIFIER_SETTINGS = {"inputs": ["idiom"], "config": {"max_length": 32}, "subtask": "A"}
REGIMES = [regime for kind, regime, _ in (*PLAIN, *WITH_TOKENS) if kind == "similarity"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Turkish idioms of two words that the tiny models know, with sentences that have other words."""
    folder = tmp_path_factory.mktemp("data") / "lexicon"
    rows = []
    for number, (a, b) in enumerate(product(range(7), repeat=2)):
        idiom = f"{IDIOM_WORDS[a]} {IDIOM_WORDS[b]}"
        fields = {
            "paraphrase": f"gün {MEANING_WORDS[a % 5]} {MEANING_WORDS[b % 5]}",
            "literal_paraphrase": f"gün {MEANING_WORDS[(a + 3) % 5]} {MEANING_WORDS[(b + 2) % 5]}",
            "literal_example": f"ev {idiom}",
        }
        span = Span(4, 4 + len(idiom))
        rows.append(Entry(f"m-{number}", idiom, f"anlam {number}", f"gün {idiom}", (span,), **fields))
    write_lexicon(folder, [Concept(row.concept, "gloss") for row in rows], {"tr": rows})
    return open_dataset(str(folder))


@pytest.fixture(scope="module")
def finished(dataset, untrained_bert, tmp_path_factory):
    """A finished grid of both kinds, and the cells that ran before and when idiom tokens were added."""
    folder = tmp_path_factory.mktemp("grid")
    ran = []
    for tokens in ("[none]", "[none, all]"):
        (folder / "grid.yaml").write_text(GRID.format(model=untrained_bert, tokens=tokens, training=TRAINING))
        grid = open_grid(read_grid_file(folder / "grid.yaml"), dataset, folder / "out")
        outcomes = list(grid.run())
        assert {outcome.error for outcome in outcomes} == {None}
        ran.append([(outcome.cell.kind, outcome.cell.regime, outcome.cell.seed) for outcome in outcomes])
    return grid, ran


@pytest.fixture(scope="module")
def grid(finished):
    return finished[0]


@pytest.fixture
def open_text(dataset, tmp_path):
    """Opens the grid of a text in YAML."""

    def opened(text, folder=tmp_path / "out"):
        (tmp_path / "grid.yaml").write_text(text)
        return open_grid(read_grid_file(tmp_path / "grid.yaml"), dataset, folder)

    return opened


@pytest.fixture
def open_part(open_text, untrained_bert):
    """Opens the grid of a similarity part with some further keys."""

    def opened(keys="", *, model=untrained_bert):
        return open_text(f"similarity: {{models: [{model}], training: {TRAINING}, {keys}}}")

    return opened


@pytest.fixture
def light_classifier(tmp_path):
    """Writes the files that identify a classifier, without a model."""

    def write(seed, *, score, weights):
        folder = tmp_path / "light" / f"seed-{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        record = {"settings": CLASSIFIER_SETTINGS, "scores": {"development_f1": score}}
        (folder / IDIOMATICITY_RECORD).write_text(json.dumps(record))
        (folder / "model.safetensors").write_text(weights)
        return folder.parent

    return write


def names(grid):
    """Regime and seed -> name of the files of a cell."""
    return {(cell.regime, cell.seed): name for job in grid.jobs for cell, name in job.names.items()}


def header_of(grid, regime):
    (header,) = [header for cell, header in grid.headers().items() if cell.regime == regime]
    return header


def spearman(grid, regime):
    return header_of(grid, regime).scores("STS", "tur")["spearman"]


def idiomaticity_headers(grid):
    return [header for cell, header in grid.headers().items() if cell.kind == "idiomaticity"]


def test_tokens_a_batch_size_or_a_seed_add_cells_and_leave_finished_ones_as_they_are(
    finished, open_text, untrained_bert
):
    grid, ran = finished
    assert ran == [PLAIN, WITH_TOKENS]
    assert list(grid.run()) == []
    text = GRID.format(model=untrained_bert, tokens="[none]", training=TRAINING)
    for old, new, n_missing in (("batch_size: 8", "batch_size: 16", 2 + 2), ("seeds: [1, 2]", "seeds: [1, 3]", 1)):
        again = open_text(text.replace(old, new), grid.folder)
        assert sum(state == "missing" for state in again.states().values()) == n_missing


def test_cells_of_every_kind_keep_their_names(open_text):
    """A name that changed would lose finished results; of a model on the Hub no folder is in the hash."""
    assert [name for job in open_text(NAMED_GRID).jobs for name in job.names.values()] == [
        "toy__encoder-pretrained-mean-dd1d8011ea815a38",
        "toy__encoder-tr-only-mean-7-7583ab2e395f30fe",
        "toy__encoder-from-tr-tr-all-7-178a5041f17fdbef",
        "toy__encoder-pretrained-071fd36cbd2374ad",
        "toy__encoder-cosine-7-abfc4ab4780e40bc",
        "toy__encoder-zero-shot-7-faf2c39c542a12c3",
    ]


def test_a_similarity_record_gives_its_scores_again_and_says_where_tokens_stand(grid, dataset):
    (test,) = build_triplets(dataset).test.values()
    for cell, path in grid.record_paths().items():
        if cell.kind != "similarity":
            continue
        record = read_record(path, dataset)
        (scored,) = score_record(record)
        assert (scored.task, scored.subset) == ("STS", "tur")
        if cell.regime.endswith("tokens"):
            assert record.header.training.regime == cell.regime
            tokens = record.header.training.outcome["idiom_tokens"]
            assert tokens["n_tokens"] == 49
            # of a concept, only the sentence itself has the idiom; its two rewordings have not
            assert tokens["test"] == {"sentences": len(test.texts), "replaced": len(set(test.concepts))}
            assert tokens["config"]["idiom_tokens"] == "all"


def test_similarity_is_submitted_with_the_retrieval_of_the_same_model(grid, dataset, sentence_model, open_text):
    found = find_predictions([grid.folder / "records"], dataset)
    assert {key for item in found for key in item.predictions} == {("STS", "tur")}  # idiomaticity is left out
    regimes = [item.regime for item in found]
    assert regimes.count("other") == len(REGIMES) - 1  # a tuned encoder is another model
    assert regimes.count(None) == 1  # a folder, which may have been tuned: `submit` asks for its regime
    retrieval = f"retrieval: {{models: [{sentence_model}], regimes: [pretrained], poolings: [native]}}\n"
    grid = open_text(f"{retrieval}similarity: {{models: [{sentence_model}], losses: []}}")
    assert [outcome.error for outcome in grid.run()] == [None, None]
    found = find_predictions([grid.folder / "records"], dataset)
    assert {key for item in found for key in item.predictions} == {("T2", "tur"), ("STS", "tur")}
    assert len({(item.name, item.revision, item.type, item.pooling, item.regime) for item in found}) == 1


def test_a_cell_scores_what_the_command_scores(grid, dataset, untrained_bert, tmp_path):
    command = ["finetune", "similarity", "-m", str(untrained_bert), "--data", dataset.path, "--seed", "1"]
    command += ["--set", "epochs=1", "--set", "batch_size=8", "--set", "learning_rate=1e-3", "--idiom-tokens", "all"]
    assert main([*command, "--out", str(tmp_path / "tuned")]) == 0
    record = json.loads((tmp_path / "tuned" / SIMILARITY_RECORD).read_text())
    assert spearman(grid, "simcse-all-tokens") == pytest.approx(record["test"]["tur"]["spearman"], abs=1e-6)
    untaught = record["untuned_test"]["tur"]["spearman"]
    assert spearman(grid, "pretrained-all-tokens") == pytest.approx(untaught, abs=1e-6)
    assert spearman(grid, "pretrained") != pytest.approx(untaught, abs=1e-3)


def test_idiomaticity_records_hold_the_labels_that_give_their_score(grid, dataset):
    rows = [row for row in dataset.lexicon.of("tr").values() if retrieval_split(row.concept) == "test"]
    gold = [0, 1] * len(rows)  # the example of each, then its literal example
    for header in idiomaticity_headers(grid):
        labels = [int(digit) for digit in header.training.outcome["test_labels"]]
        scores = header.scores("idiomaticity", dataset.path)
        assert scores["macro_f1"] == pytest.approx(macro_f1(gold, labels))
        assert scores["n_sentences"] == len(gold)


def test_setups_share_a_training_and_score_as_if_trained_alone(open_text, untrained_bert, tmp_path, monkeypatch):
    monkeypatch.setenv("DODIOM_DATA", str(write_csv(tmp_path / "dodiom.csv", dodiom_rows())))
    setups = "source: dodiom, setups: [zero-shot, few-shot], seeds: [1], training: {epochs: 1, learning_rate: 1e-3}"
    grid = open_text(f"idiomaticity: {{models: [{untrained_bert}], {setups}}}")
    assert len(grid.jobs) == 1
    assert [outcome.error for outcome in grid.run()] == [None, None]
    header = next(header for cell, header in grid.headers().items() if cell.regime == "few-shot")
    config = IdiomaticityConfig(epochs=1, learning_rate=1e-3)
    data = build_labelled("dodiom", setup="few-shot")
    scores, labels = train_seed(load_classifier(str(untrained_bert), seed=1), data, config=config, seed=1)
    assert header.training.outcome == {"best_epoch": scores["best_epoch"], "test_labels": "".join(map(str, labels))}
    assert header.scores("idiomaticity", "dodiom")["development_macro_f1"] == scores["development_f1"]


def test_status_and_tables_show_every_regime_and_a_mean_over_seeds(grid, dataset, monkeypatch, capsys):
    place = [str(grid.folder.parent / "grid.yaml"), "--out", str(grid.folder)]
    monkeypatch.setenv("COLUMNS", "80")  # too narrow for the names of all regimes
    assert main(["grid", "status", *place]) == 0
    printed = capsys.readouterr().out
    assert printed.count("1/0/0") == len(REGIMES)
    assert max(map(len, printed.splitlines())) <= 80
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["grid", "status", *place]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["model", *REGIMES, "zero-shot"]
    written = {path.name: path for path in write_grid_tables(grid)[1]}
    table = pd.read_csv(written["similarity_sts.md"].with_suffix(".csv"))
    assert table["training"].tolist() == REGIMES
    assert table["spearman"].tolist() == pytest.approx([spearman(grid, regime) for regime in REGIMES])
    assert set(pd.read_csv(grid.folder / "tables" / "scores.csv")["regime"]) == {*REGIMES, "zero-shot"}
    table = pd.read_csv(written["idiomaticity.md"].with_suffix(".csv"))
    values = [header.scores("idiomaticity", dataset.path)["macro_f1"] for header in idiomaticity_headers(grid)]
    assert table["macro_f1"].tolist() == pytest.approx([sum(values) / 2])
    assert table["seeds"].tolist() == [2]
    assert "AStitch" not in written["idiomaticity.md"].read_text()  # of other data


def test_the_papers_figures_for_tokens_stand_beside_ours(grid):
    """Table 6 of AStitchInLanguageModels: `All Tokenized (No Pre-Training)`, English, test."""
    header = header_of(grid, "pretrained-all-tokens")
    as_of_astitch = header.subsets[0].model_copy(update={"task": ASTITCH_STS, "subset": "eng"})
    (table,) = similarity_tables([header.model_copy(update={"subsets": [as_of_astitch]})])
    english = table.frame[table.frame["language"] == "eng"].set_index("training")
    assert english.loc["pretrained-all-tokens", "from"] == "this grid"
    assert english.loc["2A, all tokenised, no pre-training", "spearman"] == 0.801


def test_sibling_figures_are_those_that_the_papers_print():
    """Cross-checks with what the papers say of their own tables in words."""
    tables = {table.source.rpartition(", ")[2]: table.rows for table in sibling_tables()}
    trainings = {(row["subset"], row["training"]): row["spearman_idiom"] for row in tables["Tables 6 and 8"]}
    trainings |= {(row["subset"], row["training"]): row["spearman_idiom"] for row in tables["Tables 7 and 9"]}
    for subset in ("eng", "por"):
        assert trainings[subset, "2B, default tokens"] > trainings[subset, "2A, default tokens"]
    chengyu = [row["spearman_idiom"] for row in tables["Table 9"]]
    assert max(chengyu) == 0.844  # "Chinese-RoBERTa-WWM receives the best fine-tuning performance on iSTS data"


@pytest.mark.parametrize(
    ("f1", "asked", "same_as", "share"),
    [((0.9, 0.5), "seed-1", "pretrained", 0), ((0.5, 0.9), "seed-2", "pretrained-all-tokens", 1)],
)
def test_select_asks_the_better_classifier(grid, open_part, untrained_bert, tmp_path, f1, asked, same_as, share):
    """`seed-1` always says literal, so nothing is replaced; `seed-2` would have everything replaced."""
    classifier = load_classifier(str(untrained_bert), seed=1)
    for seed, score, bias in ((1, f1[0], [-99.0, 99.0]), (2, f1[1], [99.0, -99.0])):
        with torch.no_grad():
            classifier.model.classifier.bias[:] = torch.tensor(bias)
        scores = {"seed": seed, "best_epoch": 1, "development_f1": score, "test_f1": score, "low": 0.0, "high": 1.0}
        save_classifier(classifier, tmp_path / "classifiers" / f"seed-{seed}", scores, CLASSIFIER_SETTINGS)
    part = open_part(f"losses: [], idiom_tokens: [select], idiomaticity_classifier: {tmp_path / 'classifiers'}")
    assert [outcome.error for outcome in part.run()] == [None]
    assert spearman(part, "pretrained-select-tokens") == pytest.approx(spearman(grid, same_as), abs=1e-6)
    tokens = header_of(part, "pretrained-select-tokens").training.outcome["idiom_tokens"]
    assert tokens["classifier"] == str(tmp_path / "classifiers" / asked)
    everywhere = header_of(grid, "pretrained-all-tokens").training.outcome["idiom_tokens"]
    for sentences in ("training", "test"):
        assert tokens[sentences]["replaced"] == share * everywhere[sentences]["replaced"]


def test_an_encoder_with_tokens_learns_from_sentences_first(open_part, make_untrained, tmp_path):
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("ev baş boş\n\nsu ev yol\n", encoding="utf-8")
    keys = f"losses: [], seeds: [1], idiom_tokens: [all], pretrain_sentences: {sentences}, pretrain_epochs: 3"
    grid = open_part(keys, model=make_untrained(tokenizer={"mask_token": "gece"}))
    assert [outcome.error for outcome in grid.run()] == [None]
    training = header_of(grid, "pretrained-all-tokens-mlm").training
    tokens = training.outcome["idiom_tokens"]
    assert (tokens["pretraining"]["n_sentences"], tokens["pretraining"]["n_with_token"]) == (2, 1)
    assert (tokens["config"]["pretrain_epochs"], training.seed) == (3, 1)


def test_what_decides_the_tokens_decides_the_cells_and_their_names(open_part, light_classifier, tmp_path):
    folder = light_classifier(1, score=0.9, weights="a")
    light_classifier(2, score=0.5, weights="b")
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("baş boş\n", encoding="utf-8")
    choices = f"idiom_tokens: [none, all, select], idiomaticity_classifier: {folder}"
    # for each of three choices: the untrained encoder, which depends on no seed, and two losses with two seeds
    many = f"losses: [simcse, cosine], seeds: [1, 2], {choices}"
    assert len(open_part(many).job_of) == 3 * (1 + 2 * 2)
    # a random token depends on the seed: two choices have one more cell
    assert len(open_part(f"{many}, idiom_token_init: random").job_of) == 3 * (1 + 2 * 2) + 2
    base = f"losses: [simcse], seeds: [1], {choices}"
    taught = f"{base}, pretrain_sentences: {sentences}"
    before, before_taught = names(open_part(base)), names(open_part(taught))
    assert len(set(before.values()) | set(before_taught.values())) == 6 + 4
    plain = {("pretrained", None), ("simcse", 1)}

    def changed(keys, earlier):
        now = names(open_part(keys))
        assert now.keys() == earlier.keys()
        return {cell for cell, name in now.items() if name != earlier[cell]}

    light_classifier(2, score=0.5, weights="another that is not asked")
    assert changed(base, before) == set()
    assert changed(f"{base}, pretrain_epochs: 9", before) == set()  # without sentences
    assert changed(f"{taught}, pretrain_epochs: 9", before_taught) == set(before_taught) - plain
    sentences.write_text("göz dil\n", encoding="utf-8")
    assert changed(taught, before_taught) == set(before_taught) - plain
    light_classifier(1, score=0.9, weights="c")
    assert changed(base, before) == {("pretrained-select-tokens", None), ("simcse-select-tokens", 1)}
    random = names(open_part(f"{base}, idiom_token_init: random"))
    assert {cell for cell in plain if random[cell] != before[cell]} == set()
    assert random["simcse-all-tokens", 1] != before["simcse-all-tokens", 1]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("source: astitch", "ASTITCH_DATA"),
        ("source: astich", "nearest: astitch"),
        ("idiom_tokens: [select]", "similarity: idiom tokens select need an idiomaticity classifier"),
        ("idiomaticity_classifier: x", "idiomaticity classifier x: only .* select ask it"),
        ("pretrain_sentences: x", "sentences x for pre-training: they teach idiom tokens"),
        ("idiom_tokens: [select], idiomaticity_classifier: absent", "absent: no idiomaticity_finetuning.json"),
        ("idiom_tokens: [all], pretrain_sentences: absent.txt", "absent.txt: cannot be read"),
    ],
)
def test_keys_that_cannot_be_used_are_named_when_the_grid_is_opened(open_part, keys, message, monkeypatch):
    monkeypatch.delenv("ASTITCH_DATA", raising=False)
    with pytest.raises(InputError, match=message):
        open_part(keys, model="m")
