"""A language model that answers questions about items as it is told, behind the server of tests/llm_server.py."""

import random
from contextlib import contextmanager

from tests.llm_server import running_llm


class Oracle:
    """Knows the right answer to each question, and answers as it is told for the language of the item.

    Attributes:
        questions: text of a question -> item and right answer.
        answers: language code -> function of item and right answer that returns what the model says.
        requests: every body of a request, in order.
        failures: what the next requests meet instead of an answer, `Failure` or `Cut`; the last one comes first.
    """

    def __init__(self, questions, answers, failures=()):
        self.questions = questions
        self.answers = answers
        self.requests = []
        self.failures = list(failures)

    def answer(self, text):
        item, right = self.questions[text]
        return self.answers[item.language](item, right)


class Recorded:
    """Answers every question as a function says; takes the place of an `Oracle` where questions are not of items."""

    def __init__(self, answer):
        self.answer = answer
        self.requests, self.failures = [], []


def gold(item, right):
    return right


def near(item, right):
    """The letter of the trap that nearly means the same; of any other trap where there is none."""
    traps = [option.trap for option in item.options]
    wrong = [n for n in range(len(traps)) if n != item.gold]
    return "ABCD"[traps.index("near") if "near" in traps else wrong[0]]


def by_chance(item, right):
    return random.Random(f"7 {item.id}").choice("ABCD"[: len(item.options)])


def after_thoughts(item, right):
    letters = " or ".join("ABCD"[: len(item.options)])
    return f"<think>\n{letters}? The answer is A, I think. Deyim: {item.idiom}\n</think>\n\nThe answer is **{right}**."


RUBBISH = ["", "I'm sorry, but I can't help with that.", "A or B", "E", "Б", "lol", "<think>B", "😀"]


def rubbish(item, right):
    return random.Random(item.id).choice(RUBBISH)


def _completions(body, oracle, tokenizer):
    """The response to questions with an option each, of which the right one is more likely."""
    choices = []
    for index, tokens in enumerate(body["prompt"]):
        text = tokenizer.decode(tokens).strip()
        question, _, letter = text.rpartition(" ")
        likelihoods = {
            "token_logprobs": [-0.1 if letter == oracle.answer(question) else -3.0] * len(tokens) + [0.0],
            "top_logprobs": [{"x": -0.1}] * len(tokens) + [{}],
        }
        choices.append({"index": index, "text": text, "logprobs": likelihoods})
    return {"choices": choices}


@contextmanager
def running_model(oracle, tokenizer=None):
    """Yield the URL of a server that asks the oracle; with a tokenizer it gives likelihoods of completions too."""

    def behave(body):
        oracle.requests.append(body)
        if oracle.failures:
            return oracle.failures.pop()
        if "messages" not in body:
            return _completions(body, oracle, tokenizer)
        content = body["messages"][-1]["content"]
        return oracle.answer(content if isinstance(content, str) else content[0]["text"])

    with running_llm(behave, takes_all=True) as server:
        yield server.url
