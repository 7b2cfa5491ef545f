"""What is sent to do harm: each is a 4xx with a code of ours, nothing of it is kept, and the neighbours are served."""

import base64
import gzip
import json
import time
import zlib

import pytest

MIB = 1024 * 1024
LIMIT = 20 * MIB
FIELDS = {"name": "sent", "description": "Was sent."}
PATHS = {
    "../escape.md": "leads elsewhere",
    "a/../../escape.md": "leads elsewhere",
    "a/./b.md": "leads elsewhere",
    "..": "leads elsewhere",
    ".": "leads elsewhere",
    "．．/escape.md": "leads elsewhere",
    "/etc/passwd": "absolute",
    "C:/Windows/x": "absolute",
    "\\\\host\\share": "absolute",
    "a\\..\\b": "backslash",
    "a//b.md": "empty name",
    "a/": "empty name",
    "nul": "device",
    "a/COM1.txt": "device",
    "a.": "dot or a space",
    "a ": "dot or a space",
    "a\u202egpj.sh": "cannot be seen",
    "a\u200b.md": "cannot be seen",
    "a\x1b[2J.md": "cannot be seen",
    "a\nb": "cannot be seen",
    "a\u0000b": "zero byte",
    "": "at least 1 character",
    "a" * 256: "255 bytes",
    "é" * 600: "at most 1024",
    "a" * 2000: "at most 1024",
    "/".join("a" * 40): "deep",
    ".git/config": "no part of a skill",
    ".GIT/hooks/post-checkout": "no part of a skill",
    "a/.git/config": "no part of a skill",
    "SKILL.md/inner": "one on some disks",
    "ſKILL.md": "one on some disks",
}


@pytest.mark.parametrize("path", PATHS, ids=[ascii(path)[:40] for path in PATHS])
def test_a_path_that_is_unsafe_anywhere_is_refused_everywhere(refused, path):
    file = {"path": path, "content": "x"}
    for error in (
        refused("POST", "skills/{skill_id}/files", 422, json=file),
        refused("POST", "skills", 422, json={**FIELDS, "files": [file]}),
        refused("PUT", "skills/{skill_id}", 422, json={"files": [file]}),
    ):
        assert PATHS[path] in json.dumps(error, ensure_ascii=False), error


@pytest.mark.parametrize(
    "paths",
    [
        ("a.md", "A.md"),
        ("é.md", "e\u0301.md"),
        ("straße.md", "STRASSE.md"),
        ("ﬁle.md", "file.md"),
        ("SKILL.MD",),
        ("skill.md",),
        ("a", "a/b"),
        ("a/b", "A/c"),
        ("x.md", "x.md"),
        ("a\ufe0f.md", "a.md"),
    ],
)
def test_paths_that_some_disk_takes_for_one_are_refused(refused, paths):
    files = [{"path": path, "content": "x"} for path in paths]
    refused("POST", "skills", 422, json={**FIELDS, "files": files})
    refused("PUT", "skills/{skill_id}", 422, json={"files": files})


@pytest.mark.parametrize(
    "name",
    ["", "../x", "a/b", "a\nb", "a\u202eb", "a\u200bb", "x" * 257, "\u0000", ".", "..", "a\x1bb", " "],
    ids=ascii,
)
def test_a_name_that_could_mislead_is_refused(refused, name):
    refused("POST", "skills", 422, json={**FIELDS, "name": name})
    refused("PUT", "skills/{skill_id}", 422, json={"name": name})


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("skills/files/../../etc/passwd", "climbs"),
        ("skills/files/..%2f..%2fetc%2fpasswd", "climbs, encoded"),
        ("skills/files/%2e%2e", "dots"),
        ("skills/{skill_id}/files/..%2f..%2f..%2fregistry.sqlite", "climbs to the database"),
        ("skills/{skill_id}/files/%2e%2e/%2e%2e/registry.sqlite", "climbs, encoded dots"),
        ("skills/{skill_id}/files//etc/passwd", "absolute"),
        ("skills/{skill_id}/files/%ff%fe", "no UTF-8"),
        ("skills/{skill_id}/files/notes.md%00.png", "zero byte"),
        ("skills/{skill_id}/versions/..%2f..", "climbs as a version"),
        ("skills/' OR 1=1 --", "SQL"),
        ("skills/%27%3B%20DROP%20TABLE%20skills%3B--", "SQL, encoded"),
        ("skills/" + "a" * 9000, "long"),
        ("skills/{skill_id}/export?version=../../x", "a version that climbs"),
        ("skills?cursor=" + "W1tbW1tb" * 200, "a cursor that is none"),
        ("skills?limit=99999999999999999999999", "a limit beyond all numbers"),
        ("changes?since=99999999999999999999999", "a number beyond all numbers"),
        ("history/99999999999999999999999", "a number beyond all numbers"),
        ("history/-1", "a number below all"),
        ("/.well-known/agent-skills/../../etc/passwd", "climbs in discovery"),
        ("/.well-known/agent-skills/x/..%2f..%2fx.zip", "climbs in discovery, encoded"),
        ("/marketplace/..%2f..%2fx.git/info/refs?service=git-upload-pack", "climbs in the marketplace"),
    ],
)
def test_an_address_that_leads_elsewhere_finds_nothing(refused, path, what):
    refused("GET", path)
    if "skills/files/" in path:
        refused("DELETE", path)


