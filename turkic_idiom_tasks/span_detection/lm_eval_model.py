"""``--model token-classifier`` of lm-eval: a fine-tuned token classifier that answers the span tasks."""

from __future__ import annotations

import json
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import model_registry

from turkic_idiom_tasks.errors import InputError, for_command_line, usage_error
from turkic_idiom_tasks.span_detection.classifier import TokenClassifier

NAME = "token-classifier"
BATCH_SIZE = 32


class TokenClassifierLM(LM):
    """Reads the words of a document, not the prompt, and answers ``{"bio": [...]}``, which every span task scores.

    Args:
        pretrained: Hub id or folder of the classifier.
        revision: Hub commit; None is the newest.
        device: lm-eval asks for a GPU where nothing is said; the CPU takes its place where there is none.
        dtype: float32, bfloat16 or float16.
        batch_size: sentences per forward pass; ``auto`` and lm-eval's default of 1 are 32, which changes no answer.
        max_length: pieces in one window; None is the model's own limit.
        other: what lm-eval passes to every model; anything that would change the result is refused.

    Raises:
        InputError: the classifier cannot be used (SystemExit under the stock command).
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
        **other: Any,
    ) -> None:
        super().__init__()
        try:
            unknown = sorted(key for key, value in other.items() if key != "max_batch_size" and value)
            if not pretrained or unknown:
                problem = f"takes no {', '.join(unknown)}" if unknown else "needs pretrained=NAME_OR_FOLDER"
                raise usage_error(f"--model {NAME} {problem} in --model_args")
            if max_length is not None and not isinstance(max_length, int):
                raise usage_error(f"max_length must be a whole number, not {max_length!r}")
            self._classifier = TokenClassifier.load(
                str(pretrained), revision=revision, device=_device(device), dtype=str(dtype), max_length=max_length
            )
        except InputError as error:
            raise for_command_line(error) from None
        asked = int(str(batch_size)) if str(batch_size).isdigit() else 1
        self._batch_size = asked if asked > 1 else BATCH_SIZE

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """One JSON answer per request.

        Raises:
            InputError: a task whose documents hold no words (SystemExit under the stock command).
        """
        sentences = [self._tokens(request) for request in requests]
        languages = [request.doc.get("lang", "tr") for request in requests]
        found = self._classifier.predict(sentences, languages, batch_size=self._batch_size, progress=not disable_tqdm)
        answers = []
        for request, prediction in zip(requests, found, strict=True):
            subwords = {"labels": prediction.piece_tags, "words": prediction.owners}
            answers.append(json.dumps({"bio": prediction.tags, "subwords": subwords}))
            self.cache_hook.add_partial("generate_until", request.args, answers[-1])
        return answers

    @staticmethod
    def _tokens(request: Instance) -> list[str]:
        tokens = (request.doc or {}).get("tokens")
        if not tokens:
            raise for_command_line(_spans_only(str(request.task_name)))
        return list(tokens)

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        """Not what a token classifier can do.

        Raises:
            InputError: always (SystemExit under the stock command).
        """
        raise for_command_line(_spans_only(str(requests[0].task_name)))

    loglikelihood_rolling = loglikelihood

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The prompt, which is not read, so that ``--apply_chat_template`` does no harm."""
        return chat_history[-1]["content"]

    def chat_template(self, chat_template: bool | str = False) -> str:
        """None."""
        return ""

    @property
    def tokenizer_name(self) -> str:
        """Names the cache of requests."""
        return self._classifier.name.replace("/", "__")

    def get_model_info(self) -> dict[str, Any]:
        """What lm-eval writes into the result file."""
        model = self._classifier.model
        return {
            "model_num_parameters": model.num_parameters(),
            "model_dtype": str(model.dtype),
            "model_revision": getattr(model.config, "_commit_hash", None) or "",
            "model_sha": getattr(model.config, "_commit_hash", None) or "",
        }


def _device(asked: str | None) -> str | None:
    import torch

    return None if asked and asked.startswith("cuda") and not torch.cuda.is_available() else asked


def _spans_only(task: str) -> InputError:
    return usage_error(
        f"--model {NAME} answers span tasks only: the documents of {task!r} have no `tokens`; use --tasks "
        "turkic_idiom_span"
    )


if NAME not in model_registry:
    model_registry.register(NAME)(TokenClassifierLM)
