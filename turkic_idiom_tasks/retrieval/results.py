"""Result files in mteb's layout, and beside each the rankings that its scores can be recomputed from."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import write_bytes, write_json, write_text
from turkic_idiom_tasks.retrieval.ranking import Groups, SubsetRanking
from turkic_idiom_tasks.retrieval.source import SPLIT

RANKINGS_FORMAT = 1
_PACKAGES = ("turkic-idiom-tasks", "mteb", "sentence-transformers", "transformers", "torch")


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """Where the results of one task and model variant stand: mteb's result file, and our rankings beside it.

    Writing the rankings first and the result last makes the result file the mark that both are complete.
    """

    scores: Path

    @classmethod
    def of(cls, output: Path, task: Any, meta: Any) -> ResultFiles:
        """The files of a task and a model (an mteb ModelMeta) below an mteb output folder."""
        from mteb.cache import ResultCache

        return cls(ResultCache(output).get_task_result_path(task.metadata.name, meta))

    @property
    def rankings(self) -> Path:
        """``<Task>.rankings.jsonl.gz`` beside the result file."""
        return self.scores.with_name(f"{self.scores.stem}.rankings.jsonl.gz")

    def read(self, task: Any, *, overwrite: bool) -> dict[str, SubsetRanking]:
        """Finished rankings by subset; empty when there are none or they shall be overwritten.

        Raises:
            InputError: they are of other data, or a file cannot be read.
        """
        if overwrite or not self.scores.is_file() or not self.rankings.is_file():
            return {}
        try:
            result = json.loads(self.scores.read_text("utf-8"))
            revision = result["dataset_revision"]
        except (ValueError, KeyError) as error:
            raise InputError(f"{self.scores}: not a result file; delete it or pass --overwrite") from error
        if revision != task.metadata.revision:
            raise InputError(
                f"{self.scores}: scores of other data (revision {revision[:12]}; the data in use has "
                f"{task.metadata.revision[:12]}); choose another --output, or pass --overwrite"
            )
        return self._read_rankings(task)

    def _read_rankings(self, task: Any) -> dict[str, SubsetRanking]:
        groups: dict[str, dict[str, Groups]] = {}
        try:
            header, *lines = gzip.decompress(self.rankings.read_bytes()).decode("utf-8").splitlines()
            if json.loads(header)["format"] != RANKINGS_FORMAT or json.loads(header)["top_k"] is not None:
                return {}
            for line in lines:
                row = json.loads(line)
                groups.setdefault(row["subset"], {})[row["query"]] = row["documents"]
        except (OSError, EOFError, ValueError, KeyError) as error:
            raise InputError(f"{self.rankings}: not a ranking file; delete it or pass --overwrite") from error
        finished = {}
        for subset in [subset for subset in task.hf_subsets if subset in groups]:
            data = task.data[subset]
            finished[subset] = SubsetRanking.from_groups(groups[subset], list(data.documents), qrels=data.qrels)
        return finished

    def write(
        self, task: Any, meta: Any, *, scores: Mapping[str, Mapping[str, Any]], rankings: Mapping[str, SubsetRanking],
        settings: Mapping[str, Any], seconds: float, top_k: int | None = None,
    ) -> None:  # fmt: skip
        """Writes the rankings, the model's metadata and, last, the result file, each atomically.

        Args:
            task: the mteb task.
            meta: the model's metadata.
            scores: subset -> score name -> value.
            rankings: subset -> ranking, of the same subsets.
            settings: how the model was run; stands at the head of the ranking file.
            seconds: evaluation time.
            top_k: documents per query to write; None for the whole pool.

        Raises:
            InputError: the folder cannot be written to.
        """
        from mteb.results import TaskResult

        kept_scores, kept_lines, kept_top_k = self._other_subsets(task.metadata.revision, set(rankings))
        cuts = [cut for cut in (top_k, kept_top_k if kept_lines else None) if cut is not None]
        head = {"format": RANKINGS_FORMAT, "task": task.metadata.name, "dataset": dict(task.metadata.dataset)}
        head |= {"model": meta.name, "model_revision": meta.revision, "settings": dict(settings)}
        head["versions"] = {package: version(package) for package in _PACKAGES}
        head["top_k"] = min(cuts, default=None)  # of the subset that was cut most
        lines = [json.dumps(head, ensure_ascii=False, default=str), *kept_lines]
        for subset, ranking in rankings.items():
            for query, documents in ranking.groups(top_k).items():
                row = {"subset": subset, "query": query, "documents": documents}
                lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        text = "".join(f"{line}\n" for line in lines)
        write_bytes(self.rankings, gzip.compress(text.encode("utf-8"), compresslevel=1, mtime=0))
        main = task.metadata.main_score
        complete = {subset: {**values, "main_score": values[main]} for subset, values in scores.items()}
        result = TaskResult.from_task_results(task, {SPLIT: kept_scores | complete}, evaluation_time=seconds)
        description = json.dumps(meta.to_dict(), default=str, indent=4)  # as mteb writes it, Infinity included
        write_text(self.scores.with_name("model_meta.json"), description)
        write_json(self.scores, json.loads(result.model_dump_json()))

    def _other_subsets(self, revision: str, subsets: set[str]) -> tuple[dict[str, Any], list[str], int | None]:
        """Scores, ranking lines and their cut, of the same data, that are there and not about to be written."""
        try:
            result = json.loads(self.scores.read_text("utf-8"))
            header, *lines = gzip.decompress(self.rankings.read_bytes()).decode("utf-8").splitlines()
            rows = [row for row in result["scores"][SPLIT] if row["hf_subset"] not in subsets]
            lines = [line for line in lines if json.loads(line)["subset"] not in subsets]
        except (OSError, EOFError, ValueError, KeyError):  # nothing there, or to be overwritten
            return {}, [], None
        if result["dataset_revision"] != revision:
            return {}, [], None
        drop = ("hf_subset", "languages", "mteb_version")
        scores = {row["hf_subset"]: {k: v for k, v in row.items() if k not in drop} for row in rows}
        return scores, lines, json.loads(header)["top_k"]
