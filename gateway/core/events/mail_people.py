"""Lists who gets the mails about an owner. Each app registers the kind of owners that it knows at start-up."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.core.events.rules.mail_kinds import MailKind


@dataclass(frozen=True)
class Person:
    """Somebody who is told about events. `recipient` is the DID; `address` is empty where none is verified."""

    recipient: str
    name: str
    address: str


@dataclass(frozen=True)
class Concern:
    """An owner about which a person gets mails, with its name, and the kinds that the person can turn off."""

    owner_kind: str
    owner_key: str
    name: str
    kinds: Sequence[MailKind]


def _no_member(owner_key: str, membership_id: str) -> Person | None:
    return None


@dataclass(frozen=True)
class Owners:
    """What mails need to know about owners of a kind, by the owner's key.

    `name` is what people call the owner ("" for a person's own account), `people` get what concerns its money, `member` finds
    the person of a membership, and `page` returns the path of a page: its name (`wallet`, `payment`, `invoice`, `budgets`,
    `top_up`, `alerts`) and what it is of, if it is of something. `concerns` lists a person's switches, by the DID.
    """

    name: Callable[[str], str]
    people: Callable[[str], list[Person]]
    page: Callable[..., str]
    concerns: Callable[[str], list[Concern]]
    member: Callable[[str, str], Person | None] = _no_member


_owners: dict[str, Owners] = {}


def register(kind: str, owners: Owners) -> None:
    """Register a kind of owners, once."""
    _owners[kind] = owners


def owners_of(kind: str) -> Owners:
    """Return what is known about a kind of owners. Raises KeyError for one that nobody registered."""
    return _owners[kind]


def concerns_of(did: str) -> list[Concern]:
    """List everything that a person can turn mails off about: their own account first, then organizations."""
    return [concern for kind in sorted(_owners) for concern in _owners[kind].concerns(did)]


def recipient_of_address(address: str) -> str:
    """Return what stands for an address without an account. It does not reveal the address."""
    return "address:" + hashlib.sha256(address.lower().encode()).hexdigest()
