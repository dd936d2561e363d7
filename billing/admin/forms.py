"""Dialogs that several of billing's console pages open."""

from django import forms
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget


class ReasonForm(BaseDialogForm):
    """Asks why."""

    reason = forms.CharField(max_length=200, help_text="Kept in the log.", widget=UnfoldAdminTextInputWidget)
