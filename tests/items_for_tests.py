"""A part of the bundled lexicon that is small enough for items to be made of it in a moment, and a chat endpoint."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.splits import retrieval_split

LANGUAGES = ("tr", "az", "uz")
N_TEST, N_OTHERS = 24, 40  # concepts


def write_part(folder):
    """Writes the first verbs of the bundled lexicon, a third of them test concepts, in three languages."""
    concepts = _rows("concepts")
    verbs = [row["id"] for row in concepts if row.get("pos") == "verb"]
    test = [concept for concept in verbs if retrieval_split(concept) == "test"][:N_TEST]
    others = [concept for concept in verbs if retrieval_split(concept) != "test"][:N_OTHERS]
    kept = {*test, *others}
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("concepts", *LANGUAGES):
        rows = [row for row in _rows(name) if row.get("id", row.get("concept")) in kept]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pairs = [row for row in _rows("equivalents") if set(row["concepts"]) <= kept]
    (folder / "equivalents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs), "utf-8")
    return folder


def _rows(name):
    return [json.loads(line) for line in (BUNDLED / f"{name}.jsonl").read_text("utf-8").splitlines()]


@contextmanager
def chat_endpoint(answer):
    """Serves OpenAI's chat completions on the loopback interface; yields its base URL and the list of requests.

    `answer` takes the text of the last message and returns the text of the model.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(request)
            content = request["messages"][-1]["content"]
            text = content if isinstance(content, str) else content[0]["text"]
            message = {"role": "assistant", "content": answer(text)}
            body = {
                "id": "c1", "object": "chat.completion", "created": 1, "model": request["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }  # fmt: skip
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            pass

    requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
