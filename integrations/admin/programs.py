"""Programs that evolution jobs may name."""

from django import forms
from django.contrib import admin
from unfold.decorators import display

from gateway.core.console import ConsoleAdmin, LinesField
from integrations.models import EvolutionProgram


class EvolutionProgramForm(forms.ModelForm):
    """Takes the command one argument a line."""

    command = LinesField(help_text="The program and its arguments, one per line.")

    class Meta:
        model = EvolutionProgram
        fields = ("name", "command", "timeout_seconds", "memory_mb", "result_kind")
        labels = {"timeout_seconds": "Timeout (seconds)", "memory_mb": "Memory (MB)"}


@admin.register(EvolutionProgram)
class EvolutionProgramAdmin(ConsoleAdmin):
    """Programs that evolution jobs may name."""

    form = EvolutionProgramForm
    list_display = ("name", "timeout", "memory", "result_kind")
    ordering = ("name",)
    search_fields = ("name",)

    @display(description="Timeout")
    def timeout(self, program: EvolutionProgram) -> str:
        """Render the time that a job may take."""
        return f"{program.timeout_seconds} s"

    @display(description="Memory")
    def memory(self, program: EvolutionProgram) -> str:
        """Render the memory that a job may use."""
        return f"{program.memory_mb} MB"
