"""The events' tables."""

from gateway.core.events.models.delivery import Delivery, DeliveryStatus
from gateway.core.events.models.endpoint import Endpoint, Subscription
from gateway.core.events.models.event import Event, EventOwner, OwnerKind
from gateway.core.events.models.mail import Mail, MailStatus

__all__ = [
    "Delivery",
    "DeliveryStatus",
    "Endpoint",
    "Event",
    "EventOwner",
    "Mail",
    "MailStatus",
    "OwnerKind",
    "Subscription",
]
