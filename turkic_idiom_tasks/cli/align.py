"""``turkic-idiom dataset align``: entries of a further language for the concepts of a lexicon."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turkic_idiom_tasks.cli.dataset import SourceFormat, dataset_app, print_rows
from turkic_idiom_tasks.cli.language_model import LexiconDirectory
from turkic_idiom_tasks.cli.output import print_line
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.csv_files import csv_text
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.progress import progress
from turkic_idiom_tasks.languages import get_language
from turkic_idiom_tasks.lexicon.load import check_target, load_lexicon

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hub_datasets.align import CurvePoint, Problem

_STEPS = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5)  # precisions of the table of an evaluation


@dataset_app.command(
    epilog="Example: turkic-idiom dataset align my-lexicon --language uz --in uzbek_idioms.csv --format uz-idioms "
    "-m intfloat/multilingual-e5-base --prefix 'query: ' --out aligned",
)
def align(
    directory: LexiconDirectory,
    language: Annotated[str, typer.Option("--language", "-l", metavar="CODE", help="The language to align.")],
    file: Annotated[
        Path | None,
        typer.Option(
            "--in", metavar="FILE|LEXICON", help="Dictionary with definitions.  [without --out: the lexicon's]"
        ),
    ] = None,
    format: Annotated[
        SourceFormat, typer.Option(help="Format of the dictionary, as in dataset import.")
    ] = SourceFormat.columns,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The lexicon with the new entries; without it precision and recall on the known pairs are printed.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help="Encoder: mteb or Hugging Face name, or a folder.")
    ] = "turkic-idiom/char-ngrams",
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Before each text, such as 'query: ' for E5.")] = "",
    precision: Annotated[float, typer.Option(min=0.0, max=1.0, help="Of what is added, on the known pairs.")] = 0.9,
    review_precision: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Of what goes to DIR-review.csv, for people.")
    ] = 0.5,
    calibrate_on: Annotated[
        str | None, typer.Option(metavar="CODE", help="Another language of the lexicon, if too little is known.")
    ] = None,
) -> None:
    """Find the entries of a dictionary that mean the same as the concepts of a lexicon.

    The meanings of a concept in the aligned languages are compared with the definitions of the dictionary: one-to-one
    pairs with the highest sum of cosines. A pair is known if the lexicon already has its
    idiom. Two thresholds are chosen on the known pairs, for --precision and for --review-precision: new pairs above
    the first are added to the lexicon, those between the two go to a file for manual review.
    """
    import pandas as pd

    from hub_datasets import align as alignment
    from hub_datasets.enrich import write_changed

    code = get_language(language).code
    if out is not None:
        # Encoding takes minutes or hours, so what cannot be written is refused before it.
        check_target(out)
        review = out.with_name(f"{out.name}-review.csv")
        check_outputs({"--out": review}, inputs=[directory, file])
    lexicon = load_lexicon(directory)
    candidates = alignment.own_candidates(lexicon, code)
    if file is not None:
        candidates = alignment.read_candidates(file, code, format_name=format)
    elif out is not None or not candidates:
        lack = "" if candidates else f"; {directory} has no meanings in {code} to compare instead"
        raise usage_error(f"--in is missing: give the dictionary whose entries are to be aligned{lack}")
    problems = [alignment.build_problem(lexicon, code, candidates)]
    if calibrate_on is not None:
        other = get_language(calibrate_on).code
        # With half of the concepts hidden there are definitions without a partner, as in a real dictionary; otherwise
        # every pair would be right, and the threshold too low.
        own = alignment.own_candidates(lexicon, other)
        problems.append(alignment.build_problem(lexicon, other, own, hide_half=True))
    matches = alignment.solve(problems, partial(_encode, model, prefix))
    points = alignment.precision_recall(problems[-1], matches[-1])
    if out is None:
        _print_evaluation(problems[-1], points, model=model)
        return
    best = alignment.choose_threshold(points, precision)
    low = min(best.threshold, alignment.choose_threshold(points, min(review_precision, precision)).threshold)
    stated = f"precision {best.precision:.3f}, recall {best.recall:.3f} on {best.n_known} known pairs"
    if calibrate_on is not None:
        stated += f" of {problems[-1].language}"
    fresh = alignment.new_matches(problems[0], lexicon, matches[0])
    added = [match for match in fresh if match.cosine >= best.threshold]
    note = f"{model} from a cosine of {best.threshold:.3f} on, {date.today().isoformat()}"
    aligned = alignment.with_matches(lexicon, problems[0], added, source=file.name if file else "", note=note)
    doubtful = [match for match in fresh if low <= match.cosine < best.threshold]
    rows = alignment.review_rows(problems[0], lexicon, doubtful)
    write_text(review, csv_text(pd.DataFrame(rows)) if rows else "")
    write_changed(aligned, out)
    print_line(
        f"thresholds {low:.3f} and {best.threshold:.3f} ({stated})\n{out}: {len(added)} entries in {code} added\n"
        f"{review}: {len(rows)} candidates for review"
    )


def _encode(model: str, prefix: str, texts: Sequence[Mapping[str, str]]) -> npt.NDArray[np.float32]:
    from turkic_idiom_tasks.encoders import char_ngrams

    if model == char_ngrams.NAME:
        if prefix:
            raise usage_error(f"{model}: takes no --prefix")
        return char_ngrams.encode_glosses(texts)
    from turkic_idiom_tasks.runs.engine import encode_glosses  # which imports torch

    with progress("encode") as show:
        return encode_glosses(model, texts, prefix=prefix, progress=show)


def _print_evaluation(problem: Problem, points: Sequence[CurvePoint], *, model: str) -> None:
    """Print the recall that can be had at some precisions, and how much is known."""
    n_known = sum(bool(columns) for columns in problem.right)
    print_line(
        f"{model}: {len(problem.concepts)} concepts, {len(problem.candidates)} definitions in {problem.language}, "
        f"{n_known} concepts with a known one"
    )
    names = {precision: f"at least {precision:.2f}" for precision in _STEPS} | ({0.0: "all pairs"} if points else {})
    rows = []
    for precision, name in names.items():
        good = [point for point in points if point.precision >= precision]
        cells = ["none", "", "", ""]
        if good:  # the last one has the highest recall
            point = good[-1]
            cells = [f"{point.precision:.3f}", f"{point.recall:.3f}", f"{point.threshold:.3f}", str(point.n_known)]
        rows.append([name, *cells])
    print_rows(rows, sys.stdout, head=["precision", "reached", "recall", "cosine from", "known pairs"])
