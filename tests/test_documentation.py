"""README and pages: every command runs, every relative link leads to a file, README stays short.

The blocks of a page run in order in one folder, so a page is a session. Each folder holds `my-encoder`, a tiny encoder
that was never trained, and TURKIC_IDIOM_DATA names an eighth of the bundled lexicon, which saves most of the time. A
block that cannot run here says so in a comment above its fence: ``<!-- not run: REASON -->``.

Bash is the real one. It finds `turkic-idiom`, `mteb`, `lm-eval` and `python` among the warm commands, because importing
torch anew for fifty commands would take most of the time. For the same reason lm-eval finds few of its own tasks, and
mteb leaves out abstention scores.
"""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from tests.lm_eval_runs import few_tasks  # noqa: F401
from tests.spans.conftest import SIZES, letter_tokenizer
from tests.warm_commands import ABSTENTION, MODULES, WarmCommands
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon

REPOSITORY = Path(__file__).parent.parent
README = REPOSITORY / "README.md"
LONG_PAGES = (  # whose commands take longest
    "fine-tuning-and-grid.md",
    "leaderboard.md",
    "lexicon.md",
    "quick-starts.md",
    "siblings.md",
    "similarity.md",
    "spans.md",
    "tasks-and-scores.md",
    "your-data.md",
)
PAGES = [README, *sorted((REPOSITORY / "docs").glob("*.md"))]
MOST_WORDS = 1200  # of README
MOST_SECONDS = 300  # for a block
PROGRAMS = ("turkic-idiom", "mteb", "lm-eval", "python")
INSTALLATION = ("pip install", "make ", "git clone")  # lines of bash that are not run
CONCEPTS_PER_KEPT = 8
TRAINING = ("torch._dynamo",)  # imported by the commands of long pages alone, and takes three seconds
IMPORTED_LATE = (  # by the commands, once instead of in each of them
    *(module for modules in MODULES.values() for module in modules),
    "leaderboard.site",
    ABSTENTION,
    "turkic_idiom_tasks.report.charts",
    "turkic_idiom_tasks.runs.run",
    "turkic_idiom_tasks.training.span",
)

_BLOCK = re.compile(r"^(.*)\n```(\w*)\n((?:.*\n)*?)```$", re.MULTILINE)  # with the line above it
_NOT_RUN = re.compile(r"<!-- not run: .+ -->")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block that is run: the language, the number of its first line, and its text."""

    language: str
    line: int
    text: str


def blocks_of(page):
    """Return the blocks of a page that are run, in order."""
    text = page.read_text("utf-8")
    blocks = list(_BLOCK.finditer(text))
    assert text.count("```") == 2 * len(blocks), f"{page}: a fence is not at the beginning of a line, or never closed"
    found = []
    for block in blocks:
        above, language, lines = block.groups()
        if language in ("bash", "python") and not _NOT_RUN.fullmatch(above):
            found.append(Block(language, text.count("\n", 0, block.start(3)) + 1, lines))
    return found


def name_of(page):
    return page.relative_to(REPOSITORY).as_posix()


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A working folder as every page begins with it, and beside it the data."""
    from transformers import BertConfig, BertModel

    root = tmp_path_factory.mktemp("documentation")
    lexicon = load_lexicon()
    kept = sorted(lexicon.concepts)[::CONCEPTS_PER_KEPT]
    entries = {}
    for code, rows in lexicon.entries.items():
        entries[code] = [rows[concept] for concept in kept if concept in rows]
    write_lexicon(root / "lexicon", [lexicon.concepts[concept] for concept in kept], entries)
    encoder = root / "folder" / "my-encoder"
    vocabulary = letter_tokenizer(encoder).get_vocab()
    sizes = SIZES | {"num_hidden_layers": 4}  # which the pooling last_four needs
    BertModel(BertConfig(vocab_size=len(vocabulary), **sizes)).save_pretrained(encoder)
    return root


@pytest.fixture(scope="module")
def programs(few_tasks, request):  # noqa: F811
    """A folder with the programs that the pages use, each of which asks the warm process."""
    os.environ.pop("TURKIC_IDIOM_DATA", None)
    variables = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": few_tasks}
    has_long_pages = any(item.get_closest_marker("long") for item in request.session.items)
    modules = (*IMPORTED_LATE, *(TRAINING if has_long_pages else ()))
    with WarmCommands(*PROGRAMS, modules=modules, **variables) as commands:
        yield commands.folder


@pytest.fixture
def run_block(programs, template, tmp_path):
    """A function that runs one block of a page in the folder of the page."""
    folder = tmp_path / "folder"
    shutil.copytree(template / "folder", folder)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "100", "TURKIC_IDIOM_DATA": str(template / "lexicon")}

    def run(block):
        if block.language == "python":
            command = ["python", "-c", block.text]
        else:
            lines = [line for line in block.text.splitlines() if not line.strip().startswith(INSTALLATION)]
            command = ["bash", "-e", "-c", "trap 'echo \"(line $LINENO of the block)\" >&2' ERR\n" + "\n".join(lines)]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.run(command, cwd=folder, env=environment, timeout=MOST_SECONDS, check=False, **streams)

    return run


def _marked(page):
    return pytest.param(page, marks=pytest.mark.long if page.name in LONG_PAGES else ())


@pytest.mark.slow
@pytest.mark.parametrize("page", [_marked(page) for page in PAGES if blocks_of(page)], ids=name_of)
def test_every_command_runs(page, run_block):
    for block in blocks_of(page):
        done = run_block(block)
        if done.returncode:
            place = f"{name_of(page)}, the block from line {block.line} on: exit status {done.returncode}"
            pytest.fail(f"{place}\n{block.text}\n{done.stdout}", pytrace=False)


def test_a_block_that_fails_is_noticed(run_block):
    assert run_block(Block("bash", 1, "turkic-idiom run -m ./no-such-folder\necho reached\n")).returncode == 2
    assert run_block(Block("python", 1, "import sys\nsys.exit(3)\n")).returncode == 3
    assert run_block(Block("bash", 1, "make no-such-target\nturkic-idiom --version\n")).returncode == 0


def test_readme_is_short_and_names_what_can_be_installed():
    """The package is on no index: it is installed from its folder."""
    for page in PAGES:
        assert not re.search(r"pip install\s+'?turkic", page.read_text("utf-8")), page
    text = README.read_text("utf-8")
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert [name for name in extras if f"`{name}`" not in text] == []
    assert len(text.split()) <= MOST_WORDS


@pytest.mark.parametrize("page", [*PAGES, REPOSITORY / "CONTRIBUTING.md"], ids=name_of)
def test_relative_links_lead_to_files(page):
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if not re.match(r"[a-z]+:", link)]
    missing = [link for link in links if not (page.parent / unquote(link.partition("#")[0])).exists()]
    assert not missing
