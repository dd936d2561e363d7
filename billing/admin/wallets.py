"""Read-only pages of wallets, the ledger's transfers, budgets and losses."""

from datetime import UTC

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from billing.admin.credits import LotAmounts
from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import Budget, CreditLot, Loss, Transfer, Wallet
from gateway.core.console import PartyColumn, ReadOnlyAdmin, ReadOnlyInline, WordFilter, links, money
from gateway.core.contract.amounts import usd


class CreditInline(LotAmounts, ReadOnlyInline):
    """The credits of a wallet."""

    model = CreditLot
    ordering = ("-id",)
    fields = ("id", "product", "granted", "remaining", "held", "expires_at", "closed_at")
    show_change_link = True
    hide_title = False


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdmin):
    """Wallets of accounts and organizations."""

    balance = money("Balance", "balance_microusd")
    held = money("Held from balance", "held_microusd")
    debt = money("Debt", "debt_microusd")
    low_balance = money("Alert below", "low_balance_microusd")

    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind", is_linked=False)
    linked_owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")

    list_display = ("owner", "owner_kind", "balance", "credits", "held", "debt", "created_at")
    list_filter = ("owner_kind",)
    search_fields = ("owner_key__exact", "id__exact")
    party_fields = ("owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("id",)
    fields = (
        *("linked_owner", "id", "owner_kind", "balance", "credits", "held", "debt", "low_balance", "created_at"),
        "related",
    )
    inlines = (CreditInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Wallet]:
        """Sum each wallet's credits in the same statement."""
        lots = CreditLot.objects.filter(wallet=OuterRef("pk"), closed_at=None).values("wallet")
        total = lots.annotate(total=Sum("remaining_microusd")).values("total")
        return super().get_queryset(request).annotate(credits_microusd=Subquery(total))

    @display(description="See also")
    def related(self, wallet: Wallet) -> str:
        return links(
            [
                ("Calls", "billing_call", wallet.owner_key),
                ("Usage", "billing_usagerecord", wallet.owner_key),
                ("Checkouts", "billing_checkout", wallet.owner_key),
                ("Ledger", "billing_transfer", wallet.pk),
            ]
        )

    @display(description="Credits")
    def credits(self, wallet: Wallet) -> str:
        """Return what is left of its credits, expired ones included until they are swept."""
        return usd(getattr(wallet, "credits_microusd", 0) or 0)


class TransferKindFilter(WordFilter):
    """Filters by the kinds of transfers."""

    title = parameter_name = "kind"
    words = ("charge", "expiry", "forfeit", "grant", "merge", "payment", "refund", "refund_return", "repayment")


@admin.register(Transfer)
class TransferAdmin(ReadOnlyAdmin):
    """The ledger, newest first."""

    amount = money("Amount", "amount_microusd")

    owner = OWNER

    list_display = ("id", "kind", "amount", "owner", "debit_account", "credit_account", "source", "created_at")
    list_filter = (TransferKindFilter, "created_at")
    search_fields = ("source__exact", "wallet__owner_key__exact", "wallet__id__exact")
    list_select_related = ("wallet",)
    party_fields = ("wallet__owner_key",)
    search_help_text = f"{SEARCH_HELP} A source is a usage, credit or transaction ID."
    ordering = ("-id",)
    fields = (
        "id",
        "kind",
        "source",
        "seq",
        "amount",
        "debit_account",
        "credit_account",
        "owner",
        "wallet",
        "created_at",
    )


@admin.register(Budget)
class BudgetAdmin(ReadOnlyAdmin):
    """Limits of a day, a week or a month that organizations and people have set for themselves."""

    limit = money("Limit", "limit_microusd")
    held = money("Held", "held_microusd")

    owner = OWNER

    list_display = ("id", "owner", "scope", "subject", "period", "limit", "override", "spent", "held", "disabled_at")
    list_filter = ("scope", "period", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "wallet__owner_key__exact", "membership_id__exact")
    party_fields = ("wallet__owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    fields = (
        *("owner", "scope", "product", "membership_id", "client_id", "period", "limit", "override", "spent", "held"),
        *("disabled_at", "period_start", "created_at"),
    )

    @display(description="Subject")
    def subject(self, budget: Budget) -> str | None:
        """Name the product, member or app that it is for."""
        return ", ".join(filter(None, (budget.product, budget.membership_id, budget.client_id))) or None

    @display(description="Other limit")
    def override(self, budget: Budget) -> str | None:
        """Return the limit that is in force instead, and until when."""
        now = timezone.now()
        until = budget.override_at(now)
        return f"{usd(budget.limit_at(now))} until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if until else None

    @display(description="Spent")
    def spent(self, budget: Budget) -> str:
        """Return what is spent in the current period, whichever one the row still counts."""
        return usd(budget.spent_at(timezone.now()))


@admin.register(Loss)
class LossAdmin(ReadOnlyAdmin):
    """Amounts that no customer was billed for."""

    amount = money("Amount", "amount_microusd")

    owner = PartyColumn("Owner", "call.wallet.owner_key", kind_path="call.wallet.owner_kind")

    list_display = ("id", "kind", "amount", "owner", "call", "created_at")
    list_filter = ("kind", "created_at")
    list_select_related = ("call__wallet",)
    search_fields = ("call__id__exact",)
    party_fields = ("call__wallet__owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    fields = ("id", "kind", "amount", "owner", "call", "created_at")
