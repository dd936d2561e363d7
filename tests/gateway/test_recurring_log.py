"""Lines that come once per cause and minute."""

import logging

import pytest

from gateway.core.runtime.logs import CAUSES_MAX, REPEATED_AFTER_SECONDS, RecurringLog


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_cause_is_logged_once_a_minute_and_then_its_count(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    log = RecurringLog("gateway.test", logging.WARNING, clock)
    for _ in range(3):
        log.write("a", "first")
    log.write("b", "second")
    clock.now += REPEATED_AFTER_SECONDS
    log.write("a", "third")
    assert caplog.messages == ["first", "second", "third (2 more since the last such line)"]


def test_causes_that_a_stranger_invents_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    log = RecurringLog("gateway.test", logging.WARNING, clock)
    for number in range(CAUSES_MAX + 5):
        log.write(str(number), "told")
    assert len(caplog.messages) == CAUSES_MAX
    clock.now += REPEATED_AFTER_SECONDS
    log.write("new", "told again")
    assert caplog.messages[-1] == "told again"


def test_a_record_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    RecurringLog("gateway.test", logging.WARNING).write("a", "100% of it\nERROR forged \u2028line")
    assert caplog.messages == ["100% of it ERROR forged  line"]
