"""Ask an operator for the reason of an action."""

from typing import Any

from django import forms
from django.http import HttpRequest
from unfold.forms import ActionForm, BaseDialogForm
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


class ListReasonForm(ActionForm):
    """Asks why beside the choice of a list's action. `reason_of` refuses an empty reason."""

    reason = ReasonField(
        label="",
        required=False,
        widget=UnfoldAdminTextInputWidget(
            attrs={"placeholder": "Reason", "aria-label": "Reason", "x-show": "action", "class": "!w-72"}
        ),
    )


def reason_of(request: HttpRequest) -> str:
    """Return the reason that was given for a list's action. Raises ValidationError if there is none, or not one line."""
    return str(ReasonField().clean(request.POST.get("reason", "")))
