import gzip
import hashlib
import math
from contextlib import asynccontextmanager
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.server import discovery, marketplace
from skillyard.server.cache import FRESH_UNTIL, AnswerCache
from skillyard.server.errors import install_error_handlers
from skillyard.server.opened import Opened
from skillyard.skill.bundle import BundleFile, bundle_of

INDEX = "/.well-known/agent-skills/index.json"
REFS = "/marketplace.git/info/refs?service=git-upload-pack"
PACK = "/marketplace.git/git-upload-pack"
WHY = Why()


def bundle(name, *files, description="Does it."):
    text = f"---\nname: {name}\ndescription: {description}\n---\n"
    return bundle_of([BundleFile("SKILL.md", text.encode()), *files]).require()


SKILLS = [
    (bundle("pdf", BundleFile("data.bin", bytes(range(256)) * 20)), Visibility.DISCOVERABLE),
    (bundle("notes", description="é" * 600), Visibility.DISCOVERABLE),
    (bundle("long", description="🛠" * 600), Visibility.DISCOVERABLE),
    (bundle("secret"), Visibility.PRIVATE),
]


@pytest.fixture
def yard_client(tmp_path, new_home):
    """A client, and the headers of the owner of all skills. With `x-absent`, nothing is noted about the caller."""
    given = {}

    @asynccontextmanager
    async def opening():
        async with open_yard(Settings(home=new_home(tmp_path))) as yard:
            ana = await yard.access.operator("ana")
            for one, visibility in SKILLS:
                await yard.registry.publishing.publish_bundle(ana, draft_of(one), visibility=visibility, why=WHY)
            token = await yard.tokens.create(ana, label="test", why=WHY)
            given["owner"] = {"authorization": f"Bearer {token.secret}"}
            api = FastAPI()
            install_error_handlers(api)
            api.state.yard = yard
            api.router.routes.extend([*discovery.router.routes, *marketplace.router.routes])

            async def app(scope, receive, send):
                headers = dict(scope["headers"])
                state = scope.setdefault("state", {})
                state[FRESH_UNTIL] = math.inf
                if b"authorization" in headers:
                    secret = headers[b"authorization"].decode().removeprefix("Bearer ")
                    state["principal"] = (await yard.access.by_token(secret)).principal
                elif b"x-absent" not in headers:
                    state["principal"] = None
                await api(scope, receive, send)

            yield AnswerCache(app, number=yard.database.number)

    with TestClient(Opened(opening), base_url="http://yard.test") as client:
        yield client, given["owner"]


def names(answer):
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["skills"]]


