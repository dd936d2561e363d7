"""Ask an operator for the reason of an action."""

from typing import Any

from django import forms
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget

from gateway.core.api.names import validate_name


class ReasonField(forms.CharField):
    """The reason for an operator's action, one line that is logged as written."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextInputWidget)
        super().__init__(max_length=200, help_text="Recorded in the log.", validators=[validate_name], **kwargs)


class ReasonForm(BaseDialogForm):
    """Asks why."""

    reason = ReasonField()
