"""Wallets, the ledger's transfers, budgets and losses: to look at."""

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from unfold.decorators import display

from billing.models import Budget, CreditLot, Loss, Transfer, Wallet
from gateway.console import ReadOnlyAdmin, ReadOnlyInline, usd


class CreditInline(ReadOnlyInline):
    """The credits of a wallet."""

    model = CreditLot
    ordering = ("-id",)
    fields = ("id", "product", "granted", "remaining", "held", "expires_at", "closed_at")
    readonly_fields = fields

    @display(description="Granted")
    def granted(self, lot: CreditLot) -> str:
        """Render what was granted."""
        return usd(lot.granted_microusd)

    @display(description="Remaining")
    def remaining(self, lot: CreditLot) -> str:
        """Render what is left."""
        return usd(lot.remaining_microusd)

    @display(description="Held")
    def held(self, lot: CreditLot) -> str:
        """Render what open calls may spend."""
        return usd(lot.held_microusd)


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdmin):
    """Wallets of accounts and organizations."""

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

    @display(description="Balance")
    def balance(self, wallet: Wallet) -> str:
        """Render the cash."""
        return usd(wallet.balance_microusd)

    @display(description="Credits")
    def credits(self, wallet: Wallet) -> str:
        """Render what is left of its credits, expired ones included until they are swept."""
        return usd(getattr(wallet, "credits_microusd", 0) or 0)

    @display(description="Held cash")
    def held(self, wallet: Wallet) -> str:
        """Render the part of the cash that open calls may spend."""
        return usd(wallet.held_microusd)

    @display(description="Debt")
    def debt(self, wallet: Wallet) -> str:
        """Render what must be repaid before anything is spent."""
        return usd(wallet.debt_microusd)


class TransferKindFilter(admin.SimpleListFilter):
    """Filters by kind without asking the table which there are."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """List the kinds that the ledger posts."""
        kinds = ("charge", "expiry", "grant", "merge", "payment", "refund", "refund_return", "repayment")
        return [(kind, kind) for kind in kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Transfer]) -> QuerySet[Transfer]:
        """Keep the chosen kind."""
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Transfer)
class TransferAdmin(ReadOnlyAdmin):
    """The ledger, newest first."""

    list_display = ("id", "kind", "amount", "debit_account", "credit_account", "source", "created_at")
    list_filter = (TransferKindFilter, "created_at")
    search_fields = ("source__exact", "wallet__owner_key__exact", "wallet__id__exact")
    search_help_text = "The whole source (a usage, credit or transaction id), DID or wallet id."
    ordering = ("-id",)
    fields = ("id", "kind", "source", "seq", "amount", "debit_account", "credit_account", "wallet", "created_at")

    @display(description="Amount")
    def amount(self, transfer: Transfer) -> str:
        """Render the amount."""
        return usd(transfer.amount_microusd)


@admin.register(Budget)
class BudgetAdmin(ReadOnlyAdmin):
    """The monthly limits of organizations; their own people set them."""

    list_display = ("id", "wallet", "scope", "product", "membership_id", "limit", "spent", "held", "disabled_at")
    list_filter = ("scope", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "wallet__owner_key__exact", "membership_id__exact")
    ordering = ("-id",)

    @display(description="Limit")
    def limit(self, budget: Budget) -> str:
        """Render the limit of a month."""
        return usd(budget.limit_microusd)

    @display(description="Spent")
    def spent(self, budget: Budget) -> str:
        """Render what the month of `period_start` has spent."""
        return usd(budget.spent_microusd)

    @display(description="Held")
    def held(self, budget: Budget) -> str:
        """Render what open calls may spend."""
        return usd(budget.held_microusd)


@admin.register(Loss)
class LossAdmin(ReadOnlyAdmin):
    """What no customer was billed for."""

    list_display = ("id", "kind", "amount", "reservation", "created_at")
    list_filter = ("kind", "created_at")
    list_select_related = ("reservation",)
    search_fields = ("reservation__id__exact",)
    ordering = ("-id",)
    fields = ("id", "kind", "amount", "reservation", "created_at")

    @display(description="Amount")
    def amount(self, loss: Loss) -> str:
        """Render the amount."""
        return usd(loss.amount_microusd)
