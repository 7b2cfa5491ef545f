import pytest

from skillyard.errors import ConflictError, NotAllowedError, UsageError
from skillyard.server.run import address_of, bind


def test_port_0_picks_a_free_one():
    with bind("127.0.0.1", 0) as listener:
        assert address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_port_in_use_is_a_conflict_that_names_another():
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ConflictError) as caught:
            bind("127.0.0.1", port)
        assert f"--port {port + 1}" in caught.value.hint


@pytest.mark.parametrize("host", ["no such host", "256.1.1.1", "203.0.113.7", "a" * 300])
def test_an_address_that_is_not_ours_is_a_usage_error(host):
    with pytest.raises((UsageError, NotAllowedError)) as caught:
        bind(host, 0)
    assert host in caught.value.message


def test_an_ipv6_address_is_written_in_brackets():
    try:
        listener = bind("::1", 0)
    except UsageError:
        pytest.skip("this machine has no IPv6")
    with listener:
        assert address_of(listener).startswith("http://[::1]:")
