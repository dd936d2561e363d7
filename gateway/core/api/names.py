"""Validates names in forms, serializers and models."""

from django.core.exceptions import ValidationError

from gateway.core.contract.names import shows_as_written

WORDS = "This must not contain control characters or characters that change the direction of text."


def validate_name(value: str) -> None:
    """Refuse a name that does not show as it is written."""
    if not shows_as_written(value):
        raise ValidationError(WORDS)
