"""Commands in children of one warm process: each a process of its own with the real clients, without their start-up.

huggingface_hub takes the address of the Hub from the environment when it is imported, so commands that use a Hub of the
tests cannot run in the process of pytest. A new interpreter for each would spend its time on imports.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent


class WarmCommands:
    """The warm process of a program of `PROGRAMS`; use as a context manager."""

    def __init__(self, program="turkic-idiom", **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_commands", program],
            cwd=REPOSITORY,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def run(self, *arguments, cwd, **environment):
        """Run the program with arguments in a folder, with further environment variables."""
        request = {"arguments": [str(argument) for argument in arguments], "cwd": str(cwd), "environment": environment}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return subprocess.CompletedProcess(arguments, **answer)


def turkic_idiom():
    """Import what `turkic-idiom dataset` needs; return the command as a function of its arguments."""
    import datasets  # noqa: F401
    import huggingface_hub  # noqa: F401

    import hub_datasets.hub_export  # noqa: F401
    from turkic_idiom_tasks.cli import main

    return main


def stock_mteb():
    """Import what mteb needs to run a model; return its command as a function of its arguments."""
    import sentence_transformers  # noqa: F401
    from mteb.cli import main

    def run(arguments):
        sys.argv = ["mteb", *arguments]
        return main()

    return run


def stock_lm_eval():
    """Import what lm-eval needs to run a model; return its command as a function of its arguments."""
    import lm_eval.evaluator
    import lm_eval.models.huggingface  # noqa: F401
    from lm_eval.__main__ import cli_evaluate

    def run(arguments):
        sys.argv = ["lm-eval", *arguments]
        return cli_evaluate()

    return run


PROGRAMS = {"turkic-idiom": turkic_idiom, "mteb": stock_mteb, "lm-eval": stock_lm_eval}


def serve(command):
    """Read requests from stdin, run each in a child, and write its exit code and output to stdout."""
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                run_and_exit(command, request, out.fileno(), err.fileno())
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        sys.stdout.write(json.dumps({"returncode": code, "stdout": texts[0], "stderr": texts[1]}) + "\n")
        sys.stdout.flush()


def run_and_exit(command, request, out, err):
    """End this process as the interpreter ends the script of a command."""
    code = 1
    try:
        os.chdir(request["cwd"])
        os.environ.update(request["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        code = command(request["arguments"]) or 0
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    gc.disable()  # a fifth of the time of the imports
    program = PROGRAMS[sys.argv[1]]()
    gc.freeze()  # or each child would look at, and so copy, all that was imported
    gc.enable()
    serve(program)
