"""Registers the inference app."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the accounts app which scopes the enabled aliases open to browsers, and what models there are, and billing
        how an upstream's own record of a call is found."""
        from accounts.operations import idle_scopes, public_scopes
        from accounts.queries import metadata
        from billing.operations import reviews
        from inference.metering.served import callable_aliases
        from inference.operations.look_ups import look_up
        from inference.queries import catalogue
        from inference.queries.aliases import enabled_names
        from inference.queries.upstreams import is_any_looked_up

        public_scopes.register_aliases(enabled_names)
        metadata.register_aliases(callable_aliases)
        idle_scopes.register_models(catalogue.known_names)
        reviews.register(look_up, is_any=is_any_looked_up)
