"""The Celery application: reconciliation, payments' events, seat billing and clean-up."""

from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_ready

from gateway.core import filequeue
from gateway.core.database.bounded import serve_jobs
from gateway.core.startup import load_settings

load_settings()

filequeue.register()
app = Celery("gateway")
app.set_default()  # otherwise only tasks of the importing thread are sent to this app
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def read_journals(**signal: Any) -> None:
    """Read this machine's journals of dead server processes, without the broker, whose messages any machine may take."""
    from inference.metering.journal_reader import JournalReader  # the models are loaded only now

    JournalReader().start()


@worker_init.connect
def _serve_jobs(**signal: Any) -> None:
    serve_jobs()
