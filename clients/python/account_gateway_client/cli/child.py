"""Runs a command in the foreground of this terminal."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

# As shells say it.
NOT_EXECUTABLE, NOT_FOUND, KILLED_BY = 126, 127, 128
# A terminal sends these to the command as well.
_OF_THE_TERMINAL = ("SIGINT", "SIGQUIT")
_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


def run_child(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command with the terminal and the signals of this process, and return its exit status: 128 and the signal where
    one ended it, 127 where there is no such command, 126 where it cannot be started."""
    with _signals_left_to_the_child() as children:
        try:
            child = subprocess.Popen(list(command), env=dict(environment))
        except OSError as error:
            return _not_started(command[0], error)
        children.append(child)
        status = child.wait()
    return status if status >= 0 else KILLED_BY - status


def _not_started(name: str, error: OSError) -> int:
    click.echo(f"agw: {name}: {error.strerror}", err=True)
    is_missing = isinstance(error, FileNotFoundError) and not Path(shutil.which(name) or name).exists()
    return NOT_FOUND if is_missing else NOT_EXECUTABLE


@contextmanager
def _signals_left_to_the_child() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Keep this process alive through signals that are meant for the command, and pass those on that only it gets."""
    children: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number in of_the_terminal and _is_in_foreground():
            return
        for child in children:
            child.send_signal(number)

    of_the_terminal = _known(_OF_THE_TERMINAL)
    # A handler, unlike SIG_IGN, is not inherited by the command.
    before = {number: signal.signal(number, pass_on) for number in [*_known(_PASSED_ON), *of_the_terminal]}
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_foreground() -> bool:
    """Return whether a terminal sends its signals to this process, and so to the command, which is of the same group."""
    if os.name != "posix":
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)


def _known(names: Sequence[str]) -> list[int]:
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
