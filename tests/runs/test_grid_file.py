import pytest
from mteb.models.model_implementations import MODEL_REGISTRY

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.encoders.community import community_encoders
from turkic_idiom_tasks.encoders.names import PAPER_ENCODERS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.runs.grid_file import read_grid_file


def read(tmp_path, text):
    """Kind -> what a grid file declares of it."""
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    return {part.name: part for part in read_grid_file(path)}


@pytest.fixture(scope="module")
def bundled():
    return open_dataset()


@pytest.fixture
def cells(tmp_path, bundled):
    """A function that returns the cells of a grid file with one part."""

    def read_cells(text):
        path = tmp_path / "grid.yaml"
        path.write_text(text)
        (part,) = read_grid_file(path)
        return list(part.cells(bundled))

    return read_cells


def test_the_papers_grid_has_its_models_and_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no such file here: the packaged one is meant
    grid = {part.name: part for part in read_grid_file(tmp_path.__class__("paper.yaml"))}
    retrieval, span = grid["retrieval"], grid["span"]
    assert len(retrieval.models) == 9
    assert len(span.models) == 7
    assert set(retrieval.models) | set(span.models) <= set(PAPER_ENCODERS)
    training = retrieval.training
    assert (training.epochs, training.batch_size, training.learning_rate, training.weight_decay) == (1, 16, 2e-5, 0.01)
    training = span.training
    assert (training.epochs, training.batch_size, training.learning_rate, training.weight_decay) == (5, 8, 5e-5, 0.01)
    assert span.sizes == (10, 30, 50)
    assert len(span.seeds) == 3


def test_the_communitys_grid_has_only_models_that_mteb_or_our_records_know(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = {part.name: part for part in read_grid_file(tmp_path.__class__("community.yaml"))}
    retrieval, span = grid["retrieval"], grid["span"]
    assert 28 <= len(retrieval.models) <= 36
    for model in retrieval.models:
        assert model in MODEL_REGISTRY, model
        assert not MODEL_REGISTRY[model].loader_kwargs.get("trust_remote_code"), f"{model} needs an option to run"
    for model in grid["similarity"].models:
        assert model in retrieval.models, model
    assert set(retrieval.models) - set(grid["similarity"].models) == {"mteb/baseline-bm25s"}  # which has no vectors
    assert grid["similarity"].losses == ()
    for model in span.models:
        assert model in MODEL_REGISTRY or model in PAPER_ENCODERS, model
    for name, encoder in community_encoders().items():
        if name in retrieval.models:  # the command that the file names takes all of them
            assert (encoder.needs_remote_code, encoder.is_gated) == (False, None), name
            assert encoder.weights != "pickle", name
    assert (retrieval.regimes, retrieval.poolings) == (("pretrained",), ("native",))


def test_a_communitys_grid_in_the_folder_comes_before_the_packaged_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "community.yaml").write_text("span: {models: [mine]}")
    (part,) = read_grid_file(tmp_path.__class__("community.yaml"))
    assert (part.name, part.models) == ("span", ("mine",))
    with pytest.raises(InputError, match=r"one of ours: paper.yaml, community.yaml"):
        read_grid_file(tmp_path / "elsewhere" / "community.yaml")


def test_no_encoder_is_trained_for_its_native_pooling(tmp_path):
    with pytest.raises(InputError, match=r"native goes with regimes: \[pretrained\] only"):
        read(tmp_path, "retrieval: {models: [m], poolings: [native]}")
    grid = read(tmp_path, "retrieval: {models: [m], poolings: [native, mean], regimes: [pretrained]}")
    assert grid["retrieval"].poolings == ("native", "mean")


def test_what_is_left_out_is_the_papers_setting(tmp_path):
    grid = read(tmp_path, "retrieval: {models: [m]}\nspan: {models: [m]}")
    paper = {part.name: part for part in read_grid_file(tmp_path.__class__("paper.yaml"))}
    for kind in ("retrieval", "span"):
        for name in type(grid[kind]).model_fields:
            expected = getattr(paper[kind], name)
            assert name == "models" or getattr(grid[kind], name) in (expected, None), name


def test_a_model_and_seed_have_ten_trainings_in_the_papers_regimes(cells):
    # pretrained, tr-only, monolingual and cross-lingual for each of az, tk, gag, uz: 1 + 1 + 4 + 4; five poolings
    assert len(cells("retrieval: {models: [m], seeds: [1]}")) == 10 * 5
    assert len(cells("retrieval: {models: [m], seeds: [1, 2]}")) == 19 * 5  # pretrained depends on no seed
    assert len(cells("retrieval: {models: [m], poolings: [mean]}")) == 10


