"""Folders of journals: who reads each, and an operator's word that one will not come back."""

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from gateway.core.console import ReadOnlyAdmin, ReasonForm, dialog, may_act
from inference.models import JournalFolder
from inference.operations import journal_folders
from inference.queries.journal_folders import UNREAD_AFTER, WAITING_AFTER, alarming

READ, IDLE, UNREAD, WAITING = "Read", "Not in use", "Read by nobody", "Cannot be closed"
COLOURS = {READ: "success", IDLE: "default", UNREAD: "danger", WAITING: "danger"}
WHAT_TO_DO = {
    READ: "Nothing. Processes of this machine read it, and close the calls of those that die.",
    IDLE: "Nothing. No call is noted in it.",
    UNREAD: "Start the gateway on this machine again. If the machine does not come back, copy the folder to another one, and run "
    "manage.py read_journals there. If its disk is lost, choose Forget.",
    WAITING: "The log of inference.recovery on this machine says why a call in it cannot be closed. It is tried again every few seconds.",
}
"""By state."""
RIGHT = "inference.change_journalfolder"
TOO_LATE = "This folder is read again, or was forgotten, in the meantime."


@admin.register(JournalFolder)
class JournalFolderAdmin(ReadOnlyAdmin):
    """Where the servers of each machine note their open calls, for the case that they die."""

    empty_text = "Each server process adds the folder of its machine (CALL_JOURNAL_DIR) when it starts."
    list_display = ("place", "state", "read_at", "files", "waiting_since")
    list_filter = ("read_at",)
    search_fields = ("host", "path")
    search_help_text = "Any part of a machine's name or of a path."
    ordering = ("-read_at", "id")
    actions_detail = ("forget",)
    fields = ("host", "path", "state", "what_to_do", "read_at", "files", "waiting_since", "id")

    def has_forget_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, alarming(now=timezone.now()), object_id)

    @action(
        description="Forget",
        icon="folder_off",
        permissions=["forget"],
        dialog=dialog(
            "Forget this folder",
            "Only if its disk is lost. Calls that were open there go to review after their deadline. If you have the files, "
            "hand them over instead: manage.py read_journals.",
            "Forget",
            ReasonForm,
        ),
    )
    def forget(self, request: HttpRequest, form: forms.Form, object_id: str) -> HttpResponse:
        if not journal_folders.forget(object_id, now=timezone.now()):
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Forgotten")

    @display(description="Folder", ordering="host")
    def place(self, row: JournalFolder) -> str:
        """Return the machine and the path."""
        return str(row)

    @display(description="State", label=COLOURS)
    def state(self, row: JournalFolder) -> str:
        """Return who reads it, in words."""
        now = timezone.now()
        if row.read_at < now - UNREAD_AFTER:
            return UNREAD if row.files else IDLE
        return WAITING if row.waiting_since and row.waiting_since < now - WAITING_AFTER else READ

    @display(description="What to do")
    def what_to_do(self, row: JournalFolder) -> str:
        """Return what the folder needs from a person."""
        return WHAT_TO_DO[self.state(row)]
