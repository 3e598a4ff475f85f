"""Grids of toy cells on Ray's real local cluster: several at a time, failures, and kills at random points."""

import json
import os
import socket
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from tests.conftest import REPOSITORY
from tests.runs.grid_data import stamps
from tests.runs.toy_kind import open_toys
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.runs.grid import DONE, FAILED, MISSING

pytest.importorskip("ray", reason="pip install 'turkic-idiom-tasks[ray]'")

from turkic_idiom_tasks.runs.ray_jobs import RayRunner

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or Ray leaves a token in the user's home


def test_several_jobs_at_a_time_what_fails_and_what_dies(ray_address, toy_data, tmp_path):
    """Jobs of three cells. A failing cell stops no other, nor does one whose worker dies each time."""
    grid = open_toys(tmp_path, toy_data, n=12, together=3, seconds=0.5, fails=(1,), dies_once=(4,), dies=(7,))
    outcomes = {outcome.cell.seed: outcome for outcome in grid.run(RayRunner(address=ray_address))}
    expected = [FAILED if number == 1 else MISSING if number == 7 else DONE for number in range(12)]
    assert list(grid.states().values()) == expected
    assert outcomes[1].error == "ZeroDivisionError: no such idiom"
    assert "toy_kind.py" in outcomes[1].details
    assert "its worker died" in outcomes[7].error
    assert {number for number, outcome in outcomes.items() if outcome.error is None} == set(range(12)) - {1, 7}
    begun, ended = (times(tmp_path, what) for what in ("begun", "ended"))
    runs = [(start, min(end for end in ended[number] if end >= start))
            for number in range(12) if number not in (1, 4, 7) for start in begun[number]]  # fmt: skip
    assert any(a[0] < b[0] < a[1] for a in runs for b in runs if a is not b)
    assert all(sum(other[0] <= start < other[1] for other in runs) <= 2 for start, _ in runs)
    assert len(begun[7]) == 2
    headers = grid.headers()
    assert len({header.settings["process"] for header in headers.values()}) < 12  # workers serve several jobs
    assert {header.settings["threads"] for header in headers.values()} == {"1"}


def times(folder, what):
    """Cell -> when it began or ended, each time."""
    found = {}
    for line in (folder / f"{what}.log").read_text().splitlines():
        number, moment = line.split()
        found.setdefault(int(number), []).append(float(moment))
    return found


def test_killed_drivers_and_workers_lose_no_finished_cell_and_compute_none_twice(ray_address, toy_data, tmp_path):
    """Kills at random points. What has a record keeps it untouched, and in the end every cell has one."""
    rng = np.random.default_rng(os.getpid())
    out = tmp_path / "out"
    settings = {"n": 40, "together": 4, "seconds": 0.1}
    seen, n_kills = {}, 0
    while n_kills < 3:
        driver = start_driver(out, toy_data, ray_address, settings)
        aim = min(len(seen) + int(rng.integers(1, 8)), settings["n"] - 1)
        while driver.poll() is None and len(stamps(out)) < aim:
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0, 0.1)))
        if driver.poll() is None and n_kills % 3 == 1:  # a worker, whose job goes on elsewhere
            for worker in ray_workers():
                worker.kill()
            time.sleep(0.3)
        if driver.poll() is None:
            driver.kill()
            n_kills += 1
        driver.communicate()
        wait_until_idle()
        now = stamps(out)
        assert seen.items() <= now.items()  # nothing lost, nothing computed again
        seen = now
        if len(seen) == settings["n"]:
            break
    assert n_kills
    last = start_driver(out, toy_data, ray_address, settings)
    printed, errors = last.communicate(timeout=60)
    assert last.returncode == 0, errors
    assert printed.count("done") == settings["n"] - len(seen)  # exactly the missing cells ran
    assert seen.items() <= stamps(out).items()
    assert len(stamps(out)) == settings["n"]
    assert not list(out.rglob(".tmp-*")), "a temporary file was left"


def start_driver(out, data, address, settings):
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runs.toy_kind", str(out), str(data), address, json.dumps(settings)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ray_workers():
    """The processes of Ray that run a job now."""
    processes = psutil.process_iter(["cmdline"])
    return [process for process in processes if "run_in_worker" in " ".join(process.info["cmdline"] or [])]


def wait_until_idle():
    """Waits until no worker of a killed driver is left."""
    deadline = time.monotonic() + 60
    while ray_workers():
        assert time.monotonic() < deadline, "Ray keeps the workers of a driver that is gone"
        time.sleep(0.05)


def test_a_share_that_no_node_has_is_said(ray_address, toy_data, tmp_path):
    """Ray alone would wait for ever; the cluster of somebody else may grow, our own does not."""
    driver = start_driver(tmp_path / "theirs", toy_data, ray_address, {"n": 1, "gpus": 64})
    assert "no node of the Ray cluster has the 1 CPUs and 64 GPUs" in driver.stderr.readline()
    assert driver.poll() is None
    driver.kill()
    driver.communicate()
    ours = open_toys(tmp_path / "ours", toy_data, n=1).run(RayRunner(gpus=64.0))
    with pytest.raises(InputError, match=r"no node of the Ray cluster .* lower --cpus-per-cell or --gpus-per-cell"):
        list(ours)


def test_an_address_where_nobody_listens_is_said_at_once(toy_data, tmp_path):
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Ray cluster at {address} .*refused.*correct --address"):
            list(open_toys(tmp_path, toy_data, n=1).run(RayRunner(address=address)))


def test_a_cluster_of_its_own_has_the_cores_of_its_jobs(toy_data, tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)  # which Ray would leave as it is
    grid = open_toys(tmp_path, toy_data, n=1)
    assert [outcome.error for outcome in grid.run(RayRunner(1, cpus=2))] == [None]
    (header,) = grid.headers().values()
    assert header.settings["threads"] == "2"
