"""A sentence-transformers module that puts idiom tokens into its inputs, so that no caller has to know about them.

A saved model names the module in its ``modules.json``. Stock sentence-transformers imports it if this package is
installed and the caller says ``trust_remote_code=True``.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer
from tokenizers import AddedToken

from turkic_idiom_tasks.encoders.checkpoints import backbone_of
from turkic_idiom_tasks.encoders.names import IDIOMATIC, RANDOM
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import (
    CLASSIFIER_FOLDER,
    TABLE,
    IdiomTable,
    IdiomToken,
    best_classifier,
    with_tokens,
)
from turkic_idiom_tasks.encoders.siblings.sentence_classifier import (
    SentenceClassifier,
    TextRow,
    load_sentence_classifier,
    predict_labels,
)
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import write_json
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, read_json

_DEFAULT_DEVIATION = 0.02  # of random vectors, where the configuration states none


class IdiomTokenTransformer(Transformer):
    """Stock ``Transformer``, changed to replace idioms by their tokens before texts are tokenised."""

    idiom_table: IdiomTable
    sentence_classifier: SentenceClassifier | None  # decides which occurrences are replaced; None replaces all
    _decisions: dict[TextRow, bool]  # answers of the classifier, which is asked about each sentence in every epoch

    def use(self, table: IdiomTable, classifier: SentenceClassifier | None) -> None:
        """Replace the idioms of a table from now on, everywhere or where a classifier calls them idiomatic."""
        self.idiom_table = table
        self.sentence_classifier = classifier
        self._decisions = {}

    def preprocess(self, inputs: Any, prompt: str | None = None, **options: Any) -> dict[str, Any]:
        """Return the features of inputs, in which tokens replace the idioms of texts; the prompt is left as it is."""
        values = list(inputs)
        texts = iter(self.rewrite([value for value in values if isinstance(value, str)]))
        rewritten = [next(texts) if isinstance(value, str) else value for value in values]
        features: dict[str, Any] = super().preprocess(rewritten, prompt=prompt, **options)
        return features

    def rewrite(self, texts: Sequence[str], *, prompts: Sequence[str] = ()) -> list[str]:
        """Return the texts with tokens in place of idioms; a text without one is not changed, nor is a prompt."""
        # No classifier sees a prompt. The longest first, because one may be the beginning of another.
        longest_first = sorted(filter(None, prompts), key=len, reverse=True)
        starts, sentences = [], []
        for text in texts:
            start = next((prompt for prompt in longest_first if text.startswith(prompt)), "")
            starts.append(start)
            sentences.append(text.removeprefix(start))
        normalised = [unicodedata.normalize("NFC", sentence) for sentence in sentences]
        occurrences = [self.idiom_table.occurrences(sentence) for sentence in normalised]
        classifier, settings = self.sentence_classifier, self.idiom_table.classifier
        if classifier is not None and settings is not None:
            questions: list[list[TextRow]] = []
            for sentence, of_sentence in zip(normalised, occurrences, strict=True):
                questions.append([])
                for occurrence in of_sentence:
                    idiom = occurrence.idiom if settings.gives_idiom else ""
                    questions[-1].append(TextRow(sentence, idiom, occurrence.language))
            distinct = dict.fromkeys(question for asked in questions for question in asked)
            new = [question for question in distinct if question not in self._decisions]
            if new:
                classifier.model.to(self.model.device)  # the encoder may have been moved since the last question
                labels = predict_labels(classifier, new, max_length=settings.max_length)
                self._decisions |= {question: label == IDIOMATIC for question, label in zip(new, labels, strict=True)}
            for number, asked in enumerate(questions):
                pairs = zip(occurrences[number], asked, strict=True)
                occurrences[number] = [occurrence for occurrence, question in pairs if self._decisions[question]]
        rewritten = []
        for text, start, sentence, of_sentence in zip(texts, starts, normalised, occurrences, strict=True):
            # A text without an idiom is not normalised either, so that its vector is that of the model without tokens.
            rewritten.append(start + with_tokens(sentence, of_sentence) if of_sentence else text)
        return rewritten

    def save(self, output_path: str, *arguments: Any, **options: Any) -> None:
        """Write the stock files, the table, and the classifier in a folder of its own."""
        super().save(output_path, *arguments, **options)
        write_json(Path(output_path) / TABLE, self.idiom_table.model_dump(mode="json"))
        if self.sentence_classifier is not None:
            folder = Path(output_path) / CLASSIFIER_FOLDER
            self.sentence_classifier.model.save_pretrained(folder)
            self.sentence_classifier.tokenizer.save_pretrained(folder)

    @classmethod
    def load(cls, model_name_or_path: str, **options: Any) -> Self:
        """Load a saved module with its table and classifier; the options are those of the stock one."""
        module: Self = super().load(model_name_or_path, **options)
        names = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
        place = {name: options[name] for name in names if name in options}
        path = cls.load_file_path(model_name_or_path, TABLE, **place)
        if path is None:
            raise InputError(f"{model_name_or_path}: the table of its idiom tokens, {TABLE}, is missing; copy it again")
        with model_errors(path, "copy the model again, or train it again if another version wrote it"):
            table = IdiomTable.model_validate(read_json(Path(path)))
        # One that the tokenizer would split into sub-words has no vector of its own, and nothing else would show it.
        missing = [row.token for row in table.idioms if row.token not in module.tokenizer.added_tokens_encoder]
        if missing:
            raise InputError(
                f"{path}: {len(missing)} of its {len(table.idioms)} tokens are no added tokens of the tokenizer, such "
                f"as {display(missing[0])}; table and tokenizer are of different models. Copy the whole folder again"
            )
        classifier = None
        if table.classifier is not None:
            inner = "/".join(part for part in (place.pop("subfolder", ""), CLASSIFIER_FOLDER) if part)
            folder = cls.load_dir_path(model_name_or_path, inner, **place)
            if folder is None or not Path(folder).is_dir():
                raise InputError(
                    f"{model_name_or_path}: the classifier, {CLASSIFIER_FOLDER}/, is missing; copy it again"
                )
            classifier = load_sentence_classifier(Path(folder))
        module.use(table, classifier)
        return module


def add_idiom_tokens(
    model: SentenceTransformer, tokens: Sequence[IdiomToken], *, initial: str, seed: int, classifier: Path | None = None
) -> IdiomTokenTransformer:
    """Let a model's vocabulary and embeddings grow by one token per idiom; return the new first module.

    The initial vector of a token is ``random``, from the distribution that the model's configuration states, or
    ``mean``, the mean over the sub-words of the idiom. The folder of classifiers, of one seed or several, is for
    ``select``: the best of them decides which occurrences are replaced; without one all are.
    """
    transformer = backbone_of(model)
    if isinstance(transformer, IdiomTokenTransformer):
        raise usage_error("this model has idiom tokens already, and keeps them in training; leave --idiom-tokens out")
    folder, settings = (None, None) if classifier is None else best_classifier(classifier)
    tokenizer = transformer.tokenizer
    vocabulary = tokenizer.get_vocab()
    for row in tokens:
        if row.token in vocabulary:
            raise InputError(
                f"the token {display(row.token)} of the idiom {display(row.idiom)} is in the vocabulary of "
                f"{tokenizer.name_or_path} already; leave the idiom out, or begin with a model without it"
            )
    vectors = transformer.model.get_input_embeddings().weight.detach()
    if initial == RANDOM:
        generator = torch.Generator().manual_seed(seed)
        deviation = getattr(transformer.model.config, "initializer_range", _DEFAULT_DEVIATION)
        new_vectors = deviation * torch.randn(len(tokens), vectors.shape[1], generator=generator)
    else:
        subwords = tokenizer([row.idiom for row in tokens], add_special_tokens=False)["input_ids"]
        new_vectors = torch.stack([vectors[of_idiom].mean(0) for of_idiom in subwords])
    # Without lstrip, some tokenizers would make the space before a token a sub-word of its own. Without a normalizer,
    # because one that lower-cases would look for the token in small letters.
    tokenizer.add_tokens([AddedToken(row.token, lstrip=True, normalized=False) for row in tokens])
    ids = tokenizer.convert_tokens_to_ids([row.token for row in tokens])
    # Some models have more vectors than their tokenizer has tokens; these stay. Resizing by the mean would compute the
    # covariance of all rows, for vectors that are replaced right after it.
    size = max(len(vectors), max(ids) + 1)
    transformer.model.resize_token_embeddings(size, mean_resizing=False)
    with torch.no_grad():
        embeddings = transformer.model.get_input_embeddings().weight
        embeddings[ids] = new_vectors.to(embeddings)
    # It shares everything with the loaded one: loading it anew would need the grown weights on the disk.
    module = IdiomTokenTransformer.__new__(IdiomTokenTransformer)
    module.__dict__.update(transformer.__dict__)
    table = IdiomTable(idioms=tuple(tokens), classifier=settings)
    module.use(table, None if folder is None else load_sentence_classifier(folder))
    model[0] = module
    return module
