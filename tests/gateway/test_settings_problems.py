"""Production's settings: everything that is missing or wrong is named at once, in words, wherever the gateway starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR
from gateway.run.settings import settings_problems

PRODUCTION = {"GATEWAY_ENV": "production", "DJANGO_SETTINGS_MODULE": "gateway.settings"}
SECRET_KEY = (
    'Set SECRET_KEY to at least 32 random characters: python3 -c "import secrets; print(secrets.token_urlsafe(48))"'
)
NEW_KEY = 'python3 -c "import base64, secrets; print(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())"'
FIELD_KEYS = f"Set FIELD_ENCRYPTION_KEYS to one or more Fernet keys, separated by commas, the newest first: {NEW_KEY}"
URLS = ["Set GATEWAY_BASE_URL to the public https:// address.", "Set PORTAL_URL to the public https:// address."]
DATABASE = "Set DATABASE_URL to your PostgreSQL database, such as postgresql://user:password@host:5432/name."
MISSING = [SECRET_KEY, FIELD_KEYS, DATABASE, *URLS]
PARTS = {
    "manage.py": (["manage.py", "check"], 1),
    "manage.py prepare": (["manage.py", "prepare"], 1),
    "server": (["-m", "uvicorn", "gateway.asgi:application", "--port", "1", "--log-level", "critical"], 3),
    "worker": (["-m", "celery", "--app", "gateway.celery", "worker"], 1),
}


def start(folder: Path, command: list[str], **settings: str) -> tuple[int, list[str]]:
    """Start a part of the gateway with these settings alone; return its exit code and the lines that it printed."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {**inherited, **PRODUCTION, "DATA_DIR": str(folder / "data"), **settings}
    done = subprocess.run(
        [sys.executable, *command], cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, [line.strip() for line in (done.stdout + done.stderr).splitlines()]


@pytest.mark.parametrize("part", PARTS)
def test_are_all_named_at_once(tmp_path: Path, part: str) -> None:
    command, exit_code = PARTS[part]
    assert start(tmp_path, command) == (exit_code, ["gateway: 5 settings are missing or wrong:", *MISSING])


RETENTION = {
    "STORED_RESPONSE_DAYS": (30, "the API promises to store a response for that long"),
    "PROVIDER_EVENT_DAYS": (4, "the payment provider repeats an event for three days"),
    "REQUEST_TRACE_DAYS": (1, "a request is looked for while it is remembered"),
    "TRAFFIC_DAYS": (62, "the console compares 30 days with the 30 days before"),
    "EXECUTION_DAYS": (1, "a repeated request is answered with its run for a day"),
    "CI_RUN_DAYS": (7, "a provider repeats its reports for days"),
    "JUDGEMENT_COUNT_DAYS": (90, "the console compares the last 90 days"),
    "LEDGER_HOT_DAYS": (35, "reviews are decided, keys free and seals made by then"),
    "INVITATION_EMAIL_DAYS": (7, "an invitation can be accepted for that long"),
    "AUDIT_DAYS": (365, "the database refuses to delete younger entries of the audit log"),
}


def test_are_named_where_a_retention_would_break_a_promise() -> None:
    too_low = {name: str(least - 1) for name, (least, _) in RETENTION.items()}
    assert settings_problems({**os.environ, **too_low}, besides=[]) == [
        f"{name} must be a number of days from {least} to 36500: {why}." for name, (least, why) in RETENTION.items()
    ]
    lowest = {name: str(least) for name, (least, _) in RETENTION.items()}
    assert settings_problems({**os.environ, **lowest}, besides=[]) == []


@pytest.mark.parametrize("days", ["36501", "-30", "30.5", "for ever", "9" * 5000])
def test_are_named_where_a_retention_is_no_number_of_days(days: str) -> None:
    [problem] = settings_problems({**os.environ, "AUDIT_DAYS": days}, besides=[])
    assert problem.startswith("AUDIT_DAYS must be a number of days from 365 to 36500: ")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [("-1", "a number of at least 0"), ("-0.5", "a number of at least 0"), ("inf", "a number"), ("nan", "a number")],
)
def test_are_named_where_a_time_is_negative_or_endless(seconds: str, words: str) -> None:
    wrong = {"DRAIN_NOTICE_SECONDS": seconds, "DRAIN_SECONDS": seconds, "HEAD_SECONDS": "0"}
    problems = settings_problems({**os.environ, **wrong}, besides=[])
    assert problems == [f"{name} must be {words}." for name in ("DRAIN_NOTICE_SECONDS", "DRAIN_SECONDS")]


