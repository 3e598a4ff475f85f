import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def ray_address(tmp_path_factory):
    """A Ray cluster of its own, two CPUs on this machine, as somebody else would have started it."""
    pytest.importorskip("ray", reason="pip install 'turkic-idiom-tasks[ray]'")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ray = Path(sys.executable).parent / "ray"
    environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment["RAY_AUTH_MODE"] = "disabled"  # or it asks for a token if this user has one
    folder = Path("/tmp") / f"ray-{os.getpid()}"  # its sockets need a short path
    settings = {"port": port, "num-cpus": 2, "include-dashboard": "false", "object-store-memory": 100_000_000,
                "temp-dir": folder, "node-ip-address": "127.0.0.1"}  # fmt: skip
    start = [ray, "start", "--head", "--block", *(f"--{name}={value}" for name, value in settings.items())]
    process = subprocess.Popen(
        start, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    _wait_for(port, process)
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port, process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "ray start ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError("no Ray cluster within a minute")
