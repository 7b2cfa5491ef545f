import hashlib
import socket
import threading
from contextlib import suppress

import pytest

from skillyard.delivery import download as module
from skillyard.delivery.download import MAX_REDIRECTS, Credentials, DownloadLimits, download
from skillyard.errors import LimitError, NotAllowedError, NotFoundError, SkillyardError, UnavailableError


def test_the_bytes_arrive_with_their_digest(site):
    got = download(site.put("/x", b"content"), DownloadLimits())
    assert got.data == b"content"
    assert got.digest == f"sha256:{hashlib.sha256(b'content').hexdigest()}"


def test_redirects_are_followed_and_the_last_address_is_told(site):
    site.put("/b", b"content")
    site.redirect("/middle", "/b")
    got = download(site.redirect("/a", f"{site.url}/middle"), DownloadLimits())
    assert (got.data, got.url) == (b"content", f"{site.url}/b")


def test_redirects_end(site):
    url = site.redirect("/a", "/a")
    with pytest.raises(LimitError, match="redirects"):
        download(url, DownloadLimits())
    assert len(site.asked) == MAX_REDIRECTS + 1


@pytest.mark.parametrize("target", ["https://127.0.0.1/x", "file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_a_redirect_to_another_scheme_is_refused(site, target: str):
    with pytest.raises(NotAllowedError, match="another scheme"):
        download(site.redirect("/a", target), DownloadLimits())


def test_a_redirect_from_this_machine_to_plain_http_elsewhere_is_refused(site):
    with pytest.raises(NotAllowedError, match="plain http"):
        download(site.redirect("/a", "http://example.invalid/x"), DownloadLimits())


def test_a_body_over_the_limit_is_given_up_while_it_arrives(site):
    site.pages["/endless"] = site.answer(endless=True)
    with pytest.raises(LimitError, match="1000 bytes"):
        download(f"{site.url}/endless", DownloadLimits(max_bytes=1000))


def test_a_body_of_exactly_the_limit_is_fine(site):
    assert len(download(site.put("/x", b"x" * 1000), DownloadLimits(max_bytes=1000)).data) == 1000


def test_a_body_that_takes_too_long_is_given_up(site, monkeypatch: pytest.MonkeyPatch):
    ticks = iter(range(0, 10_000, 100))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(ticks))
    with pytest.raises(UnavailableError, match="within 50 seconds"):
        download(site.put("/x", b"content"), DownloadLimits(max_seconds=50))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, NotFoundError),
        (410, NotFoundError),
        (401, NotAllowedError),
        (403, NotAllowedError),
        (500, UnavailableError),
    ],
)
def test_every_failing_status_is_a_typed_error_that_names_the_address(site, status: int, error: type[Exception]):
    site.pages["/x"] = site.answer(status=status)
    with pytest.raises(error, match=str(status)) as caught:
        download(f"{site.url}/x", DownloadLimits())
    assert site.url in str(caught.value)


def test_a_server_that_is_not_there_is_unavailable():
    with pytest.raises(UnavailableError, match="could not be downloaded"):
        download("http://127.0.0.1:1/x", DownloadLimits(max_seconds=5))


def test_a_partial_answer_is_not_taken_for_the_whole(site):
    site.pages["/x"] = site.answer(status=206, body=b"part")
    with pytest.raises(UnavailableError, match="206"):
        download(f"{site.url}/x", DownloadLimits())


def test_a_body_shorter_than_announced_is_an_error(site):
    site.pages["/x"] = site.answer(body=b"short", headers={"Content-Length": "100", "Connection": "close"})
    with pytest.raises(UnavailableError):
        download(f"{site.url}/x", DownloadLimits())


@pytest.mark.parametrize("target", ["data:,x", "http://[", "http://127.0.0.1:99999/x", "//"])
def test_a_redirect_to_nonsense_is_a_typed_error(site, target: str):
    with pytest.raises(SkillyardError):
        download(site.redirect("/a", target), DownloadLimits())


def test_a_token_goes_to_its_own_server_and_nowhere_else(site):
    credentials = Credentials(server="HTTP://Yard.example:80/sub", token="sky_secret")
    assert credentials.headers_for("http://yard.example/x") == {"Authorization": "Bearer sky_secret"}
    for other in ("https://yard.example/x", "http://yard.example:8080/x", "http://yard.example.evil/x", site.url):
        assert credentials.headers_for(other) == {}
    assert "sky_secret" not in repr(credentials)


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "too slow"),
        (b"HTTP/1.1 200 OK\r\nX: ", "did not begin to answer"),
    ],
)
def test_a_server_that_drips_is_given_up_long_before_the_limit_of_time(head: bytes, problem: str):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(head)
                with suppress(OSError):
                    while True:
                        connection.sendall(b"x")
                        connection.settimeout(0.01)
                        with suppress(TimeoutError):
                            if not connection.recv(1):
                                return

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(UnavailableError, match=problem):
            download(f"http://127.0.0.1:{server.getsockname()[1]}/x", DownloadLimits(max_idle_seconds=0.3))
        thread.join()
