"""Registers the inference app."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "inference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the accounts app what models there are, and which aliases are enabled and can be called."""
        from accounts.operations import model_names
        from inference.metering.served import callable_aliases
        from inference.queries import catalogue
        from inference.queries.aliases import enabled_names

        model_names.register(
            model_names.ModelNames(known=catalogue.known_names, enabled=enabled_names, callable_now=callable_aliases)
        )
