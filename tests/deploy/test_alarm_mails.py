"""The line of docs/guides/production.md that mails what needs a person now."""

import logging
import re
from collections.abc import Callable
from typing import cast

import pytest

from gateway.celery import app
from gateway.run.log_lines import shown
from gateway.settings.logs import LOGGING
from tests.deploy.operator import GUIDE

[PATTERN] = re.findall(r"journalctl .* --unit 'account-gateway\*' .* --grep '([^']+)'", GUIDE.text)


FORMATTERS = cast("dict[str, dict[str, str]]", LOGGING["formatters"])
Line = Callable[[int], str]


def server_line(level: int) -> str:
    return _formatted(FORMATTERS["text"]["format"], level)


def worker_line(level: int) -> str:
    """Format a line as Celery does, whose form a worker's lines have."""
    return _formatted(app.conf.worker_log_format, level)


def _formatted(form: str, level: int) -> str:
    record = logging.makeLogRecord({"levelno": level, "levelname": logging.getLevelName(level), "request_id": "-"})
    return logging.Formatter(form).format(record)


@pytest.mark.parametrize("line", [server_line, worker_line])
@pytest.mark.parametrize("level", [logging.WARNING, logging.ERROR, logging.CRITICAL])
def test_it_finds_errors_of_each_process_alone_and_under_the_single_unit(line: Line, level: int) -> None:
    for said in (line(level), shown("worker", line(level))):
        assert bool(re.search(PATTERN, said)) is (level >= logging.ERROR), said