def test_are_named_before_make_run_does_anything(tmp_path: Path) -> None:
    code, lines = start(tmp_path, ["-m", "gateway.run"], WEB_CONCURRENCY="many", GATEWAY_CONFIG="/no/such.yaml")
    named = [
        *(line for line in MISSING if line != DATABASE),  # it starts one of its own
        "Cannot read GATEWAY_CONFIG /no/such.yaml: No such file or directory.",
        "WEB_CONCURRENCY must be a whole number from 1 to 256, not 'many'.",
    ]
    assert (code, lines) == (1, [f"gateway: {named[0]}", *named[1:]])
    assert not (tmp_path / "data").exists()


def test_are_named_where_they_cannot_be_read_and_secrets_are_not_quoted(tmp_path: Path) -> None:
    wrong = {
        "SECRET_KEY": "s" * 40,
        "FIELD_ENCRYPTION_KEYS": "c2VjcmV0LXdvcmQ=",
        "DATABASE_URL": "mysql://me:secret-word@db.example/gateway",
        "EMAIL_URL": "carrier-pigeon://me:secret-word@mail.example",
        "GATEWAY_BASE_URL": "https://gateway.example",
        "OIDC_ISSUER": "https://sso.example",
        "OIDC_CLIENT_ID": "gateway",
        "UPSTREAM_CONNECTIONS_MAX": "plenty",
        "HEAD_SECONDS": "soon",
        "TRUSTED_PROXIES": "proxy",
        "ALLOWED_HOSTS": "*",
    }
    code, lines = start(tmp_path, ["manage.py", "check"], **wrong)
    assert (code, lines[0]) == (1, "gateway: 8 settings are missing or wrong:")
    assert lines[1:] == [
        "EMAIL_URL must be a URL such as smtp+tls://user:password@mail.example:587.",
        "Set OIDC_CLIENT_SECRET.",
        "TRUSTED_PROXIES must list addresses or networks, such as 10.0.0.0/8; 'proxy' is neither.",
        "HEAD_SECONDS must be a number.",
        "DATABASE_URL must be a URL such as postgresql://user:password@host:5432/name.",
        "UPSTREAM_CONNECTIONS_MAX must be a whole number.",
        f"FIELD_ENCRYPTION_KEYS: key 1 of 1 is not a Fernet key. To make one: {NEW_KEY}",
        "ALLOWED_HOSTS must name hosts in production: * accepts any host that a client makes up. "
        "Leave it unset to accept the hosts of GATEWAY_BASE_URL and PORTAL_URL.",
    ]
    assert "secret-word" not in "".join(lines)


def test_are_named_in_development_too(tmp_path: Path) -> None:
    code, lines = start(tmp_path, ["manage.py", "check"], GATEWAY_ENV="development", CONNECTIONS_MAX="many")
    assert (code, lines) == (1, ["gateway: A setting is missing or wrong:", "CONNECTIONS_MAX must be a whole number."])


def test_the_commands_that_they_name_make_keys_that_are_taken(tmp_path: Path) -> None:
    def made(command: str) -> str:
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout.strip()

    _, lines = start(
        tmp_path,
        ["manage.py", "check"],
        SECRET_KEY=made(SECRET_KEY.partition(": ")[2]),
        FIELD_ENCRYPTION_KEYS=made(NEW_KEY),
    )
    assert lines[1:] == [DATABASE, *URLS]


def test_are_named_where_a_limit_is_no_number_of_uses() -> None:
    wrong = {
        "EXPORTS_PER_ACCOUNT_HOUR": "0",
        "REPORTS_PER_ACCOUNT_MINUTE": "1000000001",
        "SIGN_UPS_PER_ADDRESS_MINUTE": "-1",
    }
    expected = {f"{name} must be a whole number from 1 to 1000000000." for name in wrong}
    assert set(settings_problems({**os.environ, **wrong}, besides=[])) == expected
