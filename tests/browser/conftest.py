"""One gateway, one example app and one browser for all journeys; a separate window for each person."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.app_gateway import AppGateway
from tests.browser.chromium import Window, chromium
from tests.browser.person import Person
from tests.support.stripe import FakeStripe

ARTEFACTS = Path(__file__).with_name("artefacts")
OUTCOME = pytest.StashKey[pytest.TestReport]()

Open = Callable[..., Person]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Note how each test went, for the fixtures that end after it."""
    report: Any = yield
    if report.when == "call":
        item.stash[OUTCOME] = report
    return report


@pytest.fixture(scope="package")
def provider() -> Iterator[FakeStripe]:
    with FakeStripe() as running:
        yield running


@pytest.fixture(scope="package")
def gateway(provider: FakeStripe) -> Iterator[AppGateway]:
    with AppGateway(provider=provider) as gateway:
        provider.webhooks.send_to(f"{gateway.base_url}/webhooks/stripe")
        gateway.start_app()
        yield gateway


@pytest.fixture(scope="package")
def chrome() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(gateway: AppGateway, chrome: Browser, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Create people: each has a separate window. An error in a page's console fails the test."""
    people: list[Person] = []

    def open_window(**options: Any) -> Person:
        people.append(Person(gateway, Window(chrome.new_context(**options))))
        return people[-1]

    yield open_window
    examine(people, request)
    complaints = [complaint for person in people for complaint in person.window.unexpected()]
    for person in people:
        person.window.context.close()
    assert complaints == []


def examine(people: Sequence[Person], request: pytest.FixtureRequest) -> bool:
    """Return whether a test went well: it passed, and no page complained. Photograph every open tab if it did not."""
    failed = OUTCOME in request.node.stash and request.node.stash[OUTCOME].failed
    is_well = not failed and not any(person.window.unexpected() for person in people)
    for number, person in enumerate(people, 1):
        if not is_well:
            person.window.screenshots(ARTEFACTS, f"{request.node.name}-{number}")
    return is_well


@pytest.fixture
def person(opened: Open) -> Person:
    return opened()
