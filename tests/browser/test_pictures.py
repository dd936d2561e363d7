"""The pictures of the documentation are made here, of a gateway that has been in use for two months.

They go into a folder of the test's own, unless PICTURES names one: `PICTURES=docs/images` replaces those of the documentation.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, ViewportSize

from gateway.run.options import PROJECT_DIR
from tests.browser.app_gateway import AppGateway
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.browser.test_console import sign_in

DOCS = (PROJECT_DIR / "README.md", *(PROJECT_DIR / "docs").rglob("*.md"))
REFERENCE = re.compile(r"\]\([^)\s]*images/([\w-]+\.png)\)")
SIZE: ViewportSize = {"width": 1280, "height": 800}
COLOURS = 128
"""Enough for pages without photographs, and a fifth of the size."""
BYTES_MAX = 120_000
COLOURS_OF_A_PAGE_MIN = 40
"""A page without text has fewer; letters alone have more shades, because their edges are smoothed."""


class Camera:
    """Takes pictures of pages, and keeps them in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.made: dict[str, Path] = {}

    def take(self, page: Page, name: str, *, dark: bool = False) -> None:
        """Take a picture of the page that is open, once its fonts and charts are there."""
        page.set_viewport_size(SIZE)
        page.emulate_media(color_scheme="dark" if dark else "light")
        if dark:
            page.reload()  # so that charts are drawn anew
        page.locator("h1:visible").first.wait_for()
        page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        path = self.made[f"{name}.png"] = self.folder / f"{name}.png"
        page.screenshot(path=path, animations="disabled")
        with Image.open(path) as taken:
            taken.convert("RGB").quantize(COLOURS).save(path, optimize=True)
        page.emulate_media(color_scheme="light")  # for the next page, which chooses its colours when it is opened


@pytest.fixture
def camera(tmp_path: Path) -> Camera:
    named = os.environ.get("PICTURES")
    return Camera(PROJECT_DIR / named if named else tmp_path)


def test_every_picture_of_the_documentation(opened: Open, gateway: AppGateway, camera: Camera, tmp_path: Path) -> None:
    ada, operator = opened(), opened()
    ada.email = "ada@example.com"
    ada.page.goto(f"{gateway.base_url}/account/login/")
    ada.sign_up(name="Ada Lovelace")
    ada.page.get_by_role("heading", name="Hello, Ada Lovelace").wait_for()
    ada.page.get_by_text("Your identifier").click()
    did = ada.page.locator(".did code").inner_text()
    done = gateway.manage(
        "shell", "-c", f"from tests.browser import pictured; pictured.fill({did!r}, {str(tmp_path)!r})"
    )
    assert done.returncode == 0, done.stderr
    sign_in(operator.page, gateway)
    portal(ada, camera)
    console(operator, ada, camera)
    assert sorted(camera.made) == sorted(set(referred()))
    for name, path in camera.made.items():
        with Image.open(path) as taken:
            assert (taken.width, taken.height) == (SIZE["width"], SIZE["height"])
            assert len(taken.getcolors(COLOURS) or ()) >= COLOURS_OF_A_PAGE_MIN, f"{name} is blank"
        assert path.stat().st_size <= BYTES_MAX, name


def portal(ada: Person, camera: Camera) -> None:
    """Take the pages of a person."""
    page, base = ada.page, ada.gateway.base_url
    page.goto(f"{base}/wallet")
    camera.take(page, "portal-wallet")
    page.goto(f"{base}/wallet/alerts")
    camera.take(page, "portal-alerts")
    page.goto(f"{base}/wallet/usage")
    page.get_by_label("Month (UTC)").select_option(index=1)  # the month before is whole
    page.get_by_role("button", name="Show").click()
    page.locator("canvas").first.wait_for()
    camera.take(page, "portal-usage")
    camera.take(page, "portal-usage-dark", dark=True)


def console(operator: Person, ada: Person, camera: Camera) -> None:
    """Take the pages of an operator."""
    page, base = operator.page, f"{operator.gateway.base_url}/admin"
    page.goto(f"{base}/")
    page.locator(".home canvas").first.wait_for()
    camera.take(page, "console-home")
    camera.take(page, "console-home-dark", dark=True)
    page.goto(f"{base}/search/?s=ada")
    camera.take(page, "console-search")
    page.goto(f"{base}/search/?s={ada.email}")
    page.wait_for_url(re.compile(r"/customers/account/\d+/"))
    camera.take(page, "console-customer")
    page.get_by_role("region", name="Calls").get_by_role("link", name=re.compile("^use_")).first.click()
    page.wait_for_url(re.compile("/billing/call/"))
    camera.take(page, "console-call")
    page.goto(f"{base}/inference/alias/?q=fast")
    page.get_by_role("link", name="fast", exact=True).click()
    page.wait_for_url(re.compile("/change/"))
    camera.take(page, "console-model")
    page.get_by_role("link", name="Calculator").first.click()
    page.locator("#id_input_tokens").fill("120000")
    page.locator("#id_output_tokens").fill("8000")
    page.get_by_role("button", name="Calculate").click()
    page.locator("[data-charge]").evaluate("(charge) => charge.scrollIntoView({ block: 'center' })")
    camera.take(page, "console-calculator")
    page.goto(f"{base}/inference/alias/new/")
    camera.take(page, "console-new-model")


def referred() -> Iterator[str]:
    """Yield the name of each picture that the documentation shows."""
    for page in DOCS:
        yield from REFERENCE.findall(page.read_text(encoding="utf-8"))
