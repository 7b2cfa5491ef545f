"""The browser of whoever is at this machine."""

import os
import sys
import webbrowser


def open_browser(url: str) -> bool:
    """Open a page, where there is a screen to show it on; whether that was so."""
    has_screen = sys.platform in {"darwin", "win32"} or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return has_screen and webbrowser.open(url)
