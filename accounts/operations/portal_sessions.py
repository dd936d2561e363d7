"""Deletes expired portal sessions and the records of the browsers that they signed in."""

from importlib import import_module

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session


def purge_ended() -> int:
    """Delete the sessions that have run out and the browsers without a session; return how many browsers there were."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    return UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()[0]
