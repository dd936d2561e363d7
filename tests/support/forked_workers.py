"""Forks the processes that `multiprocessing` spawns, such as uvicorn's workers: new interpreters would import the gateway again."""

import os
from collections.abc import Sequence
from multiprocessing import util
from pathlib import Path
from typing import Any

from tests.support.forking import Program, fork

MARK = "--multiprocessing-fork"
"""The last argument of a process that is spawned. The tracker of resources, which imports nothing of ours, has none."""
NAME = "spawn_main"
"""The name that the system shows of one that was forked, whose command line is that of its parent."""

_modules: Any = vars(util)
_execute = util.spawnv_passfds


def fork_workers() -> None:
    """Fork from now on, in this process and in those that are forked from it. No thread may run in one that spawns."""
    _modules["spawnv_passfds"] = _spawn


def _spawn(path: bytes, arguments: Sequence[Any], files: Sequence[int]) -> int:
    if arguments[-1] != MARK:
        return _execute(path, arguments, files)
    program = Program(
        arguments=arguments[-3:], environment=dict(os.environ), directory=str(Path.cwd()), files=tuple(files)
    )
    return fork(program, range(3), _take_name)


def _take_name() -> None:
    Path("/proc/self/comm").write_text(NAME)
