"""Tables of the similarity and idiomaticity cells, with the figures of the sibling papers below ours."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.report.frame import N_SEEDS, SPREAD, average_seeds
from turkic_idiom_tasks.report.published import sibling_tables
from turkic_idiom_tasks.report.tables import Table, make_frame
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.results.record import Header
from turkic_idiom_tasks.runs.similarity import SIMILARITY


def similarity_tables(headers: Iterable[Header]) -> list[Table]:
    """Return a table for each source of the similarity cells, and one of the idiomaticity cells: means over seeds."""
    cells: dict[str, list[dict[str, Any]]] = {}
    subtasks: set[str] = set()  # of AStitchInLanguageModels
    for header in headers:
        training = header.training
        for row in header.subsets:
            cell: dict[str, Any] = {"model": header.model.name}
            if row.task in SIMILARITY_TASKS:
                cell |= {"training": training.regime if training else PRETRAINED, "language": row.subset}
            elif row.task == IDIOMATICITY and training is not None:
                inputs = header.settings["inputs"]
                shown = " + ".join(map(str, inputs)) if isinstance(inputs, list) and inputs else "sentence"
                cell |= {"setup": training.regime, "inputs": shown, "data": row.subset}
                if training.config.get("source") == "astitch":
                    subtasks.add(str(header.settings["subtask"]))
            else:
                continue
            cells.setdefault(row.task, []).append(cell | dict(header.scores(row.task, row.subset)))
    tables = []
    for task in sorted(cells, key=lambda task: task == IDIOMATICITY):  # which stands last
        if task == IDIOMATICITY:
            name, title, main = IDIOMATICITY, "Idiomaticity detection: macro F1", "macro_f1"
            keys, scores = ["model", "setup", "inputs", "data"], ["development_macro_f1", "macro_f1"]
            siblings = [table for table in sibling_tables() if table.part == IDIOMATICITY and table.subtask in subtasks]
        else:
            name, title = f"similarity_{task.lower()}", f"{SIMILARITY_TASKS[task].name}: Spearman's correlation"
            keys, main = ["model", "training", "language"], "spearman"
            scores = ["spearman", "spearman_idiom", "spearman_general", "affinity", "accuracy"]
            # Our sentence pairs are our own: no sibling paper has figures of them
            siblings = [] if task == STS else [table for table in sibling_tables() if table.part == SIMILARITY]
            siblings = [table for table in siblings if task.lower().startswith(table.data)]
        means = average_seeds(pd.DataFrame(cells[task]), keys, main=main)
        rows = means.assign(**{"from": "this grid"}).to_dict("records")
        notes = {"Our figures are means over seeds; their intervals are in the records.": None}
        for table in siblings:
            notes[f"{table.source}: {table.comment}"] = None
            for figures in table.rows:
                # The keys say which of these is a column: figures on similarity have a subset, the others a language
                place = {"language": figures.get("subset"), "data": f"{table.data}, {figures.get('language')}"}
                rows.append(figures | place | {"from": table.source})
        frame = make_frame(rows, [*keys, "from", *scores, SPREAD, N_SEEDS], counts=(N_SEEDS,))
        tables.append(Table(name, title, frame, " ".join(notes)))
    return tables
