"""Prompts for language models: files with a name and a version, and how they are filled in."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from turkic_idiom_tasks.errors import usage_error

ENRICH, VERIFY, EXPLANATION = "enrich", "verify", "judge-explanation"
MONOLINGUAL, CROSS_LINGUAL = "judge-monolingual", "judge-cross-lingual"
ANSWER_PASSES = "judge-answer", "judge-answer-alone"
BLANK = "judge-blank"
PAPER = 1  # version with the wording of the paper's appendices, where the paper has one
FOLDER = Path(__file__).parent
_PARTS = re.compile(r"(?:#.*\n)*\[system\]\n(?P<system>.*?)\n\[user\]\n(?P<user>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of a prompt; texts stand in place of ``$name`` in its two messages."""

    label: str  # name and version as results state them: ``verify-2``
    version: int  # from 1; a text that was used is never changed but gets a new version
    system: str
    user: str

    def messages(self, texts: Mapping[str, str], *, plain: Mapping[str, str] | None = None) -> list[dict[str, str]]:
        """Return the conversation that asks this prompt about untrusted texts by name; the `plain` ones are our own."""
        # As JSON strings, quotation marks and line breaks in them cannot end them, and what they say stays data
        quoted = {name: json.dumps(text, ensure_ascii=False) for name, text in texts.items()}
        values = {**(plain or {}), **quoted}
        return [
            {"role": "system", "content": Template(self.system).substitute(values)},
            {"role": "user", "content": Template(self.user).substitute(values)},
        ]


@cache
def load_prompt(name: str, version: int | None = None) -> Prompt:
    """Return a version of a prompt, the newest one by default."""
    known = sorted(int(path.stem.rpartition("-")[2]) for path in FOLDER.glob(f"{name}-[0-9]*.txt"))
    chosen = known[-1] if version is None else version
    if chosen not in known:
        raise usage_error(f"prompt={chosen}: {name} has the versions {', '.join(map(str, known))}")
    label = f"{name}-{chosen}"
    parts = _PARTS.fullmatch((FOLDER / f"{label}.txt").read_text(encoding="utf-8"))
    assert parts is not None, f"{label}.txt has no [system] and [user]"
    return Prompt(label, chosen, parts["system"].strip(), parts["user"].strip())
