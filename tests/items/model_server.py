"""A server on the loopback interface that speaks OpenAI's protocol and answers questions about items as it is told."""

import json
import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Oracle:
    """Knows the right answer to each question, and answers as it is told for the language of the item.

    Attributes:
        questions: text of a question -> item and right answer.
        answers: language code -> function of item and right answer that returns what the model says.
        requests: every body of a request, in order.
        failures: what the next requests meet instead of an answer: "429", or "cut" for a cut connection.
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


class _Handler(BaseHTTPRequestHandler):
    oracle = None
    tokenizer = None

    def do_GET(self):
        self.send_error(404)  # this server has no tokenizer to offer

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.oracle.requests.append(body)
        if self.oracle.failures:
            return self._fail(self.oracle.failures.pop())
        return self._send(self._chat(body) if "messages" in body else self._completions(body))

    def _fail(self, kind):
        if kind == "cut":
            self.connection.close()
        else:
            self.send_error(429)

    def _chat(self, body):
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        message = {"role": "assistant", "content": self.oracle.answer(text)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"]}
        return head | {"choices": [choice], "usage": usage}

    def _completions(self, body):
        choices = []
        for index, tokens in enumerate(body["prompt"]):
            text = self.tokenizer.decode(tokens).strip()
            question, _, letter = text.rpartition(" ")
            right = self.oracle.answer(question)
            likelihoods = {
                "token_logprobs": [-0.1 if letter == right else -3.0] * len(tokens) + [0.0],
                "top_logprobs": [{"x": -0.1}] * len(tokens) + [{}],
            }
            choices.append({"index": index, "text": text, "logprobs": likelihoods})
        return {"choices": choices}

    def _send(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@contextmanager
def running_model(oracle, tokenizer=None):
    """Yield the URL of a server that asks the oracle."""
    handler = type("Handler", (_Handler,), {"oracle": oracle, "tokenizer": tokenizer})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
