import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from functools import partial

import psutil
import pytest

from tests.experiments import engine_tasks
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.engine import LocalEngine, RayEngine, Slots, make_engine, run_tasks


@pytest.fixture(params=["local", "ray"])
def engine(request):
    """An engine with two slots."""
    if request.param == "local":
        return LocalEngine(Slots(2))
    return RayEngine(Slots(), request.getfixturevalue("ray_address"))


def outcomes(tasks, engine):
    return {outcome.name: outcome for outcome in run_tasks(tasks, engine)}


def test_every_task_runs_once_two_at_a_time_and_what_fails_stops_no_other(engine, tmp_path):
    tasks = {f"t{n}": partial(engine_tasks.note, tmp_path, f"t{n}") for n in range(5)} | {"bad": engine_tasks.fail}
    found = outcomes(tasks, engine)
    assert {name for name, outcome in found.items() if outcome.error is None} == {f"t{n}" for n in range(5)}
    assert found["bad"].error == "ZeroDivisionError: no such idiom"
    assert "engine_tasks.py" in found["bad"].details
    assert not found["bad"].died
    runs = [tuple(map(float, path.read_text().split())) for path in tmp_path.iterdir()]
    for _, begun, _ in runs:
        assert sum(one[1] <= begun < one[2] for one in runs) <= 2
    assert any(one[1] < other[2] and other[1] < one[2] for one in runs for other in runs if one is not other)
    assert len({int(pid) for pid, *_ in runs}) < 5  # workers serve several tasks


def test_a_task_whose_worker_dies_is_given_to_another_one(engine, tmp_path):
    tasks = {"once": partial(engine_tasks.die_once, tmp_path), "other": partial(engine_tasks.note, tmp_path, "other")}
    found = outcomes(tasks, engine)
    assert found["once"].error is None
    assert (tmp_path / "survived").exists()
    assert found["other"].error is None


def test_a_task_that_kills_every_worker_is_given_up(engine, tmp_path):
    tasks = {"always": engine_tasks.die, "other": partial(engine_tasks.note, tmp_path, "other")}
    found = outcomes(tasks, engine)
    assert found["always"].died
    assert "died" in found["always"].error
    assert found["other"].error is None


def test_local_workers_share_cores_and_gpus(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    tasks = {name: partial(engine_tasks.variables, tmp_path) for name in ("a", "b")}
    assert all(one.error is None for one in run_tasks(tasks, LocalEngine(Slots(gpus=1.0))))
    threads = max(1, (os.cpu_count() or 1) // 2)
    assert sorted(path.read_text() for path in tmp_path.glob("*.env")) == [f"{threads} 3", f"{threads} 5"]


def test_a_cluster_of_its_own_has_the_cores_of_its_slots(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or Ray leaves a token in the user's home
    found = outcomes({"one": partial(engine_tasks.note, tmp_path, "one")}, RayEngine(Slots(1, cpus=2)))
    assert found["one"].error is None


def test_a_share_that_no_node_has_is_said(ray_address, caplog, monkeypatch):
    """Ray alone would wait for ever; another one's cluster may grow, our own does not."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with closing(RayEngine(Slots(gpus=64.0), ray_address)) as engine:
        engine.submit("task", engine_tasks.fail)
    assert "no node of the Ray cluster has the 1 CPUs and 64 GPUs" in caplog.text
    with (
        closing(RayEngine(Slots(gpus=64.0))) as engine,
        pytest.raises(InputError, match=r"no node of the Ray cluster .* lower --cpus-per-cell or --gpus-per-cell"),
    ):
        engine.submit("task", engine_tasks.fail)


def test_an_address_where_nobody_listens_is_said_at_once():
    pytest.importorskip("ray")
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Ray cluster at {address} .*refused.*correct --address"):
            RayEngine(Slots(), address).submit("task", engine_tasks.fail)


def test_workers_end_with_a_driver_that_is_killed(tmp_path):
    code = (
        "from functools import partial\n"
        "from tests.experiments import engine_tasks\n"
        "from turkic_idiom_tasks.experiments.engine import LocalEngine, Slots, run_tasks\n"
        "if __name__ == '__main__':\n"
        f"    list(run_tasks({{'one': partial(engine_tasks.linger, {str(tmp_path)!r})}}, LocalEngine(Slots(1))))\n"
    )
    script = tmp_path / "driver.py"
    script.write_text(code)
    driver = subprocess.Popen([sys.executable, script], env=os.environ | {"PYTHONPATH": os.getcwd()})
    pid = int(wait_for(tmp_path / "pid"))
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    deadline = time.monotonic() + 20
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the worker outlives its driver"
        time.sleep(0.05)


def test_what_cannot_be_is_said(monkeypatch):
    with pytest.raises(InputError, match="--address goes with --engine ray"):
        make_engine("local", Slots(), address="auto")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(InputError, match="no GPU is visible"):
        list(run_tasks({"a": engine_tasks.fail}, LocalEngine(Slots(gpus=0.5))))


def wait_for(path):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.is_file() and path.read_text():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")
