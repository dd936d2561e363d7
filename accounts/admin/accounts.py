"""Console pages for accounts: operators, people and agents."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.paginator import InfinitePaginator
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from accounts.admin.people import PEOPLE, SEARCH_HELP
from accounts.models import Account
from accounts.operations import closing, devices, suspension
from gateway.core.console import ConsoleAdmin, ReasonForm, dialog, links, may_act

RIGHT = "accounts.change_account"
SUSPEND = "accounts.suspend_account"
OPERATOR_FIELDS = ("is_staff", "is_superuser", "groups")


class PasswordForm(AdminPasswordChangeForm):
    """Sets an account's password and signs out all of its devices, as a password change in the portal does."""

    def save(self, commit: bool = True) -> Account:
        account: Account = super().save(commit)
        devices.revoke_all(account=account, now=timezone.now())
        return account


class AccountCreationForm(UserCreationForm):
    """Creates an account from a DID and a password."""

    class Meta:
        model = Account
        fields = ("did", "email", "display_name")


class AccountChangeForm(UserChangeForm):
    """Edits an account, except for its DID, which never changes."""

    class Meta:
        model = Account
        fields = ("email", "display_name", "is_active", "is_staff", "is_superuser", "groups", "password")
        widgets = {"groups": UnfoldAdminCheckboxSelectMultipleWidget}


