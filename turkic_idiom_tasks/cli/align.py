"""``turkic-idiom dataset align``: entries of a further language for the concepts of a lexicon."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from turkic_idiom_tasks.cli.dataset import Dictionary, dataset_app, print_rows
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hub_datasets.align import CurvePoint, Problem
    from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon

FLOOR = 0.0  # lowest cosine of a pair in the assignment; thresholds are chosen above it
PRECISION, REVIEW_PRECISION = 0.9, 0.5
_STEPS = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5)  # precisions of the table of --evaluate
_MODEL = "turkic-idiom/char-ngrams"


@dataset_app.command(
    epilog="Example: turkic-idiom dataset align my-lexicon --language uz --in uzbek_idioms.csv --format uz-idioms "
    "-m intfloat/multilingual-e5-base --prefix 'query: ' --out aligned",
)
def align(
    directory: Annotated[Path, typer.Argument(metavar="LEXICON", help="Lexicon directory.")],
    language: Annotated[str, typer.Option("--language", "-l", metavar="CODE", help="The language to align.")],
    file: Annotated[
        Path | None,
        typer.Option("--in", metavar="FILE|LEXICON", help="Dictionary with definitions.  [--evaluate: the lexicon's]"),
    ] = None,
    format: Annotated[
        Dictionary, typer.Option("--format", help="Format of the dictionary, as in dataset import.")
    ] = Dictionary.columns,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="The lexicon with the new entries.")
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", metavar="FILE", help="CSV of doubtful candidates.  [default: DIR-review.csv]"),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help="Encoder: mteb or Hugging Face name, or a folder.")
    ] = _MODEL,
    pooling: Annotated[
        str | None, typer.Option("--pooling", metavar="POOLING", help="Of the encoder.  [default: its own]")
    ] = None,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="Before each text, such as 'query: ' for E5.")
    ] = "",
    revision: Annotated[
        str | None, typer.Option("--revision", metavar="COMMIT", help="Revision of the model on the Hub.")
    ] = None,
    device: Annotated[str | None, typer.Option("--device", metavar="DEVICE", help="cpu, cuda, cuda:1, mps.")] = None,
    precision: Annotated[
        float, typer.Option("--precision", min=0.0, max=1.0, help="Of what is added, on the known pairs.")
    ] = PRECISION,
    review_precision: Annotated[
        float, typer.Option("--review-precision", min=0.0, max=1.0, help="Of what goes to the review file at least.")
    ] = REVIEW_PRECISION,
    thresholds: Annotated[
        tuple[float, float] | None,
        typer.Option("--thresholds", metavar="LOW HIGH", help="Cosines instead of those that the precisions give."),
    ] = None,
    calibrate_on: Annotated[
        str | None,
        typer.Option("--calibrate-on", metavar="CODE", help="Another language of the lexicon, if too little is known."),
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Write no lexicon: print precision and recall on the known pairs.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="With --evaluate: the curve as .svg or .png.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is written by this command.")] = False,
) -> None:
    """Find the entries of a dictionary that mean the same as the concepts of a lexicon.

    The meanings of a concept in the aligned languages are compared with the definitions of the dictionary: one-to-one
    pairs with the highest sum of cosines. A pair is known if the lexicon already has its
    idiom. Two thresholds are chosen on the known pairs, for --precision and for --review-precision: new pairs above
    the first are added to the lexicon, those between the two go to a file for manual review.
    """
    from hub_datasets.align import (
        aligned_entries,
        assign,
        build_problem,
        choose_threshold,
        new_matches,
        own_candidates,
        precision_recall,
        read_candidates,
        review_rows,
    )
    from hub_datasets.annotated_files import check_out
    from turkic_idiom_tasks.io.files import write_text
    from turkic_idiom_tasks.languages import get_language
    from turkic_idiom_tasks.lexicon.load import check_target, load_lexicon

    code = get_language(language).code
    if evaluate == (out is not None):
        raise usage_error("give either --out, for the lexicon with the new entries, or --evaluate")
    if file is None and not evaluate:
        raise usage_error("--in is missing: the dictionary whose entries are to be aligned")
    if figure is not None and (not evaluate or figure.suffix not in (".svg", ".png")):
        raise usage_error(f"--figure {figure}: goes with --evaluate, and ends in .svg or .png")
    if out is not None:
        check_target(out, overwrite=overwrite)
        review = review or out.with_name(f"{out.name}-review.csv")
        check_out(review, overwrite=overwrite)
    lexicon = load_lexicon(directory)
    if file is None:
        candidates = own_candidates(lexicon, code)
        if not candidates:
            raise usage_error(f"{directory}: has no meanings in {code}; give a dictionary with --in")
    else:
        candidates = read_candidates(file, code, format_name=format.value)
    problems = [build_problem(lexicon, code, candidates)]
    if calibrate_on is not None:
        other = get_language(calibrate_on).code
        problems.append(build_problem(lexicon, other, own_candidates(lexicon, other), hide_half=True))
    vectors = _vectors(problems, model, pooling=pooling, prefix=prefix, revision=revision, device=device)
    matches = [assign(problem, *pair, floor=FLOOR) for problem, pair in zip(problems, vectors, strict=True)]
    points = precision_recall(problems[-1], matches[-1])
    if evaluate:
        _print_evaluation(problems[-1], points, model=model)
        if figure is not None:
            _write_figure(points, figure, model=model, language=problems[-1].language)
        return
    if thresholds is not None:
        low, high = sorted(thresholds)
        stated = "given"
    else:
        best = choose_threshold(points, precision)
        low = min(best.threshold, choose_threshold(points, min(review_precision, precision)).threshold)
        high = best.threshold
        stated = f"precision {best.precision:.3f}, recall {best.recall:.3f} on {best.n_known} known pairs"
        if calibrate_on is not None:
            stated += f" of {problems[-1].language}"
    fresh = new_matches(problems[0], lexicon, matches[0])
    added = [match for match in fresh if match.cosine >= high]
    doubtful = [match for match in fresh if low <= match.cosine < high]
    today = datetime.now().astimezone().date().isoformat()
    entries = aligned_entries(
        problems[0], added, source=file.name if file else "", note=f"{model} from a cosine of {high:.3f} on, {today}"
    )
    if out is None or review is None:
        return
    rows = review_rows(problems[0], lexicon, doubtful)
    write_text(review, _as_csv(rows))
    _write_lexicon(lexicon, code, entries, out, overwrite=overwrite)
    sys.stdout.write(
        printable(
            f"thresholds {low:.3f} and {high:.3f} ({stated})\n{out}: {len(entries)} entries in {code} added\n"
            f"{review}: {len(rows)} candidates for review\n"
        )
    )


def _vectors(
    problems: Sequence[Problem],
    model: str,
    *,
    pooling: str | None,
    prefix: str,
    revision: str | None,
    device: str | None,
) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """Return the vectors of the concepts and of the candidates of each problem, from one pass."""
    from turkic_idiom_tasks.encoders import char_ngrams

    texts: list[Mapping[str, str]] = []
    for problem in problems:
        texts += [*problem.concept_texts, *problem.candidate_texts]
    if model == char_ngrams.NAME:
        if pooling or prefix or revision:
            raise usage_error(f"{model}: takes no --pooling, --prefix or --revision")
        vectors = char_ngrams.encode_glosses(texts)
    else:
        from turkic_idiom_tasks.runs.gloss_vectors import encode_glosses

        with Progress(transient=True, disable=not sys.stderr.isatty()) as progress:
            bar = progress.add_task("encode", total=len(texts))
            vectors = encode_glosses(
                model,
                texts,
                pooling=pooling,
                prefix=prefix,
                revision=revision,
                device=device,
                progress=lambda done, total: progress.update(bar, completed=done, total=total),
            )
    pairs = []
    start = 0
    for problem in problems:
        middle = start + len(problem.concepts)
        end = middle + len(problem.candidates)
        pairs.append((vectors[start:middle], vectors[middle:end]))
        start = end
    return pairs


def _print_evaluation(problem: Problem, points: Sequence[CurvePoint], *, model: str) -> None:
    """Print the recall that can be had at some precisions, and how much is known."""
    n_known = sum(bool(columns) for columns in problem.right)
    sys.stdout.write(
        printable(
            f"{model}: {len(problem.concepts)} concepts, {len(problem.candidates)} definitions in {problem.language}, "
            f"{n_known} concepts with a known one\n"
        )
    )
    rows = []
    for precision in _STEPS:
        good = [point for point in points if point.precision >= precision]
        if good:
            rows.append([f"at least {precision:.2f}", *_cells(good[-1])])
        else:
            rows.append([f"at least {precision:.2f}", "none", "", "", ""])
    if points:
        rows.append(["all pairs", *_cells(points[-1])])
    print_rows(rows, sys.stdout, head=["precision", "reached", "recall", "cosine from", "known pairs"])


def _cells(point: CurvePoint) -> list[str]:
    return [f"{point.precision:.3f}", f"{point.recall:.3f}", f"{point.threshold:.3f}", str(point.n_known)]


def _write_figure(points: Sequence[CurvePoint], path: Path, *, model: str, language: str) -> None:
    from turkic_idiom_tasks.io.files import write_bytes, write_text
    from turkic_idiom_tasks.report.charts import line

    if not points:
        raise usage_error("--figure: nothing is known of this alignment, so there is no curve")
    chart = line(
        [(point.recall, point.precision) for point in points],
        title=f"Alignment of {language}: precision and recall",
        description=f"Precision over recall of the pairs that {printable(model)} aligns, from the highest cosine on.",
        x_axis="recall",
        y_axis="precision",
    )
    if path.suffix == ".png":
        write_bytes(path, chart.png())
    else:
        write_text(path, chart.svg())
    sys.stdout.write(printable(f"{path}: the curve\n"))


def _write_lexicon(lexicon: Lexicon, code: str, new: Sequence[Entry], out: Path, *, overwrite: bool) -> None:
    from turkic_idiom_tasks.lexicon.load import write_lexicon

    entries = {name: list(rows.values()) for name, rows in lexicon.entries.items()}
    entries.setdefault(code, []).extend(new)
    write_lexicon(
        out,
        list(lexicon.concepts.values()),
        entries,
        equivalents=lexicon.equivalents,
        reviews=lexicon.reviews,
        overwrite=overwrite,
    )


def _as_csv(rows: Sequence[Mapping[str, str]]) -> str:
    """Return a table with a header; empty without rows."""
    if not rows:
        return ""
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()
