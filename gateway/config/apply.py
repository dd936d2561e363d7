"""Applies a configuration: everything of it, or nothing."""

from collections.abc import Container, Mapping
from datetime import datetime

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Product
from accounts.operations import operator_log
from gateway.config.context import Context
from gateway.config.document import Document
from gateway.config.environment import check_environment, environment_document, replaced_rows
from gateway.config.file import check
from gateway.config.known import known_names
from gateway.config.problems import ConfigError, Path
from gateway.config.run import Run
from gateway.config.sections.credits import in_lock_order
from gateway.core.events.operations.in_order import at_the_end

Report = list[tuple[str, str]]


@transaction.atomic
def apply(
    document: Document,
    *,
    environment: Mapping[str, str],
    now: datetime | None = None,
    only_check: bool = False,
    source: str,
) -> Report:
    """Set the rows that the document names; return `(verb, what)` for each row, or raise ConfigError.

    A check does all of this, database constraints included, and then rolls back. Without `now`, the clock is read once
    this run holds the locks: prices are dated, so a later run must have a later time. Each change gets an entry in the
    operators' log, which names the `source`, such as a file.
    """
    _take_turns()
    run = Run(now or timezone.now(), only_check)
    replaced = replaced_rows(document, environment)
    with at_the_end():
        _set_rows(environment_document(document, environment), run, environment)
        _set_rows(document, run, environment, replaced)
    if run.findings:
        raise ConfigError([document.problem(path, text) for path, text in run.findings])
    operator_log.record(run.changes, source=source, now=run.now)
    if only_check:
        _undo()
    return run.report


def check_offline(document: Document, environment: Mapping[str, str]) -> None:
    """Raise ConfigError with the problems that can be found without the database. Unknown names are accepted, because
    they may be stored."""
    check_environment(environment)
    check(document, Context(environment, settings.DEMO_ADAPTER, known=None))


def _set_rows(
    document: Document, run: Run, environment: Mapping[str, str], replaced: Container[Path] = frozenset()
) -> None:
    context = Context(environment, settings.DEMO_ADAPTER, known_names(document.value))
    for path, row in in_lock_order(check(document, context)):
        if path not in replaced:
            with run.row(path):
                row.save(run, path)


def _take_turns() -> None:
    """Serialize runs that change the configuration without blocking readers."""
    table = Product._meta.db_table  # noqa: SLF001 (documented)
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {connection.ops.quote_name(table)} IN SHARE ROW EXCLUSIVE MODE")


def _undo() -> None:
    """Check constraints that the database defers until commit, then roll back."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    transaction.set_rollback(True)
