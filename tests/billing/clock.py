"""The database's clock, set by a test: its functions read `clock_timestamp()`, whoever calls them."""

from datetime import datetime

from django.db import connection

_BEGIN = """
CREATE SCHEMA test_clock;
CREATE FUNCTION test_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
  AS $$ SELECT current_setting('test_clock.now')::timestamptz $$;
SET LOCAL search_path = public, test_clock, pg_catalog;
DO $$
DECLARE v_function regprocedure;
BEGIN
  FOR v_function IN SELECT p.oid FROM pg_proc p
                     WHERE p.pronamespace = 'public'::regnamespace AND p.proconfig::text LIKE '%search_path%' LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = public, test_clock, pg_catalog, pg_temp', v_function);
  END LOOP;
END $$;
"""

CHANGED_BY_THE_CLOCK = frozenset({"nothing_is_stale", "guards_are_intact"})
"""Checks of the audit that fail while it is stopped: jobs seem late, and functions have another search_path."""


def stop_clock(now: datetime) -> None:
    """Shadow PostgreSQL's clock in this transaction by a function of the same name that returns `now`, also for functions
    that have a search_path of their own."""
    set_clock(now)
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN)


def set_clock(now: datetime) -> None:
    """Move a clock that stands still."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('test_clock.now', %s, true)", [now.isoformat()])
