"""What `turkic-idiom doctor` says: whether everything is registered, and what to do when it is not."""

# Nothing in this module may fail, whatever is broken in the environment, so it imports only what needs no other package
import contextlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from turkic_idiom_tasks.harnesses import DATA_VARIABLE, TASK_FOLDER, hook
from turkic_idiom_tasks.harnesses.private_names import HARNESSES, installed_version

DISTRIBUTION = "turkic-idiom-tasks"
# Always listed with their versions, and imported in this order, so that the culprit comes first
PACKAGES = ("pydantic", "torch", "transformers", "sentence-transformers", "mteb", "lm-eval")
PLAIN_NAMES = ("hub_datasets", "leaderboard")  # of our packages, which another distribution may have too
PTH_FILE = "turkic_idiom_tasks.pth"
REGISTER = "in Python, call turkic_idiom_tasks.register() after importing the harness"
PIP_SECONDS = 120  # for `pip check`, which reads the metadata of every package


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found."""

    details: list[str] = field(default_factory=list)  # lines, one for each thing that was looked at
    problems: list[str] = field(default_factory=list)  # what is wrong, in a few words each
    advice: list[str] = field(default_factory=list)  # what to do, a line each; empty if nothing is wrong
    verdict: str = "everything is registered: mteb and lm-eval know the tasks, and the data can be read"

    def fault(self, detail: str, advice: str, *, problem: str = "", is_consequence: bool = False) -> None:
        """Note what is wrong and what to do; a consequence most likely follows from an earlier problem."""
        self.details.append(detail)
        self.problems.append(problem or detail)
        self.advice.append(self.advice[0] if is_consequence and self.advice else advice)

    def check(self, what: str, is_right: bool, advice: str, *, good: str = "registered", bad: str = "MISSING") -> None:
        """Note whether something is as it should be; if not, also what to do."""
        if is_right:
            self.details.append(f"{what}: {good}")
        else:
            self.fault(f"{what}: {bad}", advice)


def diagnose() -> Diagnosis:
    """Look at this interpreter: versions, start-up files, what mteb and lm-eval know of us, the data, failures."""
    diagnosis = Diagnosis()
    diagnosis.details.append(f"python {sys.version.split()[0]} at {sys.executable}")
    for name in (DISTRIBUTION, *PACKAGES):
        diagnosis.details.append(f"{name} {installed_version(name) or 'NOT INSTALLED'}")
    again = "install again from the wheel or the clone: pip install --force-reinstall PATH"
    ours = (_look_at_versions, _look_at_packages, _look_at_imports, _look_at_hook)
    # Each check imports what it needs itself, and an exception in it is one more finding
    for look in (*ours, _look_at_mteb, _look_at_lm_eval, _look_at_data, _look_at_failures):
        name = look.__name__.removeprefix("_look_at_").replace("_", "-")
        try:
            look(diagnosis)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # A broken package may raise anything, such as the panics of packages in Rust
            detail = f"{name}: cannot be checked: {in_one_line(error)}"
            diagnosis.fault(detail, again, problem=f"{name} cannot be checked", is_consequence=True)
    diagnosis.details.append(f"task folder: {TASK_FOLDER}")  # last, so that a shell script can take it
    return diagnosis


def print_diagnosis(look: Callable[[], Diagnosis] = diagnose) -> int:
    """Write what a function finds to stdout: verdict, advice, details; return 0 if nothing is wrong, otherwise 1."""
    # A stream that a test or a notebook put in place
    with contextlib.suppress(AttributeError):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # for terminals without UTF-8
    # Some packages print when they are imported
    with contextlib.redirect_stdout(sys.stderr):
        diagnosis = look()
    verdict = diagnosis.verdict
    if diagnosis.problems:
        count = f"{len(diagnosis.problems)} problem{'s' if len(diagnosis.problems) > 1 else ''}"
        verdict = f"{count}: {'; '.join(diagnosis.problems)}"
    advice = [f"-> {line}" for line in dict.fromkeys(diagnosis.advice)]
    try:
        for line in (verdict, *advice, "", *diagnosis.details):
            sys.stdout.write("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head -1`, has all that it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 1 if diagnosis.problems else 0


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


def _look_at_versions(diagnosis: Diagnosis) -> None:
    """Note what `pip check` finds wrong with our requirements, and with those of the packages that we require."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False)  # noqa: S603
    # There is no pip in environments that uv makes
    if not run.stdout.strip():
        reason = run.stderr.strip().splitlines()[-1:] or ["no message"]
        diagnosis.details.append(f"versions: cannot be checked by pip: {reason[0]}; try: uv pip check")
        return
    names = {DISTRIBUTION}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for requirement in importlib.metadata.requires(DISTRIBUTION) or ():
            names.add(re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-"))
    for line in run.stdout.splitlines():
        if line.split(" ")[0] in names:
            # pip chooses versions that suit every package which ours needs, so that one command corrects them all
            diagnosis.fault(line, f"install what is needed: pip install {DISTRIBUTION}")


def _look_at_packages(diagnosis: Diagnosis) -> None:
    """Note which of our packages, whose names are plain words, is another distribution's too or is another one."""
    home = Path(__file__).parents[2]
    owners = importlib.metadata.packages_distributions()
    for name in PLAIN_NAMES:
        spec = importlib.util.find_spec(name)
        place = Path(spec.origin).parents[1] if spec is not None and spec.origin else None
        others = [other for other in dict.fromkeys(owners.get(name, ())) if other != DISTRIBUTION]
        if others or place != home:
            whose = f"also a package of {', '.join(others)}" if others else f"imported from {place}, not from {home}"
            advice = f"remove that {name}, or install {DISTRIBUTION} in an environment of its own"
            diagnosis.fault(f"package {name}: {whose}", advice)


def _look_at_imports(diagnosis: Diagnosis) -> None:
    for name in PACKAGES:
        try:
            importlib.import_module(name.replace("-", "_"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # as in `diagnose`
            version = installed_version(name)
            exactly = f"'{name}=={version}'" if version else name
            diagnosis.fault(
                f"import of {name} fails: {in_one_line(error)}",
                f"install it again: pip install --force-reinstall --no-deps {exactly}",
                problem=f"{name} cannot be imported",
                is_consequence=True,
            )


def _look_at_hook(diagnosis: Diagnosis) -> None:
    pth = Path(sysconfig.get_paths()["purelib"]) / PTH_FILE
    diagnosis.details.append(f"start-up file {pth}: {'there' if pth.is_file() else 'MISSING'}")
    advice = "install again with pip (a wheel or `pip install -e .`), which puts the start-up file into site-packages"
    if os.environ.get(hook.NO_HOOK_VARIABLE, "") not in ("", "0"):
        advice = f"{hook.NO_HOOK_VARIABLE} is set: unset it, or {REGISTER}"
    elif pth.is_file():
        advice = "this Python skips .pth files (python -S, or an embedded one): call turkic_idiom_tasks.register()"
    diagnosis.check("start-up hook", hook.Finder in sys.meta_path, advice, good="active", bad="NOT ACTIVE")


def _look_at_mteb(diagnosis: Diagnosis) -> None:
    import mteb
    from mteb.models.model_implementations import MODEL_REGISTRY

    from turkic_idiom_tasks.dataset.retrieval import TASKS

    task_names = {task.metadata.name for task in mteb.get_tasks()}
    benchmark_names = {benchmark.name for benchmark in mteb.get_benchmarks()}
    n_models = sum(name.startswith("turkic-idiom/") or "(pooling=" in name for name in MODEL_REGISTRY)
    from turkic_idiom_tasks.harnesses.mteb_tasks import BENCHMARK_NAME  # last, because it registers what is missing

    for task in TASKS.values():
        diagnosis.check(f"mteb task {task.name}", task.name in task_names, REGISTER)
    diagnosis.check(f"mteb benchmark {BENCHMARK_NAME}", BENCHMARK_NAME in benchmark_names, REGISTER)
    count = f"{n_models} registered"
    diagnosis.check("mteb models", n_models > 0, REGISTER, good=count, bad=count)
    _look_at_private_names(diagnosis, "mteb")


def _look_at_lm_eval(diagnosis: Diagnosis) -> None:
    import lm_eval.models  # noqa: F401
    from lm_eval.api.registry import model_registry
    from lm_eval.tasks.manager import TaskManager

    from turkic_idiom_tasks.harnesses.lm_eval_plugin import GROUPS, MODEL_NAME
    from turkic_idiom_tasks.harnesses.lm_eval_yaml import ALL

    advice = f"pass --include_path {TASK_FOLDER} to lm-eval"
    known = TaskManager(include_defaults=False).all_groups
    for name in (*GROUPS, ALL):
        diagnosis.check(f"lm-eval group {name}", name in known, advice)
    diagnosis.check(f"lm-eval model {MODEL_NAME}", MODEL_NAME in model_registry, advice)
    _look_at_private_names(diagnosis, "lm-eval")


def _look_at_private_names(diagnosis: Diagnosis, harness: str) -> None:
    versions, private_names = HARNESSES[harness]
    for name in private_names:
        if not name.is_there():
            detail = f"{harness} has no {name}, which is needed: {name.reason}"
            diagnosis.fault(detail, f"pip install '{harness}{versions}'", problem=f"this {harness} lacks {name}")


def _look_at_data(diagnosis: Diagnosis) -> None:
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.errors import InputError

    try:
        dataset = open_dataset(os.environ.get(DATA_VARIABLE, ""))
    except InputError as error:
        advice = f"correct {DATA_VARIABLE}, or unset it to use the bundled lexicon"
        diagnosis.fault(f"data: {error}", advice, problem="the data cannot be used")
    else:
        diagnosis.details.append(f"data: {dataset.path} (revision {dataset.revision})")


def _look_at_failures(diagnosis: Diagnosis) -> None:
    from turkic_idiom_tasks.harnesses import report

    advice = f"install harnesses that this package supports: pip install --upgrade {DISTRIBUTION}"
    for where, error in report.failures.items():
        problem = f"the registration at {where} failed"
        diagnosis.fault(f"FAILED at {where}: {error}", advice, problem=problem, is_consequence=True)
