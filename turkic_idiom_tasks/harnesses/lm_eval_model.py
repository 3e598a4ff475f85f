"""``--model token-classifier`` of lm-eval: a fine-tuned token classifier that answers the span tasks."""

import json
from pathlib import Path
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import model_registry

from turkic_idiom_tasks.encoders.folders import folder_revision, is_local
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.lm_eval_plugin import MODEL_NAME
from turkic_idiom_tasks.languages import PIVOT
from turkic_idiom_tasks.tasks.spans.classifier import BATCH_SIZE, TokenClassifier

_SPANS_ONLY = (
    f"--model {MODEL_NAME} answers span tasks only: the documents of {{task!r}} have no `tokens`; use "
    "--tasks turkic_idiom_span"
)


class TokenClassifierLM(LM):
    """A model of lm-eval that tags the words of a document; every span task scores its answer ``{"bio": [...]}``.

    The prompt is not read. The arguments are those of `TokenClassifier.load`.
    """

    def __init__(
        self,
        pretrained: str = "",
        *,
        revision: str | None = None,
        device: str | None = None,
        dtype: str = "float32",
        batch_size: int | str | None = None,
        max_length: int | None = None,
        trust_remote_code: bool = False,
        **other: Any,
    ) -> None:
        super().__init__()
        problems = []
        if not pretrained:
            problems.append("needs pretrained=NAME_OR_FOLDER")
        # lm-eval gives every model a max_batch_size. Anything else with a value was asked for, and would be ignored
        unknown = sorted(key for key, value in other.items() if key != "max_batch_size" and value)
        if unknown:
            problems.append(f"takes no {', '.join(unknown)}")
        if max_length is not None and not isinstance(max_length, int):
            problems.append(f"max_length must be a whole number, not {max_length!r}")
        if problems:
            raise usage_error(f"--model {MODEL_NAME}, --model_args: {'; '.join(problems)}")
        # lm-eval passes a GPU by default, also where there is none
        if device and device.startswith("cuda") and not torch.cuda.is_available():
            device = None
        self._classifier = TokenClassifier.load(
            str(pretrained),
            revision=revision,
            device=device,
            dtype=str(dtype),
            max_length=max_length,
            # lm-eval leaves words such as "no" as texts
            trust_remote_code=trust_remote_code is True,
        )
        # `auto` and 1, which is lm-eval's default, leave the size to us; it changes no answer
        size = int(str(batch_size)) if str(batch_size).isdigit() else 1
        self._batch_size = size if size > 1 else BATCH_SIZE

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return one JSON answer per request; documents without words are an `InputError`."""
        sentences = []
        languages = []
        for request in requests:
            tokens = (request.doc or {}).get("tokens")
            if not tokens:
                raise usage_error(_SPANS_ONLY.format(task=request.task_name))
            sentences.append(list(tokens))
            languages.append(request.doc.get("lang", PIVOT))
        predictions = self._classifier.predict(
            sentences, languages, batch_size=self._batch_size, progress=not disable_tqdm
        )
        answers = []
        for request, prediction in zip(requests, predictions, strict=True):
            subwords = {"labels": prediction.subword_tags, "words": prediction.owners}
            answer = json.dumps({"bio": prediction.tags, "subwords": subwords})
            # With --use_cache lm-eval asks only for what is not in its cache, which the model itself has to fill
            self.cache_hook.add_partial("generate_until", request.args, answer)
            answers.append(answer)
        return answers

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        """Raise `InputError`, because a token classifier gives no likelihood of a text."""
        raise usage_error(_SPANS_ONLY.format(task=requests[0].task_name))

    loglikelihood_rolling = loglikelihood

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Return the prompt unchanged."""
        # The prompt is not read, so --apply_chat_template does no harm
        return chat_history[-1]["content"]

    @property
    def tokenizer_name(self) -> str:
        """Return the name of the model, which lm-eval uses to name its cache of requests."""
        return self._classifier.name.replace("/", "__")

    def get_model_info(self) -> dict[str, Any]:
        """Return facts on the model for lm-eval's result file, such as the revision of its weights and its window."""
        model, name = self._classifier.model, self._classifier.name
        if is_local(name):
            revision = folder_revision(Path(name).expanduser())
        else:
            revision = getattr(model.config, "_commit_hash", None) or ""
        return {
            "model_num_parameters": model.num_parameters(),
            "model_dtype": str(model.dtype),
            "model_revision": revision,
            "model_sha": revision,
            "model_max_length": self._classifier.max_length,
        }


if MODEL_NAME not in model_registry:  # where the hook is off, importing this module registers the model
    model_registry.register(MODEL_NAME)(TokenClassifierLM)
