"""Read-only pages of wallets, the ledger's transfers and losses."""

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from unfold.decorators import display

from billing.admin.credits import LotAmounts
from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import CreditLot, Loss, Transfer, Wallet
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

    empty_text = "An account or organization has one from its first payment, credit or call on."
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

    empty_text = "The first payment, credit or charge is booked here."
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


@admin.register(Loss)
class LossAdmin(ReadOnlyAdmin):
    """Amounts that no customer was billed for."""

    empty_text = "There is nothing to do: every call was paid in full."
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
