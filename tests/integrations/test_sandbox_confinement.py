"""Programs that attack their sandbox. Each prints what it reached."""

import os
import pwd
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.run.identity import database_identity
from integrations.adapters import bubblewrap, confinement, usage
from integrations.adapters.programs import Ending, Outcome, Program
from integrations.rules import seccomp
from tests.integrations.sandbox import command_lines, duration, processes
from tests.support.concurrency import PATIENCE_SECONDS, eventually

MEMORY_EXCEEDED = "The run used more than 100 MB of memory."


def run(script: str, interpreter: tuple[str, ...] = ("sh", "-c"), **members: object) -> tuple[Outcome, str, str]:
    """Run a script and return its outcome and output."""
    program = Program((*interpreter, script), **{"timeout_seconds": 120, **members})  # type: ignore[arg-type]
    outcome, output = bubblewrap.run(program, lambda _: True)
    return outcome, output.stdout.decode(), output.stderr.decode()


def python(script: str, **members: object) -> tuple[Outcome, str, str]:
    """Run a Python script."""
    return run(script, ("python3", "-I", "-c"), **members)


@pytest.fixture
def secret() -> Iterator[Path]:
    """A world-readable file on the machine."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        file = Path(folder) / "secret"
        file.write_text("the-secret")
        file.chmod(0o666)
        yield file


def test_the_machines_files_are_not_there(secret: Path) -> None:
    places = (
        f"{secret} {Path.cwd()} /proc/1/root{secret} /proc/self/root{secret} /root /home /etc/shadow /var /sys /run"
    )
    outcome, out, _ = run(f"cat {secret}; for each in {places}; do test -e $each && echo $each; done; true")
    assert (outcome, out) == (Outcome(Ending.EXITED, 0), "")


def test_the_system_is_read_only() -> None:
    places = ("/x", "/usr/x", "/usr/bin/x", "/etc/x", "/dev/x", "/proc/x", "/usr/local/bin/x")
    _, out, _ = run("".join(f"(echo > {place}) 2>/dev/null && echo {place};" for place in places))
    assert out == ""
    assert not Path("/usr/bin/x").exists()


def test_a_link_leads_nowhere(secret: Path) -> None:
    _, out, _ = run(
        f"ln -s {secret} link; cat link; echo changed > link; ln -s / root; cat root{secret}; ln {secret} hard"
    )
    assert out == ""
    assert secret.read_text() == "the-secret"


def test_only_its_own_processes_are_seen_and_signalled() -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            _, out, _ = run(f"kill -9 {other.pid}; kill -9 -1; echo still here; ls /proc | grep -c '^[0-9]'")
            assert other.poll() is None
        finally:
            other.kill()
    text, processes = out.splitlines()
    assert (text, int(processes) < 10) == ("still here", True)


def test_a_programs_environment_reaches_no_program_before_it() -> None:
    """The loader names each program that it starts with LD_DEBUG, as it would load LD_PRELOAD into it."""
    outcome, _, err = run("exit 7", environment={"LD_DEBUG": "files", "MINE": 'it\'s = \n"mine"'})
    assert outcome == Outcome(Ending.EXITED, 7)
    started = [line.split()[-1] for line in err.splitlines() if "initialize program: " in line]
    assert started == ["sh"]


def test_a_program_gets_its_environment() -> None:
    environment = {"MINE": 'it\'s = \n"mine"', "EMPTY": ""}
    _, out, _ = run('printf "%s|%s|%s" "$MINE" "$HOME" "${EMPTY-unset}"', environment=environment)
    assert out == 'it\'s = \n"mine"|/tmp/run|'


def test_a_program_gets_variables_that_are_the_shells_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell ends at them: dash at a word for OPTIND, bash at each of the others."""
    environment = {
        "OPTIND": "it's",
        "UID": "7",
        "EUID": "8",
        "PPID": "9",
        "SHELLOPTS": "x",
        "BASHOPTS": "y",
        "MINE": "z",
    }
    program = Program(("env",), environment=environment, timeout_seconds=30)
    for shell in ("/bin/sh", "/bin/bash"):
        words = [shell if word == "/bin/sh" else word for word in confinement.limited(program, has_cgroup=False)]
        monkeypatch.setattr(confinement, "limited", lambda *_, words=words, **__: words)
        outcome, output = bubblewrap.run(program, lambda _: True)
        assert outcome == Outcome(Ending.EXITED, 0), output.stderr
        assert set(output.stdout.decode().splitlines()) >= {f"{name}={value}" for name, value in environment.items()}
        monkeypatch.undo()


