import asyncio
import base64
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from skillyard.sandbox.network import parse_network
from skillyard.sandbox.proxy.proxy import NetworkProxy


def test_a_snapshot_lists_what_can_be_interacted_with_and_hides_passwords(login):
    login.done('fill @e2 "correct horse"')
    assert login.done("snapshot -i").splitlines() == [
        '- textbox "User name" [ref=e1]',
        '- textbox "Password" [ref=e2]: ••••••',
        '- checkbox "Stay" [ref=e3]',
        '- combobox "Colour" [ref=e4]: red',
        '- button "Sign in" [ref=e5]',
        '- link "Another: \\"page\\"" [ref=e6]',
        '- link "In a tab" [ref=e7]',
        '- link "Broken" [ref=e8]',
        '- generic "Card" [clickable] [ref=e9]',
        '- button "Off" [disabled] [ref=e10]',
        '- button "Show" [ref=e11]',
        '- textbox "Inner" [ref=e12]: ••••••',
    ]
    assert login.done("get value @e2") == "••••••"


def test_a_whole_snapshot_has_the_same_refs_and_more(login):
    whole = login.done("snapshot").splitlines()
    assert any(line.strip() == '- button "Sign in" [ref=e5]' for line in whole)
    heading = next(line for line in whole if "heading" in line)
    ref = heading.partition("[ref=")[2].rstrip("]")
    assert int(ref[1:]) > 12
    assert login.done(f"get text @{ref}") == "Sign in"
    compact = login.done("snapshot -c").splitlines()
    assert len(compact) < len(whole)
    assert not any(line.strip().startswith("- generic [ref") for line in compact)
    assert all(line.startswith("- ") for line in login.done("snapshot -c -d 1").splitlines())


def test_a_form_is_filled_in_and_sent_and_every_element_acted_on_is_recorded(login, site):
    login.done('fill @e1 "박지민"')
    login.done('fill --secret @e2 "s3cret"')
    login.done("check @e3")
    login.done("select @e4 blue")
    assert login.done("is checked @e3") == "true"
    answer = login("click @e5")
    assert answer["output"] == f'click: button "Sign in"\nNow at {site.url}/done'
    assert answer["target"] == {
        "ref": "@e5",
        "role": "button",
        "name": "Sign in",
        "within": "",
        "tag": "button",
        "type": "submit",
        "is_password": False,
        "autocomplete": "",
        "field": "",
        "url_before": f"{site.url}/login",
        "url_after": f"{site.url}/done",
        "shown": ["Welcome"],
    }
    assert site.posted == "user=%EB%B0%95%EC%A7%80%EB%AF%BC&password=s3cret&stay=on&colour=blue"
    assert login.done("get title") == "Welcome"


def test_a_password_field_is_recorded_as_one_and_what_was_written_is_not(login):
    answer = login('fill @e2 "s3cret"')
    assert answer["target"]["is_password"] is True
    assert answer["target"]["type"] == "password"
    assert "s3cret" not in json.dumps(answer)


def test_what_a_field_is_for_is_recorded(browser, site):
    browser.done(f"open {site.url}/lists")
    browser.done("snapshot -i")
    target = browser('fill @e1 "123456"')["target"]
    assert (target["name"], target["autocomplete"], target["field"]) == ("Code", "one-time-code", "otp")
    assert "shown" not in target


def test_what_stands_around_an_element_is_recorded_where_its_name_is_not_enough(browser, site):
    browser.done(f"open {site.url}/lists")
    browser.done("snapshot -i")
    assert [browser(f"hover @e{number}")["target"]["within"] for number in range(2, 7)] == [
        "Ada 3",
        "Bob 5",
        "Lamp",
        "Chair",
        "Shipping",
    ]
    assert browser("find first button hover")["target"]["within"] == "Ada 3"
    assert browser("hover h1")["target"]["within"] == ""


def test_what_a_choice_is_for_is_recorded(browser, site):
    browser.done(f"open {site.url}/lists")
    browser.done("snapshot -i")
    target = browser("check @e8")["target"]
    assert (target["role"], target["name"], target["group"]) == ("radio", "Slow", "Speed")
    assert "group" not in browser("hover @e2")["target"]


def test_what_the_page_says_after_an_action_is_recorded(browser, site):
    browser.done(f"open {site.url}/lists")
    browser.done("snapshot -i")
    assert browser("click @e2")["target"]["shown"] == ["Lists", "Ada is gone."]


def test_a_secret_is_never_written_into_another_field(login):
    for step in ('fill --secret @e1 "s3cret"', 'find label "User name" type "s3cret" --secret'):
        error = login.refused(step)
        assert 'textbox "User name"' in error
        assert "s3cret" not in error
    assert login.done("get value @e1") == ""


def test_refs_die_with_their_page(login, site):
    login.done("reload")
    assert login.refused("click @e5") == "@e5 (button 'Sign in') is not on the page any more; run: snapshot -i"
    login.done(f"open {site.url}/other")
    assert "is not on the page any more" in login.refused('fill @e1 "x"')
    assert login.refused("click @e77") == "There is no element @e77 in the last snapshot; run: snapshot -i"


