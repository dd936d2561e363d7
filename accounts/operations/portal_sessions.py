"""Deletes expired portal sessions and the records of the browsers that they signed in."""

from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef

from gateway.core.database.purge import purge


def purge_ended(*, now: datetime) -> int:
    """Delete expired sessions and the browsers without a session; return the number of browsers deleted."""
    purge(Session.objects.filter(expire_date__lt=now).order_by("expire_date"))
    session = Session.objects.filter(session_key=OuterRef("session_key"))
    return purge(UserSession.objects.filter(~Exists(session)).order_by("session_key"))
