"""Languages are data: nothing in the code names one, and data may bring others in a languages.jsonl of its own."""

import ast
import re
from pathlib import Path

from turkic_idiom_tasks.languages import LANGUAGES, PIVOT

PACKAGES = [Path(__file__).parents[1] / name for name in ("turkic_idiom_tasks", "hub_datasets", "leaderboard")]
NAMED = {"siblings", "sources"}  # folders of readers that are by nature of one language
SOURCE_FORMAT = "uz-idioms"  # the name of such a source
OTHERS = [language for code, language in LANGUAGES.items() if code != PIVOT]
NAMES = re.compile(
    "|".join(rf"\b{re.escape(text)}\b" for language in OTHERS for text in (language.name, language.own_name))
)
CODES = {text for language in OTHERS for text in (language.code, language.subset, language.script_code)}


def texts(path):
    """Yield line and text of all strings of a module but docstrings and examples in help texts; of others the lines."""
    content = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(content.splitlines(), start=1)
        return
    nodes = list(ast.walk(ast.parse(content)))
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements
        if is_text and not node.value.startswith("Example: "):
            yield node.lineno, node.value.replace(SOURCE_FORMAT, "")


def test_no_code_and_no_page_names_a_language_but_the_pivot():
    named = []
    for package in PACKAGES:
        for path in sorted(path for suffix in ("py", "js", "html") for path in package.rglob(f"*.{suffix}")):
            if NAMED.isdisjoint(path.parts):
                for number, text in texts(path):
                    is_code = path.suffix == ".py" and not CODES.isdisjoint(re.split("[ ,]+", text))
                    if is_code or NAMES.search(text):
                        named.append(f"{path}:{number}: {text.strip()[:80]}")
    assert named == []