def body_of(depth):
    return b'{"name":"sent","description":"x","metadata":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"


BODIES = {
    "no JSON": b"{",
    "nothing": b"",
    "a list": b"[]",
    "a text": b'"x"',
    "a number": b"1",
    "null": b"null",
    "zero bytes": b"\0" * 1000,
    "UTF-16": json.dumps(FIELDS).encode("utf-16"),
    "no UTF-8": b'{"name":"\xff","description":"x"}',
    "a surrogate in bytes": b'{"name":"\xed\xa0\x80","description":"x"}',
    "a surrogate": rb'{"name":"sent","description":"\ud800"}',
    "a zero character": rb'{"name":"sent","description":"a\u0000b"}',
    "a zero character in a key": rb'{"name":"sent","description":"x","metadata":{"\u0000":1}}',
    "not a number": b'{"name":"sent","description":"x","metadata":{"a":NaN}}',
    "an endless number": b'{"name":"sent","description":"x","metadata":{"a":1e999}}',
    "a number of 5,000 digits": b'{"name":"sent","description":"x","metadata":{"a":' + b"9" * 5000 + b"}}",
    "a hundred levels": body_of(100),
    "a million levels": body_of(1_000_000),
    "a million open brackets": b"[" * 1_000_000,
    "millions of lists": b'{"name":"sent","description":"x","allowed_tools":[' + b"[]," * 6_000_000 + b"1]}",
    "masses of wrong values": b'{"name":"sent","description":"x","allowed_tools":[' + b"1," * 90_000 + b"1]}",
    "masses of keys": b"{" + b",".join(b'"k%d":1' % n for n in range(90_000)) + b"}",
    "a wrong field": b'{"name":"sent","description":"x","is_admin":true}',
    "a prototype": b'{"name":"sent","description":"x","__proto__":{"a":1}}',
    "a wrong type": b'{"name":["sent"],"description":{"a":1}}',
    "a truth in words": b'{"name":"sent","description":"x","is_public":"perhaps"}',
    "two visibilities": b'{"name":"sent","description":"x","is_public":true,"visibility":"private"}',
    "an unknown visibility": b'{"name":"sent","description":"x","visibility":"root"}',
    "too many tags": json.dumps({**FIELDS, "tags": ["a"] * 101}).encode(),
    "a long tag": json.dumps({**FIELDS, "tags": ["a" * 257]}).encode(),
    "a long SKILL.md": json.dumps({**FIELDS, "content": "x" * (MIB + 1)}).encode(),
    "long frontmatter": json.dumps({**FIELDS, "metadata": {"a": "x" * 300_000}}).encode(),
    "2,001 files": json.dumps({**FIELDS, "files": [{"path": f"{n}", "content": ""} for n in range(2001)]}).encode(),
    "2,000 files and SKILL.md": json.dumps(
        {**FIELDS, "files": [{"path": f"{n}", "content": ""} for n in range(2000)]}
    ).encode(),
    "17 MiB of files": json.dumps(
        {**FIELDS, "files": [{"path": f"{n}", "content": "x" * MIB} for n in range(17)]}
    ).encode(),
    "a file of no content": json.dumps({**FIELDS, "files": [{"path": "a"}]}).encode(),
    "a file of two contents": json.dumps(
        {**FIELDS, "files": [{"path": "a", "content": "x", "content_base64": "eA=="}]}
    ).encode(),
    "no base64": json.dumps({**FIELDS, "files": [{"path": "a", "content_base64": "e A="}]}).encode(),
    "unpadded base64": json.dumps({**FIELDS, "files": [{"path": "a", "content_base64": "eA"}]}).encode(),
    "base64 with hidden bits": json.dumps({**FIELDS, "files": [{"path": "a", "content_base64": "eB=="}]}).encode(),
    "20 MiB and a byte": json.dumps({**FIELDS, "content": ""}).encode().ljust(LIMIT + 1),
    "gzip": gzip.compress(json.dumps(FIELDS).encode()),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_body_that_makes_no_skill_is_refused(refused, what):
    began = time.process_time()
    refused("POST", "skills", raw_body=[BODIES[what]], headers={"Content-Type": "application/json"})
    assert time.process_time() - began < 5


def test_a_compressed_body_is_not_unpacked(refused):
    body = gzip.compress(json.dumps(FIELDS).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused("POST", "skills", raw_body=[body], headers=headers)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data", "image/png"]
)
def test_a_body_of_another_kind_is_refused(refused, kind):
    refused("POST", "skills", raw_body=[json.dumps(FIELDS).encode()], headers={"Content-Type": kind})


def test_strangers_are_refused_before_their_body_is_looked_at(yard):
    before = yard.served.state()
    for body in (BODIES["millions of lists"], BODIES["a surrogate"], b"{"):
        pieces = [body, b" "]
        began = time.process_time()
        answer = yard.served.ask("POST", "skills", raw_body=pieces, headers={"Content-Type": "application/json"})
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "unauthenticated"
        assert time.process_time() - began < 0.05
    assert yard.served.state() == before


def test_a_body_that_goes_on_beyond_its_limit_is_cut_off(refused):
    pieces = [b" " * MIB] * 21
    for kind in ("application/json", "multipart/form-data; boundary=b", "text/plain"):
        refused("POST", "skills/import", 413, 400, 422, raw_body=pieces, headers={"Content-Type": kind})
    headers = {"Content-Type": "application/json", "Content-Length": str(LIMIT + 1)}
    refused("POST", "skills", 413, raw_body=[b"{}"], headers=headers)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": "-1"}, 400),
        ({"Content-Length": "1e9"}, 400),
        ({"Content-Length": "9" * 40}, 413),
        ({"Idempotency-Key": "a" * 300}, 400),
        ({"Idempotency-Key": "a b"}, 400),
        ({"Idempotency-Key": ""}, 400),
        ({"If-Match": '"no-etag"'}, 422),
        ({"If-Match": b'"\xff"'}, 422),
        ({"X-Long": "a" * 40_000}, 431),
        ({f"X-{n}": "a" for n in range(120)}, 431),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_header_that_is_wrong_or_too_large_is_refused(refused, headers, status):
    headers = {"Content-Type": "application/json", **headers}
    refused("PUT", "skills/{skill_id}", status, raw_body=[b'{"description": "Not written."}'], headers=headers)


@pytest.mark.parametrize(
    "body",
    [
        {"label": ""},
        {"label": " "},
        {"label": "x" * 201},
        {"label": "a\u0000"},
        {"label": "x", "scope": "root"},
        {"label": "x", "scope": ["admin"]},
        {"label": "x", "expires_in_days": 0},
        {"label": "x", "expires_in_days": -1},
        {"label": "x", "expires_in_days": 10**30},
        {"label": "x", "expires_in_days": 1.5},
        {"label": "x", "secret": "sky_mine"},
        {"label": "x", "person_id": "x"},
    ],
    ids=ascii,
)
def test_a_token_that_is_asked_for_wrongly_is_not_made(refused, body):
    refused("POST", "tokens", 422, json=body)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "namespaces", {"name": "../x"}),
        ("POST", "namespaces", {"name": "A B"}),
        ("POST", "namespaces", {"name": "x" * 65}),
        ("PUT", "namespaces/crew/policy", {"max_files": 10**30}),
        ("PUT", "namespaces/crew/policy", {"file_types": ["../x"]}),
        ("PUT", "namespaces/crew/policy", {"scan": "never"}),
        ("PUT", "namespaces/crew/members/viewer", {"role": "god"}),
        ("POST", "usage", {"events": [{"skill": "x", "event": "shown"}] * 1001}),
        ("POST", "usage", {"events": [{"skill": "x", "event": "shown", "at": "yesterday"}]}),
        ("POST", "usage", {"events": [{"skill": "x", "event": "exploded"}]}),
        ("POST", "skills/{skill_id}/versions", {"version": "1"}),
        ("POST", "skills/{skill_id}/versions", {"version": "9" * 500 + ".0.0"}),
        ("POST", "skills/{skill_id}/versions", {"version": "1.0.0\n"}),
        ("POST", "skills/{skill_id}/versions", {"notes": "x" * 20_001}),
        ("POST", "skills/{skill_id}/versions/1.0.0/yank", {"reason": ""}),
        ("PUT", "skills/{skill_id}/tags/latest", {"version": "1.0.0"}),
        ("PUT", "skills/{skill_id}/tags/a%2fb", {"version": "1.0.0"}),
        ("PUT", "skills/{skill_id}/tags/A", {"version": "1.0.0"}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_values_out_of_bounds_are_refused(refused, method, path, body):
    refused(method, path, 422, 404, json=body)


def test_bombs_cost_little(yard):
    bomb = zlib.compress(b"\0" * (64 * MIB), 9)
    body = {**FIELDS, "files": [{"path": "bomb.gz", "content_base64": base64.b64encode(bomb).decode()}]}
    made = yard.did("owner", "POST", "skills", json=body)  # a compressed file in a skill is bytes like any other
    assert yard.did("owner", "GET", f"skills/{made['id']}")["files"][-1]["size"] == len(bomb)
