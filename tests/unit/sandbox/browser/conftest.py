"""A browser worker as its own process, with a real Chromium, and a site of pages to try it on."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.components import require_chromium

import skillyard.sandbox
from skillyard.sandbox.browser_steps import parse_step

GUEST = Path(skillyard.sandbox.__file__).parent / "guest"
LOGIN = """<!doctype html><title>Log in</title><h1>Sign in</h1><p id=hello>Hello <b>world</b></p>
<form action=/done method=post><label>User name <input name=user></label>
<label>Password <input name=password type=password></label>
<label><input type=checkbox name=stay> Stay</label>
<select aria-label=Colour name=colour><option>red<option>blue</select><button>Sign in</button></form>
<a href=/other>Another: "page"</a><a href=/other target=_blank>In a tab</a><a href=http://127.0.0.1:1/>Broken</a>
<div style="cursor:pointer" onclick="document.title='clicked'">Card</div>
<button disabled>Off</button><button hidden id=later>Later</button>
<button onclick="setTimeout(() => document.getElementById('later').hidden = false, 50)">Show</button>
<iframe srcdoc="<label>Inner <input type=password value=innerpw></label>"></iframe>"""
LISTS = """<!doctype html><title>Lists</title><h1>Lists</h1>
<label>Code <input name=otp autocomplete=one-time-code></label>
<table><tr><td>Ada<td>3<td><button onclick="said.innerText = 'Ada is gone.'">Delete</button>
<tr><td>Bob<td>5<td><button>Delete</button></table>
<ul><li>Lamp <a href=#>Edit</a></li><li>Chair <a href=#>Edit</a></li></ul>
<fieldset><legend>Shipping</legend><label>City <input></label></fieldset>
<fieldset><legend>Billing</legend><label>City <input></label></fieldset>
<fieldset><legend>Speed</legend><label><input type=radio name=s>Slow</label><label><input type=radio name=s>Fast</label>
</fieldset><p id=said role=status></p><p hidden role=alert>Hidden</p>"""
PAGES = {
    "/login": LOGIN,
    "/lists": LISTS,
    "/other": "<title>Other</title><h1>Other</h1><button>One</button><button>One</button>",
    "/covered": "<title>Covered</title><button>Under</button><div style='position:fixed;inset:0'></div>",
    "/loop": "<title>Loop</title><button onclick='for(;;);'>Hang</button>",
    "/long": "<title>Long</title>" + "<p>a long page</p>" * 30_000,
    "/tall": "<title>Tall</title><div style='height:5000px'>tall</div>",
}


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        page = PAGES.get(self.path)
        self.answer(200 if page else 404, page or "<title>Missing</title>")

    def do_POST(self):
        self.server.posted = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.answer(200, "<title>Welcome</title><h1>Welcome</h1>")

    def answer(self, status, page):
        body = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing: the output of tests is for tests."""


@pytest.fixture(scope="module")
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


class Browser:
    """One worker process, asked as the guest asks it."""

    def __init__(self, workspace, **environment):
        clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        self.workspace = workspace
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", GUEST, "browser-worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=workspace,
            env={**clean, **environment},
        )
        self.count = 0

    def __call__(self, text, timeout=20.0):
        step = parse_step(text)
        self.count += 1
        request = {"id": self.count, "verb": step.verb, "arguments": step.arguments, "options": step.options}
        self.process.stdin.write(json.dumps({**request, "timeout": timeout}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert set(answer) == {"id", "ok", "output", "error", "target", "screenshot"}
        assert answer["id"] == self.count
        assert answer["ok"] == (answer["error"] is None)
        return answer

    def done(self, text):
        answer = self(text)
        assert answer["ok"], answer["error"]
        return answer["output"]

    def refused(self, text, timeout=20.0):
        answer = self(text, timeout)
        assert not answer["ok"], answer["output"]
        return answer["error"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    require_chromium()
    browser = Browser(tmp_path_factory.mktemp("workspace"))
    yield browser
    browser.close()
    assert browser.process.returncode == 0


@pytest.fixture
def login(browser, site):
    """The browser on a fresh login page, looked at."""
    assert browser.done(f"open {site.url}/login").splitlines() == ["Log in", f"{site.url}/login"]
    browser.done("snapshot -i")
    return browser


@pytest.fixture
def new_browser(tmp_path):
    """Starts another worker, in a workspace of its own."""
    require_chromium()
    started = []

    def start(**environment):
        started.append(Browser(tmp_path, **environment))
        return started[-1]

    yield start
    for browser in started:
        if not browser.process.stdin.closed:
            browser.close()


@pytest.fixture
def other_site():
    """A server that nobody listed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.server_close()
