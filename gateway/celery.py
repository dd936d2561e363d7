"""The Celery application: reconciliation, payments' events, seat billing and clean-up."""

from typing import Any

from celery import Celery
from celery.bootsteps import StartStopStep
from celery.signals import setup_logging, worker_init, worker_shutting_down
from django.conf import settings

from gateway.core.contract.log_lines import JSON
from gateway.core.database.bounded import serve_jobs
from gateway.core.jobs import filequeue
from gateway.core.runtime.startup import load_settings

load_settings()

filequeue.register()
app = Celery("gateway")
app.set_default()  # otherwise only tasks of the importing thread are sent to this app
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


class Journals(StartStopStep):
    """Reads this machine's journals of dead server processes for as long as the worker lives, whether or not its broker is there.

    It starts after the pool has forked off its processes, if it has any, and before the worker connects to the broker.
    """

    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> Any:
        """Return the reader, which the step starts and stops."""
        from inference.metering.journal_reader import JournalReader  # the models are loaded only now

        return JournalReader()


class Events(StartStopStep):
    """Fans events out and sends them for as long as the worker lives, whether or not its broker is there."""

    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> Any:
        """Return what the step starts and stops."""
        from gateway.core.events.worker import EventWorker  # the models are loaded only now

        return EventWorker()


class Mails(StartStopStep):
    """Sends the mails that are due for as long as the worker lives, whether or not its broker is there."""

    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> Any:
        """Return what the step starts and stops."""
        from gateway.core.events.mail_worker import MailWorker  # the models are loaded only now

        return MailWorker()


class Metrics(StartStopStep):
    """Counts the runs of tasks, if METRICS_ADDRESS is set."""

    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> Any:
        """Return what the step starts and stops."""
        from gateway.metrics.recording import WorkerMetrics  # the models are loaded only now

        return WorkerMetrics()


app.steps["worker"].add(Journals)
app.steps["worker"].add(Events)
app.steps["worker"].add(Mails)
app.steps["worker"].add(Metrics)


if settings.LOG_FORMAT == JSON:

    @setup_logging.connect
    def _keep_logging(**signal: Any) -> None:
        """Keep the configuration of the settings: Celery would replace it by its own."""


@worker_init.connect
def _serve_jobs(**signal: Any) -> None:
    serve_jobs()


@worker_shutting_down.connect
def _end_waiting(**signal: Any) -> None:
    filequeue.Transport.end()