def test_the_index_is_what_the_specification_says(yard_client):
    client, _ = yard_client
    document = client.get(INDEX).json()
    assert document.keys() == {"$schema", "skills"}
    assert document["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    for entry in document["skills"]:
        # The last two are extensions: those who do not know them leave them aside.
        assert entry.keys() == {"name", "type", "description", "url", "digest", "version", "versions"}
        assert 0 < len(entry["description"].encode("utf-16-le")) // 2 <= 1024
        got = client.get(urljoin(INDEX, entry["url"]))
        assert entry["digest"] == f"sha256:{hashlib.sha256(got.content).hexdigest()}"
    assert {entry["name"]: entry["type"] for entry in document["skills"]} == {
        "pdf": "archive",
        "notes": "skill-md",
        "long": "skill-md",
    }
    assert next(entry for entry in document["skills"] if entry["name"] == "notes")["description"] == "é" * 600


def test_a_stranger_sees_what_is_discoverable_and_a_token_all_it_may_read(yard_client):
    client, owner = yard_client
    assert names(client.get(INDEX)) == ["long", "notes", "pdf"]
    assert names(client.get(INDEX, headers={"x-absent": "1"})) == ["long", "notes", "pdf"]
    assert names(client.get(INDEX, headers=owner)) == ["long", "notes", "pdf", "secret"]


def test_every_version_can_be_had_by_those_who_see_the_skill(yard_client):
    client, owner = yard_client
    for headers, name in (({}, "pdf"), (owner, "secret")):
        entries = {entry["name"]: entry for entry in client.get(INDEX, headers=owner).json()["skills"]}
        address = urljoin(INDEX, entries[name]["versions"])
        (version,) = client.get(address, headers=headers).json()["versions"]
        assert version["version"] == entries[name]["version"] == "0.1.0"
        assert urljoin(address, version["url"]) == urljoin(INDEX, entries[name]["url"])
        assert client.get(urljoin(address, version["url"]), headers=headers).status_code == 200


def test_an_artifact_can_be_kept_for_ever_by_those_who_may_have_it(yard_client):
    client, owner = yard_client
    urls = {entry["name"]: urljoin(INDEX, entry["url"]) for entry in client.get(INDEX, headers=owner).json()["skills"]}
    shared = client.get(urls["pdf"])
    assert shared.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert shared.headers["content-type"] == "application/zip"
    assert client.get(urls["pdf"], headers={"if-none-match": shared.headers["etag"]}).status_code == 304
    private = client.get(urls["secret"], headers=owner)
    assert private.headers["cache-control"].startswith("private, ")
    assert "authorization" in private.headers["vary"]


@pytest.mark.parametrize(
    "name",
    ["secret", "versions of secret", "versions of nothing", "nothing", "wrong digest", "wrong ending", "no address"],
)
def test_what_a_stranger_may_not_have_looks_like_what_is_not_there(yard_client, name):
    client, owner = yard_client
    entries = {entry["name"]: entry["url"] for entry in client.get(INDEX, headers=owner).json()["skills"]}
    url = {
        "secret": entries["secret"],
        "versions of secret": f"{entries['secret'].partition('/')[0]}/versions.json",
        "versions of nothing": "nothing/versions.json",
        "nothing": f"nothing/{'0' * 64}.zip",
        "wrong ending": entries["pdf"].replace(".zip", ".md"),
        "no address": f"%00/{'é' * 300}.zip",
        "wrong digest": f"{entries['pdf'].partition('/')[0]}/{'0' * 64}.zip",
    }[name]
    answer = client.get(urljoin(INDEX, url))
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "There is nothing here."


def test_a_repository_is_only_read_and_only_by_the_smart_protocol(yard_client):
    client, _ = yard_client
    assert client.get("/marketplace.git/info/refs").status_code == 404
    assert client.get("/marketplace.git/info/refs?service=git-receive-pack").status_code == 404
    assert client.get("/marketplace/secret.git/info/refs?service=git-upload-pack").status_code == 404
    assert client.get(REFS).headers["content-type"] == "application/x-git-upload-pack-advertisement"


def commit_of(client, **headers):
    return client.get(REFS, headers=headers).content.split(b"0000", 1)[1][4:44]


def line(text):
    return b"%04x%s" % (len(text) + 4, text)


@pytest.mark.parametrize("path", ["/.claude-plugin/marketplace.json", "/marketplace/marketplace.json"])
def test_the_list_of_plugins_is_kept_for_nobody_else_and_no_other_host(yard_client, path):
    client, _ = yard_client
    # A request for a range is not answered by the cache, which names what answers vary by itself.
    for headers in ({}, {"range": "bytes=0-"}):
        assert client.get(path, headers=headers).headers["cache-control"] == "private, no-cache"
    assert client.get(path, headers={"range": "bytes=0-"}).headers["vary"] == "Authorization, Cookie, Host"
    for host in ("one.test", "two.test"):
        (plugin,) = client.get(path, headers={"host": host}).json()["plugins"]
        assert plugin["source"]["url"] == f"http://{host}/marketplace/ana.git"


def test_a_compressed_request_is_understood(yard_client):
    client, _ = yard_client
    body = line(b"want %s ofs-delta\n" % commit_of(client)) + b"0000" + line(b"done\n")
    plain = client.post(PACK, content=body).content
    assert plain.startswith(b"0008NAK\nPACK")
    assert client.post(PACK, content=gzip.compress(body), headers={"content-encoding": "gzip"}).content == plain


def test_a_stranger_is_not_given_the_commit_of_someone_else(yard_client):
    client, owner = yard_client
    mine = commit_of(client, **owner)
    assert mine != commit_of(client)
    body = line(b"want %s\n" % mine) + b"0000" + line(b"done\n")
    assert client.post(PACK, content=body, headers=owner).content.startswith(b"0008NAK\nPACK")
    refused = client.post(PACK, content=body).content
    assert refused[4:].startswith(b"ERR ")
    assert b"PACK" not in refused


def test_before_a_client_is_done_it_is_told_that_nothing_is_shared(yard_client):
    client, _ = yard_client
    want = line(b"want %s\n" % commit_of(client))
    assert (
        client.post(PACK, content=want + b"0000" + line(b"have %s\n" % (b"1" * 40)) + b"0000").content == b"0008NAK\n"
    )
    assert client.post(PACK, content=want + line(b"deepen 1") + b"0000").content == b"0000"


@pytest.mark.parametrize(
    "body", [b"x", b"zzzz", b"ffffwant", b"-001", b"0009want ", b"+00a", b"\xff" * 40, b"000bwant \xff\xff"]
)
def test_what_git_would_never_say_is_refused(yard_client, body):
    client, _ = yard_client
    answer = client.post(PACK, content=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "Not a Git request."


@pytest.mark.parametrize("body", [b"no gzip", gzip.compress(bytes(2_000_000)), gzip.compress(b"0000", mtime=0)[:-9]])
def test_a_request_that_unpacks_to_too_much_or_nothing_is_refused(yard_client, body):
    client, _ = yard_client
    assert client.post(PACK, content=body, headers={"content-encoding": "gzip"}).status_code == 422
