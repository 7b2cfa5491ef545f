"""Pages without a browser: read, and their forms sent as one would."""

import re
from typing import Any

import httpx

_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


class PageClient(httpx.Client):
    """Someone who reads pages and sends the forms of one they have read."""

    def __init__(self, url: str, token: str = "") -> None:
        headers = {"Accept": "text/html", "Origin": url, **({"Authorization": f"Bearer {token}"} if token else {})}
        super().__init__(base_url=url, trust_env=False, timeout=60, headers=headers)

    def fill_in(self, page: str, action: str, files: Any = None, **fields: object) -> httpx.Response:
        """Fill in a form of a page and send it to where that leads; the answer, not where it sends one on."""
        token = _TOKEN.search(self.get(page).text)
        assert token, page
        sent = {"form_token": token[1], **fields}
        return self.post(action, data=sent, files=files, headers={"Referer": f"{self.base_url}{page}"})
