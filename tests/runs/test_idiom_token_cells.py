"""Similarity cells with idiom tokens: which cells there are, what they train, what records and tables say."""

import json

import pandas as pd
import pytest
import torch

from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS
from turkic_idiom_tasks.encoders.siblings.classifier_folders import IDIOMATICITY_RECORD
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.report.grid_tables import write_grid_tables
from turkic_idiom_tasks.report.similarity_tables import similarity_tables
from turkic_idiom_tasks.results.harness_files import find_predictions
from turkic_idiom_tasks.results.record import read_record, subset_scores
from turkic_idiom_tasks.results.scored import score_record
from turkic_idiom_tasks.runs.grid import open_grid, run_here
from turkic_idiom_tasks.runs.grid_file import read_grid_file
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.training.cards import SIMILARITY_RECORD
from turkic_idiom_tasks.training.siblings.idiomaticity import SeedScores, load_classifier, save_classifier
from turkic_idiom_tasks.training.triplets import build_triplets

IDIOM_WORDS, MEANING_WORDS = ("baş", "boş", "eğmek", "göz", "dil", "el", "kalp"), ("yürek", "su", "ateş", "ev", "yol")
N_IDIOMS = 49
TRAINING = "{epochs: 1, batch_size: 8, learning_rate: 1e-3}"


@pytest.fixture(scope="module")
def token_data(tmp_path_factory):
    """Turkish idioms of two words that the tiny models know, with sentences that have other words."""
    folder = tmp_path_factory.mktemp("data") / "lexicon"
    concepts = [f"m-{number}" for number in range(N_IDIOMS)]
    rows = []
    for number, concept in enumerate(concepts):
        a, b = divmod(number, 7)
        idiom = f"{IDIOM_WORDS[a]} {IDIOM_WORDS[b]}"
        paraphrase = f"gün {MEANING_WORDS[a % 5]} {MEANING_WORDS[b % 5]}"
        literal = f"gün {MEANING_WORDS[(a + 3) % 5]} {MEANING_WORDS[(b + 2) % 5]}"
        span = Span(4, 4 + len(idiom))
        fields = {"paraphrase": paraphrase, "literal_paraphrase": literal}
        rows.append(Entry(concept, idiom, f"anlam {number}", f"gün {idiom}", (span,), **fields))
    write_lexicon(folder, [Concept(concept, "gloss") for concept in concepts], {"tr": rows})
    return open_dataset(str(folder))


@pytest.fixture
def open_part(token_data, untrained_bert, tmp_path):
    """Opens the grid of a similarity part, whose keys are text in YAML."""

    def opened(keys="", *, model=untrained_bert, out=tmp_path / "out"):
        file = tmp_path / "grid.yaml"
        file.write_text(f"similarity: {{models: [{model}], training: {TRAINING}, {keys}}}")
        return open_grid(read_grid_file(file), token_data, out)

    return opened


@pytest.fixture(scope="module")
def finished(token_data, untrained_bert, tmp_path_factory):
    """A finished grid with and without tokens, its file, and the cells that ran when the tokens were added."""
    folder = tmp_path_factory.mktemp("tokens")
    file = folder / "tokens.yaml"
    ran = []
    for choices in ("[none]", "[none, all]"):
        keys = f"losses: [simcse], seeds: [1], idiom_tokens: {choices}"
        file.write_text(f"similarity: {{models: [{untrained_bert}], training: {TRAINING}, {keys}}}")
        grid = open_grid(read_grid_file(file), token_data, folder / "out")
        outcomes = list(grid.run(run_here))
        assert [outcome.error for outcome in outcomes] == [None, None]
        ran.append([(outcome.cell.regime, outcome.cell.seed) for outcome in outcomes])
    return grid, file, ran


@pytest.fixture(scope="module")
def classifiers(untrained_bert, tmp_path_factory):
    """Folder with classifiers of two seeds; `seed-1`, the better one, always says literal, `seed-2` idiomatic."""
    folder = tmp_path_factory.mktemp("idiomaticity")
    settings = {"inputs": ["idiom"], "config": {"max_length": 32}, "subtask": "A"}
    classifier = load_classifier(str(untrained_bert), seed=1)
    for seed, score, bias in ((1, 0.9, [-99.0, 99.0]), (2, 0.5, [99.0, -99.0])):
        with torch.no_grad():
            classifier.model.classifier.bias[:] = torch.tensor(bias)
        scores = SeedScores(seed, best_epoch=1, development_f1=score, test_f1=score, low=0.0, high=1.0)
        save_classifier(classifier, folder / f"seed-{seed}", scores, settings)
    return folder


@pytest.fixture
def light_classifier(tmp_path):
    """Writes the files that identify a classifier, without a model."""

    def write(seed, *, score, weights):
        folder = tmp_path / "light" / f"seed-{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"inputs": ["idiom"], "config": {"max_length": 32}, "subtask": "A"}
        (folder / IDIOMATICITY_RECORD).write_text(
            json.dumps({"settings": settings, "scores": {"development_f1": score}})
        )
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


