"""LOG_FORMAT=json: each record is one line with one object, whatever was logged; and the settings of logs."""

import json
import logging
import os
import re
import sys
import threading
from contextvars import Context
from typing import Any

import pytest

from gateway.core.contract.log_lines import json_line
from gateway.core.http.request_ids import CarriesRequestId, carried_by_logs
from gateway.core.runtime.json_logs import JsonFormatter, log_everything
from gateway.run import log_lines
from gateway.run.errors import StartError
from gateway.run.options import Options
from gateway.run.settings import settings_problems

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Lines(logging.Handler):
    """Keeps what would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.addFilter(CarriesRequestId())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def written() -> Any:
    """Yield the lines of the logger `tests.json`."""
    handler, logger = Lines(), logging.getLogger("tests.json")
    logger.addHandler(handler)
    logger.propagate = False
    yield handler.lines
    logger.removeHandler(handler)
    logger.propagate = True


def only(lines: list[str]) -> dict[str, Any]:
    [line] = lines
    assert line.isascii()
    assert "\n" not in line
    return dict(json.loads(line))


log = logging.getLogger("tests.json")


def log_in_request() -> None:
    carried_by_logs("req_1")
    log.warning("héllo\n%s \u2028 \ud800", "world", extra={"usage_id": "use_1", "status": 200, "secret": "no"})


def test_a_record_is_an_object_with_its_request(written: list[str]) -> None:
    Context().run(log_in_request)  # what earlier tests carry in theirs is not of this request
    record = only(written)
    assert TIME.fullmatch(record.pop("time"))
    assert ascii(record.pop("message")) == ascii("héllo\nworld \u2028 \ud800")  # a report cannot carry it raw
    assert record == {
        "level": "WARNING",
        "logger": "tests.json",
        "request_id": "req_1",
        "usage_id": "use_1",
        "status": 200,
    }


def test_a_record_without_a_request_says_so(written: list[str]) -> None:
    Context().run(log.warning, "x")  # as above
    assert only(written)["request_id"] is None


def test_an_exception_and_a_stack_are_members(written: list[str]) -> None:
    try:
        raise ValueError("of several\nlines")
    except ValueError:
        log.exception("failed", stack_info=True)
    record = only(written)
    assert record["message"] == "failed"
    assert record["exception"].startswith("Traceback (most recent call last):\n")
    assert record["exception"].endswith("ValueError: of several\nlines")
    assert record["stack"].startswith("Stack (most recent call last):\n")


def test_an_exception_that_is_none_is_left_out(written: list[str]) -> None:
    log.warning("x", exc_info=True)
    assert "exception" not in only(written)


def test_arguments_that_do_not_fit_leave_the_message() -> None:
    record = logging.LogRecord("l", logging.WARNING, "path", 1, "%d of %s", ("x",), None)
    assert json.loads(JsonFormatter().format(record))["message"] == "%d of %s"


def test_values_that_json_does_not_know_are_written_as_text() -> None:
    line = json_line(time_seconds=0.5, level="INFO", message="m", logger="l", status=object, route=None)
    assert json.loads(line) == {
        "time": "1970-01-01T00:00:00.500000Z",
        "level": "INFO",
        "message": "m",
        "logger": "l",
        "request_id": None,
        "status": "<class 'object'>",
    }


def test_what_ends_a_thread_or_the_process_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    try:
        log_everything()
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        sys.excepthook(ValueError, ValueError("end"), None)
    finally:
        logging.captureWarnings(False)
    ours = [record for record in caplog.records if record.name == "gateway.crash"]
    assert [(record.levelname, record.getMessage()) for record in ours] == [
        ("ERROR", "a thread ended: ZeroDivisionError"),
        ("CRITICAL", "the process ends: ValueError"),
    ]


def test_the_supervisor_passes_objects_on_and_wraps_what_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert log_lines.event("restarting") == "gateway: restarting"
    assert log_lines.shown("worker", "x") == "worker | x"
    assert log_lines.message_of('{"message": "x"}') == '{"message": "x"}'
    monkeypatch.setenv("LOG_FORMAT", "json")
    line = json_line(time_seconds=0, level="ERROR", message="m", logger="l")
    assert log_lines.shown("worker", line) == line
    assert log_lines.message_of(line) == "m"
    for odd in ("Segmentation fault", "{not json", '["a"]', ""):
        wrapped = json.loads(log_lines.shown("worker", odd))
        assert (wrapped["message"], wrapped["logger"]) == (odd, "worker")
    said = json.loads(log_lines.event("2 problems:\n  one"))
    assert (said["message"], said["logger"], said["level"]) == ("2 problems:\n  one", "gateway.run", "WARNING")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be text or json."),
        ("LOG_REQUESTS", "maybe", "LOG_REQUESTS must be true or false."),
        (
            "LOG_LEVEL",
            "LOUD",
            "LOG_LEVEL must be one of CRITICAL, FATAL, ERROR, WARN, WARNING, INFO, DEBUG, NOTSET.",
        ),
    ],
)
def test_a_value_that_is_none_of_a_settings_is_named_at_start(name: str, value: str, problem: str) -> None:
    assert settings_problems({**os.environ, name: value}, besides=[]) == [problem]


def test_the_supervisor_names_a_wrong_format_itself() -> None:
    with pytest.raises(StartError, match=r"LOG_FORMAT must be text or json\."):
        Options.read({"LOG_FORMAT": "xml"})
