"""Registers the inference app."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the accounts app which scopes the enabled aliases open to browsers, and what models there are."""
        from accounts.operations import idle_scopes, public_scopes
        from accounts.queries import metadata
        from inference.metering.served import callable_aliases
        from inference.queries import catalogue
        from inference.queries.aliases import enabled_names

        public_scopes.register_aliases(enabled_names)
        metadata.register_aliases(callable_aliases)
        idle_scopes.register_models(catalogue.known_names)
