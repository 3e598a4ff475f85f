"""What idiom tokens are made of and learn from: the idioms of the training data with their forms, and sentences."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS, complete_entries
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IdiomForm, KnownIdiom
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import decode_text, input_errors, read_file
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.splits import DEVELOPMENT, TEST, TRAIN
from turkic_idiom_tasks.training.triplets import ASTITCH, CHENGYU, LEXICON, TripletData


def known_idioms(data: str | Dataset, triplets: TripletData, *, languages: Sequence[str] = ()) -> list[KnownIdiom]:
    """Return the idioms of the sentences of `build_triplets`, called with this data and languages, in a fixed order."""
    if not isinstance(data, Dataset) and (data in (ASTITCH, CHENGYU) or Path(data).is_file()):
        names = [triplet.idiom for triplet in triplets.training]
        for pairs in (triplets.development, *triplets.test.values()):
            names += [row.idiom for row in pairs.rows]
        distinct = sorted({unicodedata.normalize("NFC", name.strip()) for name in names if name.strip()})
        # This data names the idiom of each sentence as it stands there
        return [KnownIdiom(name, (IdiomForm((name,)),)) for name in distinct]
    dataset = data if isinstance(data, Dataset) else open_dataset("" if data == LEXICON else data)
    known = []
    for code in languages or SIMILARITY_TASKS[STS].languages.values():
        for split in (TRAIN, DEVELOPMENT, TEST):
            for _, entry in sorted(complete_entries(dataset.lexicon, code, split=split).items()):
                forms = [IdiomForm((entry.idiom,), code)]
                tagged = [(entry.example, entry.spans)]
                # the paraphrased example has no tagged spans, so the idiom is looked for in it
                if entry.paraphrased_example is not None:
                    example = entry.paraphrased_example
                    found, _ = annotate(entry.idiom, example, LANGUAGES[code], variants=entry.variants)
                    tagged.append((example, found))
                for sentence, spans in tagged:
                    if sentence is not None and spans:
                        forms.append(IdiomForm(tuple(span.of(sentence) for span in spans), code))
                known.append(KnownIdiom(entry.idiom, tuple(forms), code))
    return known


def read_sentences(path: Path) -> list[str]:
    """Return the sentences of a file, one a line; empty lines are left out."""
    with input_errors(path):
        text = decode_text(read_file(path))
    sentences = [line.strip() for line in text.splitlines() if line.strip()]
    if not sentences:
        raise InputError(f"{path}: no sentence; write one in each line")
    return sentences
