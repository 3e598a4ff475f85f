"""Commands in children of one warm process: each a process of its own with the real clients, without their start-up.

huggingface_hub takes the address of the Hub from the environment when it is imported, so commands that use a Hub of the
tests cannot run in the process of pytest. A new interpreter for each would spend its time on imports.

A small script stands in for each program. It hands its arguments, folder, environment and streams to the warm process,
which forks, calls the entry point of the installed program, and returns the exit status.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from array import array
from importlib.metadata import entry_points
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
MODULES = {  # what each program needs, imported once
    "turkic-idiom": ("datasets", "huggingface_hub", "hub_datasets.hub_export", "turkic_idiom_tasks.cli"),
    "mteb": ("sentence_transformers", "mteb.cli"),
    "lm-eval": ("lm_eval.evaluator", "lm_eval.models.openai_completions", "lm_eval.__main__"),
}
ABSTENTION = "mteb._evaluators.retrieval_metrics"  # where it is among the modules, abstention scores are left out

_SHIM = """#!{python} -IS
import array, json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
request = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode("utf-8", "surrogateescape")
fds = array.array("i", [0, 1, 2])
connection.sendmsg([len(request).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
connection.sendall(request)
answer = connection.recv(1)
sys.exit(answer[0] if answer else 1)
"""


class WarmCommands:
    """The warm process and a folder with the scripts of its programs; use as a context manager."""

    def __init__(self, *programs, modules=None, **environment):
        programs = programs or ("turkic-idiom",)
        self._folder = tempfile.TemporaryDirectory(prefix="warm-")
        self.folder = Path(self._folder.name)
        self.environment = os.environ | environment
        address = str(self.folder / "socket")
        for name in programs:
            (self.folder / name).write_text(_SHIM.format(python=sys.executable, address=address))
            (self.folder / name).chmod(0o755)
        self.program = self.folder / programs[0]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_commands", address, *(modules or MODULES[programs[0]])],
            cwd=REPOSITORY,
            env=self.environment | {"PYTHONPATH": f"{REPOSITORY}{os.pathsep}{environment.get('PYTHONPATH', '')}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout.readline() == b"ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()  # which ends it
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self._folder.cleanup()

    def run(self, *arguments, cwd, **environment):
        """Run the first program with arguments in a folder, with further environment variables."""
        return run_to_end([self.program, *arguments], cwd=cwd, env=self.environment | environment)


def run_to_end(command, *, timeout=300, **options):
    """Run a command, whatever its exit status, without input; what it prints is returned as text."""
    streams = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    return subprocess.run([str(part) for part in command], timeout=timeout, check=False, **streams, **options)


def assert_one_line_error(run, *parts):
    assert run.returncode in (1, 2), run.stderr
    assert "Traceback" not in run.stderr
    (line,) = [line for line in run.stderr.splitlines() if "error:" in line]
    for part in parts:
        assert str(part) in line


def serve(address, modules):
    """Answer requests for programs until stdin is closed; each runs in a child of this process."""
    gc.disable()  # a fifth of the time of the imports
    for name in modules:
        importlib.import_module(name)
    gc.freeze()  # or each child would look at, and so copy, all that was imported
    gc.enable()
    if ABSTENTION in modules:
        sys.modules[ABSTENTION].evaluate_abstention = lambda results, metric_scores: {}
    if "lm_eval.evaluator" in modules:
        # Each run would start pip for a list of packages in its results, which takes a second.
        importlib.import_module("torch.utils.collect_env").get_pip_packages = lambda run: ("pip", "")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if os.fork() == 0:  # one process answers, the other one ends it when stdin is closed
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection)
            connection.close()
    sys.stdin.read()
    os.killpg(0, signal.SIGTERM)


def _answer(connection):
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        descriptors = array("i")
        size, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(3 * descriptors.itemsize))
        descriptors.frombytes(ancillary[0][2])
        request = b""
        while len(request) < int.from_bytes(size, "big"):
            request += connection.recv(1 << 20)
        arguments, folder, environment = json.loads(request.decode("utf-8", "surrogateescape"))
        for place, descriptor in enumerate(descriptors):
            os.dup2(descriptor, place)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = _run(arguments)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # ours prints an InputError in one line
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(bytes([code & 255]))
        os._exit(code)


def _run(arguments):
    """Run a program as its installed script does, and return its exit status."""
    name = Path(arguments[0]).name
    sys.argv = arguments
    try:
        if name == "python":
            sys.path[0] = ""
            if arguments[1] == "-c":
                exec(compile(arguments[2], "<block>", "exec"), {"__name__": "__main__"})
            else:
                runpy.run_path(arguments[1], run_name="__main__")
            return 0
        if "TURKIC_IDIOM_MODELS" in os.environ:  # which is read when mteb is imported
            import turkic_idiom_tasks

            turkic_idiom_tasks.register()
        (script,) = entry_points(group="console_scripts", name=name)
        ended = script.load()()
    except SystemExit as error:
        ended = error.code
    if isinstance(ended, str):
        sys.stderr.write(f"{ended}\n")
    return ended if isinstance(ended, int) else int(ended is not None)


if __name__ == "__main__":
    os.setpgid(0, 0)
    serve(sys.argv[1], sys.argv[2:])
