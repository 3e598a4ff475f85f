"""A server on the loopback interface that speaks OpenAI's protocol of chat completions, and behaves as a test orders.

A test gives a function from the request to what happens: a text is the model's answer, a dict the whole response, and
`Text`, `Failure`, `Html`, `Cut`, `Slow` and `Malformed` are what goes wrong. Answers are sent whole, or streamed if the
client asks.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-LoopbackKeyThatMustNotLeak"
MODEL = "scripted"


@dataclass(frozen=True)
class Text:
    """A body that is no answer of the protocol."""

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def Failure(status, message="out of order", headers=None, code=None):
    """An error status with its message."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    return Text(json.dumps({"error": error}), status, headers or {})


def Html(status=200):
    """A page instead of the protocol."""
    return Text("<!DOCTYPE html><html><body>Welcome</body></html>", status, {"Content-Type": "text/html"})


class Cut:
    """The connection ends in the middle of the answer."""


@dataclass(frozen=True)
class Slow:
    """An answer that takes its time."""

    seconds: float
    text: str


@dataclass(frozen=True)
class Malformed:
    """A response that `change` has changed."""

    change: Callable[[dict], object]


class LlmServer(ThreadingHTTPServer):
    """The server; `requests` are the bodies so far, `behave` says what each of them gets."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, behave, *, structured, takes_all):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave, self.structured, self.takes_all = behave, structured, takes_all
        self.requests, self.keys = [], set()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # clients that were cut off


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LlmServer

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.send_error(404)  # this server has no tokenizer to offer

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(body)
            server.keys.add(self.headers.get("Authorization"))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        if server.takes_all:
            behaviour = server.behave(body)
        elif self.path != "/v1/chat/completions":
            behaviour = Failure(404, f"no route {self.path}")
        elif body["model"] != MODEL and not body["model"].startswith("scripted-"):
            behaviour = Failure(404, f"The model `{body['model']}` does not exist", code="model_not_found")
        elif "response_format" in body and not server.structured:
            behaviour = Failure(400, "Unknown parameter: 'response_format'")
        else:
            behaviour = server.behave(body)
        try:
            self.act(body, behaviour)
        finally:
            with server.lock:
                server.at_once -= 1

    def act(self, body, behaviour):
        if isinstance(behaviour, Slow):
            time.sleep(behaviour.seconds)
            behaviour = behaviour.text
        is_cut = isinstance(behaviour, Cut)
        text = behaviour if isinstance(behaviour, str) else "x" * 200
        if isinstance(behaviour, Text):
            self.send(behaviour.body, status=behaviour.status, headers=behaviour.headers)
        elif isinstance(behaviour, dict):
            self.send(json.dumps(behaviour))
        elif body.get("stream"):
            self.stream(text, is_cut=is_cut)
        else:
            response = completion(body, text)
            if isinstance(behaviour, Malformed):
                behaviour.change(response)
            self.send(json.dumps(response), is_cut=is_cut)

    def stream(self, text, *, is_cut):
        self.close_connection = True
        self.head(200, {"Content-Type": "text/event-stream", "Connection": "close"})
        half = len(text) // 2
        parts = [({"content": text[:half]}, None), ({"content": text[half:]}, None), ({}, "stop")]
        for delta, finish in parts[: 1 if is_cut else None]:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            row = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(row)}\n\n".encode())
            self.wfile.flush()
        if not is_cut:
            self.wfile.write(b"data: [DONE]\n\n")

    def send(self, text, *, status=200, headers=(), is_cut=False):
        data = text.encode("utf-8", "surrogateescape")
        self.head(status, {"Content-Type": "application/json", "Content-Length": str(len(data)), **dict(headers)})
        self.wfile.write(data[: len(data) // 2] if is_cut else data)
        self.close_connection = self.close_connection or is_cut

    def head(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def completion(body, text):
    """The response of the protocol that holds an answer; tokens are counted as words."""
    n_prompt = sum(len(str(message["content"]).split()) for message in body["messages"])
    n_answer = len(text.split())
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": n_prompt, "completion_tokens": n_answer, "total_tokens": n_prompt + n_answer},
    }


@contextmanager
def running_llm(behave, *, structured=True, takes_all=False):
    """Run a server until the end of the block; it takes requests for one model's chats, or all of them."""
    with LlmServer(behave, structured=structured, takes_all=takes_all) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


def asked(body) -> str:
    """What the user asked at first, without repairs."""
    return next(message["content"] for message in body["messages"] if message["role"] == "user")


def texts_in(body) -> list[str]:
    """The JSON strings in a question, in order: the texts of the entry that it is about."""
    texts = []
    for line in asked(body).splitlines():
        _, sign, value = line.partition(": ")
        if sign and value.startswith('"') and value.endswith('"') and not line.startswith(("-", "{")):
            texts.append(json.loads(value))
    return texts


def share_of(body) -> float:
    """A number in [0, 1) that depends on the question alone, for behaviours that only some questions get."""
    return int(hashlib.sha256(asked(body).encode()).hexdigest()[:8], 16) / 2**32
