"""Forms of rows that keep some of their settings in one JSON column, where each setting has a field of its own."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget


class OptionsForm(forms.ModelForm):
    """A form whose fields of `option_fields` are stored in the row's `options`, under the names that they map to.

    An empty field takes its option away. Options that have no field remain as they are.
    """

    option_fields: ClassVar[Mapping[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.options
        for field, option in self.option_fields.items():
            if field in self.fields and option in stored:
                self.initial.setdefault(field, self.shown(option, stored[option]))

    def shown(self, option: str, value: Any) -> Any:
        """Return a stored option as its field shows it."""
        return value

    def stored(self, option: str, value: Any) -> Any:
        """Return a field's value as it is stored; empty for nothing."""
        return value

    def clean(self) -> dict[str, Any]:
        """Set the row's options to what the form says."""
        cleaned = super().clean() or {}
        options = dict(self.instance.options)
        for field, option in self.option_fields.items():
            if field not in self.fields or field in self.errors:
                continue
            value = self.stored(option, cleaned.get(field))
            options.pop(option, None)
            if value not in (None, "", [], {}):
                options[option] = value
        self.instance.options = options
        return cleaned


class PairsField(forms.CharField):
    """A map of names to texts, one `name=text` per line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 3, "placeholder": "api-version=preview"}))
        super().__init__(required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(f"{name}={text}" for name, text in sorted(value.items())) if isinstance(value, dict) else value

    def clean(self, value: Any) -> dict[str, str]:
        """Read the lines that are not blank. Raises ValidationError."""
        lines = [line.strip() for line in (super().clean(value) or "").splitlines() if line.strip()]
        pairs = [line.partition("=") for line in lines]
        if not all(name and equals for name, equals, _ in pairs):
            raise ValidationError("Each line must be a name, an equals sign and a text.")
        found = {name.strip(): text.strip() for name, _, text in pairs}
        if len(found) < len(pairs):
            raise ValidationError("Each name can have only one line.")
        return found

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return self.clean(self.prepare_value(initial)) != self.clean(data)
        except ValidationError:
            return True
