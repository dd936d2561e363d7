"""Form fields of the console: lists, JSON, and secrets that are never shown."""

import json
from typing import Any

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextareaWidget


class LinesField(SimpleArrayField):
    """A list of texts, one per line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 6}))
        super().__init__(forms.CharField(), delimiter="\n", **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        """Read the lines that are not blank."""
        lines = value.splitlines() if isinstance(value, str) else list(value or ())
        return [line.strip() for line in lines if line.strip()]


class ReadableJSONField(forms.JSONField):
    """JSON, shown over several lines."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 10, "class": "font-mono"}))
        super().__init__(**kwargs)

    def to_python(self, value: Any) -> Any:
        """Parse the input; nesting and numbers that the parser rejects are invalid JSON too."""
        try:
            return super().to_python(value)
        except (RecursionError, ValueError):
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Keep invalid input as it was typed, for redisplay."""
        try:
            return super().bound_data(data, initial)
        except (RecursionError, ValueError):
            return InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        """Render the stored value, empty if there is none; invalid input is redisplayed unchanged."""
        if value is None:
            return ""
        return value if isinstance(value, InvalidJSONInput) else json.dumps(value, indent=2, ensure_ascii=False)


class SecretField(forms.CharField):
    """A secret that can be set and never read: the page shows whether one is set, and blank keeps it."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        kwargs.setdefault("widget", UnfoldAdminPasswordWidget(render_value=False))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> None:
        """Show nothing."""
        return

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(data)
