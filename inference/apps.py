"""Registers the inference app."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, this app's models and aliases with the accounts app, its look-up of upstreams' records
        with billing, its alarm with the HTTP client, and the exported data."""
        from accounts.operations import closing, exports, model_names
        from billing.operations import reviews
        from gateway.core.outbound.distrust import distrust
        from inference import checks  # noqa: F401
        from inference.metering import out_of_turn
        from inference.metering.served import callable_aliases
        from inference.operations.closing import InferencePart
        from inference.operations.look_ups import look_up
        from inference.queries import catalogue, own_data
        from inference.queries.aliases import enabled_names
        from inference.queries.upstreams import is_any_looked_up

        model_names.register(
            model_names.ModelNames(known=catalogue.known_names, enabled=enabled_names, callable_now=callable_aliases)
        )
        closing.register("inference", InferencePart())
        exports.register(
            exports.TextFile("stored_responses.jsonl", "stored responses, one a line", own_data.stored_responses)
        )
        reviews.register(look_up, is_any=is_any_looked_up)
        distrust.notify(out_of_turn.report)
