"""Whole commands on a full disk, and by a user without rights: one line, and nothing is lost or half-written."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.killing import all_at_once, become_nobody, readable
from tests.runs.grid_data import retrieval_part, write_grid_file
from turkic_idiom_tasks.cli import main

MODEL = "turkic-idiom/char-ngrams"
BLOCK = 4096  # bytes, by which tmpfs gives space

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk, or becomes another user")


@pytest.fixture
def command(item_lexicon, tmp_path_factory, name):
    """A command without its output folder, on a small lexicon, with what it needs."""
    folder = tmp_path_factory.mktemp("inputs")
    data = ("--data", str(item_lexicon))
    run = ["run", "-m", MODEL, "-t", "T2", "-l", "tr", *data]
    submit = ["submit", str(folder / "results"), *data, "--training-data", "none", "--contact", "@me"]
    if name in ("submit", "leaderboard build"):
        assert main([*run, "--out", str(folder / "results")]) == 0
        assert main([*submit, "--out", str(folder / "submissions")]) == 0
    grid = write_grid_file(folder, retrieval=retrieval_part([MODEL], regimes=["pretrained"], poolings=["native"]))
    table = folder / "table.csv"
    rows = "".join(f"meaning {number},göz yummak {'a' * number},göz yummaq {'b' * number}\n" for number in range(1, 80))
    table.write_text(f"gloss,tr,az\n{rows}", "utf-8")
    commands = {
        "run": run,
        "submit": submit,
        "leaderboard build": ["leaderboard", "build", str(folder / "submissions"), *data],
        "grid run": ["grid", "run", str(grid), *data],
        "dataset import": ["dataset", "import", "--format", "columns", str(table)],
        "dataset annotate": ["dataset", "annotate", "--in", str(item_lexicon)],
        "dataset export": ["dataset", "export", str(item_lexicon)],
        "export of items": ["dataset", "export", str(item_lexicon), "--kind", "language-models"],
        "questionnaire": ["lm", "questionnaire", "-l", "tr", "-k", "meaning", *data],
    }
    return commands[name]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], check=False).returncode:
        pytest.skip("no right to mount a disk")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def files(place):
    """Relative name -> content of the files of a command, without its locks."""
    paths = [path for path in ([place] if place.is_file() else place.rglob("*")) if path.is_file()]
    names = {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}
    return {name: content for name, content in names.items() if not name.endswith("lock")}


QUICK = ["run", "dataset export"]  # of the two ways in which commands write
LONG = ["grid run", "submit", "leaderboard build", "dataset import", "dataset annotate"]
NAMES = [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in [*LONG, "export of items", "questionnaire"])]


@pytest.mark.parametrize("name", NAMES)
def test_on_a_full_disk_a_command_says_so_and_later_finishes(command, name, small_disk, capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764000000")
    earlier, later, filler = small_disk / "earlier", small_disk / "later", small_disk / "filler"
    assert main([*command, "--out", str(earlier)]) == 0
    whole = files(earlier)
    for n_free in (0, 1):  # blocks; what `submit` writes here fits into two
        free = shutil.disk_usage(small_disk).free
        filler.write_bytes(b"\0" * (free - n_free * BLOCK))
        capsys.readouterr()
        assert main([*command, "--out", str(later)]) == 1
        printed = capsys.readouterr()
        n_said = (printed.err + printed.out).count("No space left on device); make room")
        assert (n_said, "Traceback" in printed.err) == (1, False), printed
        assert not list(small_disk.rglob(".tmp-*"))
        assert files(earlier) == whole
        for path, content in files(later).items():
            assert content or not whole[path]  # what is there is whole: no file that was begun and not filled
        filler.unlink()
        retry = ["--retry-failed"] if name == "grid run" else []
        assert main([*command, "--out", str(later), *retry]) == 0, capsys.readouterr().err
        assert files(later).keys() == whole.keys()
        shutil.rmtree(later) if later.is_dir() else later.unlink()


@pytest.mark.parametrize("name", NAMES)
def test_a_user_without_rights_is_told_where_and_what_to_do(command, tmp_path, capfd):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o755)
    inputs = {place for word in command if word.startswith("/") for place in (Path(word), *Path(word).parents)}

    def run():
        become_nobody()
        assert main([*command, "--out", str(locked / "out")]) == 1

    with readable([*inputs, *tmp_path.parents, tmp_path]):
        (code,) = all_at_once([run])
    printed = capfd.readouterr().err
    assert code == 0, printed
    assert "Traceback" not in printed
    (error,) = [line for line in printed.splitlines() if "error:" in line]
    assert str(locked / "out") in error  # as it was given, and not the name of a lock beside it
    assert "ermission denied" in error
    assert "ask its owner" in error
    assert not list(locked.iterdir())
