import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.runs.grid_data import retrieval_part, span_part, write_grid_file
from tests.training.conftest import grid_data  # noqa: F401
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon


@pytest.fixture(scope="session")
def ray_address(tmp_path_factory):
    """The address of a Ray cluster with two CPUs on this machine, as somebody else would have started it."""
    pytest.importorskip("ray", reason="pip install 'turkic-idiom-tasks[ray]'")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ray = Path(sys.executable).parent / "ray"
    environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment["RAY_AUTH_MODE"] = "disabled"  # or it asks for a token if this user has one
    environment["PYTHONPATH"] = str(REPOSITORY)  # of the toy cells
    folder = Path("/tmp") / f"ray-{os.getpid()}"  # its sockets need a short path
    settings = {"port": port, "num-cpus": 2, "include-dashboard": "false", "object-store-memory": 100_000_000,
                "temp-dir": folder, "node-ip-address": "127.0.0.1"}  # fmt: skip
    start = [ray, "start", "--head", "--block", *(f"--{name}={value}" for name, value in settings.items())]
    process = subprocess.Popen(
        start, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while True:
        assert process.poll() is None, "ray start ended"
        assert time.monotonic() < deadline, "no Ray cluster within a minute"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory):
    """Folder of a lexicon with one entry, for toy cells."""
    folder = tmp_path_factory.mktemp("toys") / "lexicon"
    write_lexicon(folder, [Concept("c", "")], {"tr": [Entry("c", "göz yummak")]})
    return folder


@pytest.fixture(scope="session")
def finished(untrained_bert, grid_data, tmp_path_factory):  # noqa: F811
    """Grid file of a finished grid of one untrained model with both kinds of cells, and its folder."""
    folder = tmp_path_factory.mktemp("finished")
    file = write_grid_file(folder, retrieval=retrieval_part([untrained_bert]), span=span_part([untrained_bert]))
    assert main(["grid", "run", str(file), "--data", str(grid_data), "--out", str(folder / "out")]) == 0
    return file, folder / "out"
