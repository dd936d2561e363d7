"""The dialogs that replace an upstream's key while calls go on: add the next one, switch to it, remove the old one."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanWidget

from gateway.core.console import ConsoleAdmin, ReasonField, ReasonForm, dialog, may_act
from inference.admin.upstream_form import clean_key
from inference.models import Upstream
from inference.operations import upstream_keys
from inference.operations.upstream_keys import RefusedError

RIGHT = "inference.change_upstream"
EACH_PROCESS = "Every process sees it within 15 seconds."

NO_OTHER = Q(next_api_key="", previous_api_key="")


class NextKeyForm(ReasonForm):
    """Asks for the key that is to follow the current one. It is never shown again."""

    next_key = forms.CharField(
        label="Next API key",
        max_length=4096,
        widget=UnfoldAdminPasswordWidget(render_value=False, attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown.",
    )
    replaces = forms.BooleanField(
        label="Replace the next key that is there",
        required=False,
        widget=UnfoldBooleanWidget,
        help_text="It is deleted here. If calls use it already, they fall back to the current key.",
    )
    reason = ReasonField()

    field_order = ("next_key", "replaces", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Ask whether to replace only where there is something to replace, or where somebody has confirmed it."""
        super().__init__(*args, **kwargs)
        row = Upstream.objects.filter(pk=self.object_id).exclude(next_api_key="")
        if not self.is_bound and not row.exists():
            del self.fields["replaces"]

    def clean_next_key(self) -> str:
        key = clean_key(self.cleaned_data["next_key"])
        if not key:
            raise ValidationError("This field is required.")
        return key


class RemoveKeyForm(ReasonForm):
    """Asks why. The hidden field says which key the operator saw, because somebody else may switch meanwhile."""

    seen = forms.ChoiceField(choices=[(name, name) for name in upstream_keys.COLUMNS], widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row = Upstream.objects.get(pk=self.object_id)
        self.fields["seen"].initial = "old" if row.previous_api_key else "next"


class KeyActions(ConsoleAdmin):
    """The actions of an upstream's page that replace its key."""

    def has_add_key_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may change an upstream to add a next key, while there is no old one."""
        return may_act(request, RIGHT, _rows(~Q(api_key=""), previous_api_key=""), object_id)

    def has_switch_key_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow them to switch to the next key."""
        return may_act(request, RIGHT, _rows(~Q(next_api_key="")), object_id)

    def has_switch_back_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow them to switch back to the old key."""
        return may_act(request, RIGHT, _rows(~Q(previous_api_key="")), object_id)

    def has_remove_key_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow them to remove the next or the old key."""
        return may_act(request, RIGHT, _rows(~NO_OTHER), object_id)

    @action(
        description="Next key",
        icon="key",
        url_path="next-key",
        permissions=["add_key"],
        dialog=dialog(
            "Add the next API key",
            "Calls go on with the current key, and with this one only if the upstream refuses the current one. Then try it on "
            f"the page of a model, and switch. {EACH_PROCESS}",
            "Add",
            NextKeyForm,
        ),
    )
    def add_key(self, request: HttpRequest, form: NextKeyForm, object_id: str) -> HttpResponse:
        """Store the next key."""
        key, replaces = form.cleaned_data["next_key"], form.cleaned_data["replaces"]
        try:
            is_replaced = upstream_keys.add_next(int(object_id), key, replaces=replaces)
        except RefusedError as error:
            return self.leave_dialog(request, object_id, str(error), messages.ERROR)
        done = "Replaced the next key, which was not switched to" if is_replaced else "Added the next key"
        return self.finish_dialog(request, form, object_id, done)

    @action(
        description="Switch to the next key",
        icon="swap_horiz",
        url_path="switch-key",
        permissions=["switch_key"],
        dialog=dialog(
            "Switch to the next API key",
            "Calls are sent with the next key from now on. The current one is kept as the old key: calls use it only if the "
            f"upstream refuses the new one. {EACH_PROCESS}",
            "Switch",
            ReasonForm,
        ),
    )
    def switch_key(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Make the next key the current one."""
        return self._step(
            request,
            form,
            object_id,
            "Switched to the next key",
            lambda pk: upstream_keys.switch(pk, now=timezone.now()),
        )

    @action(
        description="Switch back",
        icon="undo",
        url_path="switch-back",
        permissions=["switch_back"],
        dialog=dialog(
            "Switch back to the old API key",
            f"Calls are sent with the old key again, and the current one becomes the next one. {EACH_PROCESS}",
            "Switch back",
            ReasonForm,
        ),
    )
    def switch_back(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Make the old key the current one again."""
        return self._step(
            request,
            form,
            object_id,
            "Switched back to the old key",
            lambda pk: upstream_keys.switch_back(pk, now=timezone.now()),
        )

    @action(
        description="Remove the other key",
        icon="key_off",
        url_path="remove-key",
        permissions=["remove_key"],
        dialog=dialog(
            "Remove the key that is not current",
            "The next or the old key is deleted here. After that, revoke it at the provider. Calls go on with the current key.",
            "Remove",
            RemoveKeyForm,
        ),
    )
    def remove_key(self, request: HttpRequest, form: RemoveKeyForm, object_id: str) -> HttpResponse:
        """Remove the next or the old key."""
        seen = form.cleaned_data["seen"]
        return self._step(
            request, form, object_id, f"Removed the {seen} key", lambda pk: upstream_keys.remove_other(pk, seen)
        )

    def _step(
        self, request: HttpRequest, form: Any, object_id: str, done: str, step: Callable[[int], object]
    ) -> HttpResponse:
        try:
            step(int(object_id))
        except RefusedError as error:
            return self.leave_dialog(request, object_id, str(error), messages.ERROR)
        return self.finish_dialog(request, form, object_id, done)


def _rows(*conditions: Q, **fields: str) -> QuerySet[Upstream]:
    return Upstream.objects.filter(*conditions, **fields)
