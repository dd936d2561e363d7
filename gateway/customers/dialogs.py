"""What support does on a customer's page: writes a note, grants a credit, sets its limits. Each is in the log, with its reason.

What is done about one row (a budget, a device, a payment, an invoice, automatic top-up), or about the customer itself (suspension,
sessions), is an action of that table's pages; the customer's page opens their dialogs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from unfold.forms import BaseDialogForm

from accounts.models import Account
from accounts.operations import notes
from accounts.queries.accounts import person
from billing.models import CreditLot, Limit
from billing.operations import limits
from billing.operations.credits import GrantConflict, grant
from billing.operations.small_credits import left_microusd, may_grant
from billing.rules.limits import LimitScope, Quotas
from gateway.core.console import dialog
from gateway.core.contract.amounts import usd
from gateway.customers.customer import Customer, found
from gateway.customers.forms import CreditForm, LimitsForm, NoteForm

SOURCE_KIND = "console"
USED = "This form was already used for something else. Open it again."


class Refused(Exception):
    """Nothing was changed; the text says why."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog of a customer's page: its name in addresses, its button, who may use it, and what it does.

    `act` returns what was done, for the log and for the operator; None if it had been done before. Raises Refused.
    """

    name: str
    title: str
    icon: str
    may: Callable[[Account], bool]
    form: type[BaseDialogForm]
    description: str
    submit: str
    act: Callable[[HttpRequest, Customer, BaseDialogForm], str | None]

    def is_offered(self, request: HttpRequest, customer: Customer) -> bool:
        """Return whether the operator may do this for this customer now."""
        is_open = self.name == "note" or not customer.is_closed
        return is_open and self.may(person(request))


def _note(request: HttpRequest, customer: Customer, form: BaseDialogForm) -> str | None:
    cleaned, now = form.cleaned_data, timezone.now()
    try:
        is_new = notes.add(
            note_id=cleaned["key"], owner=customer.owner, author=person(request), text=cleaned["text"], now=now
        )
    except notes.NoteConflict:
        raise Refused(USED) from None
    return "Wrote a note" if is_new else None


def _credit(request: HttpRequest, customer: Customer, form: BaseDialogForm) -> str | None:
    with transaction.atomic():  # what an operator may still grant today follows from the log
        _check_credit(person(request), form)
        try:
            lot_id, is_new = _grant(customer, form)
        except GrantConflict:
            raise Refused(USED) from None
        done = f"Granted {usd(form.cleaned_data['amount'])} ({lot_id})"
        if is_new:
            _log(request, CreditLot.objects.get(pk=lot_id), ADDITION, done, form)
    return done if is_new else None


def _check_credit(operator: Account, form: BaseDialogForm) -> None:
    """Refuse an amount beyond what the operator may grant today, unless this form has granted it already."""
    left = left_microusd(operator, now=timezone.now())
    was_sent = CreditLot.objects.filter(source_kind=SOURCE_KIND, source_key=form.cleaned_data["key"]).exists()
    if left is not None and form.cleaned_data["amount"] > left and not was_sent:
        raise Refused(f"You may still grant {usd(left)} today. Let somebody of finance grant more.")


def _grant(customer: Customer, form: BaseDialogForm) -> tuple[str, bool]:
    cleaned = form.cleaned_data
    return grant(
        *customer.owner,
        amount_microusd=cleaned["amount"],
        product=cleaned["product"].slug if cleaned["product"] else None,
        expires_at=cleaned["expires_at"],
        source_kind=SOURCE_KIND,
        source_key=cleaned["key"],
    )


def _limits(request: HttpRequest, customer: Customer, form: BaseDialogForm) -> str | None:
    quotas = Quotas(**{name: form.cleaned_data[name] for name in Quotas._fields})
    before = limits.put(scope=LimitScope(customer.kind), subject=customer.key, quotas=quotas)
    return f"Set the limits from {_words(before)} to {_words(quotas)}"


def _words(quotas: Quotas | None) -> str:
    if quotas is None:
        return "everybody's"
    nouns = ("requests a minute", "tokens a minute", "calls at once")
    return ", ".join(f"{one:,} {noun}" for one, noun in zip(quotas, nouns, strict=True) if one is not None) or "none"


def _has(*rights: str) -> Callable[[Account], bool]:
    return lambda operator: operator.has_perms(rights)


DIALOGS = (
    Dialog(
        "note",
        "Add a note",
        "edit_note",
        _has("accounts.add_note"),
        NoteForm,
        "What another operator should know about this customer.",
        "Add",
        _note,
    ),
    Dialog(
        "credit",
        "Grant a credit",
        "redeem",
        may_grant,
        CreditForm,
        "The credit is in the wallet at once. It is spent before the balance, and cannot be taken back.",
        "Grant",
        _credit,
    ),
    Dialog(
        "limits",
        "Set limits",
        "speed",
        _has("billing.add_limit", "billing.change_limit"),
        LimitsForm,
        "They replace the limits for everybody, also where a number is empty: that is no limit. In force within 15 seconds.",
        "Set",
        _limits,
    ),
)
BY_NAME = {each.name: each for each in DIALOGS}


def view(request: HttpRequest, kind: str, object_id: str, name: str) -> HttpResponse:
    """Show a dialog, or do what it asks for and return to the customer's page."""
    customer, chosen = found(request, kind, object_id), BY_NAME[name]
    if not chosen.is_offered(request, customer):
        raise PermissionDenied
    form = chosen.form(
        data=request.POST or None, request=request, object_id=object_id, initial=_initial(customer, chosen)
    )
    if form.is_valid():
        return _done(request, customer, chosen, form)
    context = {
        "dialog": dialog(chosen.title, chosen.description, chosen.submit),
        "form": form,
        "form_submit_text": chosen.submit,
    }
    return render(request, "unfold/helpers/dialog.html", context)


def _done(request: HttpRequest, customer: Customer, chosen: Dialog, form: BaseDialogForm) -> HttpResponse:
    try:
        done = chosen.act(request, customer, form)
    except Refused as refusal:
        messages.error(request, f"Nothing has changed. {refusal}")
    else:
        if done is None:
            messages.warning(request, "This was done before. Nothing has changed.")
        else:
            _log(request, customer.row, CHANGE, done, form)
            messages.success(request, f"{done}.")
    return HttpResponse(headers={"HX-Redirect": customer.page})


def _log(request: HttpRequest, row: Model, action: int, done: str, form: BaseDialogForm) -> None:
    reason = form.cleaned_data.get("reason")
    words = f"{done}: {reason}" if reason else f"{done}."
    LogEntry.objects.log_actions(person(request).pk, [row], action, words, single_object=True)


def _initial(customer: Customer, chosen: Dialog) -> dict[str, object]:
    """Return what the limits are now, for the form that sets them."""
    if chosen.form is not LimitsForm:
        return {}
    own = Limit.objects.filter(scope=customer.kind, subject=customer.key).values(*Quotas._fields).first()
    return dict(own or {})