def test_a_span_model_has_a_cell_for_its_source_and_for_each_language_and_size(cells):
    found = cells("span: {models: [m], seeds: [1], sizes: [10, 30], targets: [az, uz]}")
    expected = [("tr", "all"), *((target, size) for target in ("az", "uz") for size in (0, 10, 30, "all"))]
    assert [(cell.target, cell.size) for cell in found] == expected
    assert {(cell.regime, cell.seed) for cell in found} == {("from-tr", 1)}
    tested = cells("span: {models: [m], seeds: [1], adapt: false, targets: [az]}")
    assert [(cell.target, cell.size) for cell in tested] == [("tr", "all"), ("az", 0)]
    grown = cells("span: {models: [m], seeds: [1], sizes: [100000, 30, 10], targets: [az]}")  # more than there are
    assert [cell.size for cell in grown] == ["all", 0, 10, 30, "all"]


def test_numbers_are_taken_as_people_write_them(tmp_path):
    text = "retrieval: {models: [m], training: {learning_rate: 2e-5, weight_decay: 0, epochs: 3}}"
    training = read(tmp_path, text)["retrieval"].training
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
        (
            "retrieval: {models: [m], training: {epochs: many}}",
            "training: epochs: input should be a valid integer, not 'many'",
        ),
        ("retrieval: {models: [m], training: {epochs: 0}}", "training: epochs: input should be greater than 0, not 0"),
        ("retrieval: {models: [m], training: {bf16: 1}}", "training: bf16: input should be a valid boolean, not 1"),
        ("retrieval: {models: [m], training: {loss: [mnrl]}}", "training: loss: input should be 'mnrl' or 'cosine'"),
        ("retrieval: {models: m}", "models: must be a list, not 'm'"),
        ("retrieval: {models: []}", "models: .* at least 1 item"),
        ('retrieval: {models: ["m (pooling=cls)"]}', r"'m \(pooling=cls\)' names a pooling.* with poolings"),
        ('similarity: {models: ["m (pooling=cls)"]}', r"names a pooling.* with training: \{pooling"),
        ('span: {models: ["m (pooling=cls)"]}', "give the model without its pooling$"),
        ("retrieval: {regimes: [tr-only]}", "models is missing"),
        ("retrieval: {models: [m], training: {weight_decay: .nan}}", "nan is no number that can be used"),
        ("retrieval: {models: [m], training: {learning_rate: .inf}}", "inf is no number that can be used"),
        (
            f"retrieval: {{models: [m], training: {{learning_rate: 1{'0' * 400}}}}}",
            "training: learning_rate: input should be a finite number, not 1000",
        ),
        ("retrieval: {models: [m], seeds: [-1]}", "seeds: .*greater than or equal to 0, not -1"),
        ("retrieval: {models: [m], seeds: [4294967296]}", "seeds: .*less than or equal to 4294967295, not 4294967296"),
        ("retrieval: {models: [m], seeds: [true]}", "seeds: input should be a valid integer, not True"),
        ("retrieval: [m]", "retrieval: must be a mapping"),
        (
            "span: {models: [m], sizes: [0]}",
            "sizes: input should be greater than 0|sizes: .*greater than or equal to 1",
        ),
        ("span: {models: [m], training: {weight_decay: -1}}", "weight_decay: .*greater than or equal to 0, not -1"),
        ("retrieval: {models: [m]}\nretrieval: {models: [n]}", "repeated key 'retrieval'.*line 2"),
        ("retrieval: {models: [m], models: [n]}", "repeated key 'models'"),
        ("span: {models: [m], language: xx}", "language: unknown 'xx'"),
        ("span: {models: [m], targets: [tr]}", "targets: tr is the language that is trained on; leave it out"),
        (
            "span: {models: [m], training: {labelling: some}}",
            "training: labelling: input should be 'all' or 'first', not 'some'",
        ),
        ("", "must be a mapping"),
        ("{}", "declares nothing; it needs a part retrieval or span"),
        ("retrieval: {", "not YAML"),
    ],
)
def test_a_mistake_is_named_with_file_place_and_nearest_key(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'grid.yaml'}:")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(
        InputError, match=r"nothing.yaml: no such file; give a grid file, or one of ours: paper.yaml, comm"
    ):
        read_grid_file(tmp_path / "nothing.yaml")
