import json
from contextlib import nullcontext
from functools import partial

import pytest

from hub_datasets.importing import import_source
from tests.hub_server import TOKEN, running_hub
from tests.llm_server import KEY, MODEL, running_llm
from tests.warm_commands import MODULES, WarmCommands
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span

HOSTILE = "</script><img src=x onerror='window.hacked=1'>"


@pytest.fixture
def dataset(capsys):
    """A function that runs `turkic-idiom dataset` here, checks its exit code, and returns stdout and stderr."""

    def run(*arguments, code=0):
        capsys.readouterr()
        done = main(["dataset", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert (done, "Traceback" in err) == (code, False), err
        return out, err

    return run


@pytest.fixture
def ask_models(capsys, tmp_path, monkeypatch):
    """Like `dataset` for any command that asks a server, or one with these answers; the key is written nowhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def run(*arguments, server=None, answer=None, models=(MODEL,), code=0):
        capsys.readouterr()
        chosen = [part for name in models for part in ("--model", name)]
        with running_llm(answer) if server is None else nullcontext(server) as asked:
            done = main([*map(str, arguments), *chosen, "--set", f"base_url={asked.url}"])
        out, err = capsys.readouterr()
        assert (done, KEY in out + err) == (code, False), err
        return out, err

    yield run
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


@pytest.fixture(scope="session")
def bundled():
    """The bundled lexicon, read once."""
    return load_lexicon()


def write_entries(folder, *, gloss="", overwrite=False, **entries):
    """Writes a lexicon of entries by language, whose concepts all have one gloss, and returns its folder."""
    names = sorted({entry.concept for rows in entries.values() for entry in rows})
    write_lexicon(folder, [Concept(name, gloss) for name in names], entries, overwrite=overwrite)
    return folder


def write_lines(path, rows):
    """Writes JSON lines, and returns the path; a row that is a text is a line as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogateescape")
    return path


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def kevser_file(folder, *rows):
    """A table of Turkish idioms in the format kevser, of ``idiom;meaning;gloss``."""
    path = folder / "kevser.csv"
    path.write_text("\n".join(["Deyimler;Türkçe Anlamı;İngilizce Anlamı", *rows]) + "\n", encoding="utf-8")
    return path


def two_concepts():
    """Two concepts, and their entries by language: a literal use, a gap, a variant, and a gloss that is hostile."""
    concepts = [Concept("turn-a-blind-eye", "to ignore", aliases=("close-ones-eyes",)), Concept("cross", HOSTILE)]
    turkish = [
        Entry("turn-a-blind-eye", "göz yummak", "görmezden gelmek", "😀 Hatama göz yumdu.", (Span(9, 18),),
              literal_example="Işıkta göz yumdu.", paraphrase="Hatamı görmezden geldi.", literal_paraphrase="c",
              status="accepted"),
        Entry("cross", "küplere binmek", "çok kızmak", "Küplere o gün bindi.", (Span(0, 7), Span(14, 19))),
    ]  # fmt: skip
    uzbek = [
        Entry("turn-a-blind-eye", "koʻz yummoq", "eʼtibor bermaslik", variants=("koʻzini yummoq",)),
        Entry("cross", "tepa sochi tikka boʻlmoq", "jahli chiqmoq"),
    ]
    return concepts, {"tr": turkish, "uz": uzbek}


@pytest.fixture(scope="session")
def _session_hub():
    with running_hub() as server:
        yield server


@pytest.fixture
def hub(_session_hub):
    """A Hugging Face Hub on the loopback interface, with no repository."""
    _session_hub.reset()
    return _session_hub


@pytest.fixture(scope="session")
def session_online(_session_hub, tmp_path_factory):
    """What the clients take from the environment to use that Hub, logged in."""
    return {
        "HF_ENDPOINT": _session_hub.url,
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(tmp_path_factory.mktemp("hf")),
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": TOKEN,
    }


@pytest.fixture(scope="session")
def _warm(session_online):
    modules = (*MODULES["turkic-idiom"], "turkic_idiom_tasks.report.compare")  # which takes a second to import
    with WarmCommands(modules=modules, **session_online) as commands:
        yield commands


@pytest.fixture
def online(_warm, hub, tmp_path):
    """Like `dataset` for any command, with the Hub's real clients; the token is never in the output."""

    def run(*arguments, code=0, **environment):
        done = _warm.run(*arguments, cwd=tmp_path, **environment)
        assert done.returncode == code, done.stdout + done.stderr
        assert TOKEN not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    return run


@pytest.fixture
def online_dataset(online):
    return partial(online, "dataset")


@pytest.fixture(scope="session")
def uzbek_import(outside_data):
    """The Uzbek dictionary as a lexicon, imported once."""
    return import_source("uz-idioms", outside_data / "uz-idioms" / "uzbek_idioms.csv")
