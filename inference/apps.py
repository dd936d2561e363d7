"""Registers the inference app."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the accounts app which scopes the enabled aliases open to browsers."""
        from accounts.operations import public_scopes
        from inference.queries.aliases import enabled_names

        public_scopes.register_aliases(enabled_names)