def test_tokens_add_cells_and_leave_finished_ones_as_they_are(finished):
    _, _, (without, added) = finished
    assert without == [("pretrained", None), ("simcse", 1)]
    assert added == [("pretrained-all-tokens", None), ("simcse-all-tokens", 1)]


def test_cells_without_tokens_keep_their_names(open_part):
    """What comes to a grid later leaves finished results valid; of a model on the Hub no folder is in the hash."""
    found = names(open_part("losses: [cosine], seeds: [7]", model="toy/encoder"))
    assert found == {
        ("pretrained", None): "toy__encoder-pretrained-d4c0aa3e7f195da2",
        ("cosine", 7): "toy__encoder-cosine-7-7097df1b095af318",
    }


def test_a_record_says_where_tokens_stand_and_gives_its_scores_again(finished, token_data):
    grid, _, _ = finished
    (test,) = build_triplets(token_data).test.values()
    for cell, path in grid.record_paths().items():
        record = read_record(path, token_data)
        (scored,) = score_record(record)
        assert (scored.task, scored.subset) == ("STS", "tur")
        if cell.regime in ("pretrained", "simcse"):
            continue
        training = record.header.training
        assert training.regime == cell.regime
        tokens = training.outcome["idiom_tokens"]
        assert tokens["n_tokens"] == N_IDIOMS
        # of a concept, only the sentence itself has the idiom; its two rewordings have not
        assert tokens["test"] == {"sentences": len(test.texts), "replaced": len(set(test.concepts))}
        assert tokens["config"]["idiom_tokens"] == "all"


def test_an_encoder_with_tokens_is_submitted_as_another_model_than_the_encoder_as_it_is(finished, token_data):
    grid, _, _ = finished
    regimes = [item.regime for item in find_predictions([grid.folder / "records"], token_data)]
    assert regimes.count("other") == 3
    assert regimes.count(None) == 1  # a folder, which may have been tuned: `submit` asks for its regime


def test_a_cell_scores_what_the_command_scores(finished, token_data, untrained_bert, tmp_path):
    grid, _, _ = finished
    command = ["finetune", "similarity", "-m", str(untrained_bert), "--data", token_data.path, "--seed", "1"]
    command += ["--epochs", "1", "--batch-size", "8", "--learning-rate", "1e-3", "--idiom-tokens", "all"]
    assert main([*command, "--out", str(tmp_path / "tuned")]) == 0
    record = json.loads((tmp_path / "tuned" / SIMILARITY_RECORD).read_text())
    assert spearman(grid, "simcse-all-tokens") == pytest.approx(record["test"]["tur"]["spearman"], abs=1e-6)
    untaught = record["untuned_test"]["tur"]["spearman"]
    assert spearman(grid, "pretrained-all-tokens") == pytest.approx(untaught, abs=1e-6)
    assert spearman(grid, "pretrained") != pytest.approx(untaught, abs=1e-3)


def test_status_and_tables_show_them_apart(finished, token_data, monkeypatch, capsys):
    grid, file, _ = finished
    monkeypatch.setenv("COLUMNS", "200")
    place = [str(file), "--data", token_data.path, "--out", str(grid.folder)]
    assert main(["grid", "status", *place]) == 0
    shown = capsys.readouterr().out
    regimes = ["pretrained", "simcse", "pretrained-all-tokens", "simcse-all-tokens"]
    assert shown.splitlines()[1].split() == ["model", *regimes]
    assert shown.count("1/0/0") == 4
    written = {path.name: path for path in write_grid_tables(grid)}
    table = pd.read_csv(written["similarity_sts.md"].with_suffix(".csv"))
    assert table["training"].tolist() == regimes
    assert table["spearman"].tolist() == pytest.approx([spearman(grid, regime) for regime in regimes])
    scores = pd.read_csv(grid.folder / "tables" / "scores.csv")
    assert set(scores["regime"]) == set(regimes)


def test_a_status_of_many_regimes_loses_nothing_on_a_narrow_terminal(
    open_part, token_data, monkeypatch, capsys, tmp_path
):
    monkeypatch.setenv("COLUMNS", "80")
    grid = open_part("losses: [simcse, cosine], seeds: [1], idiom_tokens: [none, all], idiom_token_init: random")
    place = [str(tmp_path / "grid.yaml"), "--data", token_data.path, "--out", str(grid.folder)]
    assert main(["grid", "status", *place]) == 0
    assert capsys.readouterr().out.count("0/0/1") == 6


def test_the_papers_figures_for_tokens_stand_beside_ours(finished):
    """Table 6 of AStitchInLanguageModels: `All Tokenized (No Pre-Training)`, English, test."""
    grid, _, _ = finished
    header = header_of(grid, "pretrained-all-tokens")
    as_of_astitch = subset_scores(ASTITCH_STS, "eng", header.scores("STS", "tur"))
    (table,) = similarity_tables([header.model_copy(update={"subsets": [as_of_astitch]})])
    rows = table.frame.set_index("training")
    english = rows[rows["language"] == "eng"]
    assert english.loc["pretrained-all-tokens", "from"] == "this grid"
    assert english.loc["2A, all tokenised, no pre-training", "spearman"] == 0.801
    assert english.loc["2B, select tokenised", "spearman"] == 0.825


