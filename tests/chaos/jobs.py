"""Runs the periodic jobs in a separate process, more often than scheduled: `python -m tests.chaos.jobs`."""

import logging
import time
from collections.abc import Callable

import django

SPEED = 10.0
"""A job that runs every 30 s runs here every 3 s, and none more often than SHORTEST_SECONDS."""
SHORTEST_SECONDS = 1.5
TICK_SECONDS = 0.1

log = logging.getLogger("chaos.jobs")


def main() -> None:
    """Run every scheduled task at its interval, even if it failed before."""
    django.setup()
    from gateway.celery import app
    from gateway.schedule import INTERVAL_SECONDS

    app.loader.import_default_modules()
    due = dict.fromkeys(INTERVAL_SECONDS, 0.0)
    while True:
        for name, at in due.items():
            if at <= time.monotonic():
                _run(app.tasks[name])
                due[name] = time.monotonic() + max(SHORTEST_SECONDS, INTERVAL_SECONDS[name] / SPEED)
        time.sleep(TICK_SECONDS)


def _run(task: Callable[[], object]) -> None:
    from django.db import close_old_connections

    try:
        task()
    except Exception:
        log.exception("%s failed", task)
    finally:
        close_old_connections()


if __name__ == "__main__":
    main()
