import http.client
import json
import os
import socket
import subprocess
import sys
import threading

import pytest
import uvicorn

from skillyard.errors import UsageError
from skillyard.server.peers import Peer, own_uids, whose
from skillyard.server.protocol import LocalProtocol
from skillyard.server.run import bind

NOBODY = 65534
ROW = "   0: {} {} 01 00000000:00000000 00:00000000 00000000 {uid:5d}        0 {inode} 1 0000 20 4 30 10 -1\n"
CLIENT, SERVER = ("127.0.0.1", 0x9C40), ("127.0.0.1", 0x2081)
OURS, THEIRS = "0100007F:2081 0100007F:9C40", "0100007F:9C40 0100007F:2081"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")


def table(folder, *rows, name="tcp"):
    lines = [ROW.format(*pair.split(), uid=uid, inode=inode) for pair, uid, inode in rows]
    (folder / name).write_text("  sl  local_address rem_address   st\n" + "".join(lines))


@pytest.mark.parametrize(
    ("uid", "inode", "expected"),
    [(1000, 7, Peer.OWN), (0, 7, Peer.OWN), (1001, 7, Peer.FOREIGN), (0, 0, Peer.FOREIGN)],
    ids=["own", "root", "another", "closed"],
)
def test_the_owner_of_the_other_end_decides(tmp_path, uid, inode, expected):
    table(tmp_path, (OURS, 1000, 5), (THEIRS, uid, inode))
    assert whose(CLIENT, SERVER, uids={1000, 0}, proc=tmp_path) is expected


def test_an_ipv4_client_on_an_ipv6_socket_is_found(tmp_path):
    mapped = "0000000000000000FFFF00000100007F"
    table(tmp_path, (OURS, 1000, 5))
    table(tmp_path, (f"{mapped}:9C40 {mapped}:2081", 1001, 7), name="tcp6")
    assert whose(CLIENT, SERVER, uids={1000}, proc=tmp_path) is Peer.FOREIGN


def test_an_end_that_is_gone_is_nobodys(tmp_path):
    table(tmp_path, (OURS, 1000, 5))
    assert whose(CLIENT, SERVER, uids={1000}, proc=tmp_path) is Peer.FOREIGN


def test_a_system_without_a_table_cannot_tell(tmp_path):
    assert whose(CLIENT, SERVER, uids={1000}, proc=tmp_path) is Peer.UNKNOWN
    table(tmp_path)
    assert whose(CLIENT, SERVER, uids={1000}, proc=tmp_path) is Peer.UNKNOWN


def test_a_client_of_another_machine_is_nobody_here(tmp_path):
    table(tmp_path, (OURS, 1000, 5), (THEIRS, 1001, 7))
    assert whose(("192.0.2.1", 0x9C40), SERVER, uids={1000}, proc=tmp_path) is Peer.UNKNOWN


@linux_only
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_kernel_tells_whose_a_real_connection_is(host):
    try:
        listener = bind(host, 0)
    except UsageError:
        pytest.skip(f"this machine has no {host}")
    with listener, socket.create_connection(listener.getsockname()[:2]) as client, listener.accept()[0] as accepted:
        ends = client.getsockname()[:2], accepted.getsockname()[:2]
        assert whose(*ends, uids={os.geteuid()}) is Peer.OWN
        assert whose(*ends, uids={os.geteuid() + 1}) is Peer.FOREIGN


async def hello(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@pytest.fixture
def port():
    """A local server in this process, as `run` starts it."""
    listener = bind("127.0.0.1", 0)
    config = uvicorn.Config(hello, http=LocalProtocol, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(timeout=20)
    listener.close()


ASK = """
import encodings.idna, http.client, os, sys
port, uid = map(int, sys.argv[1:])
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
client = http.client.HTTPConnection("127.0.0.1", port)
client.request("POST", "/", body=b"x" * 100_000)
answer = client.getresponse()
print(answer.status, answer.read().decode())
"""


def ask_as(uid, port):
    """The answer that a user of this machine gets; Python starts as root, for others may not reach it."""
    command = [sys.executable, "-I", "-c", ASK, str(port), str(uid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    return done.stdout or done.stderr


def test_our_own_connections_are_served(port):
    client = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(2):
        client.request("GET", "/")
        assert client.getresponse().read() == b"hi"
    client.close()


@linux_only
@pytest.mark.skipif(sys.platform == "linux" and os.geteuid() != 0, reason="only root can ask as another user")
def test_another_user_of_this_machine_gets_an_answer_that_refuses(port):
    status, _, body = ask_as(NOBODY, port).partition(" ")
    assert status == "403", body
    assert json.loads(body)["error"]["code"] == "not_allowed"
    assert ask_as(0, port).startswith("200")


def test_root_counts_as_us():
    assert own_uids() == {os.geteuid(), 0}
