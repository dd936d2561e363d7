"""A recovery to a moment, by the steps of docs/replication.md, and by nothing else."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from billing.queries import audit
from gateway.run.options import PROJECT_DIR
from tests.factories.accounts import make_account
from tests.factories.payments import refund, top_up
from tests.faults.nodes import disconnect_django
from tests.support.concurrency import eventually
from tests.support.database import make_home
from tests.support.replicated import Replicated

PAGE = PROJECT_DIR / "docs" / "replication.md"
BASE_BACKUP = re.compile(r"`(pg_basebackup [^`]+)`")
COPY = re.compile(r"`(cp -a [^`]+)`")
INI = re.compile(r"^ *```ini\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
TARGET = re.compile(r"(?<=recovery_target_time = ')[^']+")

WALLETS = "SELECT owner_key, balance_microusd, held_microusd, debt_microusd FROM billing_wallet ORDER BY id"
EPOCH = "SELECT split_part(history, '/', 2), began_at, coalesce(lost_until > now(), false) FROM accounts_replay_epoch"
ARCHIVED = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"


@pytest.fixture
def steps(pair: Replicated) -> dict[str, str]:
    """Return the page's commands and settings, with directories of this test."""
    section = PAGE.read_text().partition("## Point-in-time recovery\n")[2]
    [base_backup], [copy] = BASE_BACKUP.findall(section), COPY.findall(section)
    archive, recovery = INI.findall(section)
    steps = {"archive": archive, "base backup": base_backup, "copy": copy, "recovery": recovery}
    places = {"/archive/": home(), "/backup/": home(), "/var/lib/postgresql/15/": home()}
    for name, text in steps.items():
        for place, ours in places.items():
            text = text.replace(place, f"{ours}/")
        steps[name] = text.replace("$DATABASE_URL", pair.url)
    return steps


def test_a_recovery_to_the_moment_before_a_mistake(pair: Replicated, steps: dict[str, str]) -> None:
    pair.kill(pair.standby)  # it would repeat the mistake
    primary = pair.directory(pair.primary)
    configure(primary, steps["archive"])
    restart(pair, primary)
    payers = [make_account(name) for name in ("early", "late")]
    top_up(("account", payers[0].did), 5_000_000)
    pair.run(*shlex.split(steps["base backup"]))
    top_up(("account", payers[1].did), 7_000_000)

    found = findings()  # of what earlier tests have left
    wallets, [epoch] = pair.execute(pair.primary, WALLETS), pair.execute(pair.primary, EPOCH)
    [(moment,)] = pair.execute(pair.primary, "SELECT clock_timestamp()::text")
    for payer in payers:
        refund(("account", payer.did), 1_000_000)
    assert pair.execute(pair.primary, WALLETS) != wallets
    disconnect_django()
    [(written,)] = pair.execute(pair.primary, "SELECT pg_walfile_name(pg_switch_wal())")
    eventually(lambda: pair.execute(pair.primary, ARCHIVED, written) == [(True,)])
    pair.kill(pair.primary)

    copy = shlex.split(steps["copy"])
    subprocess.run(copy, check=True)
    restored = Path(copy[-1])
    configure(restored, TARGET.sub(moment, steps["recovery"]) + "archive_mode = off\n")
    (restored / "recovery.signal").touch()
    pair.start(pair.primary, restored)
    eventually(lambda: pair.execute(pair.primary, "SELECT pg_is_in_recovery()") == [(False,)])

    assert pair.execute(pair.primary, WALLETS) == wallets
    assert findings() == found
    [(timeline, began_at, refuses_proofs)] = pair.execute(pair.primary, EPOCH)
    assert timeline > epoch[0]
    assert began_at > epoch[1]
    assert (epoch[2], refuses_proofs) == (False, True)


def findings() -> list[str]:
    """Audit the ledger."""
    return [str(finding) for finding in audit.findings()]


def home() -> Path:
    """Return a directory that the servers' user may write to."""
    path = make_home()
    path.chmod(0o777)  # of a test's own
    return path


def configure(data: Path, settings: str) -> None:
    """Append lines to a server's settings."""
    with (data / "postgresql.auto.conf").open("a") as file:
        file.writelines(f"{line.strip()}\n" for line in settings.splitlines())


def restart(pair: Replicated, primary: Path) -> None:
    """Start the primary again."""
    disconnect_django()
    pair.kill(pair.primary)
    pair.start(pair.primary, primary)
