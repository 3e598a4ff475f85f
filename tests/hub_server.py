"""A Hugging Face Hub on the loopback interface, for the unmodified clients: reading, publishing, and failing to order.

It speaks as much of the Hub's HTTP API as huggingface_hub and datasets use here, without Xet (HF_HUB_DISABLE_XET=1).
Repositories live in memory. A test says beforehand which requests shall fail, and how: see `Hub.order`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import struct
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_LoopbackTokenThatMustNotLeak"
READ_TOKEN = "hf_LoopbackTokenThatMayOnlyRead"
LOSE_ANSWER = "lose answer"
KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}
LFS_SUFFIXES = (".parquet", ".safetensors", ".bin")
OWN_FILES = {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"}  # the Hub starts a repository so
SPACE_FILES = {"README.md": b"---\nsdk: static\n---\n", "index.html": b"template", "style.css": b"template"}


class Repository:
    """Commits of one repository, oldest first; ``main`` is the newest that is no pull request."""

    def __init__(self, name, kind="dataset"):
        self.name, self.kind = name, kind
        self.commits, self.titles, self.tags, self.pulls = {}, {}, {}, {}
        self.main = None

    @property
    def files(self):
        return self.commits[self.main]

    def commit(self, folder: Path) -> str:
        """Adds the files below a folder as a new commit and returns its SHA."""
        self.main = self.add({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
        return self.main

    def add(self, files, title="") -> str:
        commit = hashlib.sha1(f"{len(self.commits)}{title}{files}".encode()).hexdigest()
        self.commits[commit], self.titles[commit] = files, title
        return commit

    def resolve(self, revision):
        if revision == "main":
            return self.main
        if revision.startswith("refs/pr/"):
            return self.pulls.get(int(revision.rpartition("/")[2]))
        tag = revision.removeprefix("refs/tags/")
        return self.tags.get(tag) or (revision if revision in self.commits else None)


@dataclass
class Odd:
    """An answer of a broken server; `length` is the one that it states, None the true one."""

    data: bytes = b""
    status: int = 200
    headers: Any = ()
    length: int | None = None


class Hub(ThreadingHTTPServer):
    """The server; `repositories` are by kind and name, `requests` are those so far."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories, self.requests, self.faults, self.lfs = {}, [], [], {}
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def reset(self):
        """Forgets everything, as a Hub that has just been started."""
        with self.lock:
            for record in (self.repositories, self.requests, self.faults, self.lfs):
                record.clear()

    def order(self, method, path, answer, times=1):
        """The next requests of this method and path get a status, `LOSE_ANSWER`, `Odd`, or a call before the answer."""
        self.faults += [(method, path, answer)] * times

    def fault(self, method, path):
        with self.lock:
            for number, (wanted, pattern, _) in enumerate(self.faults):
                if wanted == method and re.search(pattern, path):
                    return self.faults.pop(number)[2]
        return None

    def repository(self, name, kind="dataset"):
        return self.repositories[kind, name]

    def handle_error(self, request, client_address):
        pass  # clients that were cut off


def is_lfs(path):
    return path.endswith(LFS_SUFFIXES)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def describe(path, data):
    stored = data
    if is_lfs(path):
        stored = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(data)}\nsize {len(data)}\n".encode()
    blob = hashlib.sha1(b"blob %d\0" % len(stored) + stored).hexdigest()
    row = {"type": "file", "path": path, "size": len(data), "oid": blob}
    return row | ({"lfs": {"oid": sha256(data), "size": len(data), "pointerSize": len(stored)}} if is_lfs(path) else {})


