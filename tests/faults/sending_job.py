"""Sends a job to a worker, as a node's scheduler does: `python -m tests.faults.sending_job billing.tasks.reap`."""

import sys

from gateway.core.runtime.startup import load_settings


def main(name: str) -> None:
    """Send the job, by the broker of the environment."""
    from gateway.celery import app

    app.send_task(name, retry=False)


if __name__ == "__main__":
    load_settings()
    main(*sys.argv[1:])
