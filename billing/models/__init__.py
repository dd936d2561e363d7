"""The ledger's tables, one noun a file."""

from billing.models.budget import Budget
from billing.models.credit_lot import CreditLot
from billing.models.loss import Loss, LossKind
from billing.models.lot_allocation import LotAllocation
from billing.models.price_version import PriceVersion
from billing.models.reservation import Reservation, State
from billing.models.stored_replay import StoredReplay
from billing.models.transfer import Transfer
from billing.models.usage_record import UsageRecord
from billing.models.wallet import OwnerKind, Wallet

__all__ = [
    "Budget",
    "CreditLot",
    "Loss",
    "LossKind",
    "LotAllocation",
    "OwnerKind",
    "PriceVersion",
    "Reservation",
    "State",
    "StoredReplay",
    "Transfer",
    "UsageRecord",
    "Wallet",
]
