"""`python -m tests.support.forked_gateway`: `python -m gateway.run`, which forks its processes instead of starting interpreters."""

import subprocess
import sys

from gateway.run.__main__ import main
from tests.support.forked import ForkingPopen

if __name__ == "__main__":
    subprocess.Popen = ForkingPopen  # type: ignore[misc]
    sys.exit(main(sys.argv[1:]))
