"""Runs Python programs in forked processes, which have imported already what their parent has.

Importing the gateway takes longer than most tests do. The settings, which read the environment as they are imported, are read
anew. If an import has used one that differs now, or the interpreter itself would find another environment, a new interpreter
is started in the same process.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import os
import re
import runpy
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, cast

PRELOADED = (
    "gateway.urls",
    "gateway.console_urls",
    "accounts.portal.urls",
    "billing.portal.urls",
    "organizations.portal.urls",
    "inference.urls",
    "judgement.urls",
    "billing.adapters.stripe",
    "gateway.core.http.request_log",
    "gateway.core.http.server.proxies",
    "gateway.server.lifespan",
    "gateway.server.protocol",
    "gateway.server.sockets",
    "inference.routes.realtime.application",
    "gateway.celery",
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "uvicorn.main",
    "uvloop",
)
"""What servers, workers and commands import, some at their first page, except for `gateway.asgi`, which reads settings as it is imported."""
SETTINGS = "gateway.settings"
STARTING = ("GLIBC_", "LANG", "LC_", "LD_", "MALLOC_", "PYTHON")
"""The variables that an interpreter and its libraries read as they start."""
SAME_ANYHOW = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
"""Those of them that do not matter: whoever forks has the first."""

_used: dict[str, Any] = {}
"""The settings that imports have used."""


@dataclass(frozen=True)
class Program:
    """The arguments of an interpreter, and what it is started with. `files` are those that it has open."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    new_session: bool = False
    process_group: int | None = None
    files: Sequence[int] = ()

    def run(self) -> NoReturn:
        """Become this program; the process, which was just forked, ends with it."""
        is_alike = _is_alike(os.environ, self.environment)
        self._enter()
        if not is_alike or _would_differ():
            os.execve(sys.executable, [sys.executable, *self.arguments], dict(self.environment))
        _set_environment(self.environment)
        _end(_code_of(self))

    def start(self) -> None:
        """Run it as `__main__`."""
        first, *others = self._take_warnings()
        if first in {"-m", "-c"}:
            text, *others = others
        sys.path[0] = {"-m": self.directory, "-c": ""}.get(first, str(Path(self.directory, first).parent))
        sys.argv = [first, *others]
        if first == "-m":
            runpy.run_module(text, run_name="__main__", alter_sys=True)
        elif first == "-c":
            exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_path(first, run_name="__main__")

    def _enter(self) -> None:
        _set_environment(self.environment)
        os.chdir(self.directory)
        if self.new_session:
            os.setsid()
        elif self.process_group is not None:
            os.setpgid(0, self.process_group)
        _keep_open(self.files)
        _reset_signals()

    def _take_warnings(self) -> list[str]:
        """Return the arguments without those that say which warnings are shown, after doing so."""
        rest = list(self.arguments)
        while rest[0] == "-W":
            _, stated, *rest = rest
            action, _, message = stated.partition(":")
            warnings.filterwarnings(action, re.escape(message))  # type: ignore[arg-type] # one of the names
        return rest


def preload() -> None:
    """Import what programs need. No thread is started, nothing connected, and no random number drawn."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import django.conf
    from django.db.migrations.loader import MigrationLoader

    django.setup()
    for name in PRELOADED:
        importlib.import_module(name)
    MigrationLoader(None)  # imports the migrations
    _used.update(vars(django.conf.settings))  # keeps each that is read
    del _used["_wrapped"]
    del _used["DATABASES"]  # which only connections have used, and none is open
    del _used["CATALOGUE_TTL_SECONDS"]  # which is set where it was used
    del _used["LOGGING"]  # which every `django.setup()` configures anew
    gc.collect()
    gc.freeze()


def fork(program: Program, files: Sequence[int], prepare: Callable[[], None] | None = None) -> int:
    """Run a program in a new process; return the process id. No thread may run here.

    `files` are its three standard ones, and then those that it has open, unless they have its numbers here already.
    """
    pid = os.fork()
    if not pid:
        try:
            numbers = (0, 1, 2, *program.files)
            beyond = [fcntl.fcntl(file, fcntl.F_DUPFD, max(numbers) + 1) for file in files]
            for number, file in zip(numbers, beyond, strict=False):
                os.dup2(file, number)
            if prepare:
                prepare()
            program.run()
        finally:
            os._exit(255)
    return pid


def _code_of(program: Program) -> int:
    """Run a program, and return the exit code of an interpreter that does."""
    try:
        program.start()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        sys.stderr.write(f"{ended.code}\n")
        return 1
    except BaseException as error:  # noqa: BLE001 - as the interpreter does
        error.with_traceback(_beyond_us(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        return 1
    return 0


def _beyond_us(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the functions that run the program."""
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _end(code: int) -> NoReturn:
    """End as an interpreter does, whatever called the function that forked."""
    ending: Any = threading
    ending._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _keep_open(files: Sequence[int]) -> None:
    """Close all other files but the standard ones."""
    first = 3
    for number in sorted(files):
        os.set_inheritable(number, True)
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _is_alike(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether an interpreter that starts would find the same in both environments."""
    names = {name for name in one.keys() | other.keys() if name.startswith(STARTING)} - set(SAME_ANYHOW)
    return all(one.get(name) == other.get(name) for name in names)


def _would_differ() -> bool:
    """Return whether a setting differs now that an import has used. The settings are read again when they are next used."""
    from django.conf import Settings, settings
    from django.db import connections
    from django.utils.functional import empty

    cast("Any", connections).__init__()
    vars(connections).pop("settings", None)
    try:
        _forget_settings()
        now: Any = Settings(_settings_module())
        if imported := sys.modules.get("inference.queries.catalogue"):  # not in a process that was not preloaded
            cast("Any", imported)._snapshot.fresh_seconds = now.CATALOGUE_TTL_SECONDS  # which several tests set
        return any(getattr(now, name) != value for name, value in _used.items())
    except Exception:  # noqa: BLE001 - the new interpreter says what is wrong
        return True
    finally:
        _forget_settings()
        cast("Any", settings)._wrapped = empty


def _forget_settings() -> None:
    """Let the modules of settings that may differ be imported again. One that holds functions would never equal itself."""
    for name, module in list(sys.modules.items()):
        if name.startswith((SETTINGS, _settings_module())) and not vars(module).keys().isdisjoint({"env", "os"}):
            del sys.modules[name]


def _settings_module() -> str:
    return os.environ.get("DJANGO_SETTINGS_MODULE") or SETTINGS


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()


def _reset_signals() -> None:
    """Handle signals as an interpreter does that has just started."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
