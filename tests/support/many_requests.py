"""Spares tests that send thousands of requests what each does beside their subject."""

import copy
from typing import Any

import pytest
from django.conf import urls
from django.contrib.auth.backends import ModelBackend
from django.contrib.messages.storage.base import BaseStorage
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.template import Engine, Template
from django.views.defaults import permission_denied
from pytest_django import Settings

from accounts.portal.sessions import SessionStore


@pytest.fixture
def untracked(settings: Settings) -> None:
    """Keep requests from writing when their session was last seen: four statements of the twenty that a page takes."""
    settings.USERSESSIONS_TRACK_ACTIVITY = False


class Unkept(BaseStorage):
    """Keeps no message for a later page."""

    def _get(self, *args: Any, **options: Any) -> tuple[list[Any], bool]:
        return [], True

    def _store(self, messages: list[Any], response: HttpResponse, *args: Any, **options: Any) -> list[Any]:
        return []


@pytest.fixture
def unkept_messages(settings: Settings) -> None:
    """Forget what a redirect would have the next page show: without such a page, each request reads and signs the messages of all
    before it."""
    settings.MESSAGE_STORAGE = f"{__name__}.{Unkept.__name__}"


@pytest.fixture
def remembered_sign_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each session, until one is written, and each account once: for tests that neither end nor suspend any.

    Each request has copies of its own.
    """
    sessions, accounts = dict[str | None, Any](), dict[object, Any]()
    store_class: Any = SessionStore
    read_session, write_session, read_account = (
        store_class._get_session_from_db,
        store_class.save,
        ModelBackend.get_user,
    )

    def session(store: SessionStore) -> Any:
        key = store.session_key
        if key not in sessions and (found := read_session(store)):
            sessions[key] = found
        return sessions.get(key)

    def save(store: SessionStore, *args: Any, **options: Any) -> None:
        sessions.clear()
        write_session(store, *args, **options)

    def account(backend: ModelBackend, pk: object) -> Any:
        if pk not in accounts and (found := read_account(backend, pk)):
            accounts[pk] = found
        return copy.copy(accounts.get(pk))

    monkeypatch.setattr(SessionStore, "_get_session_from_db", session)
    monkeypatch.setattr(SessionStore, "save", save)
    monkeypatch.setattr(ModelBackend, "get_user", account)


@pytest.fixture
def unrecorded_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render pages as a server does: for tests that ask no response for its templates and their context."""
    monkeypatch.setattr(Template, "_render", lambda template, context: template.nodelist.render(context))


@pytest.fixture
def remembered_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render the page that refuses an account (403) once: for tests of which most requests are refused, and that look at their
    status alone."""
    pages = dict[object, bytes]()

    def refusal(request: HttpRequest, exception: Exception) -> HttpResponse:
        who = request.user.pk
        if who not in pages:
            pages[who] = permission_denied(request, exception).content
        return HttpResponseForbidden(pages[who])

    monkeypatch.setattr(urls, "handler403", refusal)


FRAME = ("admin/nav_sidebar.html", "unfold/helpers/command.html", "unfold/helpers/modal.html")


@pytest.fixture
def unframed_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the navigation and the search out of the console's pages: they are the same on each, and `test_admin` has them."""
    engine = Engine.get_default()
    loader: Any = engine.template_loaders[0]
    for name in FRAME:
        monkeypatch.setitem(loader.get_template_cache, name, engine.from_string(""))
