"""The Celery application: reconciliation, payments' events, seat billing and clean-up."""

from celery import Celery

from gateway.core import filequeue
from gateway.core.startup import load_settings

load_settings()

filequeue.register()
app = Celery("gateway")
app.set_default()  # otherwise only tasks of the importing thread are sent to this app
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
