import asyncio
import re

import pytest

from skillyard.errors import UsageError
from skillyard.sandbox.docker.host import DockerHost
from skillyard.sandbox.docker.ssh import SshBridge, ssh_line

pytestmark = pytest.mark.anyio


def test_an_address_that_is_given_comes_before_the_environment():
    environment = {"DOCKER_HOST": "tcp://other:2375"}
    assert DockerHost.find("unix:///x.sock", environment).url == "unix:///x.sock"
    assert DockerHost.find(None, environment).url == "tcp://other:2375"
    assert DockerHost.find(None, {}).url == "unix:///var/run/docker.sock"


def test_certificates_belong_to_addresses_that_are_reached_by_tls():
    environment = {"DOCKER_CERT_PATH": "/certs", "DOCKER_TLS_VERIFY": "1"}
    remote = DockerHost.find("tcp://far:2376", environment)
    assert remote.certificates is not None
    assert remote.certificates.verify
    assert remote.certificates.own == ("/certs/cert.pem", "/certs/key.pem")
    assert DockerHost.find("unix:///x.sock", environment).certificates is None


def test_only_a_local_daemon_sees_the_folders_of_this_machine():
    assert DockerHost.find("unix:///x.sock", {}).local
    assert not DockerHost.find("tcp://far:2375", {}).local
    assert not DockerHost.find("ssh://far", {}).local


@pytest.mark.parametrize("address", ["ftp://x", "tcp://[", "tcp://far:99999", "ssh://far:port"])
def test_an_address_that_is_none_is_refused_with_what_could_be_written(address):
    with pytest.raises(UsageError, match=re.escape(f"DOCKER_HOST is '{address}'")) as caught:
        DockerHost.find(None, {"DOCKER_HOST": address})
    assert "ssh://user@host" in caught.value.hint


def test_the_host_of_an_ssh_address_can_never_be_an_option():
    line = ssh_line("ssh://ann@-oProxyCommand=x:2222")
    assert line[line.index("--") + 1].startswith("-o")
    assert line[-3:] == ["docker", "system", "dial-stdio"]
    assert line[line.index("-l") + 1] == "ann"


async def test_a_daemon_behind_ssh_is_a_socket_here(tmp_path, monkeypatch):
    command = tmp_path / "ssh"
    command.write_text("#!/bin/sh\nexec cat\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    bridge = SshBridge("ssh://far")
    host = await bridge.open()
    try:
        reader, writer = await host.connect()
        writer.write(b"there and back")
        assert await asyncio.wait_for(reader.readexactly(14), 10) == b"there and back"
    finally:
        await bridge.close()
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    with pytest.raises(OSError, match="No such file"):
        await host.connect()
