"""Executes a program in the sandbox as the current user: `python -m tests.integrations.sandboxed`, with the program's
files as JSON on standard input.
"""

import json
import sys

from gateway.core.runtime.startup import load_settings

if __name__ == "__main__":
    load_settings()
    from integrations.adapters import bubblewrap
    from integrations.adapters.programs import Program

    given = json.load(sys.stdin)
    program = Program(
        tuple(given["command"]),
        files={path: text.encode() for path, text in given["files"].items()},
        stdin=given["stdin"].encode(),
        egress=given["egress"],
        timeout_seconds=60,
    )
    outcome, output = bubblewrap.run(program, lambda _: True)
    written = [stream.decode("utf-8", "replace") for stream in (output.stdout, output.stderr)]
    json.dump([outcome.ending, outcome.exit_code, outcome.reason, *written], sys.stdout)
