"""Wallets, the ledger's transfers, budgets and losses: to look at."""

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from unfold.decorators import display

from billing.models import Budget, CreditLot, Loss, Transfer, Wallet
from gateway.core.console import ReadOnlyAdmin, ReadOnlyInline, WordFilter, money
from gateway.core.contract.amounts import usd


class CreditInline(ReadOnlyInline):
    """The credits of a wallet."""

    granted = money("Granted", "granted_microusd")
    remaining = money("Remaining", "remaining_microusd")
    held = money("Held", "held_microusd")

    model = CreditLot
    ordering = ("-id",)
    fields = ("id", "product", "granted", "remaining", "held", "expires_at", "closed_at")
    readonly_fields = fields


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdmin):
    """Wallets of accounts and organizations."""

    balance = money("Balance", "balance_microusd")
    held = money("Held cash", "held_microusd")
    debt = money("Debt", "debt_microusd")

    list_display = ("owner_key", "owner_kind", "balance", "credits", "held", "debt", "created_at")
    list_filter = ("owner_kind",)
    search_fields = ("owner_key__exact", "id__exact")
    search_help_text = "The whole DID, organization id or wallet id."
    ordering = ("id",)
    fields = ("id", "owner_kind", "owner_key", "balance", "credits", "held", "debt", "created_at", "related")
    inlines = (CreditInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Wallet]:
        """Sum each wallet's credits in the same statement."""
        lots = CreditLot.objects.filter(wallet=OuterRef("pk"), closed_at=None).values("wallet")
        total = lots.annotate(total=Sum("remaining_microusd")).values("total")
        return super().get_queryset(request).annotate(credits_microusd=Subquery(total))

    @display(description="See its")
    def related(self, wallet: Wallet) -> str:
        """Link to what happened with the wallet's money."""
        pages = (("calls", "reservation", wallet.owner_key), ("ledger", "transfer", wallet.pk))
        links = [(reverse(f"admin:billing_{name}_changelist", query={"q": key}), title) for title, name, key in pages]
        return format_html_join(", ", '<a class="underline" href="{}">{}</a>', links)

    @display(description="Credits")
    def credits(self, wallet: Wallet) -> str:
        """Render what is left of its credits, expired ones included until they are swept."""
        return usd(getattr(wallet, "credits_microusd", 0) or 0)


class TransferKindFilter(WordFilter):
    """Filters by the kinds that the ledger posts."""

    title = parameter_name = "kind"
    words = ("charge", "expiry", "grant", "merge", "payment", "refund", "refund_return", "repayment")


@admin.register(Transfer)
class TransferAdmin(ReadOnlyAdmin):
    """The ledger, newest first."""

    amount = money("Amount", "amount_microusd")

    list_display = ("id", "kind", "amount", "debit_account", "credit_account", "source", "created_at")
    list_filter = (TransferKindFilter, "created_at")
    search_fields = ("source__exact", "wallet__owner_key__exact", "wallet__id__exact")
    search_help_text = "The whole source (a usage, credit or transaction id), DID or wallet id."
    ordering = ("-id",)
    fields = ("id", "kind", "source", "seq", "amount", "debit_account", "credit_account", "wallet", "created_at")


@admin.register(Budget)
class BudgetAdmin(ReadOnlyAdmin):
    """The monthly limits of organizations; their own people set them."""

    limit = money("Limit", "limit_microusd")
    spent = money("Spent", "spent_microusd")
    held = money("Held", "held_microusd")

    list_display = ("id", "wallet", "scope", "product", "membership_id", "limit", "spent", "held", "disabled_at")
    list_filter = ("scope", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "wallet__owner_key__exact", "membership_id__exact")
    ordering = ("-id",)


@admin.register(Loss)
class LossAdmin(ReadOnlyAdmin):
    """What no customer was billed for."""

    amount = money("Amount", "amount_microusd")

    list_display = ("id", "kind", "amount", "reservation", "created_at")
    list_filter = ("kind", "created_at")
    list_select_related = ("reservation",)
    search_fields = ("reservation__id__exact",)
    ordering = ("-id",)
    fields = ("id", "kind", "amount", "reservation", "created_at")
