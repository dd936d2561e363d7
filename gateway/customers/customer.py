"""A customer: an account or an organization, as support looks at it."""

from dataclasses import dataclass
from functools import cached_property

from django.contrib import admin
from django.db.models import Model
from django.http import Http404, HttpRequest
from django.urls import reverse

from accounts.models import Account
from billing.models import OwnerKind, Wallet
from billing.rules.owners import Owner
from gateway.core.console import parties
from organizations.models import Organization

MODELS: dict[str, type[Account] | type[Organization]] = {
    OwnerKind.ACCOUNT: Account,
    OwnerKind.ORGANIZATION: Organization,
}


@dataclass(frozen=True)
class Customer:
    """A customer with its own row. Its wallet is read once, when it is first needed; None until it has had money."""

    kind: str
    row: Account | Organization

    @property
    def key(self) -> str:
        """Return the DID of an account, or the id of an organization."""
        return self.row.did if isinstance(self.row, Account) else self.row.pk

    @property
    def owner(self) -> Owner:
        """Return how billing names the customer."""
        return self.kind, self.key

    @property
    def account(self) -> Account | None:
        """Return the account; None for an organization."""
        return self.row if isinstance(self.row, Account) else None

    @property
    def page(self) -> str:
        """Return the address of the customer's page."""
        return reverse(f"admin:customers_{self.kind}", args=[self.row.pk])

    @property
    def name(self) -> str:
        """Return the customer's name, with the email address of a person."""
        return str(parties.of_row(self.row))

    @property
    def state(self) -> tuple[str, str]:
        """Return the customer's state, and its colour."""
        if isinstance(self.row, Organization):
            if self.row.suspended_at:
                return "suspended", "danger"
            return ("past due", "danger") if self.row.is_past_due else ("active", "success")
        if self.is_closed:
            return "closed", "info"
        if self.row.suspended_at:
            return "suspended", "danger"
        return ("active", "success") if self.row.is_active else ("inactive", "warning")

    @property
    def is_closed(self) -> bool:
        """Return whether nothing can be done with it any more."""
        return self.account is not None and hasattr(self.account, "closing")

    @cached_property
    def wallet(self) -> Wallet | None:
        return Wallet.objects.filter(owner_kind=self.kind, owner_key=self.key).first()


def found(request: HttpRequest, kind: str, object_id: str) -> Customer:
    """Return a customer by its row's id. Raises Http404 if there is none, or if the operator may not view it."""
    model = MODELS[kind]
    if not may_view(request, model):
        raise Http404
    rows = Account.objects.select_related("closing") if model is Account else Organization.objects.all()
    is_number = object_id.isascii() and object_id.isdigit() and len(object_id) <= 18
    row = rows.filter(pk=object_id).first() if model is Organization or is_number else None
    if row is None:
        raise Http404
    return Customer(kind, row)


def may_view(request: HttpRequest, model: type[Model]) -> bool:
    """Return whether the operator may view a table in the console."""
    return admin.site.get_model_admin(model).has_view_permission(request)


def may(request: HttpRequest, model: type[Model], right: str) -> bool:
    """Return whether the operator has a right to a table that its pages declare (`has_<right>_permission`), for some row."""
    return bool(getattr(admin.site.get_model_admin(model), f"has_{right}_permission")(request))
