"""Programs that evolution jobs may name."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from gateway.core.console import ConsoleAdmin, ReadableJSONField, quantity
from integrations.models import EvolutionProgram
from integrations.rules.contents import KIND


class EvolutionProgramForm(forms.ModelForm):
    """Accepts the command as a JSON list, because an argument may have several lines."""

    command = ReadableJSONField(help_text='The program and its arguments, as a JSON list: ["python3", "-c", "..."].')

    class Meta:
        model = EvolutionProgram
        fields = ("name", "command", "timeout_seconds", "memory_mb", "result_kind")
        labels = {"timeout_seconds": "Timeout (seconds)", "memory_mb": "Memory (MB)"}

    def clean_command(self) -> list[str]:
        """Refuse anything but a list of strings that begins with a program."""
        command: Any = self.cleaned_data["command"]
        if not isinstance(command, list) or not command or not all(isinstance(each, str) for each in command):
            raise ValidationError("This must be a list of texts.")
        if not command[0]:
            raise ValidationError("The first text must name a program.")
        return command

    def clean_result_kind(self) -> str:
        kind: str = self.cleaned_data["result_kind"]
        if kind:
            RegexValidator(rf"\A{KIND}\Z", "Use letters, digits and . _ - only.")(kind)
        return kind


@admin.register(EvolutionProgram)
class EvolutionProgramAdmin(ConsoleAdmin):
    """Programs that evolution jobs may name."""

    timeout, memory = quantity("Timeout", "timeout_seconds", "s"), quantity("Memory", "memory_mb", "MB")

    form = EvolutionProgramForm
    permanent_fields = ("name",)
    list_display = ("name", "timeout", "memory", "result_kind")
    ordering = ("name",)
    search_fields = ("name",)
    fields = ("name", "command", "timeout_seconds", "memory_mb", "result_kind")
