"""What the admin pages of every app share: read-only tables, money and times, secrets that are never shown."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import quote, unquote
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import Model, QuerySet
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display
from unfold.paginator import InfinitePaginator
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextareaWidget

from gateway.core.contract.amounts import usd


def money(title: str, field: str, *, is_sortable: bool = False) -> Any:
    """Make a column, or a line of a page, that renders the amount of a field in micro-USD."""

    @display(description=title, ordering=field if is_sortable else None)
    def show(admin: Any, row: Any) -> str:
        return usd(getattr(row, field))

    return show


def dialog(title: str, description: str, submit: str, form: type[forms.Form] | None = None) -> dict[str, Any]:
    """Make the dialog that an action opens; its form is the library's empty one where none is given."""
    shown: dict[str, Any] = {"title": title, "description": description, "form_submit_text": submit}
    return shown | ({"form_class": form} if form else {})


def may_act(request: HttpRequest, right: str, rows: QuerySet[Any], object_id: str | None) -> bool:
    """Tell whether an operator may act by that right: on one of these rows, or on any where none is named yet."""
    return request.user.has_perm(right) and (object_id is None or rows.filter(pk=object_id).exists())


def leave_dialog(address: str) -> HttpResponse:
    """Answer a dialog's form that was accepted: the page behind it goes to the address."""
    return HttpResponse(headers={"HX-Redirect": address})


class ConsoleAdmin(ModelAdmin):
    """A table of the console. No page counts or loads more rows than it shows."""

    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    list_fullwidth = True
    warn_unsaved_form = True
    actions_selection_counter = True

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Know a row by its own id: lists link to a quoted one ("use_5F…"), and actions would look for that.

        Django unquotes it once more, so an id that this would change ("wal_23…") goes on quoted.
        """
        row_id = None if object_id is None else unquote(object_id)
        if row_id is not None and unquote(row_id) != row_id:
            row_id = quote(row_id)
        return super().changeform_view(request, row_id, form_url, extra_context)

    def leave_dialog(self, request: HttpRequest, object_id: str, words: str, level: int) -> HttpResponse:
        """Tell what came of a dialog, on the page of its row."""
        self.message_user(request, words, level)
        return leave_dialog(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[object_id]))

    def finish_dialog(self, request: HttpRequest, form: Any, object_id: str, done: str) -> HttpResponse:
        """Log what was done and the reason that the form asked for, and tell it."""
        self.log_change(request, self.get_queryset(request).get(pk=object_id), f"{done}: {form.cleaned_data['reason']}")
        return self.leave_dialog(request, object_id, f"{done}.", messages.SUCCESS)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Leave out what is typed and never read: whoever may not change a row is shown each of its fields as text."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        fields = getattr(self.form, "base_fields", {})
        typed = {name for name, each in fields.items() if isinstance(each, SecretField) or not hasattr(obj, name)}
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name not in typed]})
            for title, options in fieldsets
        ]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow the queries of the table's filters alone.

        The library allows every column of the table, so that one that no page shows, such as a session's key, could be
        read letter by letter: `?session_key__startswith=a`.
        """
        names = [_parameter(each) for each in self.get_list_filter(request)]
        is_filter = any(lookup == name or lookup.startswith(f"{name}__") for name in names)
        return is_filter and bool(super().lookup_allowed(lookup, value, request))

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Refuse rows whose ids no row of this table can have; the library's own look-up would break."""
        try:
            [self.opts.pk.to_python(key) for key in request.POST.getlist(ACTION_CHECKBOX_NAME)]
        except ValidationError:
            raise BadRequest("A selected row has no id of this table.") from None
        return super().response_action(request, queryset)


class WordFilter(SimpleListFilter):
    """Filters by a column of known words, without asking the table which there are."""

    words: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """List the words."""
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows of the chosen word."""
        return queryset.filter(**{self.parameter_name or "": self.value()}) if self.value() else queryset


def _parameter(list_filter: Any) -> str:
    """Name the query parameter, or the beginning of the parameters, of one of a table's filters."""
    if isinstance(list_filter, tuple):
        return str(list_filter[0])
    return str(list_filter if isinstance(list_filter, str) else list_filter.parameter_name)


class ReadOnlyAdmin(ConsoleAdmin):
    """A table that only operations write. Long ones are paged without counting them."""

    paginator = InfinitePaginator
    list_disable_select_all = True

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds a row by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody edits a row."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes a row."""
        return False


class ReadOnlyInline(TabularInline):
    """Rows of another table, shown below the one that they belong to."""

    extra = 0
    can_delete = False
    show_change_link = True
    per_page = 20

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody adds a row by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody edits a row."""
        return False


class LinesField(SimpleArrayField):
    """A list of texts, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 6}))
        super().__init__(forms.CharField(), delimiter="\n", **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Render a stored list."""
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        """Read the lines that say something."""
        lines = value.splitlines() if isinstance(value, str) else list(value or ())
        return [line.strip() for line in lines if line.strip()]


def json_object(value: Any) -> dict[str, Any]:
    """Return an object, an empty one for nothing, or raise ValidationError."""
    if not isinstance(value or {}, dict):
        raise ValidationError("This must be a JSON object.")
    return value or {}


class ReadableJSONField(forms.JSONField):
    """JSON, shown over several lines."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 10, "class": "font-mono"}))
        super().__init__(**kwargs)

    def to_python(self, value: Any) -> Any:
        """Read what was typed; nesting and numbers that the parser gives up on are no JSON either."""
        try:
            return super().to_python(value)
        except (RecursionError, ValueError):
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Keep such a text as it was typed, for the page that says so."""
        try:
            return super().bound_data(data, initial)
        except (RecursionError, ValueError):
            return InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        """Render what is stored; what was typed and could not be read stays as it was."""
        return value if isinstance(value, InvalidJSONInput) else json.dumps(value, indent=2, ensure_ascii=False)


class SecretField(forms.CharField):
    """A secret that can be set and never read: the page says whether there is one, and blank keeps it."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        kwargs.setdefault("widget", UnfoldAdminPasswordWidget(render_value=False))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> None:
        """Show nothing."""
        return

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Count only what was typed."""
        return bool(data)
