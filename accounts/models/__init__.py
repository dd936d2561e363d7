"""The tables of the accounts app, one noun per file."""

from accounts.models.account import Account, AccountManager
from accounts.models.appearance import AppearanceProduct
from accounts.models.authorization import AuthorizationCode, AuthorizationRequest
from accounts.models.cache_entry import CacheEntry
from accounts.models.closing import Closing
from accounts.models.consent import Consent
from accounts.models.consumed_assertion import ConsumedAssertion
from accounts.models.device_session import DeviceSession
from accounts.models.integration import Integration
from accounts.models.limit import Limit
from accounts.models.note import Note
from accounts.models.operator_role import OperatorRole
from accounts.models.product import Product
from accounts.models.proof_replay import ProofReplay, ReplayEpoch
from accounts.models.public_client import PublicClient
from accounts.models.receipt_key import ReceiptKey
from accounts.models.refused_assertion import RefusedAssertion
from accounts.models.signing_key import SigningKey

__all__ = [
    "Account",
    "AccountManager",
    "AppearanceProduct",
    "AuthorizationCode",
    "AuthorizationRequest",
    "CacheEntry",
    "Closing",
    "Consent",
    "ConsumedAssertion",
    "DeviceSession",
    "Integration",
    "Limit",
    "Note",
    "OperatorRole",
    "Product",
    "ProofReplay",
    "PublicClient",
    "ReceiptKey",
    "RefusedAssertion",
    "ReplayEpoch",
    "SigningKey",
]
