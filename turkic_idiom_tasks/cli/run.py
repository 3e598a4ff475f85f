"""`turkic-idiom run`, `turkic-idiom list`, and `turkic-idiom compare` of two results."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data, Format, Models, TrustRemoteCode, assigned
from turkic_idiom_tasks.cli.output import plain_console
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.csv_files import csv_text
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.reading import printable


@app.command("run")
def run_command(
    models: Models,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="What results call a local model; one for each, in their order."),
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            "--task", "-t", metavar="TASK", help="T1 to T4, STS, or a full name; may be repeated.  [T1 T2 T3]"
        ),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option("--language", "-l", metavar="LANG", help="Only subsets with this language; may be repeated."),
    ] = None,
    poolings: Annotated[
        list[str] | None,
        typer.Option("--pooling", metavar="NAME", help=f"{', '.join(POOLINGS)}, or all; may be repeated."),
    ] = None,
    data: Data = "",
    output: Annotated[
        Path, typer.Option("--output", "--out", "-o", metavar="DIR", help="Folder of results, in mteb's layout.")
    ] = Path("results"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Compute finished results again.")] = False,
    output_format: Annotated[Format, typer.Option("--format", help="Format of the printed scores.")] = "table",
    revision: Annotated[str | None, typer.Option(metavar="COMMIT", help="Revision of the model on the Hub.")] = None,
    trust_remote_code: TrustRemoteCode = False,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="May be repeated. device (cpu, cuda, cuda:1, mps; default: the best there is), dtype (float32, "
            "bfloat16 or float16), batch_size (texts at a time), first_layer (of first_last: 1, the first transformer "
            "layer, or 0, the embeddings), top_k (documents per query in the records, whose scores stay exact; 0: the "
            "whole pool); with --base-url also query_prompt and document_prompt; with --submission also setting "
            "(pre_train or fine_tune).",
        ),
    ] = None,
    base_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Server with OpenAI's protocol of embeddings, such as http://localhost:8000/v1, for -m openai/NAME; "
            "the key is in OPENAI_API_KEY.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count the texts and tokens that a server would be asked for.")
    ] = False,
    submission: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Score nothing, and write the submission form of SemEvalIdiomSTS for the most recent part there is.",
        ),
    ] = None,
) -> None:
    """Score models on the retrieval and similarity tasks; all tasks and poolings of a model come from one pass.

    Example: turkic-idiom run -m turkic-idiom/char-ngrams -m FacebookAI/xlm-roberta-base --pooling all
    """
    from turkic_idiom_tasks.io.models import checked
    from turkic_idiom_tasks.runs.run_options import ModelSettings, make_options

    options = make_options(
        tasks=tasks or (),
        languages=languages or (),
        poolings=poolings or (),
        output=output,
        overwrite=overwrite,
        names=tuple(names or ()),
        revision=revision,
        trust_remote_code=trust_remote_code,
        base_url=base_url,
        **checked(ModelSettings, assigned(values)).model_dump(),
    )
    # After the options, because they load torch and mteb
    from turkic_idiom_tasks.cli.run_output import print_tables, reporting
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.dataset.similarity import SEMEVAL_STS
    from turkic_idiom_tasks.report.frame import report_run, to_json
    from turkic_idiom_tasks.runs.run import ModelRun, estimate, run_models, semeval_submission

    problems = []
    if (options.query_prompt or options.document_prompt) and not base_url:
        problems.append("--set query_prompt, document_prompt: apply to models on a server; add --base-url")
    if base_url and (revision or options.device):
        problems.append("--revision, device: do not apply to models on a server; leave them out, or --base-url")
    if submission is not None and (len(models) > 1 or options.tasks != (SEMEVAL_STS,)):
        problems.append("--submission: takes one model and -t SemEvalIdiomSTS; give one -m, and no other task")
    if problems:
        raise usage_error("; ".join(problems))
    if submission is not None:
        check_outputs({"--submission": submission})
        write_text(submission, semeval_submission(models[0], options))
        return
    dataset = open_dataset(data)
    if dry_run:
        sys.stdout.write(estimate(dataset, options))
        return
    runs: list[ModelRun] = []
    failure: Exception | None = None
    with reporting(sys.stderr) as reporter:
        try:
            for run in run_models(models, dataset, options, reporter=reporter):
                runs.append(run)
        except Exception as error:
            # The scores of the models before it are printed first
            if not runs:
                raise
            failure = error
        reporter.progress("intervals")
        frame, overall = report_run(runs)
    if output_format == "table":
        print_tables(runs, frame, overall, file=sys.stdout)
    else:
        sys.stdout.write(csv_text(frame) if output_format == "csv" else to_json(frame))
    if failure is not None:
        raise failure


@app.command("list")
def list_command(data: Data = "") -> None:
    """List the tasks and subsets of the data, and the models that this package registers with mteb."""
    from mteb.models.model_implementations import MODEL_REGISTRY

    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.dataset.retrieval import TASKS
    from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
    from turkic_idiom_tasks.encoders.names import POOLED_NAME, POOLINGS
    from turkic_idiom_tasks.harnesses.mteb_models import local_models, model_metas

    dataset = open_dataset(data)
    paragraphs = [f"data: {dataset.path} (revision {dataset.revision})", "", "queries/documents, pairs of sentences:"]
    for short, task in TASKS.items():
        pools = {subset: dataset.pool(short, subset) for subset in dataset.subsets(short)}
        sizes = [f"{subset} {len(pool.queries)}/{len(pool.documents)}" for subset, pool in pools.items()]
        paragraphs += [f"{task.name}: {', '.join(sizes)}"] if sizes else []
    for short, similarity_task in SIMILARITY_TASKS.items():
        sizes = [f"{subset} {dataset.pairs(short, subset).is_scored.sum()}" for subset in dataset.pair_subsets(short)]
        paragraphs += [f"{similarity_task.name}: {', '.join(sizes)}"] if sizes else []
    names = [str(meta.name) for meta in model_metas()]
    pooled = dict.fromkeys(match[1] for match in map(POOLED_NAME.fullmatch, names) if match)
    others = [name for name in names if not POOLED_NAME.fullmatch(name)]
    paragraphs += ["", "models, besides every model that mteb or Hugging Face has:", ", ".join(others)]
    paragraphs.append(f"as NAME (pooling=P), P one of {', '.join(POOLINGS)}: {', '.join(pooled)}")
    for name, _, problem in local_models():
        meta = MODEL_REGISTRY.get(name)
        paragraphs.append((meta.loader_kwargs.get("problem") if meta else problem) or name)
    console = plain_console(sys.stdout)
    for paragraph in paragraphs:
        console.print(printable(paragraph))


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="Result file, or the folder of one model.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The result that may be better.")],
    task: Annotated[
        list[str] | None,
        typer.Option("--task", "-t", metavar="TASK", help="T1, T2, T3, T4, spans; may be repeated.  [default: all]"),
    ] = None,
    data: Data = "",
    output_format: Annotated[Format, typer.Option("--format", help="Format of the output.")] = "table",
) -> None:
    """Test whether B is better than A, query by query (retrieval) or sentence by sentence (spans).

    Print a verdict, then the differences with their intervals, effect sizes and tests. Both results must be of the
    same data. Example: turkic-idiom compare results/results/turkic-idiom__char-ngrams results/results/my__model
    """
    from turkic_idiom_tasks.cli.compare_output import print_comparison
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.report.compare import compare_results, comparison_frame
    from turkic_idiom_tasks.report.frame import to_json

    report = compare_results(first, second, open_dataset(data), tasks=task or ())
    if output_format == "table":
        print_comparison(report, plain_console(sys.stdout))
    else:
        write = csv_text if output_format == "csv" else to_json
        sys.stdout.write(write(comparison_frame(report)))