def test_select_asks_the_classifier(finished, open_part, classifiers):
    """Where it always says literal nothing is replaced; where it always says idiomatic everything is."""
    grid, _, _ = finished
    for folder, expected in ((classifiers, "pretrained"), (classifiers / "seed-2", "pretrained-all-tokens")):
        part = open_part(f"losses: [], idiom_tokens: [select], idiomaticity_classifier: {folder}")
        assert [outcome.error for outcome in part.run(run_here)] == [None]
        assert spearman(part, "pretrained-select-tokens") == pytest.approx(spearman(grid, expected), abs=1e-6)
        tokens = header_of(part, "pretrained-select-tokens").training.outcome["idiom_tokens"]
        assert tokens["classifier"] == str(classifiers / ("seed-1" if folder == classifiers else "seed-2"))


def test_an_encoder_with_tokens_learns_from_sentences_first(open_part, make_untrained, tmp_path, token_data):
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("ev baş boş\n\nsu ev yol\n", encoding="utf-8")
    keys = f"losses: [], seeds: [1], idiom_tokens: [all], pretrain_sentences: {sentences}, pretrain_epochs: 3"
    grid = open_part(keys, model=make_untrained(tokenizer={"mask_token": "gece"}))
    (job,) = grid.jobs
    workload = job.kind.workload(job.part, list(job.names), token_data)
    assert workload.trained.n_texts == 3 * 2
    assert [outcome.error for outcome in grid.run(run_here)] == [None]
    header = header_of(grid, "pretrained-all-tokens-mlm")
    pretraining = header.training.outcome["idiom_tokens"]["pretraining"]
    assert (pretraining["n_sentences"], pretraining["n_with_token"]) == (2, 1)
    assert header.training.seed == 1


def test_a_plan_counts_every_choice_loss_and_seed(open_part, light_classifier):
    folder = light_classifier(1, score=0.9, weights="a")
    keys = (
        f"losses: [simcse, cosine], seeds: [1, 2], idiom_tokens: [none, all, select], idiomaticity_classifier: {folder}"
    )
    # for each of three choices: the untrained encoder, which depends on no seed, and two losses with two seeds
    assert len(open_part(keys).cells()) == 3 * (1 + 2 * 2)
    # a random token depends on the seed: two choices have one more cell
    assert len(open_part(f"{keys}, idiom_token_init: random").cells()) == 3 * (1 + 2 * 2) + 2


def test_what_decides_the_tokens_decides_the_names(open_part, light_classifier, tmp_path):
    folder = light_classifier(1, score=0.9, weights="a")
    light_classifier(2, score=0.5, weights="b")
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("baş boş\n", encoding="utf-8")
    base = f"losses: [simcse], seeds: [1], idiom_tokens: [none, all, select], idiomaticity_classifier: {folder}"
    taught = f"{base}, pretrain_sentences: {sentences}"
    before, before_taught = names(open_part(base)), names(open_part(taught))
    assert len(set(before.values()) | set(before_taught.values())) == 6 + 4
    plain, chosen = (
        {("pretrained", None), ("simcse", 1)},
        {("pretrained-select-tokens", None), ("simcse-select-tokens", 1)},
    )

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
    assert changed(base, before) == chosen
    random = names(open_part(f"{base}, idiom_token_init: random"))
    assert {cell for cell in plain if random[cell] != before[cell]} == set()
    assert random["simcse-all-tokens", 1] != before["simcse-all-tokens", 1]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("idiom_tokens: [select]", "similarity: idiom tokens select need an idiomaticity classifier"),
        ("idiom_tokens: [none, all], idiomaticity_classifier: x", "idiomaticity classifier x: only .* select ask it"),
        ("pretrain_sentences: x", "sentences x for pre-training: they teach idiom tokens"),
        ("idiom_tokens: [al]", r"idiom_tokens: unknown 'al' \(nearest: all\)"),
        ("idiom_tokens: []", "idiom_tokens: .* at least 1 item"),
        ("idiom_tokens: all", "idiom_tokens: must be a list, not 'all'"),
        ("idiom_tokens: [all], idiom_token_init: zero", "idiom_token_init: unknown 'zero'; known: random, mean"),
        ("idiom_tokens: [all], pretrain_epochs: 0", "pretrain_epochs: input should be greater than 0, not 0"),
        ("idiom_token: [all]", r"unknown key 'idiom_token' \(nearest: idiom_tokens\)"),
        ("idiom_tokens: [select], idiomaticity_classifier: absent", "absent: no idiomaticity_finetuning.json"),
        ("idiom_tokens: [all], pretrain_sentences: absent.txt", r"absent.txt: cannot be read"),
    ],
)
def test_keys_that_cannot_be_used_are_named_when_the_grid_is_opened(open_part, keys, message):
    with pytest.raises(InputError, match=message):
        open_part(keys)
