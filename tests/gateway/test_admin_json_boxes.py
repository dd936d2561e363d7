"""Options are fields of the console's forms. JSON is entered only where others hand it over, or where a line cannot have it."""

from django import forms
from django.contrib import admin
from django.test import RequestFactory

from accounts.models import Account

JSON = {
    "integration.jwks",  # a set of keys, as the product's server prints it
    "evolutionprogram.command",  # a list whose texts may have several lines
}


def test_no_form_has_another_json_box() -> None:
    request, found = RequestFactory().get("/admin/"), set()
    request.user = Account(is_superuser=True, is_active=True, is_staff=True)
    for page in admin.site._registry.values():
        inlines = [each for each in page.get_inline_instances(request) if each.has_change_permission(request)]
        shown = [(each.model, each.get_formset(request).form) for each in inlines]
        if page.has_change_permission(request) or page.has_add_permission(request):
            shown.append((page.model, page.get_form(request)))
        for row, form in shown:
            boxes = [name for name, field in form.base_fields.items() if isinstance(field, forms.JSONField)]
            found |= {f"{row._meta.model_name}.{name}" for name in boxes}
    assert found == JSON
