"""Chromium, and pages whose every complaint is heard: a console error that no test expects fails it."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # A process for each site takes a quarter more, wherever a person goes from an app to the portal and back.
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
)
PATIENCE_MS = 60_000
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium. Its headless shell, which lacks the windows, takes half of the processor's time.

    Playwright's event loop counts as running in this thread until the end, so whoever starts it ends it before other
    tests follow: asynchronous ones, and Django's ORM, would refuse to run.
    """
    path = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    assert path, "Chromium is not installed; .ci/run installs it"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Window:
    """One person's browser: a context of its own, and what its pages complained about."""

    context: BrowserContext
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.on("console", self._hear)
        self.context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))

    def page(self) -> Page:
        """Open a tab."""
        return self.context.new_page()

    def expect(self, *patterns: str) -> None:
        """Name what pages of this window may complain about, as regular expressions."""
        self.expected += patterns

    def unexpected(self) -> list[str]:
        """List what nobody expected."""
        return [
            complaint
            for complaint in self.complaints
            if not any(re.search(pattern, complaint) for pattern in self.expected)
        ]

    def screenshots(self, folder: Path, name: str) -> None:
        """Photograph every open tab."""
        folder.mkdir(exist_ok=True)
        for number, page in enumerate(self.context.pages, 1):
            page.screenshot(path=folder / f"{name}-{number}.png", full_page=True)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")