@admin.register(Account)
class AccountAdmin(UserAdmin, ConsoleAdmin):
    """Accounts. They can be suspended but not deleted, because ledger entries refer to them."""

    form = AccountChangeForm
    add_form = AccountCreationForm
    change_password_form = PasswordForm
    list_display = ("name", "email", "did", "state", "roles", "created_at")
    list_select_related = ("closing",)
    paginator = InfinitePaginator  # a million accounts are not counted for a page
    list_disable_select_all = True
    list_filter = (
        "is_staff",
        "groups",
        "is_active",
        ("suspended_at", admin.EmptyFieldListFilter),
        ("closing", admin.EmptyFieldListFilter),
    )
    search_fields = PEOPLE.columns
    search_help_text = SEARCH_HELP
    ordering = ("-id",)  # the newest first, by an index
    filter_horizontal = ()
    readonly_fields = ("did", "related", "state", "suspended_at", "created_at", "last_login")
    fieldsets = (
        (None, {"fields": ("display_name", "email", "did", "related", "password")}),
        ("State", {"fields": ("state", "is_active", "suspended_at", "created_at", "last_login")}),
        ("Operator console", {"fields": OPERATOR_FIELDS}),
    )
    add_fieldsets = ((None, {"fields": ("did", "email", "display_name", "usable_password", "password1", "password2")}),)
    actions_detail = ("end_sessions", "suspend", "unsuspend", "close")

    def get_readonly_fields(self, request: HttpRequest, obj: Account | None = None) -> Any:
        """Make the DID read-only once it is set, and allow only superusers to make operators."""
        if obj is None:
            return ()
        return self.readonly_fields if request.user.is_superuser else (*self.readonly_fields, *OPERATOR_FIELDS)

    def save_model(self, request: HttpRequest, obj: Account, form: Any, change: bool) -> None:
        """Save the account. Deactivating it ends its sessions permanently, as a suspension does."""
        super().save_model(request, obj, form, change)
        if change and not obj.is_active:
            suspension.end_sessions(account=obj, now=timezone.now())

    def has_change_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        """Allow nobody to change closed accounts, and only superusers to change operators', including their passwords."""
        if obj is not None and hasattr(obj, "closing"):
            return False
        if obj is not None and (obj.is_staff or obj.is_superuser) and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Load the groups of a list's operators at once."""
        return super().get_queryset(request).prefetch_related("groups")

    @display(description="Operator")
    def roles(self, account: Account) -> str:
        """Return what an operator may do: every right, or the names of the groups."""
        if account.is_superuser:
            return "every right" if account.is_staff else "every right, but cannot sign in"
        names = ", ".join(sorted(group.name for group in account.groups.all()))
        return (names or "no group") if account.is_staff else ""

    @display(description="Name", ordering="display_name")
    def name(self, account: Account) -> str:
        """Return the person's name, or the account's identifier if there is none."""
        return account.display_name or account.email or account.did

    @display(description="See also")
    def related(self, account: Account) -> str:
        """Link to the account's page for support, and to its wallet, calls and organizations."""
        page = reverse("admin:customers_account", args=[account.pk])
        tables = {
            "Wallet": "billing_wallet",
            "Budgets": "billing_budget",
            "Credits": "billing_creditlot",
            "Calls": "billing_call",
            "Usage": "billing_usagerecord",
            "Checkouts": "billing_checkout",
            "Organizations": "organizations_organization",
            "Devices": "accounts_devicesession",
        }
        others = links((title, table, account.did) for title, table in tables.items())
        return format_html('<a class="underline" href="{}">Everything at a glance</a>, {}', page, others)

    @display(
        description="State", label={"live": "success", "suspended": "danger", "inactive": "warning", "closed": "info"}
    )
    def state(self, account: Account) -> str:
        """Return whether the account's tokens are accepted."""
        if hasattr(account, "closing"):
            return "closed"
        if account.suspended_at:
            return "suspended"
        return "live" if account.is_active else "inactive"

    def has_suspend_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may change or suspend accounts to suspend one, except their own."""
        rows = _changeable(request).filter(suspended_at=None).exclude(pk=request.user.pk or 0)
        return _may_suspend(request, rows, object_id)

    def has_unsuspend_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow the same operators to lift its suspension."""
        return _may_suspend(request, _changeable(request).exclude(suspended_at=None), object_id)

    @action(
        description="Suspend",
        icon="block",
        permissions=["suspend"],
        dialog=dialog(
            "Suspend this account",
            "Its tokens and sessions end at once, and it cannot sign in until the suspension is lifted. Requests that are being "
            "processed are completed. Its wallet is unchanged.",
            "Suspend",
            ReasonForm,
        ),
    )
    def suspend(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        is_new = suspension.suspend(account=Account.objects.get(pk=object_id), now=timezone.now())
        return self._finish(request, form, object_id, is_new, "Suspended")

    @action(
        description="Lift suspension",
        icon="lock_open",
        permissions=["unsuspend"],
        dialog=dialog(
            "Lift this account's suspension",
            "The account can sign in again. The tokens and sessions that the suspension ended stay ended.",
            "Lift",
            ReasonForm,
        ),
    )
    def unsuspend(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        is_new = suspension.unsuspend(account=Account.objects.get(pk=object_id))
        return self._finish(request, form, object_id, is_new, "Suspension lifted")

    def has_end_sessions_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may suspend an account to end its sessions."""
        return _may_suspend(request, _changeable(request), object_id)

    @action(
        description="End all sessions",
        icon="logout",
        permissions=["end_sessions"],
        dialog=dialog(
            "End all sessions of this account",
            "Every browser and device is signed out at once, and has to sign in again. Requests that are being processed are "
            "completed.",
            "End",
            ReasonForm,
        ),
    )
    def end_sessions(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Sign the account out everywhere."""
        suspension.end_sessions(account=Account.objects.get(pk=object_id), now=timezone.now())
        return self.finish_dialog(request, form, object_id, "All sessions ended")

    def has_close_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may change an account to close it, except their own."""
        return may_act(request, RIGHT, _changeable(request).exclude(pk=request.user.pk or 0), object_id)

    @action(
        description="Close",
        icon="person_off",
        permissions=["close"],
        dialog=dialog(
            "Close this account for good",
            "At the wish of its person: what names them and all access is deleted, and credits are given up. Calls and payments stay "
            "in the ledger. This cannot be undone, and the account does not come back by an assertion of its product.",
            "Close",
            ReasonForm,
        ),
    )
    def close(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        try:
            is_new = closing.close(account=Account.objects.get(pk=object_id), now=timezone.now())
        except closing.CannotClose as error:
            return self.leave_dialog(request, object_id, f"Nothing has changed. {error}", messages.ERROR)
        return self._finish(request, form, object_id, is_new, "Closed")

    def _finish(self, request: HttpRequest, form: ReasonForm, object_id: str, is_new: bool, done: str) -> HttpResponse:
        if is_new:
            return self.finish_dialog(request, form, object_id, done)
        return self.leave_dialog(request, object_id, "Someone else has just done this.", messages.WARNING)


def _may_suspend(request: HttpRequest, rows: QuerySet[Account], object_id: str | None) -> bool:
    return may_act(request, RIGHT, rows, object_id) or may_act(request, SUSPEND, rows, object_id)


def _changeable(request: HttpRequest) -> QuerySet[Account]:
    """Return the accounts that an operator may change: no closed ones, and those of operators only with every permission."""
    rows = Account.objects.filter(closing=None)
    return rows if request.user.is_superuser else rows.filter(is_staff=False, is_superuser=False)
