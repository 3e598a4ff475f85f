"""lm-eval's own client for chat endpoints, which needs the packages of its extra `api`, on the span tasks."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class ChatEndpoint(BaseHTTPRequestHandler):
    """Answers every request in the format of OpenAI's chat completions, and keeps it."""

    requests = None  # set by the fixture

    def do_POST(self):
        self.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        message = {"role": "assistant", "content": "no list of words"}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def endpoint():
    """(URL, list of the requests) of an endpoint on the loopback interface."""
    handler = type("Handler", (ChatEndpoint,), {"requests": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions", handler.requests
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_the_stock_command_asks_a_chat_endpoint(command, endpoint, tmp_path):
    url, requests = endpoint
    model = ("--model", "local-chat-completions", "--model_args", f"model=any,base_url={url},max_retries=1")
    task = ("--tasks", "turkic_idiom_span_gag", "--limit", "2", "--apply_chat_template")
    run = command("lm-eval", "run", *model, *task, "--output_path", "spans")
    assert run.returncode == 0, run.stderr
    assert len(requests) == 2
    for request in requests:
        assert request["model"] == "any"
        assert request["messages"][-1]["role"] == "user"
    (path,) = tmp_path.glob("spans/**/results_*.json")
    scores = json.loads(path.read_text())["results"]["turkic_idiom_span_gag"]
    assert scores["n_sentences,strict"] == 2
    assert scores["format_error,strict"] == 1.0  # the endpoint's answer is no list
