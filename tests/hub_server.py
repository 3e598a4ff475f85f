"""A Hugging Face Hub on the loopback interface, for the unmodified clients: datasets, read at any commit."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


class Repository:
    """Commits of one dataset, oldest first; ``main`` is the newest."""

    def __init__(self, name):
        self.name = name
        self.commits = {}

    def commit(self, folder: Path) -> str:
        """Adds the files below a folder as a new commit and returns its SHA."""
        files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
        digest = hashlib.sha1(str(len(self.commits)).encode())
        for path, data in files.items():
            digest.update(path.encode() + data)
        self.commits[digest.hexdigest()] = files
        return digest.hexdigest()

    def resolve(self, revision):
        if revision == "main":
            return next(reversed(self.commits))
        return revision if revision in self.commits else None


def describe(path, data):
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    return {"type": "file", "path": path, "size": len(data), "oid": blob}


class Handler(BaseHTTPRequestHandler):
    """The part of the Hub's HTTP API that reading a dataset takes."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.answer()

    def do_HEAD(self):
        self.answer()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if "json" in (self.headers.get("Content-Type") or ""):
            self.answer(paths=json.loads(body)["paths"])
        else:
            self.answer(paths=parse_qs(body).get("paths", []))

    def answer(self, paths=None):
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        self.server.requests.append(f"{self.command} {self.path}")
        is_api = parts[0] == "api"
        kind, owner, name, *rest = parts[1:] if is_api else parts
        repository = self.server.repositories.get(f"{owner}/{name}") if kind == "datasets" else None
        if repository is None:
            return self.error(404, "RepoNotFound", "Repository not found")
        commit = repository.resolve(rest[1] if len(rest) > 1 else "main")
        if commit is None:
            return self.error(404, "RevisionNotFound", f"Invalid rev id: {rest[1]}")
        files = repository.commits[commit]
        match rest[:1]:
            case [] | ["revision"]:
                return self.json(self.info(repository, commit))
            case ["tree"]:
                return self.tree(files, "/".join(rest[2:]))
            case ["paths-info"]:
                return self.json([describe(path, files[path]) for path in paths if path in files])
            case ["resolve"]:
                return self.file(files, commit, "/".join(rest[2:]))
        return self.error(404, "EntryNotFound", f"no such endpoint: {self.path}")

    @staticmethod
    def info(repository, commit):
        siblings = [{"rfilename": path} for path in repository.commits[commit]]
        common = {"private": False, "gated": False, "disabled": False, "downloads": 0, "likes": 0, "tags": []}
        return {"_id": "0" * 24, "id": repository.name, "sha": commit, "siblings": siblings, **common}

    def tree(self, files, under):
        prefix = f"{under}/" if under else ""
        recursive = parse_qs(urlsplit(self.path).query).get("recursive", ["false"])[0].lower() in ("1", "true")
        rows = {}
        for path, data in files.items():
            if path.startswith(prefix):
                head, _, tail = path[len(prefix) :].partition("/")
                if tail:
                    folder = prefix + head
                    rows[folder] = {"type": "directory", "path": folder, "size": 0, "oid": "0" * 40}
                if recursive or not tail:
                    rows[path] = describe(path, data)
        if under and not rows:
            return self.error(404, "EntryNotFound", f"{under} does not exist")
        return self.json(list(rows.values()))

    def file(self, files, commit, path):
        if path not in files:
            return self.error(404, "EntryNotFound", f"Entry not found: {path}", commit=commit)
        data = files[path]
        etag = describe(path, data)["oid"]
        return self.send(
            200, data, {"X-Repo-Commit": commit, "ETag": f'"{etag}"', "Content-Type": "application/octet-stream"}
        )

    def json(self, value):
        self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def error(self, status, code, message, commit=None):
        headers = {"X-Error-Code": code, "X-Error-Message": message, "Content-Type": "application/json"}
        headers |= {"X-Repo-Commit": commit} if commit else {}
        self.send(status, json.dumps({"error": message}).encode(), headers)

    def send(self, status, data, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def hub_server(repositories):
    """Serves datasets by name and yields (URL, list of the requests so far)."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.repositories = {repository.name: repository for repository in repositories}
    server.requests = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.requests
    finally:
        server.shutdown()
        thread.join()