def test_a_ref_that_the_last_snapshot_did_not_print_is_refused(login):
    whole = login.done("snapshot").splitlines()
    ref = next(line for line in whole if "heading" in line).partition("[ref=")[2].partition("]")[0]
    assert login.done(f"get text @{ref}") == "Sign in"
    assert f"[ref={ref}]" not in login.done("snapshot -i")
    assert login.refused(f"click @{ref}") == f"There is no element @{ref} in the last snapshot; run: snapshot -i"


def test_refs_stay_when_elements_are_looked_up_in_other_ways(login):
    target = login("click '#hello b'")["target"]
    assert (target["tag"], target["role"], target["name"]) == ("b", "generic", "")
    assert login("click '#hello'")["target"]["role"] == "paragraph"
    assert login("click 'label:has([type=checkbox])'")["target"]["tag"] == "label"
    assert login("find role button hover --name Show")["target"]["ref"] == "@e11"
    assert login("focus @e1")["target"]["name"] == "User name"
    assert login("press Tab")["target"]["name"] == "User name"


def test_what_is_not_one_element_is_not_acted_on(browser, site):
    browser.done(f"open {site.url}/other")
    assert browser.refused("click button").startswith("2 elements match 'button'; ")
    assert "2 elements match" in browser.refused("find role button click --name One")
    assert browser.done("find nth 1 button click") == 'click: button "One"'
    assert browser.done("find first button text") == "One"
    assert browser.done("get count button") == "2"
    assert "run: snapshot -i" in browser.refused("click #missing", timeout=0.3)
    assert "css selector" in browser.refused("click a[[")


def test_why_an_action_did_not_work_is_said_without_what_was_typed(browser, site):
    browser.done(f"open {site.url}/covered")
    assert "covers it" in browser.refused("click button", timeout=1)
    browser.done(f"open {site.url}/login")
    browser.done("snapshot -i")
    assert "it is not enabled" in browser.refused("click @e10", timeout=1)
    assert "has no such option" in browser.refused("select @e4 green", timeout=1)
    error = browser.refused('fill h1 "s3cret"')
    assert "not an <input>" in error
    assert "s3cret" not in error


def test_waiting_ends_when_it_is_there_or_time_is_up(login, site):
    login.done("click @e11")
    assert login("wait '#later'")["target"]["tag"] == "button"
    login.done("wait 10")
    login.done("wait --text Hello")
    login.done("wait --load networkidle")
    login.done("wait --fn 'window.scrollY === 0'")
    login.done("click @e6")
    login.done("wait --url /other")
    assert "within 0.3 seconds" in login.refused("wait --text Never", timeout=0.3)
    assert "longer than this step may take" in login.refused("wait 5000", timeout=0.3)


def test_pages_can_be_gone_back_to_and_new_ones_are_followed(login, site):
    answer = login("click @e7")
    assert answer["output"].endswith(f"which the next steps are about: {site.url}/other")
    assert login.done("get title") == "Other"
    login.done(f"open {site.url}/login")
    assert login.done("back") == f"Other\n{site.url}/other"
    assert login.done("forward") == f"Log in\n{site.url}/login"
    login.done("snapshot -i")
    assert "could not be opened" in login.done("click @e8")


def test_getting_scripts_and_scrolling(login, site):
    assert login.done("get text '#hello'") == "Hello world"
    assert login.done("get html '#hello'") == "Hello <b>world</b>"
    assert login.done("get attr @e6 href") == "/other"
    assert "has no attribute" in login.refused("get attr @e6 colour")
    assert login.done("is visible @e1") == "true"
    assert login.done("is visible '#later'") == "false"
    assert login.done("is enabled @e10") == "false"
    login.done("click @e9")
    assert login.done("get title") == "clicked"
    assert login.done("eval document.title + '!'") == "clicked!"
    assert login.done("eval '({a: [1, null]})'") == '{"a": [1, null]}'
    assert "ReferenceError" in login.refused("eval missing.name")
    login.done(f"open {site.url}/tall")
    login.done("scroll down 700")
    assert login.done("eval window.scrollY") == "700"


def test_a_screenshot_is_returned_and_saved_only_inside_the_workspace(login):
    answer = login("screenshot shots/page.png")
    image = base64.b64decode(answer["screenshot"])
    assert image.startswith(b"\x89PNG")
    assert (login.workspace / "shots/page.png").read_bytes() == image
    assert base64.b64decode(login("screenshot --full")["screenshot"]).startswith(b"\x89PNG")
    login.done("screenshot a.jpg")
    assert (login.workspace / "a.jpg").read_bytes().startswith(b"\xff\xd8")
    (login.workspace / "out").symlink_to("/tmp")
    for path in ("../a.png", "/tmp/a.png", "out/a.png", "."):
        assert "not a path inside the workspace" in login.refused(f"screenshot {path}")
    assert not {path.name for path in login.workspace.iterdir()} - {"shots", "a.jpg", "out"}


