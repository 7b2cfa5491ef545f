"""What goes wrong in a browser, said shortly and with what to do about it."""

from __future__ import annotations

import re
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from browser_chromium import proxy

_REASONS = (
    (re.compile(r"(<[^>]{1,120}>).* intercepts pointer events"), "{0} covers it; close or scroll that away first"),
    (re.compile(r"element is not (visible|enabled|editable|stable)"), "it is not {0}"),
    (re.compile(r"did not find some options"), "it has no such option; run: get html ELEMENT"),
    (re.compile(r"element is outside of the viewport"), "it is outside of what can be seen; scroll first"),
)
_NETWORK = re.compile(r"net::(ERR_[A-Z_]+)(?: at (\S+))?")
_PREFIX = re.compile(r"^(?:[A-Za-z]+\.[a-z_]+: )?(?:Error: )?")
_REFUSED = ("ERR_TUNNEL_CONNECTION_FAILED", "ERR_PROXY_CONNECTION_FAILED")
_MAX = 400
_MAX_REASON = 4000
_PROXY_SECONDS = 1.0
_SHORTEST_SECRET = 4


def explain(error: Exception, seconds: float, secrets: list[str]) -> str:
    """What to tell of an error of the driver. Its log is left out: it quotes what was typed."""
    text = str(error)
    network = _NETWORK.search(text)
    if network:
        return _of_network(network[1], network[2] or "")
    if type(error).__name__ == "TimeoutError":
        return f"This did not succeed within {seconds:g} seconds: {_reason(text)}."
    line = _PREFIX.sub("", text.split("\n", 1)[0])
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            line = line.replace(secret, "•••")
    return line[:_MAX]


def _reason(text: str) -> str:
    for pattern, reason in _REASONS:
        matches = pattern.findall(text)
        if matches:
            return reason.format(matches[-1])
    return "nothing like it appeared; run: snapshot -i"


def _of_network(code: str, address: str) -> str:
    if not proxy() and code != "ERR_FILE_NOT_FOUND":
        return (
            f"The page could not be opened ({code}): this sandbox has no network. It reaches only servers inside it;"
            ' for others, create it with "network": {"allow": ["https://host"]}.'
        )
    if code in _REFUSED:
        return (
            f"The page could not be opened ({code}): the network policy of this sandbox refused the address, or it"
            f" could not be reached.{_reason_of_proxy(address)}"
        )
    return f"The page could not be opened ({code})."


def _reason_of_proxy(address: str) -> str:
    """What the proxy says to a tunnel that it does not open: browsers keep that to themselves."""
    there, here = urlsplit(address), urlsplit(proxy())
    try:
        connection = HTTPConnection(here.hostname or "", here.port, timeout=_PROXY_SECONDS)
        try:
            connection.request("CONNECT", f"{there.netloc.rpartition('@')[2]}{'' if there.port else ':443'}")
            return f"\n{connection.getresponse().read(_MAX_REASON).decode(errors='replace').strip()}"
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError):
        return ""