def test_a_program_with_an_equals_sign_is_not_taken_for_a_variable() -> None:
    program = Program(("a=b", "true"), environment={"MINE": "1"}, timeout_seconds=30)
    outcome, output = bubblewrap.run(program, lambda _: True)
    assert outcome == Outcome(Ending.EXITED, 127)
    assert b"a=b: not found" in output.stderr


def test_the_users_of_runs_and_of_the_database_differ() -> None:
    database = database_identity()
    assert confinement.OUTER_USER_ID not in {entry.pw_uid for entry in pwd.getpwall()}
    if database is None:
        return
    program = Program(("sleep", "60"), timeout_seconds=60)
    uids: set[int] = set()
    before = set(usage.descendants(os.getpid()))  # the session's database may be among them

    def look(_: object) -> bool:
        runs = set(usage.descendants(os.getpid())) - before
        for pid in runs.difference(*map(usage.descendants, before)):  # the database may have started some
            with suppress(FileNotFoundError):
                uids.add(Path(f"/proc/{pid}").stat().st_uid)
        return confinement.OUTER_USER_ID not in uids

    bubblewrap.run(program, look)
    assert uids <= {0, confinement.OUTER_USER_ID}
    assert confinement.OUTER_USER_ID in uids
    assert database.uid not in uids


def test_nothing_of_the_workers_environment_and_descriptors() -> None:
    os.environ["WORKER_SECRET"] = "the-secret"
    try:
        _, out, _ = run("cat /proc/*/environ | tr '\\0' '\\n'; env; ls /proc/self/fd", environment={"MINE": "yes"})
    finally:
        del os.environ["WORKER_SECRET"]
    lines = out.splitlines()
    assert "MINE=yes" in lines
    assert {line.partition("=")[0] for line in lines if "=" in line} == {
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "MINE",
        "PWD",
    }
    assert [line for line in lines if line.isdigit()] == ["0", "1", "2", "3"]  # the last is the list itself


def test_a_runs_environment_is_not_on_any_command_line() -> None:
    found: list[bytes] = []

    def look(_: object) -> bool:
        found.extend(command_lines())
        return False

    program = Program(("sleep", "60"), environment={"TOKEN": "the-secret"}, timeout_seconds=60)
    assert bubblewrap.run(program, look)[0].ending is Ending.STOPPED
    assert any(b"bwrap" in line for line in found)
    assert not any(b"the-secret" in line for line in found)


def test_there_is_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        _, out, err = python(
            "import socket\n"
            f"for address in (('127.0.0.1', {server.getsockname()[1]}), ('192.0.2.1', 80)):\n"
            "  try: socket.create_connection(address, 2); print('reached')\n"
            "  except OSError as error: print(type(error).__name__)\n"
        )
    assert out.splitlines() == ["ConnectionRefusedError", "OSError"], err


def test_abstract_sockets_of_the_machine_are_out_of_reach() -> None:
    name = f"gateway-test-{os.getpid()}"
    script = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}'); print('reached')"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        for egress in (False, True):
            outcome, out, err = python(script, egress=egress)
            assert (outcome.exit_code, out) == (1, ""), err


