"""Embedders: one over a real socket, one in this process."""

import json
import logging
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from skillyard.errors import UnavailableError
from skillyard.search.embeddings import HURRIED, Endpoint, Patience, WordLlama, is_latin

np = pytest.importorskip("numpy")


class Server(ThreadingHTTPServer):
    """Answers like an embeddings API: the vector of a text is its length and a one."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.keys, self.paths = [], [], []
        self.failures = []
        """Statuses to answer with first."""
        self.answer = None
        self.headers_back = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.paths.append(self.path)
        server.keys.append(self.headers.get("Authorization"))
        if server.failures:
            self._send(server.failures.pop(0), b"busy")
            return
        server.asked.append(body)
        vectors = [{"index": at, "embedding": [len(text), 1]} for at, text in enumerate(body["input"])]
        answer = {"data": list(reversed(vectors))} if server.answer is None else server.answer
        self._send(200, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def _send(self, status, body):
        self.send_response(status)
        for name, value in self.server.headers_back.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        pass


@pytest.fixture
def server():
    served = Server()
    thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def endpoint(server, pauses):
    return Endpoint(server.url, "small", key="sk-secret", sleep=pauses.append)


def test_every_text_gets_its_vector_whatever_the_order_of_the_answer(server, endpoint):
    assert endpoint.embed(["a", "bbb", "cc"]).tolist() == [[1, 1], [3, 1], [2, 1]]
    assert server.asked == [{"model": "small", "input": ["a", "bbb", "cc"], "encoding_format": "float"}]
    assert (server.paths, server.keys) == (["/v1/embeddings"], ["Bearer sk-secret"])


def test_many_texts_are_sent_in_batches(server, endpoint):
    vectors = endpoint.embed([f"{number:0{number % 7 + 1}}" for number in range(150)])
    assert [len(asked["input"]) for asked in server.asked] == [64, 64, 22]
    assert vectors.shape == (150, 2)


def test_an_empty_or_endless_text_can_be_embedded(server, endpoint):
    endpoint.embed(["", " \n", "x" * 100_000])
    assert [len(text) for text in server.asked[0]["input"]] == [1, 1, 4_000]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(server, endpoint, pauses, status):
    server.failures = [status, status]
    assert endpoint.embed(["a"]).tolist() == [[1, 1]]
    assert pauses == [0.5, 1.0]


def test_an_endpoint_says_how_long_to_wait_but_not_for_ever(server, endpoint, pauses):
    server.headers_back = {"Retry-After": "2"}
    server.failures = [429]
    endpoint.embed(["a"])
    server.headers_back = {"Retry-After": "86400"}
    server.failures = [429]
    endpoint.embed(["a"])
    assert pauses == [2.0, 5.0]


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_will_not_pass_is_told_at_once(server, endpoint, pauses, status):
    server.failures = [status]
    with pytest.raises(UnavailableError, match=f"status {status}"):
        endpoint.embed(["a"])
    assert pauses == []


def test_after_three_tries_it_is_given_up(server, endpoint, pauses):
    server.failures = [500] * 9
    with pytest.raises(UnavailableError):
        endpoint.embed(["a"])
    assert len(server.paths) == 3


def test_whoever_is_in_a_hurry_tries_once(server, pauses):
    server.failures = [500]
    with pytest.raises(UnavailableError):
        Endpoint(server.url, "small", patience=HURRIED, sleep=pauses.append).embed(["a"])
    assert (len(server.paths), pauses) == (1, [])


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"[" * 100_000,
        {"error": {"message": "no"}},
        {"data": []},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": at, "embedding": [1.0]} for at in range(2)]},
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_an_answer_that_is_none_is_refused(server, endpoint, answer):
    server.answer = answer
    with pytest.raises(UnavailableError):
        endpoint.embed(["a"])


def test_vectors_of_different_lengths_are_refused(server, endpoint):
    server.answer = {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}
    with pytest.raises(UnavailableError, match="different lengths"):
        endpoint.embed(["a", "b"])


def test_the_key_goes_to_no_other_address_and_into_no_message(server, endpoint):
    server.failures = [307]
    server.headers_back = {"Location": "http://127.0.0.1:1/"}
    with pytest.raises(UnavailableError, match="status 307") as raised:
        endpoint.embed(["a"])
    assert len(server.paths) == 1
    assert "sk-secret" not in f"{raised.value!r} {raised.value.details} {endpoint!r} {endpoint.name}"


def test_an_endpoint_that_is_not_there_is_told(pauses):
    endpoint = Endpoint("http://127.0.0.1:1/v1", "small", patience=Patience(0.5, 2), sleep=pauses.append)
    with pytest.raises(UnavailableError, match="does not answer"):
        endpoint.embed(["a"])
    assert pauses == [0.5]


@pytest.mark.parametrize("url", ["http://[", "http://\x00/", "ftp://x"])
def test_an_address_that_is_none_is_told_too(url, pauses):
    with pytest.raises(UnavailableError):
        Endpoint(url, "small", sleep=pauses.append).embed(["a"])


def test_an_endpoint_is_asked_about_every_language_unless_told_otherwise():
    assert Endpoint("http://x", "m").reads("PDF 表格处理")
    english = Endpoint("http://x", "m", english_only=True)
    assert (english.reads("PDF tables"), english.reads("PDF 表格处理")) == (True, False)
    assert not english.helps_with("PDF 표를 엑셀로")


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("Reads tables.", True),
        ("Überträgt Tabellen, naïve façade.", True),
        ("", True),
        ("123 – 456 …", True),
        ("Searches a site called 다나와 for the prices of goods and compares them by shop and by day.", True),
        ("读取表格", False),
        ("表を読み取る", False),
        ("표를 읽는다", False),
        ("用 Python 写 PDF 报告", False),
        ("Читает таблицы", False),
    ],
)
def test_languages_are_told_by_their_letters(text, latin):
    assert is_latin(text) is latin


def test_word_vectors_are_used_for_long_english_tasks_only():
    embedder = WordLlama()
    task = "Take the sales of the last quarter from these files, clean them up, and make a report with one chart "
    assert embedder.helps_with(task * 2)
    assert not embedder.helps_with("make a sales report")
    assert not embedder.helps_with("把上个季度的销售数据整理成报告 " * 40)
    assert (embedder.reads("Makes reports."), embedder.reads("生成报告")) == (True, False)


def test_word_vectors_come_with_their_package_and_need_no_network(monkeypatch):
    pytest.importorskip("wordllama")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was asked"))
    handlers = list(logging.getLogger().handlers)
    near, far, other = WordLlama().embed(["fill in a PDF form", "complete the fields of a PDF", "water the plants"])
    assert near.shape == (256,)
    assert np.dot(near, far) > 2 * np.dot(near, other)
    assert logging.getLogger().handlers == handlers


@pytest.mark.parametrize("package", ["wordllama", "numpy"])
def test_a_package_that_is_missing_is_told_with_the_way_to_have_it(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnavailableError, match=package) as raised:
        WordLlama().embed(["a"])
    assert "skillyard[embeddings]" in raised.value.hint
