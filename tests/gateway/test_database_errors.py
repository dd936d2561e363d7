"""What a caller is told when the database refuses: the errors are PostgreSQL's own."""

from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client

from gateway.core.http.exceptions import as_api_error
from tests.support.database import connect

RAISE = "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{}'; END $$"
UNIQUE = "CREATE TEMP TABLE once (name text PRIMARY KEY); INSERT INTO once VALUES ('a'), ('a')"
LONG = (
    "CREATE TEMP TABLE indexed (name text PRIMARY KEY);"
    "INSERT INTO indexed SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 1000)"
)

MAY_PASS = {
    "read only": "SET TRANSACTION READ ONLY; CREATE TABLE refused ()",
    "statement too slow": "SET LOCAL statement_timeout = '5ms'; SELECT pg_sleep(5)",
    "serialization": RAISE.format("40001"),
    "deadlock": RAISE.format("40P01"),
    "lock timeout": RAISE.format("55P03"),
    "too many connections": RAISE.format("53300"),
    "disk full": RAISE.format("53100"),
    "admin shutdown": RAISE.format("57P01"),
    "starting": RAISE.format("57P03"),
}
INPUT = {
    "not a number": "SELECT 'x'::text::int",
    "out of range": "SELECT 2147483648::bigint::int",
    "not a date": "SELECT '2026-02-30'::text::date",
    "untranslatable": "SELECT convert_from('\\xff', 'UTF8')",
    "too long for an index": LONG,
}


def refusal(statement: str, parameters: list[Any] | None = None) -> Any:
    """Return the catalogue error of a statement that Django runs."""
    with pytest.raises(Exception) as raised, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
    return as_api_error(raised.value)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", MAY_PASS.values(), ids=MAY_PASS.keys())
def test_what_may_pass_is_not_ready(statement: str) -> None:
    error = refusal(statement)
    assert (error.status, error.code, error.headers) == (503, "not_ready", {"Retry-After": "1"})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", INPUT.values(), ids=INPUT.keys())
def test_what_input_can_cause_is_the_callers(statement: str) -> None:
    error = refusal(statement)
    assert (error.status, error.code) == (400, "invalid_request")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("text", ["a\0b", "\ud800"], ids=["NUL", "half a character"])
def test_a_text_that_cannot_be_sent_is_the_callers(text: str) -> None:
    error = refusal("SELECT %s::text", [text])
    assert (error.status, error.code) == (400, "invalid_request")


@pytest.mark.django_db(transaction=True)
def test_rows_that_changed_meanwhile_are_a_conflict() -> None:
    assert (refusal(UNIQUE).status, refusal(UNIQUE).code) == (409, "revision_conflict")
    assert refusal(RAISE.format("23514")).status == 400


@pytest.mark.django_db(transaction=True)
def test_our_own_faults_stay_ours() -> None:
    assert refusal("SELECT missing FROM nowhere").status == 500
    assert refusal(RAISE.format("XX000")).status == 500


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("statement", "status"),
    [(MAY_PASS["read only"], 503), (MAY_PASS["deadlock"], 503), (INPUT["not a number"], 400)],
    ids=["read only", "deadlock", "not a number"],
)
def test_the_drivers_own_errors_are_answered_alike(statement: str, status: int) -> None:
    with connect() as driver, pytest.raises(psycopg.Error) as raised:
        driver.execute(statement)
    assert as_api_error(raised.value).status == status


@pytest.mark.django_db
def test_no_path_makes_a_page_fail(client: Client) -> None:
    client.raise_request_exception = False
    assert client.get("/accounts/%00/did.json").status_code in (400, 404)