def test_egress_reaches_the_network_if_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _, out, err = python(
            f"import socket; socket.create_connection(('127.0.0.1', {port}))\nprint('ok')", egress=True
        )
    assert out == "ok\n", err


@pytest.mark.parametrize("family", [17, 38, 40, 41])  # AF_PACKET, AF_ALG, AF_VSOCK, AF_KCM
def test_other_families_of_sockets_are_refused(family: int) -> None:
    _, out, _ = python(f"import socket\ntry: socket.socket({family}, 1)\nexcept OSError as error: print(error.errno)")
    assert out == "1\n"


def test_no_capability_and_no_way_to_one() -> None:
    _, out, _ = run(
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; id -u; id -G; unshare -Ur true && echo root"
    )
    *status, user, groups = out.splitlines()
    assert {line.split()[1] for line in status if line.startswith("Cap")} == {"0000000000000000"}
    assert {line.split()[1] for line in status if not line.startswith("Cap")} == {"1", "2"}
    assert (user, groups) == ("1000", "1000")


def test_setuid_gives_nothing() -> None:
    _, out, _ = run(
        "cp /usr/bin/id mine; chmod 4755 mine; ./mine -u; for each in su mount passwd; do $each -h; done; id -u"
    )
    assert {line for line in out.splitlines() if line.isdigit()} == {"1000"}


@pytest.mark.parametrize("number", seccomp.MACHINES[os.uname().machine].denied)
def test_dangerous_system_calls_are_refused(number: int) -> None:
    _, out, err = python(
        f"import ctypes; c = ctypes.CDLL(None, use_errno=True)\nprint(c.syscall({number}, 0, 0, 0, 0, 0), ctypes.get_errno())"
    )
    assert out == "-1 1\n", err


def test_the_first_processs_files_are_closed() -> None:
    _, out, _ = run(
        "cat /proc/1/environ; ls /proc/1/fd /proc/1/root; cat /proc/kcore /dev/mem; ls -A /proc/sys/kernel/core_pattern; echo x > /proc/sys/kernel/core_pattern && echo changed; echo b > /proc/sysrq-trigger && echo reset; true"
    )
    assert "changed" not in out
    assert "reset" not in out


def test_a_flood_of_zombies_stays_in_its_run() -> None:
    script = (
        "import os\nchildren = 0\n"
        "try:\n  while True:\n    if os.fork() == 0: os._exit(0)\n    children += 1\n"
        "except OSError: print(children)"
    )
    outcome, out, err = python(script)
    assert outcome == Outcome(Ending.EXITED, 0), err
    assert 32 < int(out) < confinement.PROCESSES_MAX


def test_a_fork_bomb_stays_in_its_run() -> None:
    script = (
        "import os, time\nchildren = 0\n"
        "try:\n  while True:\n    if os.fork() == 0: time.sleep(600)\n    children += 1\n"
        "except OSError: print(children)"
    )
    outcome, out, err = python(script)
    assert outcome == Outcome(Ending.EXITED, 0), err
    assert 32 < int(out) < confinement.PROCESSES_MAX


def test_runs_do_not_share_their_number_of_processes() -> None:
    script = "for i in $(seq 40); do sleep 20 & done; echo begun; wait"
    ready, leave = threading.Event(), threading.Event()

    def tick(output: object) -> bool:
        ready.set()
        return not leave.is_set()

    program = Program(("sh", "-c", script), timeout_seconds=60)
    first = threading.Thread(target=bubblewrap.run, args=(program, tick))
    first.start()
    assert ready.wait(60)
    outcome, _, err = run("for i in $(seq 40); do sleep 0.1 & done; wait")
    leave.set()
    first.join()
    assert outcome == Outcome(Ending.EXITED, 0), err


def test_the_disk_has_a_bound() -> None:
    script = "for i in 1 2 3; do head -c 40000000 /dev/zero > $i; done; du -sk /tmp | cut -f1; echo > /dev/shm/x"
    _, out, err = run(script)
    assert int(out) <= confinement.DISK_MAX_BYTES // 1024
    assert "No space left on device" in err


