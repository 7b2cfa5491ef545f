"""Draws docs/images/yard.png: the candidate that `skillyard demo` learns from a form, as its page shows it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from skillyard.sandbox.local.browser_parts import chromium_of_machine

COMMAND = [sys.executable, "-m", "skillyard"]
SIZE = {"width": 1280, "height": 860}
PICTURE = Path(__file__).parent.parent / "docs/images/yard.png"


def draw(url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_of_machine(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{url}/releases")
        page.get_by_role("main").get_by_role("link", name="log-in-and-place-order").click()
        page.locator("a[href*='/candidates/sc-']").first.click()
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURE)
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "SKILLYARD_HOME": f"{home}/yard"}
        subprocess.run([*COMMAND, "demo", "--sample"], env=environment, check=True, stdout=subprocess.DEVNULL)
        serving = [*COMMAND, "serve", "--json", "--port", "0"]
        with subprocess.Popen(serving, env=environment, stdout=subprocess.PIPE, text=True) as server:
            try:
                draw(json.loads(server.stdout.readline())["url"])
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
