"""Reads settings from the environment, and collects what is missing or wrong so that all of it is named at once."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

POSTGRESQL_SCHEMES = ("postgres", "postgresql", "pgsql", "psql")
DAYS_MAX = 36_500
WORDS = {int: "a whole number", float: "a number"}


class Environment(environ.Env):
    """The environment. A value that cannot be read is noted as a problem, and its default is used until `finish`."""

    def __init__(self) -> None:
        super().__init__()
        self._problems: list[str] = []

    def get_value(
        self, var: str, cast: Any = None, default: Any = environ.Env.NOTSET, parse_default: bool = False
    ) -> Any:
        """Return a setting, or note that it is missing or of another kind."""
        if cast in WORDS and default is not self.NOTSET and not os.environ.get(var):
            return default  # an empty number is an absent one
        try:
            return super().get_value(var, cast, default, parse_default)
        except ImproperlyConfigured:
            self.note(f"Set {var}.")
        except ValueError:
            self.note(f"{var} must be {WORDS.get(cast, 'readable')}.")
        return "" if default is self.NOTSET else default

    def db_url(self, var: str, default: str) -> dict[str, Any]:
        """Return the settings of a database, or note that the URL names none. The URL is not quoted: it has a password."""
        config: Any = self.db_url_config(default)
        with self.noting(f"{var} must be a URL such as postgresql://user:password@host:5432/name."):
            url = os.environ.get(var) or default
            if urlsplit(url).scheme not in POSTGRESQL_SCHEMES:
                raise ValueError
            config = self.db_url_config(url)
        return dict(config)

    def email_url(self, var: str, default: str) -> dict[str, Any]:
        """Return the settings of a mail server, or note that the URL names none. It is not quoted either."""
        config: Any = self.email_url_config(default)
        with self.noting(f"{var} must be a URL such as smtp+tls://user:password@mail.example:587."):
            config = super().email_url(var, default=default)
        return dict(config)

    def month(self, var: str) -> datetime | None:
        """Return the UTC beginning of a month such as 2027-01, None where none is set, or note that it is no month."""
        text = os.environ.get(var, "").strip()
        try:
            return datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC) if text else None
        except ValueError:
            self.note(f"{var} must be a month such as 2027-01.")
        return None

    def days(self, var: str, default: int, *, at_least: int, because: str) -> int:
        """Return a number of days, or note that it is too low for what was promised, or absurd."""
        return self.days_or_for_ever(var, at_least=at_least, because=because) or default

    def days_or_for_ever(self, var: str, *, at_least: int, because: str) -> int | None:
        """Return a number of days, None where none is set, or note that it is wrong."""
        text = os.environ.get(var, "").strip()
        if not text:
            return None
        if not re.fullmatch(r"[0-9]{1,5}", text) or not at_least <= int(text) <= DAYS_MAX:
            self.note(f"{var} must be a number of days from {at_least} to {DAYS_MAX}: {because}.")
            return None
        return int(text)

    def note(self, problem: str) -> None:
        """Note a sentence that says what to set."""
        if problem not in self._problems:
            self._problems.append(problem)

    @contextmanager
    def noting(self, problem: str = "") -> Iterator[None]:
        """Note a problem where the block fails: this one, or what its ImproperlyConfigured says."""
        try:
            yield
        except (ImproperlyConfigured, ValueError, KeyError) as error:
            self.note(problem or str(error))

    def finish(self) -> None:
        """Raise ImproperlyConfigured with every problem, one a line, if there is any."""
        if self._problems:
            count = len(self._problems)
            title = f"{count} settings are missing or wrong:" if count > 1 else "A setting is missing or wrong:"
            raise ImproperlyConfigured("\n".join([title, *(f"  {problem}" for problem in self._problems)]))


env = Environment()
