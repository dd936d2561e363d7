"""Registers the events app."""

from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "gateway.core.events"
    label = "events"
    default_auto_field = "django.db.models.BigAutoField"
