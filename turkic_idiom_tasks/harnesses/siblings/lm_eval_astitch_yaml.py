"""Task files of the tasks of lm-eval on AStitchInLanguageModels.

``python -m turkic_idiom_tasks.harnesses.siblings.lm_eval_astitch_yaml`` writes them; see `lm_eval_yaml`.
"""

from __future__ import annotations

from turkic_idiom_tasks.harnesses import TASK_FOLDER
from turkic_idiom_tasks.harnesses.lm_eval_names import GENERATIVE
from turkic_idiom_tasks.harnesses.lm_eval_yaml import VERSION, group_file, write_files
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_LANGUAGES
from turkic_idiom_tasks.tasks.siblings.questions import KINDS

FOLDER = TASK_FOLDER / "astitch"
_MEANS = ("acc", "macro_f1")


def files() -> dict[str, str]:
    """Return the name of every file and its text."""
    texts = {}
    for kind in KINDS:
        for ending, way in (("", "_loglikelihood"), (GENERATIVE, "_generation")):
            members = []
            for language in ASTITCH_LANGUAGES:
                name = f"astitch_{kind}_{language}{ending}"
                members.append(name)
                texts[f"{name}.yaml"] = (
                    f"include: [{way}, _common, _scores]\n"
                    f"task: {name}\n"
                    f"metadata: {{version: {VERSION}, kind: {kind}, language: {language}}}\n"
                )
            texts[f"astitch_{kind}{ending}.yaml"] = group_file(f"astitch_{kind}{ending}", members, means=_MEANS)
    return texts


if __name__ == "__main__":
    write_files(FOLDER, files())
