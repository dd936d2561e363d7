"""The order of checks is the documented one, and says which check refused a request."""

import re
from pathlib import Path

from gateway.core.telemetry.rules.checks import CHECKS, Result, refusing, results

DOCUMENT = Path(__file__).parents[2] / "docs" / "metering.md"


def documented() -> dict[int, set[str]]:
    """Return the codes of each check in the documentation's table."""
    rows = re.findall(r"^\| (\d\d?) \| [^|]*\| ([^|]*)\|$", DOCUMENT.read_text(), re.MULTILINE)
    return {int(number): set(re.findall(r"`([a-z_]+)`", errors)) for number, errors in rows}


def test_every_documented_check_is_there_with_its_errors() -> None:
    listed = {check.number: check.codes for check in CHECKS}
    table = documented()
    assert set(table) == set(listed)
    for number, codes in table.items():
        assert codes <= listed[number], number


def test_the_check_that_refused_is_named() -> None:
    assert [check.number for check in refusing("budget_exceeded", ["authenticated", "received", "checked"])] == [12]
    assert [check.number for check in refusing("invalid_token", [])] == [1]
    assert [check.number for check in refusing("invalid_token", ["received", "checked"])] == [1, 9]
    assert refusing("upstream_error", ["held"]) == []


def test_marks_tell_checks_with_the_same_error_apart() -> None:
    assert [check.number for check in refusing("invalid_request", ["authenticated", "received"])] == [5, 7]
    assert [check.number for check in refusing("invalid_request", ["received", "checked"])] == [14]


def test_what_is_before_has_passed_and_what_is_after_was_not_made() -> None:
    found = [result for _, result in results("max_cost_exceeded", ["received"])]
    assert found == [Result.PASSED] * 10 + [Result.REFUSED] + [Result.NOT_MADE] * 3
