"""A worker that executes one run and may be killed meanwhile: `python -m tests.integrations.sandbox_worker RUN_ID`."""

import sys

from gateway.core.startup import load_settings

if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    from integrations.operations import sandbox_runs

    sandbox_runs.execute(sys.argv[1])