def test_the_number_of_files_has_a_bound() -> None:
    outcome, _, _ = python("n = 0\nwhile True:\n  n += 1\n  open(str(n), 'w').close()")
    assert outcome == Outcome(Ending.BEYOND_LIMIT, None, "The run made more than 16,384 files.")


def test_a_process_has_a_bound_of_memory() -> None:
    outcome, out, err = python("x = b'x' * (200 * 2**20); print('had it')", memory_mb=100)
    refused, killed = Outcome(Ending.EXITED, 1), Outcome(Ending.BEYOND_LIMIT, None, MEMORY_EXCEEDED)
    assert (outcome, "MemoryError" in err) in ((refused, True), (killed, False)), "a limit, or a cgroup"
    assert out == ""


def test_shared_memory_counts_too() -> None:
    script = (
        "import mmap, os, time\nfor _ in range(10):\n  if os.fork() == 0:\n"
        "    x = mmap.mmap(-1, 50 * 2**20); x.write(b'x' * (40 * 2**20)); time.sleep(600)\ntime.sleep(600)"
    )
    outcome, _, _ = python(script, memory_mb=200)
    assert outcome == Outcome(Ending.BEYOND_LIMIT, None, "The run used more than 200 MB of memory.")


def test_a_runs_processes_have_one_bound_of_memory() -> None:
    script = (
        "import os, time\nfor _ in range(20):\n  if os.fork() == 0:\n    x = b'x' * (50 * 2**20); time.sleep(600)\n"
        "time.sleep(600)"
    )
    outcome, _, _ = python(script, memory_mb=100)
    assert outcome == Outcome(Ending.BEYOND_LIMIT, None, MEMORY_EXCEEDED)


def test_runs_do_not_see_each_other() -> None:
    run("echo the-secret > /tmp/left; echo the-secret > left; echo the-secret > /dev/shm/left")
    _, out, _ = run("cat /tmp/left left /dev/shm/left; find /tmp -type f")
    assert out == ""


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """The duration of a run's `sleep`. A run waits for the end of its processes however long a busy machine takes."""
    monkeypatch.setattr(bubblewrap, "END_SECONDS", PATIENCE_SECONDS)
    return duration(31415)


def test_background_processes_end_with_the_run(mark: str) -> None:
    outcome, out, _ = run(f"(setsid sleep {mark} > /dev/null 2>&1 &); echo done")
    assert (outcome.exit_code, out) == (0, "done\n")
    assert not any(mark.encode() in line for line in command_lines())


def test_stopping_ends_every_process(mark: str) -> None:
    script = f"trap '' TERM INT HUP; (setsid sleep {mark} &); sleep {mark}"
    program = Program(("sh", "-c", script), timeout_seconds=60)
    assert bubblewrap.run(program, lambda _: False)[0] == Outcome(Ending.STOPPED)
    assert not any(mark.encode() in line for line in command_lines())


def test_a_tick_that_hangs_delays_no_limit() -> None:
    mark = duration(14142)

    def tick(output: object) -> bool:
        eventually(lambda: not processes(mark))
        return True

    program = Program(("sleep", mark), timeout_seconds=2)
    assert bubblewrap.run(program, tick)[0].ending is Ending.TIMED_OUT


def test_without_bubblewrap_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement.shutil, "which", lambda name, path: None)
    outcome, _, _ = run("true")
    assert outcome.ending is Ending.NOT_STARTED
    assert outcome.reason == "The worker's machine lacks bwrap; on Debian: apt install bubblewrap"


def test_a_command_that_does_not_exist_says_so() -> None:
    outcome, output = bubblewrap.run(Program(("no-such-program",)), lambda _: True)
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 127)
    assert b"no-such-program" in output.stderr
