"""A server on the loopback interface that speaks OpenAI's protocol of chat completions, and behaves as a test orders.

A test gives a function from the request to what happens: a text is the model's answer, and `Failure`, `Html`, `Cut`,
`Slow` and `Malformed` are what goes wrong. Answers are sent whole or streamed, as the client asks.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-LoopbackKeyThatMustNotLeak"
MODEL = "scripted"


@dataclass(frozen=True)
class Failure:
    """An error status with its message."""

    status: int
    message: str = "out of order"
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None


@dataclass(frozen=True)
class Html:
    """A page instead of the protocol."""

    status: int = 200


@dataclass(frozen=True)
class Cut:
    """The connection ends in the middle of this answer."""

    text: str = "x" * 200


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

    def __init__(self, behave: Callable[[dict], Any], *, structured: bool = True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave, self.structured = behave, structured
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

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(body)
            server.keys.add(self.headers.get("Authorization"))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            if self.path != "/v1/chat/completions":
                self.fail(Failure(404, f"no route {self.path}"))
            elif body["model"] != MODEL and not body["model"].startswith("scripted-"):
                self.fail(Failure(404, f"The model `{body['model']}` does not exist", code="model_not_found"))
            elif "response_format" in body and not server.structured:
                self.fail(Failure(400, "Unknown parameter: 'response_format'"))
            else:
                self.act(body, server.behave(body))
        finally:
            with server.lock:
                server.at_once -= 1

    def act(self, body, behaviour):
        if isinstance(behaviour, Slow):
            time.sleep(behaviour.seconds)
            behaviour = behaviour.text
        if isinstance(behaviour, Failure):
            self.fail(behaviour)
        elif isinstance(behaviour, Html):
            self.send(b"<!DOCTYPE html><html><body>Welcome</body></html>", "text/html", behaviour.status)
        elif isinstance(behaviour, Malformed):
            response = completion(body, "x")
            behaviour.change(response)
            self.send(json.dumps(response).encode(), "application/json")
        elif body.get("stream"):
            self.stream(behaviour)
        elif isinstance(behaviour, Cut):
            data = json.dumps(completion(body, behaviour.text)).encode()
            self.head(200, "application/json", {"Content-Length": str(len(data))})
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        else:
            self.send(json.dumps(completion(body, behaviour)).encode(), "application/json")

    def stream(self, behaviour):
        is_cut = isinstance(behaviour, Cut)
        text = behaviour.text if is_cut else behaviour
        self.head(200, "text/event-stream", {"Connection": "close"})
        self.close_connection = True
        half = len(text) // 2
        for part in [text[:half], *([] if is_cut else [text[half:]])]:
            self.event({"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]})
        if is_cut:
            return
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, chunk):
        row = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, **chunk}
        self.wfile.write(f"data: {json.dumps(row)}\n\n".encode())
        self.wfile.flush()

    def fail(self, failure):
        error = {"error": {"message": failure.message, "type": "error", "param": None, "code": failure.code}}
        self.send(json.dumps(error).encode(), "application/json", failure.status, failure.headers)

    def send(self, data, kind, status=200, headers=()):
        self.head(status, kind, {"Content-Length": str(len(data)), **dict(headers)})
        self.wfile.write(data)

    def head(self, status, kind, headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def completion(body, text):
    """The response of the protocol that holds an answer; tokens are counted as words."""
    n_prompt = sum(len(message["content"].split()) for message in body["messages"])
    usage = {"prompt_tokens": n_prompt, "completion_tokens": len(text.split())}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }


@contextmanager
def running_llm(behave, *, structured=True):
    """Run a server until the end of the block."""
    with LlmServer(behave, structured=structured) as server:
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


def share_of(body, salt="") -> float:
    """A number in [0, 1) that depends on the question alone, for behaviours that only some questions get."""
    return int(hashlib.sha256((salt + asked(body)).encode()).hexdigest()[:8], 16) / 2**32
