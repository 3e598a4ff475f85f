import pytest

from turkic_idiom_tasks.encoders.registry import PAPER_ENCODERS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.grid_file import read_grid_file
from turkic_idiom_tasks.experiments.retrieval_cells import retrieval_cells


def read(tmp_path, text):
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    return read_grid_file(path)


def test_the_papers_grid_has_its_models_and_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no such file here: the packaged one is meant
    grid = read_grid_file(tmp_path.__class__("paper.yaml"))
    assert len(grid.retrieval.models) == 9
    assert len(grid.span.models) == 7
    assert set(grid.retrieval.models) | set(grid.span.models) <= set(PAPER_ENCODERS)
    training = grid.retrieval.training
    assert (training.epochs, training.batch_size, training.learning_rate, training.weight_decay) == (1, 16, 2e-5, 0.01)
    training = grid.span.training
    assert (training.epochs, training.batch_size, training.learning_rate, training.weight_decay) == (5, 8, 5e-5, 0.01)
    assert grid.span.sizes == (10, 30, 50)
    assert len(grid.span.seeds) == 3


def test_a_model_and_seed_have_ten_cells_in_the_papers_regimes(tmp_path):
    # pretrained, tr-only, monolingual and cross-lingual for each of az, tk, gag, uz: 1 + 1 + 4 + 4
    cells = list(retrieval_cells(read(tmp_path, "retrieval: {models: [m], seeds: [1]}").retrieval))
    assert len(cells) == 10
    cells = list(retrieval_cells(read(tmp_path, "retrieval: {models: [m], seeds: [1, 2]}").retrieval))
    assert len(cells) == 19  # the pretrained one depends on no seed


def test_numbers_are_taken_as_people_write_them(tmp_path):
    text = "retrieval: {models: [m], training: {learning_rate: 2e-5, weight_decay: 0, epochs: 3}}"
    training = read(tmp_path, text).retrieval.training
    assert (training.learning_rate, training.weight_decay, training.epochs) == (2e-5, 0.0, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("retreival: {}", r"unknown key 'retreival' \(nearest: retrieval\)"),
        ("retrieval: {models: [m], regime: [tr-only]}", r"retrieval: unknown key 'regime' \(nearest: regimes\)"),
        ("retrieval: {models: [m], regimes: [tronly]}", r"regimes: unknown 'tronly' \(nearest: tr-only\)"),
        ("retrieval: {models: [m], languages: [uzb]}", r"languages: unknown 'uzb' \(nearest: uz\)"),
        ("retrieval: {models: [m], languages: [tr]}", r"languages: unknown 'tr'"),
        ("retrieval: {models: [m], poolings: [avg]}", "poolings: unknown 'avg'.*known: cls, mean"),
        ("retrieval: {models: [m], training: {lerning_rate: 1}}", r"training: unknown key 'lerning_rate' \(nearest: "),
        ("retrieval: {models: [m], training: {seed: 1}}", "training: unknown key 'seed'"),
        ("retrieval: {models: [m], training: {epochs: many}}", "epochs: must be like 1, not 'many'"),
        ("retrieval: {models: [m], training: {epochs: 0}}", "epochs must be at least 1"),
        ("retrieval: {models: [m], training: {bf16: 1}}", "bf16: must be like False, not 1"),
        ("retrieval: {models: [m], training: {loss: [mnrl]}}", "unknown loss"),
        ("retrieval: {models: m}", "models: must be a list of names, not 'm'"),
        ("retrieval: {models: []}", "models: must be a list of names"),
        ("retrieval: {regimes: [tr-only]}", "models is missing"),
        ("retrieval: {models: [m], training: {weight_decay: .nan}}", "weight decay not below it, and both finite"),
        ("retrieval: {models: [m], training: {learning_rate: .inf}}", "both finite"),
        (f"retrieval: {{models: [m], training: {{learning_rate: 1{'0' * 400}}}}}", "learning_rate: must be like 2e-05"),
        ("retrieval: {models: [m], seeds: [-1]}", "seeds: must be a list of whole numbers from 0 to 4294967295"),
        ("retrieval: {models: [m], seeds: [4294967296]}", "seeds: must be .* not .4294967296"),
        ("retrieval: {models: [m], seeds: [true]}", "seeds: must be"),
        ("retrieval: [m]", "retrieval: must be a mapping"),
        ("span: {models: [m], sizes: [0]}", "sizes: must be a list of whole numbers from 1"),
        ("span: {models: [m], training: {weight_decay: .nan}}", "weight decay not below it, and both finite"),
        ("retrieval: {models: [m]}\nretrieval: {models: [n]}", "repeated key 'retrieval'.*line 2"),
        ("retrieval: {models: [m], models: [n]}", "repeated key 'models'"),
        ("span: {models: [m], language: xx}", "language: unknown 'xx'"),
        ("span: {models: [m], targets: [tr]}", "targets: unknown 'tr'"),
        ("span: {models: [m], training: {labelling: some}}", "unknown labelling 'some'"),
        ("", "must be a mapping"),
        ("{}", "neither a part retrieval nor a part span"),
        ("retrieval: {", "not YAML"),
    ],
)
def test_a_mistake_is_named_with_file_place_and_nearest_key(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'grid.yaml'}:")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"nothing.yaml: cannot be read .*give a grid file, or paper.yaml"):
        read_grid_file(tmp_path / "nothing.yaml")
