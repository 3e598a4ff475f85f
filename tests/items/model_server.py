"""A language model that answers as it is told, behind the server of tests/llm_server.py."""

from contextlib import contextmanager

from tests.llm_server import running_llm


class Recorded:
    """Answers every question as a function says, and keeps the bodies of the requests."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []


@contextmanager
def running_model(model):
    """Yield the URL of a server that asks the model."""

    def behave(body):
        model.requests.append(body)
        content = body["messages"][-1]["content"]
        return model.answer(content if isinstance(content, str) else content[0]["text"])

    with running_llm(behave, takes_all=True) as server:
        yield server.url
