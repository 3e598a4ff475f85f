"""An error at each rename of each command: whatever is there then, the same command finishes with equal results."""

import errno
import json
import os
from contextlib import contextmanager

import pytest

from tests.runs.grid_data import retrieval_part, write_grid_file
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.results.record import SUFFIX, read_header

MODEL = "turkic-idiom/char-ngrams"
MOST = 80  # renames of a command


@contextmanager
def failing(number):
    """Let the rename of this number, from 0, fail as on a full disk; yield a list of all renames."""
    done = []

    def failing_at(rename):
        def call(source, target, **options):
            done.append(target)
            if len(done) == number + 1:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(target))
            return rename(source, target, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("rename", "replace"):
            patch.setattr(os, name, failing_at(getattr(os, name)))
        yield done


@pytest.fixture(scope="module")
def commands(grid_data, untrained_bert, tmp_path_factory):
    """Name -> command without its output folder."""
    folder = tmp_path_factory.mktemp("inputs")
    data = ("--data", str(grid_data))
    file = write_grid_file(folder, retrieval=retrieval_part([MODEL], regimes=["pretrained"], poolings=["native"]))
    results, submissions = folder / "results", folder / "submissions"
    run = ["run", "-m", MODEL, "-t", "T2", *data]
    submit = ["submit", str(results), *data, "--training-data", "none", "--contact", "@me"]
    assert main([*run, "--out", str(results)]) == 0
    assert main([*submit, "--out", str(submissions)]) == 0
    assert main(["grid", "run", str(file), *data, "--out", str(folder / "grid")]) == 0
    quick = ("--set", "epochs=1", "--seed", "1", "--target", "az")
    return {
        "run": run,
        "submit": submit,
        "leaderboard build": ["leaderboard", "build", str(submissions), *data],
        "grid run": ["grid", "run", str(file), *data],
        "finetune span": ["finetune", "span", "-m", str(untrained_bert), *data, *quick],
    }


def content(folder):
    """Everything in a folder but times; a record is its scores."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.endswith(SUFFIX):
            found[name] = [(row.subset, row.scores) for row in read_header(path).subsets]
        elif name.startswith("results/") and path.suffix == ".json":
            value = json.loads(path.read_bytes())
            found[name] = value.get("scores", value)
        elif path.is_file() and path.suffix != ".lock" and not name.startswith(("checkpoints/", "tables/.")):
            found[name] = path.read_bytes()
    return found


@pytest.mark.parametrize(
    "name",
    ["run", "submit", "grid run"]
    + [pytest.param(name, marks=pytest.mark.long) for name in ("leaderboard build", "finetune span")],
)
def test_after_an_error_the_same_command_finishes_with_equal_results(commands, name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764000000")
    out = tmp_path / "whole"
    with failing(MOST) as renames:
        assert main([*commands[name], "--out", str(out)]) == 0
    assert 0 < len(renames) < MOST
    expected = content(out)
    last = len(renames) - 1
    # The pages of a site are forty, written alike before the folder takes its place.
    for number in range(last + 1) if last < 20 else (0, last // 2, last - 1, last):
        out = tmp_path / f"failed-{number}"
        capsys.readouterr()
        with failing(number):
            assert main([*commands[name], "--out", str(out)]) == 1
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert "No space left on device" in printed.err + printed.out
        again = ["--retry-failed"] if name == "grid run" else []
        assert main([*commands[name], "--out", str(out), *again]) == 0, capsys.readouterr().err
        assert content(out) == expected, number
        assert not list(tmp_path.rglob(".tmp-*"))
