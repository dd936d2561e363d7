"""Console pages of raw models."""

from django.contrib import admin
from django.core.exceptions import ValidationError

from inference.admin.served import ServedAdmin, ServedForm
from inference.models import Alias, RawModel


class RawModelForm(ServedForm):
    """Keeps aliases and raw models distinct: a request's `model` can name either."""

    class Meta:
        model = RawModel
        fields = ("model", "upstream", "integrations", "enabled", "max_output_tokens", "context_tokens", "options")

    def clean_model(self) -> str:
        """Refuse the name of an alias."""
        model: str = self.cleaned_data["model"]
        if Alias.objects.filter(name=model).exists():
            raise ValidationError("This is the name of an alias.")
        return model


@admin.register(RawModel)
class RawModelAdmin(ServedAdmin):
    """Upstream models under their own names."""

    form = RawModelForm
    permanent_fields = ("model",)
    name_field = "model"
    fields = ("model", "upstream", "integrations", "enabled", "max_output_tokens", "context_tokens", "options")
    list_display = ("model", "can_be_called", "upstream", "max_output_tokens", "context_tokens", "enabled")
    list_filter = ("enabled", "upstream")
    list_select_related = ("upstream",)
    search_fields = ("model",)
    ordering = ("model",)
    autocomplete_fields = ("integrations",)
