"""Opens the browser of a person who sits at this computer."""

import os
import sys
import webbrowser

REMOTE = ("SSH_CONNECTION", "SSH_TTY")
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def is_remote() -> bool:
    """Return whether the person sits elsewhere."""
    return any(map(os.environ.get, REMOTE))


def open_page(url: str) -> bool:
    """Open a page; return False where there is no browser with a window."""
    if not os.environ.get("BROWSER") and (is_remote() or not _has_screen()):
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, SCREENS))
