"""Registers the judgement app."""

from django.apps import AppConfig


class JudgementConfig(AppConfig):
    name = "judgement"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the operator's choice of backends with the catalogue."""
        from inference.queries import catalogue
        from judgement.queries.choices import read_choices

        catalogue.register_choices(read_choices)
