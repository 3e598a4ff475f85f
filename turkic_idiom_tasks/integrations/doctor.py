"""Checks of `turkic-idiom doctor`: whether everything is registered, and what to do if it is not.

These checks must not fail in a broken environment: every check imports its modules itself, and an exception is
reported as a problem.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import requires
from pathlib import Path

from turkic_idiom_tasks.integrations import DATA_VARIABLE, hook, report
from turkic_idiom_tasks.integrations.private_names import PrivateName

DISTRIBUTION = "turkic-idiom-tasks"
PACKAGES = (DISTRIBUTION, "mteb", "lm-eval", "sentence-transformers", "transformers", "torch")  # always listed
PTH_FILE = "turkic_idiom_tasks.pth"
REGISTER = "in Python, call turkic_idiom_tasks.register() after importing the harness"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Results of all checks.

    Attributes:
        details: one line for each check.
        problems: a few words on each problem.
        advice: one line on how to solve each problem.
    """

    details: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    @property
    def is_healthy(self) -> bool:
        """Return whether there is no problem."""
        return not self.problems

    def lines(self) -> list[str]:
        """Return the verdict, then the advice, then the details."""
        if self.is_healthy:
            verdict = "everything is registered: mteb and lm-eval know the tasks, and the data can be read"
        else:
            count = f"{len(self.problems)} problem{'s' if len(self.problems) > 1 else ''}"
            verdict = f"{count}: {'; '.join(self.problems)}"
        advice = [f"-> {line}" for line in dict.fromkeys(self.advice)]
        return [verdict, *advice, "", *self.details]

    def check(self, is_right: bool, *, detail: str, advice: str) -> None:
        """Add the detail of a check, and its advice if something is wrong."""
        if is_right:
            self.details.append(detail)
        else:
            self.fail(detail=detail, problem=detail, advice=advice)

    def fail(self, *, detail: str, problem: str, advice: str) -> None:
        """Add a problem with its detail and advice."""
        self.details.append(detail)
        self.problems.append(problem)
        self.advice.append(advice)


def diagnose() -> Diagnosis:
    """Check this interpreter: versions, start-up files, registration with mteb and lm-eval, the data, failures."""
    diagnosis = Diagnosis()
    diagnosis.details.append(f"python {sys.version.split()[0]} at {sys.executable}")
    for name, check in CHECKS.items():
        try:
            check(diagnosis)
        except Exception as error:  # a broken package may raise any error when it is imported
            line = (str(error).strip().splitlines() or [""])[0][:200]
            diagnosis.fail(
                detail=f"{name}: cannot be checked: {type(error).__name__}: {line}",
                problem=f"{name} cannot be checked",
                advice=f"install again with pip: pip install --upgrade {DISTRIBUTION}",
            )
    return diagnosis


def _check_versions(diagnosis: Diagnosis) -> None:
    from packaging.requirements import Requirement

    for name in PACKAGES:
        diagnosis.details.append(f"{name} {report.installed_version(name) or 'NOT INSTALLED'}")
    for text in requires(DISTRIBUTION) or []:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        installed = report.installed_version(requirement.name)
        if installed is None or not requirement.specifier.contains(installed, prereleases=True):
            present = f"{requirement.name} {installed}" if installed else f"no {requirement.name}"
            diagnosis.fail(
                detail=f"WRONG VERSION: {present}, needs {requirement.name}{requirement.specifier}",
                problem=f"{present} is installed, needs {requirement.specifier}",
                advice=f"pip install '{requirement.name}{requirement.specifier}'",
            )


def _check_hook(diagnosis: Diagnosis) -> None:
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


def _check_mteb(diagnosis: Diagnosis) -> None:
    import mteb
    from mteb.models.model_implementations import MODEL_REGISTRY

    from turkic_idiom_tasks.dataset.retrieval import TASKS
    from turkic_idiom_tasks.integrations import mteb_private

    task_names = {task.metadata.name for task in mteb.get_tasks()}
    benchmark_names = {benchmark.name for benchmark in mteb.get_benchmarks()}
    n_models = sum(name.startswith("turkic-idiom/") or "(pooling=" in name for name in MODEL_REGISTRY)
    from turkic_idiom_tasks.integrations.mteb_tasks import BENCHMARK_NAME  # last, because it registers what is missing

    for task in TASKS.values():
        state = "registered" if task.name in task_names else "MISSING"
        diagnosis.check(task.name in task_names, detail=f"mteb task {task.name}: {state}", advice=REGISTER)
    state = "registered" if BENCHMARK_NAME in benchmark_names else "MISSING"
    diagnosis.check(
        BENCHMARK_NAME in benchmark_names, detail=f"mteb benchmark {BENCHMARK_NAME}: {state}", advice=REGISTER
    )
    diagnosis.check(n_models > 0, detail=f"mteb models: {n_models} registered", advice=REGISTER)
    _add_missing_names(diagnosis, "mteb", mteb_private.missing_names(), versions=mteb_private.VERSIONS)


def _check_lm_eval(diagnosis: Diagnosis) -> None:
    import lm_eval.models  # noqa: F401
    from lm_eval.api.registry import model_registry
    from lm_eval.tasks.manager import TaskManager

    from turkic_idiom_tasks.integrations import lm_eval_private
    from turkic_idiom_tasks.integrations.lm_eval_plugin import GROUPS, MODEL_NAME, TASK_FOLDER

    advice = f"pass --include_path {TASK_FOLDER} to lm-eval"
    known = TaskManager(include_defaults=False).all_groups
    for name in GROUPS:
        state = "registered" if name in known else "MISSING"
        diagnosis.check(name in known, detail=f"lm-eval group {name}: {state}", advice=advice)
    state = "registered" if MODEL_NAME in model_registry else "MISSING"
    diagnosis.check(MODEL_NAME in model_registry, detail=f"lm-eval model {MODEL_NAME}: {state}", advice=advice)
    _add_missing_names(diagnosis, "lm-eval", lm_eval_private.missing_names(), versions=lm_eval_private.VERSIONS)


def _add_missing_names(diagnosis: Diagnosis, harness: str, names: Iterable[PrivateName], *, versions: str) -> None:
    for name in names:
        diagnosis.fail(
            detail=f"{harness} has no {name}, which is needed: {name.reason}",
            problem=f"this {harness} lacks {name}",
            advice=f"pip install '{harness}{versions}'",
        )


def _check_data(diagnosis: Diagnosis) -> None:
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.errors import InputError

    try:
        dataset = open_dataset(os.environ.get(DATA_VARIABLE, ""))
    except InputError as error:
        diagnosis.fail(
            detail=f"data: {error}",
            problem="the data cannot be used",
            advice=f"correct {DATA_VARIABLE}, or unset it to use the bundled lexicon",
        )
        return
    diagnosis.details.append(f"data: {dataset.path} (revision {dataset.revision})")


def _check_failures(diagnosis: Diagnosis) -> None:
    for where, error in report.failures.items():
        diagnosis.fail(
            detail=f"FAILED at {where}: {error}",
            problem=f"the registration at {where} failed",
            advice=f"install harnesses that this package supports: pip install --upgrade {DISTRIBUTION}",
        )


CHECKS: dict[str, Callable[[Diagnosis], None]] = {
    "versions": _check_versions,
    "hook": _check_hook,
    "mteb": _check_mteb,
    "lm-eval": _check_lm_eval,
    "data": _check_data,
    "failures": _check_failures,
}