def test_output_is_bounded(browser, site):
    browser.done(f"open {site.url}/long")
    answer = browser("get text body")
    assert len(answer["output"]) < 201_000
    assert "more characters" in answer["output"]


def test_addresses_get_a_scheme_and_strange_ones_are_refused(browser, site):
    assert browser.done(f"open {site.url.removeprefix('http://')}/other").startswith("Other")
    assert browser.done(f"open {site.url}/missing") == f"Missing\n{site.url}/missing\nHTTP 404 Not Found"
    for address in ("javascript:alert(1)", "chrome://version", "view-source:x"):
        assert "are not opened" in browser.refused(f"open {address}")


def test_of_files_only_those_of_the_workspace_are_opened(browser):
    (browser.workspace / "report.html").write_text("<title>Report</title>")
    (browser.workspace / "link.html").symlink_to("/etc/passwd")
    assert browser.done(f"open file://{browser.workspace}/report.html").startswith("Report")
    for path in (
        "/etc/passwd",
        f"{browser.workspace}/../x",
        f"{browser.workspace}/%2e%2e/x",
        f"{browser.workspace}/link.html",
    ):
        assert "only files of the workspace" in browser.refused(f"open file://{path}")
    assert "only files of the workspace" in browser.refused("open file://host/share")
    assert "this sandbox has no network" in browser.refused("open http://127.0.0.1:1234/")


def test_a_page_that_hangs_loses_its_browser_in_time_and_the_next_step_says_so(browser, site):
    browser.done(f"open {site.url}/loop")
    started = time.monotonic()
    assert "browser was ended" in browser.refused("eval 'for (;;);'", timeout=0.5)
    assert time.monotonic() - started < 2.5
    assert "was started again with an empty page" in browser.refused("snapshot -i")
    assert browser.done(f"open {site.url}/other").startswith("Other")


def descendants(pid):
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    found = {str(pid)}
    for _ in range(6):
        found |= {row[0] for row in rows if row[1] in found}
    return [(int(row[0]), row[2]) for row in rows if row[0] in found - {str(pid)}]


def test_a_browser_that_was_killed_is_started_again_and_this_is_said(browser, site):
    browser.done(f"open {site.url}/other")
    (pid,) = (
        pid
        for pid, command in descendants(browser.process.pid)
        if "--remote-debugging-pipe" in command and "--type=" not in command and not command.startswith("/bin/sh ")
    )
    os.kill(pid, signal.SIGKILL)
    assert browser.done(f"open {site.url}/other").startswith("The browser had ended, and was started again.\nOther")


def test_closing_and_opening_again_starts_afresh(browser, site):
    browser.done(f"open {site.url}/other")
    assert browser.done("close") == "The browser is closed."
    assert browser.done("close") == "The browser is closed."
    assert browser.done(f"open {site.url}/other").startswith("Other")


def test_nothing_runs_on_when_the_worker_ends(new_browser, site):
    browser = new_browser()
    browser.done(f"open {site.url}/other")
    pids = [pid for pid, _ in descendants(browser.process.pid)]
    browser.close()
    deadline = time.monotonic() + 5
    while [pid for pid in pids if Path(f"/proc/{pid}/root").exists()]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_worker_whose_driver_died_says_so_and_ends_so_that_another_can_be_started(new_browser):
    browser = new_browser()
    browser.done("open about:blank")
    (pid,) = (pid for pid, command in descendants(browser.process.pid) if "playwright/driver" in command)
    os.kill(pid, signal.SIGKILL)
    assert "The browser ended during this step" in browser.refused("open about:blank")
    assert browser.process.wait(20) == 0


def test_without_chromium_the_answer_says_so(new_browser):
    browser = new_browser(SKILLYARD_CHROMIUM="/nowhere/chromium")
    assert "has no Chromium (/nowhere/chromium)" in browser.refused("open about:blank")


@pytest.fixture
def proxy():
    """A network proxy that runs beside the test, as a server process runs it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    servers = []

    def start(*allow):
        proxy = NetworkProxy(parse_network({"allow": list(allow)}))
        started = asyncio.start_server(proxy, "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(started, loop).result()
        servers.append(server)
        proxy.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return proxy

    async def stop():
        for server in servers:
            server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    yield start
    asyncio.run_coroutine_threadsafe(stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_through_the_proxy_the_browser_reaches_what_is_listed_and_reads_why_nothing_else(
    new_browser, site, other_site, proxy
):
    allowed = proxy(site.url)
    browser = new_browser(HTTP_PROXY=allowed.address)
    assert browser.done(f"open {site.url}/other").startswith("Other")
    error = browser.refused(f"open {other_site.url}/other")
    assert f"{other_site.url} is not on its list" in error
    assert f"Allowed: {site.url}." in error
    assert "https://example.org:443 is not on its list" in browser.refused("open https://example.org/")
    assert allowed.seen.allowed[site.url] >= 1
    assert set(allowed.seen.refused) >= {other_site.url, "https://example.org:443"}
