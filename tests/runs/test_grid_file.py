from pathlib import Path

import pytest
from mteb.models.model_implementations import MODEL_REGISTRY

from tests.dataset.conftest import concepts_of
from turkic_idiom_tasks.dataset import LexiconDataset, open_dataset
from turkic_idiom_tasks.encoders.community import community_encoders, pinned_revision
from turkic_idiom_tasks.encoders.names import NO_REVISION, PAPER_ENCODERS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.runs.grid_file import read_grid_file
from turkic_idiom_tasks.spans import Span


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Returns kind -> what a grid file of some text declares, in a folder where the packaged names are not taken."""
    monkeypatch.chdir(tmp_path)

    def parts(text=None, *, path="grid.yaml"):
        if text is not None:
            (tmp_path / path).write_text(text)
        return {part.name: part for part in read_grid_file(Path(path) if text is None else tmp_path / path)}

    return parts


def test_the_papers_grid_has_its_models_and_settings(read):
    grid = read(path="paper.yaml")
    retrieval, span = grid["retrieval"], grid["span"]
    assert (len(retrieval.models), len(span.models)) == (9, 7)
    assert set(retrieval.models) | set(span.models) <= set(PAPER_ENCODERS)
    for training, expected in ((retrieval.training, (1, 16, 2e-5, 0.01)), (span.training, (5, 8, 5e-5, 0.01))):
        assert (training.epochs, training.batch_size, training.learning_rate, training.weight_decay) == expected
    assert (span.sizes, len(span.seeds)) == ((10, 30, 50), 3)
    left_out = read("retrieval: {models: [m]}\nspan: {models: [m]}")  # the paper's settings too
    for kind in ("retrieval", "span"):
        for name in type(grid[kind]).model_fields:
            expected = getattr(grid[kind], name)
            if name not in ("models", "languages"):
                assert getattr(left_out[kind], name) in (expected, None), name
    assert retrieval.languages == ("az", "tk", "gag", "uz")
    assert left_out["retrieval"].languages == (*retrieval.languages, "kk", "tt", "ky")  # all that there are


def test_the_communitys_grid_has_only_models_that_mteb_or_our_records_know(read):
    grid = read(path="community.yaml")
    retrieval, span = grid["retrieval"], grid["span"]
    assert 28 <= len(retrieval.models) <= 36
    for model in retrieval.models:
        assert model in MODEL_REGISTRY, model
        assert not MODEL_REGISTRY[model].loader_kwargs.get("trust_remote_code"), f"{model} needs an option to run"
    # all but one, which has no vectors
    assert set(retrieval.models) - {"mteb/baseline-bm25s"} == set(grid["similarity"].models)
    assert grid["similarity"].losses == ()
    for model in span.models:
        assert model in MODEL_REGISTRY or model in PAPER_ENCODERS, model
    for name, encoder in community_encoders().items():
        if name in retrieval.models:  # the command that the file names takes all of them
            assert (encoder.needs_remote_code, encoder.is_gated) == (False, None), name
            assert encoder.weights != "pickle", name
    assert (retrieval.regimes, retrieval.poolings) == (("pretrained",), ("native",))


def test_a_model_is_loaded_at_its_pinned_commit_but_a_folder_of_the_same_name_has_none(tmp_path, monkeypatch):
    name, (commit, _) = next((name, pin) for name, pin in PAPER_ENCODERS.items() if pin[0] != NO_REVISION)
    monkeypatch.chdir(tmp_path)
    assert pinned_revision(name) == commit
    (tmp_path / name).mkdir(parents=True)
    assert pinned_revision(name) is None


def test_a_communitys_grid_in_the_folder_comes_before_the_packaged_one(read, tmp_path):
    (tmp_path / "community.yaml").write_text("span: {models: [mine]}")
    assert read(path="community.yaml")["span"].models == ("mine",)
    with pytest.raises(InputError, match=r"no such file; give a grid file, or one of ours: paper.yaml, community.yaml"):
        read_grid_file(tmp_path / "elsewhere" / "community.yaml")


def test_a_source_language_of_spans_needs_training_sentences(read):
    entry = Entry(concepts_of("test", 1)[0], "göz yummak", None, "Buna göz yumdu.", (Span(5, 14),))
    dataset = LexiconDataset(Lexicon({}, {"tr": {entry.concept: entry}}, "0" * 40), "lexicon")
    assert dataset.span_languages == ("tr",)
    with pytest.raises(InputError, match="lexicon: no annotated tr sentences to train on; found none"):
        list(read("span: {models: [m]}")["span"].jobs(dataset))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        # tr-only, monolingual and cross-lingual for each of az, tk, gag, uz: 1 + 4 + 4; five poolings, and pretrained
        ("languages: [az, tk, gag, uz], seeds: [1]", 9 * 5 + 1),
        ("languages: [az, tk, gag, uz], seeds: [1, 2]", 18 * 5 + 1),  # pretrained depends on no seed
        ("poolings: [mean]", 16),  # and kk, tt, ky
    ],
)
def test_a_model_and_seed_have_two_trainings_for_each_language_and_two_more(read, keys, expected):
    assert len(list(read(f"retrieval: {{models: [m], {keys}}}")["retrieval"].jobs(open_dataset()))) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "sizes: [10, 30], targets: [az, uz]",
            [("tr", "all"), *((target, size) for target in ("az", "uz") for size in (0, 10, 30, "all"))],
        ),
        ("adapt: false, targets: [az]", [("tr", "all"), ("az", 0)]),
        # one that is larger than the data
        ("sizes: [100000, 30, 10], targets: [az]", [("tr", "all"), ("az", 0), ("az", 10), ("az", 30), ("az", "all")]),
    ],
)
def test_a_span_model_has_a_cell_for_its_source_and_for_each_language_and_size(read, keys, expected):
    (cells,) = read(f"span: {{models: [m], seeds: [1], {keys}}}")["span"].jobs(open_dataset())
    assert [(cell.target, cell.size) for cell in cells] == expected
    assert {(cell.regime, cell.seed) for cell in cells} == {("from-tr", 1)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("retreival: {}", r"unknown key 'retreival' \(nearest: retrieval\)"),
        ("retrieval: {models: [m], regime: [tr-only]}", r"retrieval: unknown key 'regime' \(nearest: regimes\)"),
        ("retrieval: {models: [m], regimes: [tronly]}", r"regimes.0'?: unknown 'tronly' \(nearest: tr-only\)"),
        ("span: {models: [m], targets: [bak]}", "targets.*: must be one of tr, az"),  # Bashkir is no misspelt tr
        ("retrieval: {models: [m], training: {lerning_rate: 1}}", r"training: unknown key 'lerning_rate' \(nearest: "),
        ("retrieval: {models: [m], training: {seed: 1}}", "training: unknown key 'seed'"),
        ("retrieval: {models: m}", "models.*valid array; found 'm'"),
        ('retrieval: {models: ["m (pooling=cls)"]}', r"'m \(pooling=cls\)' names a pooling.* with poolings"),
        ('similarity: {models: ["m (pooling=cls)"]}', r"names a pooling.* with training: \{pooling"),
        ("retrieval: {models: [m], training: {learning_rate: .inf}}", "inf is no number that can be used"),
        ("retrieval: {models: [m], seeds: [4294967296]}", "seeds.0.*or equal to 4294967295; found 4294967296"),
        ("retrieval: [m]", "retrieval: must be a mapping"),
        ("retrieval: {models: [m], poolings: [native]}", r"native goes with regimes: \[pretrained\] only"),
        ("retrieval: {models: [m]}\nretrieval: {models: [n]}", "repeated key 'retrieval'.*line 2"),
        ("{}", "must be a mapping with keys, not .*; known keys: retrieval, span"),
    ],
)
def test_a_mistake_is_named_with_file_place_and_nearest_key(read, tmp_path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read(text)
    assert str(caught.value).startswith(f"{tmp_path / 'grid.yaml'}:")
