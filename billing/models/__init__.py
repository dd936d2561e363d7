"""The ledger's tables, one noun per file."""

from billing.models.active_day import ActiveAccount, ActiveDay
from billing.models.auto_top_up import OPEN_CHARGES, SENT_CHARGES, AutoTopUp, AutoTopUpCharge, AutoTopUpStatus
from billing.models.budget import Budget
from billing.models.call import Call, CallState
from billing.models.checkout import Checkout, CheckoutKind, CheckoutStatus
from billing.models.cost_version import CostVersion
from billing.models.credit_lot import CreditLot
from billing.models.credit_note import CreditNote
from billing.models.external_mapping import ExternalMapping, MappingMode
from billing.models.invoice import UNPAID, Invoice, InvoiceLine, InvoiceStatus
from billing.models.invoice_payment import PENDING, InvoicePayment, InvoicePaymentStatus
from billing.models.ledger_month import LedgerMonth
from billing.models.limit import Limit
from billing.models.limit_meter import LimitMeter
from billing.models.limit_use import LimitUse
from billing.models.loss import Loss, LossKind
from billing.models.lost_receipt import LostOutcome, LostReceipt
from billing.models.margin import MarginDay, ModelMargin
from billing.models.matched_day import MatchedDay
from billing.models.payment_difference import DifferenceClosing, DifferenceKind, PaymentDifference
from billing.models.payment_method import PaymentMethod
from billing.models.price_version import PriceVersion
from billing.models.provider_event import ProviderEvent
from billing.models.provider_movement import ProviderMovement
from billing.models.seal import Seal
from billing.models.seat_price import SeatPrice
from billing.models.stored_replay import StoredReplay
from billing.models.takeover import Takeover
from billing.models.transfer import Transfer
from billing.models.usage_day import UsageDay, UsageHorizon, UsageSubject
from billing.models.usage_record import UsageRecord
from billing.models.wallet import OwnerKind, Wallet

__all__ = [
    "OPEN_CHARGES",
    "PENDING",
    "SENT_CHARGES",
    "UNPAID",
    "ActiveAccount",
    "ActiveDay",
    "AutoTopUp",
    "AutoTopUpCharge",
    "AutoTopUpStatus",
    "Budget",
    "Call",
    "CallState",
    "Checkout",
    "CheckoutKind",
    "CheckoutStatus",
    "CostVersion",
    "CreditLot",
    "CreditNote",
    "DifferenceClosing",
    "DifferenceKind",
    "ExternalMapping",
    "Invoice",
    "InvoiceLine",
    "InvoicePayment",
    "InvoicePaymentStatus",
    "InvoiceStatus",
    "LedgerMonth",
    "Limit",
    "LimitMeter",
    "LimitUse",
    "Loss",
    "LossKind",
    "LostOutcome",
    "LostReceipt",
    "MappingMode",
    "MarginDay",
    "MatchedDay",
    "ModelMargin",
    "OwnerKind",
    "PaymentDifference",
    "PaymentMethod",
    "PriceVersion",
    "ProviderEvent",
    "ProviderMovement",
    "Seal",
    "SeatPrice",
    "StoredReplay",
    "Takeover",
    "Transfer",
    "UsageDay",
    "UsageHorizon",
    "UsageRecord",
    "UsageSubject",
    "Wallet",
]
