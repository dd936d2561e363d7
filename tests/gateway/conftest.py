"""What tests of the console share: operators, a configuration, a running gateway and a payment provider."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.test import Client

from tests.gateway.config_files import WHOLE, apply_text
from tests.gateway.console import furnish
from tests.gateway.operators import superuser
from tests.support.many_requests import (  # noqa: F401
    remembered_refusals,
    remembered_sign_ins,
    unframed_pages,
    unkept_messages,
    unrecorded_pages,
    untracked,
)
from tests.support.stage_fixtures import gateway  # noqa: F401
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture
def operator(db: None) -> Client:
    """An operator with every right, signed in."""
    return superuser()


@pytest.fixture
def remembered_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the rights of each operator once, not with each request: for tests that give them before the first."""
    read, known = ModelBackend.get_all_permissions, dict[object, set[str]]()

    def remembered(backend: ModelBackend, account: Any, obj: Any = None) -> set[str]:
        assert obj is None
        if account.pk not in known:
            known[account.pk] = read(backend, account)
        return known[account.pk]

    monkeypatch.setattr(ModelBackend, "get_all_permissions", remembered)


@pytest.fixture(scope="module")
def _configured_once(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Commit what a configuration file states, once for all tests of a module, at whose end its rows are deleted."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
        apply_text(tmp_path_factory.mktemp("config"), WHOLE)
        yield


@pytest.fixture
def configured(_configured_once: None, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway with a row for everything that a configuration file states."""
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")


@pytest.fixture
def furnished(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway with at least one row in every table of the console."""
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
    furnish(tmp_path)


@pytest.fixture(scope="module")
def furnished_once(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The same, committed once for all tests of a module, at whose end its rows are deleted."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
        furnish(tmp_path_factory.mktemp("config"))
        yield
