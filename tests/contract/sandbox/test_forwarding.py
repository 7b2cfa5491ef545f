"""Connections from inside a sandbox to its proxy's port; here something answers there in capitals."""

import pytest

from skillyard.sandbox.capabilities import Ability

pytestmark = pytest.mark.anyio

CONNECT = """
import os, socket
host, _, port = os.environ["HTTP_PROXY"].removeprefix("http://").rpartition(":")
def connect():
    return socket.create_connection((host, int(port)))
def all_of(s):
    data = b""
    while piece := s.recv(65536):
        data += piece
    return data
"""


@pytest.fixture(autouse=True)
async def _needs_a_network(backend):
    if Ability.NETWORK not in (await backend.capabilities()).abilities:
        pytest.skip(f"Nothing is let out of a sandbox of {backend.name}.")


@pytest.fixture
async def inside(session):
    assert (await session.python(CONNECT)).success

    async def run(code):
        outcome = await session.python(code)
        assert outcome.success, outcome.error
        return outcome.output

    return run


async def test_what_is_said_to_the_port_is_heard_outside_and_answered(inside, echo):
    before = echo.connections
    said = await inside("s = connect()\ns.sendall(b'hello')\ns.shutdown(socket.SHUT_WR)\nall_of(s)")
    assert said == "b'HELLO'\n"
    assert echo.connections == before + 1


async def test_the_variables_of_the_proxy_are_set_in_each_spelling(sh):
    said = (await sh("env | grep -i proxy | sort")).stdout.decode().splitlines()
    values = dict(line.split("=", 1) for line in said)
    assert values["NO_PROXY"] == values["no_proxy"] == ""
    names = {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
    assert len({values[name] for name in names}) == 1
    assert values["HTTP_PROXY"].startswith("http://127.0.0.1:")


async def test_much_data_passes_whole_both_ways(inside):
    code = """
import threading
s = connect()
sent = bytes(range(97, 123)) * 200_000
t = threading.Thread(target=lambda: (s.sendall(sent), s.shutdown(socket.SHUT_WR)))
t.start()
got = all_of(s)
t.join()
got == sent.upper()
"""
    assert await inside(code) == "True\n"


async def test_a_connection_that_does_not_read_holds_up_no_other(inside):
    code = """
import threading
slow = connect()
slow.settimeout(0.5)
try:
    for _ in range(1000): slow.sendall(b"x" * 65536)
    held = False
except TimeoutError:
    held = True
s = connect()
s.sendall(b"quick")
s.shutdown(socket.SHUT_WR)
answer = all_of(s)
slow.close()
held, answer
"""
    assert await inside(code) == "(True, b'QUICK')\n"


async def test_many_connections_one_after_the_other_and_at_once(inside):
    code = """
for _ in range(300):
    s = connect(); s.close()
many = [connect() for _ in range(150)]
for s in many[:100]: s.sendall(b"x"); s.shutdown(socket.SHUT_WR)
got = [all_of(s) for s in many[:100]]
for s in many: s.close()
s = connect(); s.sendall(b"last"); s.shutdown(socket.SHUT_WR)
set(got), all_of(s)
"""
    assert await inside(code) == "({b'X'}, b'LAST')\n"
