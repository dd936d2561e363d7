"""The API breaks no client of the last release unless somebody says why, and the changelog tells what is new."""

from copy import deepcopy
from typing import Any

import pytest

from tests.contract.api_changelog import PAGE, as_released, released, today, unexplained, written
from tests.contract.api_changes import Change, changes
from tests.contract.api_deliberate import DELIBERATE

BUDGETS = "PUT /v1/organizations/{org_id}/budgets"
CHAT = "POST /v1/chat/completions"
JSON = "application/json"


def changed(path: str, value: Any) -> list[tuple[str, bool]]:
    """Return what is told of one change of the API of today: of a part by its path, None takes it away."""
    before = today()
    after = deepcopy(before)
    *steps, last = path.split(" > ")
    place = after
    for step in steps:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return [(change.text, change.is_breaking) for change in changes(before, after)]


def test_nothing_breaks_a_client_without_a_reason() -> None:
    found = changes(released(), today())
    assert unexplained(found) == []
    broken = {(change.operation, change.text) for change in found if change.is_breaking}
    assert DELIBERATE.keys() <= broken


def test_the_page_tells_what_is_new() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(changes(released(), today()), page)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (CHAT, None, ("removed", True)),
        ("GET /v1/new", {}, ("new", False)),
        (f"{CHAT} > scope", "infer:all", ("needs `infer:all` instead of `infer:<model>`", True)),
        (
            f"{CHAT} > parameters > header Idempotency-Key",
            None,
            ("parameter `header Idempotency-Key` is no longer read", True),
        ),
        (f"{CHAT} > parameters > header New", "string, required", ("parameter `header New` is new and required", True)),
        (f"{CHAT} > parameters > header New", "string", ("parameter `header New` is new", False)),
        (
            f"{BUDGETS} > body > {JSON} > override",
            None,
            ("body `application/json`: `override` is no longer read", True),
        ),
        (
            f"{BUDGETS} > body > {JSON} > product",
            "string, null, required",
            ("body `application/json`: `product` is now required", True),
        ),
        (
            f"{BUDGETS} > body > {JSON} > period",
            "string, one of: day month",
            ("body `application/json`: `period` may no longer be `week`", True),
        ),
        (
            f"{BUDGETS} > body > {JSON} > period",
            "string, one of: day month week year",
            ("body `application/json`: `period` may now be `year`", False),
        ),
        (
            f"{BUDGETS} > body > {JSON} > limitMicrousd",
            "string, required",
            ("body `application/json`: `limitMicrousd` may no longer be integer", True),
        ),
        (
            f"{BUDGETS} > answers > 200 > {JSON} > status",
            None,
            ("answer `200 application/json`: `status` is no longer answered", True),
        ),
        (
            f"{BUDGETS} > answers > 200 > {JSON} > status",
            "string",
            ("answer `200 application/json`: `status` is no longer always there", True),
        ),
        (
            f"{BUDGETS} > answers > 200 > {JSON} > status",
            "string, null, required",
            ("answer `200 application/json`: `status` may now be null", True),
        ),
        (
            f"{BUDGETS} > answers > 200 > {JSON} > new",
            "string",
            ("answer `200 application/json`: `new` is new", False),
        ),
        (f"{BUDGETS} > errors > 404", [], ("no longer answers 404 `not_found`", False)),
        (f"{BUDGETS} > errors > 409", ["last_owner"], ("may answer 409 `last_owner`", False)),
        ("errors > Error > error.code", None, ("body of Error `error.code` is no longer answered", True)),
    ],
)
def test_a_change(path: str, value: Any, told: tuple[str, bool]) -> None:
    assert told in changed(path, value)


def test_a_member_within_a_new_one_may_be_required() -> None:
    before = {CHAT: {"scope": "", "parameters": {}, "body": {JSON: {}}, "answers": {}, "errors": {}}, "errors": {}}
    after = deepcopy(before)
    after[CHAT]["body"] = {JSON: {"tools": "array", "tools[].name": "string, required"}}
    assert [change.is_breaking for change in changes(before, after)] == [False, False]


def test_a_change_of_many_operations_is_told_once() -> None:
    found = [Change(f"GET /v1/{number}", "may answer 404 `not_found`") for number in range(6)]
    page = written(found, "# API changelog\n\n## Unreleased\n")
    assert "- `GET /v1/0`, `GET /v1/1`, `GET /v1/2`, `GET /v1/3` and 2 more: may answer 404 `not_found`.\n" in page


def test_a_release_keeps_the_changes_of_its_version() -> None:
    page = written([Change(CHAT, "new")], "# API changelog\n\n## Unreleased\n")
    page = as_released(page, "0.2.0", "2027-01-01")
    page = written([], page)
    assert page == (
        "# API changelog\n\n## Unreleased\n\nNothing has changed.\n\n## 0.2.0 (2027-01-01)\n\n### Compatible\n\n"
        "- `POST /v1/chat/completions`: new.\n"
    )
