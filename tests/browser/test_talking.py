"""A person talks to the demo in the example app, with a microphone that beeps, and withdraws the consent."""

import re

from playwright.sync_api import WebSocket, expect

from tests.browser.person import Person

ENOUGH_FRAMES = 8


def test_a_person_talks_and_withdraws_the_consent(person: Person) -> None:
    page = person.page
    person.enter_the_app()
    page.get_by_role("link", name="Talk instead").click()
    page.get_by_role("button", name="Sign in to talk").click()
    page.get_by_role("button", name="Allow").click()
    sent: list[str | bytes] = []
    page.on("websocket", lambda socket: _listen(socket, sent))
    page.get_by_role("button", name="Talk", exact=True).click()
    page.get_by_role("button", name="Send").wait_for()
    while len(sent) < ENOUGH_FRAMES:
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#answer")).to_contain_text(re.compile("I heard [0-9.]+ seconds of sound"))
    expect(page.locator("#charge")).to_have_text(re.compile(r"^\$0\.\d{6}$"))
    page.get_by_role("button", name="End session").click()
    expect(page.get_by_role("button", name="End session")).to_be_hidden()
    _withdraw(person)
    page.goto(f"{person.gateway.app_origin}/example/talk.html")
    person.window.expect("WebSocket connection to .* failed")
    page.get_by_role("button", name="Talk", exact=True).click()
    expect(page.locator("#notice")).to_contain_text("could not be opened")


def _listen(socket: WebSocket, sent: list[str | bytes]) -> None:
    socket.on("framesent", lambda frame: sent.append(frame))  # noqa: PLW0108 (a built-in cannot be a listener)


def _withdraw(person: Person) -> None:
    page = person.page
    page.goto(f"{person.gateway.base_url}/apps")
    expect(page.locator("main")).to_contain_text(person.gateway.app_origin)
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("status")).to_have_text("The consent was withdrawn.")
