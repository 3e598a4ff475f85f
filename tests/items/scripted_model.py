"""A language model for tests of lm-eval tasks, whose every answer is known."""

from lm_eval.api.model import LM


class Scripted(LM):
    """A language model that answers what a function of the document says, written or by likelihood."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def generate_until(self, requests, disable_tqdm=False):
        return [self.answer(request.doc) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(float(self.answer(request.doc) == request.args[1].strip()), False) for request in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError
