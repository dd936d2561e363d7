"""What `.ci/run` does on a machine that lacks something: it waits for what passes, and names what does not."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR

TOOLS = ("dirname", "env", "mktemp", "sh", "wc")
STUBS = (
    "python3",
    "make",
    "git",
    "bwrap",
    "nginx",
    "haproxy",
    "caddy",
    "systemd-analyze",
    "redis-server",
    "promtool",
    "node",
    "npm",
    "chromium",
    "chromium-headless-shell",
)
STUB = "#!/bin/sh\nexit 0\n"
MAKE = '#!/bin/sh\necho "$1 with $PYTHON at home in $HOME"\n'
APT_GET = """#!/bin/sh
echo "$*" >> "$CALLS"
[ "$(wc -l < "$CALLS")" -gt "$FAILURES" ] || { echo "E: Could not get lock" >&2; exit 100; }
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Make a machine that has everything, in a directory of its own."""
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found, name
        (tmp_path / "bin" / name).symlink_to(found)
    for name in STUBS:
        install(tmp_path, name, STUB)
    install(tmp_path, "make", MAKE)
    install(tmp_path, "id", "#!/bin/sh\necho 0\n")
    install(tmp_path, "sleep", '#!/bin/sh\necho "slept $1"\n')
    (tmp_path / ".ci").mkdir()
    shutil.copy(PROJECT_DIR / ".ci" / "run", tmp_path / ".ci" / "run")
    return tmp_path


def install(machine: Path, name: str, program: str) -> None:
    """Install a program."""
    path = machine / "bin" / name
    path.write_text(program)
    path.chmod(0o755)


def run(machine: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script there."""
    settings = {"PATH": str(machine / "bin"), "HOME": str(machine), "CALLS": str(machine / "calls"), "FAILURES": "0"}
    return subprocess.run(
        [str(machine / ".ci" / "run")], env={**settings, **environment}, capture_output=True, text=True
    )


def test_it_runs_both_targets_where_nothing_is_missing(machine: Path) -> None:
    completed = run(machine)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.splitlines() == [
        "== make check",
        f"check with python3 at home in {machine}",
        "== make test",
        f"test with python3 at home in {machine}",
        "== all passed",
    ]


@pytest.mark.parametrize("home", ["", "/nonexistent"])
def test_it_makes_a_home_where_there_is_none_to_write_to(machine: Path, home: str) -> None:
    completed = run(machine, HOME=home, TMPDIR=str(machine))
    assert completed.returncode == 0
    [made] = {line.partition(" at home in ")[2] for line in completed.stdout.splitlines() if " at home in " in line}
    assert Path(made).parent == machine
    assert Path(made).is_dir()


def test_it_passes_a_given_python_on(machine: Path) -> None:
    (machine / "bin" / "python3").rename(machine / "bin" / "another")
    completed = run(machine, PYTHON="another")
    assert "check with another at home" in completed.stdout


def test_it_waits_for_a_lock_and_for_the_network(machine: Path) -> None:
    (machine / "bin" / "nginx").unlink()
    install(machine, "apt-get", APT_GET)
    completed = run(machine, FAILURES="2")
    assert completed.returncode == 0
    assert [line for line in completed.stdout.splitlines() if "slept" in line] == ["slept 10", "slept 30"]
    assert installed(machine) == [*["update"] * 3, "nginx-light"]


@pytest.mark.parametrize("program", ["chromium", "chromium-headless-shell"])
def test_one_chromium_is_enough(machine: Path, program: str) -> None:
    (machine / "bin" / "chromium").unlink()
    (machine / "bin" / "chromium-headless-shell").unlink()
    install(machine, program, STUB)
    assert run(machine).returncode == 0


@pytest.mark.parametrize(("failures", "expected"), [("0", ["update", "chromium-headless-shell"]), ("99", ["update"])])
def test_it_goes_on_where_there_is_no_chromium_without_windows(
    machine: Path, failures: str, expected: list[str]
) -> None:
    (machine / "bin" / "chromium-headless-shell").unlink()
    install(machine, "apt-get", APT_GET)
    completed = run(machine, FAILURES=failures)
    assert (completed.returncode, "slept" in completed.stdout) == (0, False)
    assert installed(machine) == expected


def installed(machine: Path) -> list[str]:
    """Return the last word of each call of apt-get."""
    return [call.split()[-1] for call in (machine / "calls").read_text().splitlines()]


def test_it_names_what_apt_could_not_install(machine: Path) -> None:
    (machine / "bin" / "npm").unlink()
    install(machine, "apt-get", APT_GET)
    completed = run(machine, FAILURES="99")
    assert completed.returncode == 1
    assert completed.stderr.splitlines()[-1] == "apt-get could not install nodejs npm; see above."
    assert "make check" not in completed.stdout


def test_it_names_what_is_missing_where_there_is_no_apt(machine: Path) -> None:
    (machine / "bin" / "npm").unlink()
    (machine / "bin" / "bwrap").unlink()
    completed = run(machine)
    assert completed.returncode == 1
    assert completed.stderr == "This system has no apt-get; install these yourself: bubblewrap nodejs npm\n"


def test_it_says_that_an_ordinary_user_needs_sudo(machine: Path) -> None:
    (machine / "bin" / "git").unlink()
    install(machine, "id", "#!/bin/sh\necho 1000\n")
    install(machine, "apt-get", APT_GET)
    completed = run(machine)
    assert completed.returncode == 1
    assert completed.stderr == "Not root, and there is no sudo; as root: apt-get install git\n"
    assert not (machine / "calls").exists()
