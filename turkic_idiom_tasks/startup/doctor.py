"""What `turkic-idiom doctor` says: what is registered where, and what to do when it isn't."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.startup import hook, report

PACKAGES = ("turkic-idiom-tasks", "mteb", "lm-eval", "sentence-transformers", "torch")
PTH_FILE = "turkic_idiom_tasks.pth"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Lines to print, and whether everything is as it should be."""

    lines: tuple[str, ...]
    healthy: bool


def diagnose() -> Diagnosis:
    """Looks at this interpreter: versions, start-up files, what mteb and lm-eval know of us, the data, failures."""
    lines = [f"python {sys.version.split()[0]} at {sys.executable}"]
    lines += [f"{name} {_version(name)}" for name in PACKAGES]
    advice = _hook_advice(lines)
    advice += _mteb_advice(lines)
    advice += _lm_eval_advice(lines)
    advice += _data_advice(lines)
    for where, error in report.failures.items():
        lines.append(f"FAILED at {where}: {error}")
        advice.append("install harnesses that this package supports: pip install 'mteb>=2.10,<3' 'lm-eval>=0.4.13'")
    lines += [f"-> {action}" for action in dict.fromkeys(advice)] or ["everything is registered"]
    return Diagnosis(tuple(lines), healthy=not advice)


def _hook_advice(lines: list[str]) -> list[str]:
    pth = Path(sysconfig.get_paths()["purelib"]) / PTH_FILE
    lines.append(f"start-up file {pth}: {'there' if pth.is_file() else 'MISSING'}")
    lines.append(f"start-up hook: {'active' if hook.is_installed() else 'NOT ACTIVE'}")
    if hook.is_installed():
        return []
    if os.environ.get(hook.NO_HOOK_VARIABLE, "") not in ("", "0"):
        return [f"{hook.NO_HOOK_VARIABLE} is set: unset it, or call turkic_idiom_tasks.register() after importing it"]
    if not pth.is_file():
        return [
            "install again with pip (a wheel or `pip install -e .`), which puts the start-up file into site-packages"
        ]
    return ["this Python skips .pth files (python -S, or an embedded one): call turkic_idiom_tasks.register()"]


def _mteb_advice(lines: list[str]) -> list[str]:
    try:
        import mteb
        from mteb.models.model_implementations import MODEL_REGISTRY
    except ImportError as error:
        lines.append(f"mteb: cannot be imported: {error}")
        return ["pip install 'mteb>=2.10,<3'"]
    from turkic_idiom_tasks.retrieval.benchmark import BENCHMARK_NAME
    from turkic_idiom_tasks.retrieval.relevance import TASKS

    known = {task.metadata.name for task in mteb.get_tasks()}
    missing = [task.name for task in TASKS.values() if task.name not in known]
    for task in TASKS.values():
        lines.append(f"mteb task {task.name}: {'registered' if task.name in known else 'MISSING'}")
    has_benchmark = any(benchmark.name == BENCHMARK_NAME for benchmark in mteb.get_benchmarks())
    lines.append(f"mteb benchmark {BENCHMARK_NAME}: {'registered' if has_benchmark else 'MISSING'}")
    models = [name for name in MODEL_REGISTRY if name.startswith("turkic-idiom/") or "(pooling=" in name]
    lines.append(f"mteb models: {len(models)} registered")
    complete = not missing and has_benchmark and models
    return [] if complete else ["in Python, call turkic_idiom_tasks.register() after importing the harness"]


def _lm_eval_advice(lines: list[str]) -> list[str]:
    try:
        import lm_eval.models  # noqa: F401
        from lm_eval.api.registry import model_registry
        from lm_eval.tasks.manager import TaskManager
    except ImportError as error:
        lines.append(f"lm-eval: cannot be imported: {error}")
        return ["pip install 'lm-eval[hf]>=0.4.13'"]
    from turkic_idiom_tasks.startup.lm_eval_plugin import GROUPS, MODEL_NAME, TASK_FOLDER

    known = TaskManager(include_defaults=False).all_groups
    missing = [name for name in GROUPS if name not in known]
    for name in GROUPS:
        lines.append(f"lm-eval group {name}: {'registered' if name in known else 'MISSING'}")
    has_model = MODEL_NAME in model_registry
    lines.append(f"lm-eval model {MODEL_NAME}: {'registered' if has_model else 'MISSING'}")
    return [f"pass --include_path {TASK_FOLDER} to lm-eval"] if missing or not has_model else []


def _data_advice(lines: list[str]) -> list[str]:
    from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE
    from turkic_idiom_tasks.retrieval.source import current_source

    try:
        source = current_source()
    except InputError as error:
        lines.append(f"data: {error}")
        return [f"correct {DATA_VARIABLE}, or unset it to use the bundled lexicon"]
    lines.append(f"data: {source.path} (revision {source.revision})")
    return []


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "NOT INSTALLED"
