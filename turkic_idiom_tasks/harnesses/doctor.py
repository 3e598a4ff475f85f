"""What `turkic-idiom doctor` says: whether everything is registered, and what to do when it is not.

Nothing here may fail, whatever is broken in the environment: every check stands on its own and imports what it needs
itself, an exception is one more finding, and this module imports only what needs no other package.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from turkic_idiom_tasks.harnesses import DATA_VARIABLE, hook
from turkic_idiom_tasks.harnesses.private_names import LM_EVAL, MTEB, Harness
from turkic_idiom_tasks.harnesses.versions import DISTRIBUTION, installed_version, pip_command, wrong_versions

PACKAGES = (  # always listed with their versions, and imported in this order, so that the culprit comes first
    "pydantic",
    "torch",
    "transformers",
    "sentence-transformers",
    "mteb",
    "lm-eval",
)
PTH_FILE = "turkic_idiom_tasks.pth"
REGISTER = "in Python, call turkic_idiom_tasks.register() after importing the harness"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found.

    Attributes:
        details: lines, one for each thing that was looked at.
        problems: what is wrong, in a few words each.
        advice: what to do, a line each; empty if nothing is wrong.
    """

    details: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    @property
    def is_healthy(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.problems

    def lines(self) -> list[str]:
        """Return the verdict, what to do, and then the details."""
        if self.is_healthy:
            verdict = "everything is registered: mteb and lm-eval know the tasks, and the data can be read"
        else:
            count = f"{len(self.problems)} problem{'s' if len(self.problems) > 1 else ''}"
            verdict = f"{count}: {'; '.join(self.problems)}"
        advice = [f"-> {line}" for line in dict.fromkeys(self.advice)]
        return [verdict, *advice, "", *self.details]

    def check(self, is_right: bool, *, detail: str, advice: str, problem: str | None = None) -> None:
        """Note one finding; if something is wrong, also what to do."""
        self.details.append(detail)
        if not is_right:
            self.problems.append(problem or detail)
            self.advice.append(advice)


def diagnose() -> Diagnosis:
    """Look at this interpreter: versions, start-up files, what mteb and lm-eval know of us, the data, failures."""
    diagnosis = Diagnosis()
    diagnosis.details.append(f"python {sys.version.split()[0]} at {sys.executable}")
    for name in (DISTRIBUTION, *PACKAGES):
        diagnosis.details.append(f"{name} {installed_version(name) or 'NOT INSTALLED'}")
    for look in (
        _look_at_versions,
        _look_at_imports,
        _look_at_hook,
        _look_at_mteb,
        _look_at_lm_eval,
        _look_at_data,
        _look_at_failures,
    ):
        _attempt(look, diagnosis)
    return diagnosis


def print_diagnosis() -> int:
    """Write what `diagnose` finds to stdout, and return the exit code: 0 if nothing is wrong, otherwise 1."""
    with contextlib.suppress(AttributeError):  # a stream that a test or a notebook put in place
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # for terminals without UTF-8
    with contextlib.redirect_stdout(sys.stderr):  # some packages print when they are imported
        diagnosis = diagnose()
    try:
        for line in diagnosis.lines():
            sys.stdout.write("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head -1`, has all that it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0 if diagnosis.is_healthy else 1


def _attempt(look: Callable[[Diagnosis], None], diagnosis: Diagnosis) -> None:
    """Look at one thing; whatever goes wrong is a finding."""
    name = look.__name__.removeprefix("_look_at_").replace("_", "-")
    try:
        look(diagnosis)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a broken package may raise anything, such as the panics of packages in Rust
        diagnosis.check(
            False,
            detail=f"{name}: cannot be checked: {in_one_line(error)}",
            problem=f"{name} cannot be checked",
            advice=_first_advice(diagnosis, otherwise=f"install again: pip install --force-reinstall {DISTRIBUTION}"),
        )


def in_one_line(error: BaseException) -> str:
    """Return the type of an error, the first line of its message, and the file that raised it."""
    try:
        text = str(error).strip()
    except Exception:  # an error whose message cannot be made
        text = ""
    message = text.splitlines()[0][:200] if text else "no message"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {message}{place}"


def _first_advice(diagnosis: Diagnosis, *, otherwise: str) -> str:
    """Return the advice for an earlier problem, from which one that only shows in an import most likely follows."""
    return diagnosis.advice[0] if diagnosis.advice else otherwise


def _look_at_versions(diagnosis: Diagnosis) -> None:
    wrong = wrong_versions()
    for wrong_version in wrong:
        diagnosis.check(
            False,
            detail=f"WRONG VERSION: {wrong_version}",
            problem=str(wrong_version),
            advice=pip_command(wrong),  # one command for all, since two might undo each other
        )


def _look_at_imports(diagnosis: Diagnosis) -> None:
    for name in PACKAGES:
        try:
            importlib.import_module(name.replace("-", "_"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # as in _attempt
            version = installed_version(name)
            exactly = f"'{name}=={version}'" if version else name
            diagnosis.check(
                False,
                detail=f"import of {name} fails: {in_one_line(error)}",
                problem=f"{name} cannot be imported",
                advice=_first_advice(
                    diagnosis, otherwise=f"install it again: pip install --force-reinstall --no-deps {exactly}"
                ),
            )


def _look_at_hook(diagnosis: Diagnosis) -> None:
    pth = Path(sysconfig.get_paths()["purelib"]) / PTH_FILE
    diagnosis.details.append(f"start-up file {pth}: {'there' if pth.is_file() else 'MISSING'}")
    if os.environ.get(hook.NO_HOOK_VARIABLE, "") not in ("", "0"):
        advice = (
            f"{hook.NO_HOOK_VARIABLE} is set: unset it, or call turkic_idiom_tasks.register() after importing the "
            "harness"
        )
    elif pth.is_file():
        advice = "this Python skips .pth files (python -S, or an embedded one): call turkic_idiom_tasks.register()"
    else:
        advice = (
            "install again with pip (a wheel or `pip install -e .`), which puts the start-up file into site-packages"
        )
    state = "active" if hook.is_installed() else "NOT ACTIVE"
    diagnosis.check(hook.is_installed(), detail=f"start-up hook: {state}", advice=advice)


def _look_at_mteb(diagnosis: Diagnosis) -> None:
    import mteb
    from mteb.models.model_implementations import MODEL_REGISTRY

    from turkic_idiom_tasks.dataset.retrieval import TASKS

    task_names = {task.metadata.name for task in mteb.get_tasks()}
    benchmark_names = {benchmark.name for benchmark in mteb.get_benchmarks()}
    n_models = sum(name.startswith("turkic-idiom/") or "(pooling=" in name for name in MODEL_REGISTRY)
    from turkic_idiom_tasks.harnesses.mteb_tasks import BENCHMARK_NAME  # last, because it registers what is missing

    for task in TASKS.values():
        state = "registered" if task.name in task_names else "MISSING"
        diagnosis.check(task.name in task_names, detail=f"mteb task {task.name}: {state}", advice=REGISTER)
    state = "registered" if BENCHMARK_NAME in benchmark_names else "MISSING"
    diagnosis.check(
        BENCHMARK_NAME in benchmark_names, detail=f"mteb benchmark {BENCHMARK_NAME}: {state}", advice=REGISTER
    )
    diagnosis.check(n_models > 0, detail=f"mteb models: {n_models} registered", advice=REGISTER)
    _note_missing_names(diagnosis, MTEB)


def _look_at_lm_eval(diagnosis: Diagnosis) -> None:
    import lm_eval.models  # noqa: F401
    from lm_eval.api.registry import model_registry
    from lm_eval.tasks.manager import TaskManager

    from turkic_idiom_tasks.harnesses.lm_eval_plugin import GROUPS, MODEL_NAME, TASK_FOLDER
    from turkic_idiom_tasks.harnesses.lm_eval_yaml import ALL

    advice = f"pass --include_path {TASK_FOLDER} to lm-eval"
    known = TaskManager(include_defaults=False).all_groups
    for name in (*GROUPS, ALL):
        state = "registered" if name in known else "MISSING"
        diagnosis.check(name in known, detail=f"lm-eval group {name}: {state}", advice=advice)
    state = "registered" if MODEL_NAME in model_registry else "MISSING"
    diagnosis.check(MODEL_NAME in model_registry, detail=f"lm-eval model {MODEL_NAME}: {state}", advice=advice)
    _note_missing_names(diagnosis, LM_EVAL)


def _note_missing_names(diagnosis: Diagnosis, harness: Harness) -> None:
    for name in harness.missing_names():
        diagnosis.check(
            False,
            detail=f"{harness.name} has no {name}, which is needed: {name.reason}",
            problem=f"this {harness.name} lacks {name}",
            advice=f"pip install '{harness.name}{harness.versions}'",
        )


def _look_at_data(diagnosis: Diagnosis) -> None:
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.errors import InputError

    try:
        dataset = open_dataset(os.environ.get(DATA_VARIABLE, ""))
    except InputError as error:
        diagnosis.check(
            False,
            detail=f"data: {error}",
            problem="the data cannot be used",
            advice=f"correct {DATA_VARIABLE}, or unset it to use the bundled lexicon",
        )
        return
    diagnosis.details.append(f"data: {dataset.path} (revision {dataset.revision})")


def _look_at_failures(diagnosis: Diagnosis) -> None:
    from turkic_idiom_tasks.harnesses import report

    for where, error in report.failures.items():
        diagnosis.check(
            False,
            detail=f"FAILED at {where}: {error}",
            problem=f"the registration at {where} failed",
            advice=_first_advice(
                diagnosis,
                otherwise=f"install harnesses that this package supports: pip install --upgrade {DISTRIBUTION}",
            ),
        )
