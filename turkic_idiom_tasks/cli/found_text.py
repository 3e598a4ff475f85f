"""``turkic-idiom dataset mine`` and ``dataset found``: idioms in sentences that people wrote."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from turkic_idiom_tasks.cli.dataset import Data, dataset_app, print_rows
from turkic_idiom_tasks.cli.output import print_line
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.output_files import check_outputs
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import get_language, in_other_script
from turkic_idiom_tasks.lexicon.entries import offsets
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon


@dataset_app.command(
    epilog="Example: turkic-idiom dataset mine --lang tr --out candidates.jsonl tr_boun-ud-test.conllu"
)
def mine(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Treebanks (.conllu), or a sentence a line.")],
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the sentences.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="JSONL to write; new.")],
    data: Data = BUNDLED,
) -> None:
    """Find sentences that may hold an idiom of a lexicon, for people to read.

    Each line of the output names the sentence by its file, id and hash, with the sentences around it, the concept, the
    spans and a cost: 0 where only the verb is inflected, more for other forms, words in between and another order. With
    a `sense` (idiomatic, literal, unclear or none) added it is an annotation for `dataset found`.
    """
    from hub_datasets.found.annotations import digest
    from hub_datasets.found.corpora import read_sentences
    from hub_datasets.found.mining import Miner

    language = get_language(lang)
    check_outputs({"--out": out}, inputs=[*files, data])
    lexicon = load_lexicon(data)
    entries = lexicon.of(language.code)
    if not entries:
        raise InputError(f"{lexicon.source}: has no entries in {language.name}; choose another --lang or --data")
    miner = Miner(entries.values(), language)
    rows, n_sentences, n_other_script, concepts = [], 0, 0, set[str]()
    for file in files:
        sentences = list(read_sentences(file))
        for number, sentence in enumerate(track(sentences, file.name)):
            n_sentences += 1
            if in_other_script(sentence.text, language):
                n_other_script += 1
                continue
            for candidate in miner.candidates(sentence):
                concepts.add(candidate.concept)
                row: dict[str, Any] = {
                    "corpus": file.resolve().parent.name,
                    "file": file.name,
                    "sentence": sentence.id,
                    "sha256": digest(sentence.text),
                    "concept": candidate.concept,
                    "spans": offsets(candidate.spans),
                    "cost": candidate.cost,
                    "idiom": entries[candidate.concept].idiom,
                    "text": sentence.text,
                    "before": sentences[number - 1].text if number else None,
                    "after": sentences[number + 1].text if number + 1 < len(sentences) else None,
                }
                rows.append(row)
    rows.sort(key=lambda row: row["cost"])
    write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if n_other_script:
        sys.stderr.write(f"{n_other_script} sentences in another script than {language.name} were left out\n")
    print_line(f"{out}: {len(rows)} candidates of {len(concepts)} idioms in {n_sentences} sentences")


@dataset_app.command(epilog="Example: turkic-idiom dataset found --fetch --corpora corpora --out found-spans")
def found(
    corpora: Annotated[Path, typer.Option(metavar="DIR", help="Folder with a folder for each corpus.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New, empty, or an earlier output.")],
    annotations: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Of one's own.  [default: the bundled ones]")
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="First download what is missing, at the stated commits.")
    ] = False,
    unseen: Annotated[
        bool, typer.Option("--unseen", help="Only idioms that no span tagger trained on the lexicon has seen.")
    ] = False,
    data: Data = BUNDLED,
) -> None:
    """Join annotated idioms with the corpora that they were found in, as a dataset with span test sentences.

    The sentences belong to others, so only annotations are part of this project: places, hashes, spans and senses. A
    sentence that reads otherwise than the annotated one is left out and counted.
    """
    from hub_datasets.found import annotations as found_text

    folder = annotations or found_text.FOLDER
    if fetch:
        for path in found_text.fetch(folder, corpora):
            sys.stderr.write(printable(f"{path}\n"))
    lexicon = load_lexicon(data)
    joined = found_text.join(folder, corpora, lexicon, unseen=unseen)
    if joined.left_out:
        rows = [[corpus, reason, count] for (corpus, reason), count in sorted(joined.left_out.items())]
        print_rows(rows, sys.stderr, head=["left out", "reason", "annotations"])
    layout = found_text.found_layout(joined, lexicon)
    layout.write(out)
    for language, of_language in joined.rows.items():
        kept = joined.kept[language]
        given: list[str] = [row.sense for row in kept]
        senses = ", ".join(f"{given.count(sense)} {sense}" for sense in found_text.SENSES)
        n_idioms = len({row.concept for row in kept if row.sense == found_text.IDIOMATIC and row.concept})
        print_line(f"{language}: {len(of_language)} sentences; annotations: {senses}; {n_idioms} idioms")
    print_line(f"{out}: {sum(map(len, joined.rows.values()))} sentences")
