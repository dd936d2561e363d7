"""The Celery application: reconciliation, payments' events, seat billing and clean-up."""

from celery import Celery

from gateway.core import filequeue
from gateway.core.startup import load_settings

load_settings()

filequeue.register()
app = Celery("gateway")
app.set_default()  # else only the thread that imports this hands its tasks here
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
