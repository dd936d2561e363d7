"""`credits`: grants to accounts, for first runs and tests. A key grants once, forever."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from django.contrib.auth.hashers import make_password
from django.db.models import Exists, OuterRef
from pydantic import Field

from accounts.models import Account
from billing.models import CreditLot, OwnerKind, Wallet
from billing.operations.credits import GrantConflict, grant
from gateway.config.exporting import Exported, Exporting, filled
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import CREATED, UNCHANGED, Run
from gateway.config.texts import AMOUNT_MAX_MICROUSD, Did, GrantKey, Slug, Timestamp, reference
from gateway.core.api.times import rfc3339_or_none

SOURCE_KIND = "config"


class CreditRow(SectionRow):
    """A credit for an account, for any product or for one."""

    identity: ClassVar[str | None] = "key"
    tables: ClassVar[Tables] = (CreditLot, Wallet)

    key: GrantKey
    account: Did
    amount_microusd: Annotated[int, Field(ge=1, le=AMOUNT_MAX_MICROUSD)]
    product: Annotated[Slug, reference("products", "product")] | None = None
    expires_at: Timestamp | None = None

    def save(self, run: Run, path: Path) -> None:
        """Grant the credit once; the account is created with it."""
        Account.objects.get_or_create(did=self.account, defaults={"password": make_password(None)})
        try:
            lot_id, is_new = grant(
                OwnerKind.ACCOUNT,
                self.account,
                amount_microusd=self.amount_microusd,
                product=self.product,
                expires_at=self.expires_at,
                source_kind=SOURCE_KIND,
                source_key=self.key,
            )
        except GrantConflict:
            run.refuse((*path, "key"), "this key was already used for a different credit; choose a new key")
            return
        what = f"credit {self.key}: {self.amount_microusd} micro-USD for {self.account}"
        if is_new:
            run.add_change(CREATED, what, CreditLot.objects.get(pk=lot_id))
        else:
            run.add_line(UNCHANGED, what)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        """Return the credits that files have granted to accounts that still exist."""
        accounts = Account.objects.filter(did=OuterRef("wallet__owner_key"))
        granted = CreditLot.objects.filter(Exists(accounts), source_kind=SOURCE_KIND)
        return [
            filled(
                account=lot.wallet.owner_key,
                amount_microusd=lot.granted_microusd,
                key=lot.source_key,
                product=lot.product,
                expires_at=rfc3339_or_none(lot.expires_at),
            )
            for lot in granted.select_related("wallet").order_by("source_key")
        ]


def in_lock_order(rows: Sequence[tuple[Path, SectionRow]]) -> list[tuple[Path, SectionRow]]:
    """Sort the credits, which come last, by their wallets' ids: wallets are always locked in that order."""
    accounts = [row.account for _, row in rows if isinstance(row, CreditRow)]
    wallets = Wallet.objects.filter(owner_kind=OwnerKind.ACCOUNT, owner_key__in=accounts)
    ids = dict(wallets.values_list("owner_key", "id"))
    return sorted(rows, key=lambda item: ids.get(item[1].account, "") if isinstance(item[1], CreditRow) else "")