class HubError(Exception):
    """An answer that is an error."""

    def __init__(self, status, code, message, commit=None):
        self.status, self.code, self.message, self.commit = status, code, message, commit


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def handle_one(self):
        self.server.requests.append(f"{self.command} {self.path}")
        length = int(self.headers.get("Content-Length") or 0)
        fault = self.server.fault(self.command, self.path)
        body = self.rfile.read(length)
        try:
            if callable(fault):
                fault()
            if isinstance(fault, int):
                raise HubError(fault, "", "ordered by the test")
            if self.token() not in ("", TOKEN, READ_TOKEN):
                raise HubError(401, "", "Invalid credentials in Authorization header")
            answer = self.answer(body)
        except HubError as error:
            headers = {"X-Error-Code": error.code, "X-Error-Message": error.message}
            headers |= {"X-Repo-Commit": error.commit} if error.commit else {}
            answer = self.json({"error": error.message}, error.status, **headers)
        if isinstance(fault, Odd):
            answer = fault.status, fault.data, {**answer[2], "Connection": "close", **dict(fault.headers)}
            self.close_connection = True
            return self.send(*answer, length=fault.length)
        if fault != LOSE_ANSWER:
            return self.send(*answer)
        # The connection ends as in a broken network, with a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        return self.connection.close()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_one  # noqa: N815

    def send(self, status, data, headers, length=None):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data) if length is None else length)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    @staticmethod
    def json(value, status=200, **headers):
        return status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers}

    def must_write(self):
        if self.token() == READ_TOKEN:
            raise HubError(403, "", "You don't have the rights")
        if self.token() != TOKEN:
            raise HubError(401, "", "Invalid username or password.")

    def query(self):
        return parse_qs(urlsplit(self.path).query)

    def token(self):
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def answer(self, body):
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        match [self.command, *parts]:
            case [_, "api", "whoami-v2"]:
                self.must_write()
                return self.json({"type": "user", "name": "tester", "orgs": [], "auth": {"type": "access_token"}})
            case ["POST", "api", "validate-yaml"]:
                return self.json({"errors": [], "warnings": []})
            case ["POST", "api", "repos", "create"]:
                return self.create(json.loads(body))
            case ["PUT", "_lfs", oid]:
                if sha256(body) != oid:
                    raise HubError(422, "", "sha256 does not match")
                self.server.lfs[oid] = body
                return 200, b"", {}
            case [_, "api", plural, owner, name, *rest] if plural in KINDS:
                return self.api(self.find(KINDS[plural], f"{owner}/{name}"), rest, body)
            case ["POST", *place, owner, name, "info", "lfs", "objects", "batch"]:
                self.must_write()
                self.find(KINDS[place[0]] if place else "model", f"{owner}/{name.removesuffix('.git')}")
                return self.batch(json.loads(body)["objects"])
            case [_, plural, owner, name, "resolve", revision, *path] if plural in KINDS:
                return self.file(self.find(KINDS[plural], f"{owner}/{name}"), revision, "/".join(path))
            case [_, owner, name, "resolve", revision, *path]:
                return self.file(self.find("model", f"{owner}/{name}"), revision, "/".join(path))
        raise HubError(404, "EntryNotFound", f"no such endpoint: {self.path}")

    def find(self, kind, name):
        if (kind, name) not in self.server.repositories:
            raise HubError(404, "RepoNotFound", "Repository not found")
        return self.server.repositories[kind, name]

    @staticmethod
    def at(repository, revision):
        commit = repository.resolve(revision)
        if commit is None:
            raise HubError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit

    def api(self, repository, rest, body):
        match [self.command, *rest]:
            case ["GET"]:
                return self.info(repository, "main")
            case ["GET", "revision", revision]:
                return self.info(repository, revision)
            case ["GET", "tree", revision, *path]:
                return self.tree(repository.commits[self.at(repository, revision)], "/".join(path))
            case ["GET", "refs"]:
                tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": c} for n, c in repository.tags.items()]
                return self.json({"branches": [], "converts": [], "tags": tags})
            case ["GET", "discussions"]:
                place = {"name": repository.name, "type": repository.kind}
                pull = {"status": "open", "isPullRequest": True, "author": {"name": "tester"}, "repo": place}
                pull["createdAt"] = "2026-01-01T00:00:00.000Z"
                rows = [pull | {"num": n, "title": repository.titles[c]} for n, c in repository.pulls.items()]
                return self.json({"discussions": rows, "count": len(rows), "start": 0})
            case ["POST", "preupload", revision]:
                self.must_write()
                return self.preupload(repository.commits[self.at(repository, revision)], json.loads(body)["files"])
            case ["POST", "commit", revision]:
                self.must_write()
                return self.commit(repository, self.at(repository, revision), body)
            case ["POST", "tag", revision]:
                self.must_write()
                tag = json.loads(body)["tag"]
                if tag in repository.tags:
                    raise HubError(409, "", "Tag already exists")
                repository.tags[tag] = self.at(repository, revision)
                return self.json({})
        raise HubError(404, "EntryNotFound", f"no such endpoint: {self.path}")

    def info(self, repository, revision):
        commit = self.at(repository, revision)
        siblings = [{"rfilename": path} for path in repository.commits[commit]]
        common = {"private": False, "gated": False, "disabled": False, "downloads": 0, "likes": 0, "tags": []}
        return self.json({"_id": "0" * 24, "id": repository.name, "sha": commit, "siblings": siblings, **common})

    def tree(self, files, under):
        prefix = f"{under}/" if under else ""
        recursive = self.query().get("recursive", ["false"])[0].lower() in ("1", "true")
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
            raise HubError(404, "EntryNotFound", f"{under} does not exist")
        return self.json(list(rows.values()))

    def file(self, repository, revision, path):
        commit = self.at(repository, revision)
        if path not in repository.commits[commit]:
            raise HubError(404, "EntryNotFound", f"Entry not found: {path}", commit)
        data = repository.commits[commit][path]
        etag = sha256(data) if is_lfs(path) else describe(path, data)["oid"]
        return 200, data, {"X-Repo-Commit": commit, "ETag": f'"{etag}"', "Content-Type": "application/octet-stream"}

    def create(self, wanted):
        self.must_write()
        kind, name = wanted.get("type") or "model", f"{wanted['organization']}/{wanted['name']}"
        if (kind, name) in self.server.repositories:
            return self.json({"error": "You already created this repo", "url": f"{self.server.url}/{name}"}, 409)
        repository = self.server.repositories[kind, name] = Repository(name, kind)
        repository.main = repository.add(OWN_FILES | (SPACE_FILES if kind == "space" else {}), "initial commit")
        return self.json({"url": f"{self.server.url}/{'' if kind == 'model' else kind + 's/'}{name}"})

    def preupload(self, files, wanted):
        rows = []
        for path in (row["path"] for row in wanted):
            there = describe(path, files[path]) if path in files else {}
            row = {"path": path, "uploadMode": "lfs" if is_lfs(path) else "regular", "shouldIgnore": False}
            rows.append(row | {"oid": there.get("lfs", there).get("oid")})
        return self.json({"files": rows})

    def batch(self, objects):
        rows = []
        for wanted in objects:
            row = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.server.lfs:
                row["actions"] = {"upload": {"href": f"{self.server.url}/_lfs/{wanted['oid']}"}}
            rows.append(row)
        return self.json({"transfer": "basic", "objects": rows}, **{"Content-Type": "application/vnd.git-lfs+json"})

    def commit(self, repository, parent, body):
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        if header.get("parentCommit") not in (None, parent):
            raise HubError(412, "", "A commit has happened since. Please refresh and try again.")
        files = dict(repository.commits[parent])
        for line in lines:
            value = line["value"]
            match line["key"]:
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    files[value["path"]] = self.server.lfs[value["oid"]]
        commit, url = repository.add(files, header["summary"]), f"{self.server.url}/{repository.name}"
        answer = {"success": True, "commitOid": commit, "commitUrl": f"{url}/commit/{commit}"}
        if self.query().get("create_pr") == ["1"]:
            number = len(repository.pulls) + 1
            repository.pulls[number] = commit
            answer["pullRequestUrl"] = f"{url}/discussions/{number}"
        else:
            repository.main = commit
        return self.json(answer)


@contextmanager
def running_hub():
    """Serves no repository yet and yields the `Hub`."""
    with Hub() as hub:
        threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield hub
        finally:
            hub.shutdown()
