"""Writes docs/errors.md from the error catalogue: `python -m tests.gateway.error_page`."""

import os
from itertools import groupby
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
HEAD = """# Errors

Each error that the API answers: why it happened, what to do, and whether to send the request again. Branch on `code`; it does not
change. Every gateway serves this page at `/docs/errors`, and `docs_url` in an error's body (`error_uri` on token routes) names
the code's section there. What an operator can find in the log is in [troubleshooting](troubleshooting.md).

<!-- `python -m tests.gateway.error_page` writes this page from gateway/core/contract/error_help. -->
"""


def written() -> str:
    """Return the page as it should be."""
    from gateway.error_reference import entries

    parts = [HEAD]
    for status, group in groupby(entries(), key=lambda entry: entry.error.status):
        parts.append(f"\n## {status}\n")
        for entry in group:
            help_ = entry.help
            parts.append(f"\n### {entry.error.code}\n\n{entry.error.message}\n\n")
            parts.append(f"- **Cause.** {help_.cause}\n- **Remedy.** {help_.remedy}\n- **Retry.** {help_.retry}\n")
            parts.append(f"\n```json\n{entry.example}\n```\n")
    return "".join(parts)


def main() -> None:
    """Write the page as a gateway of the tests would serve it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings.test")
    import django

    django.setup()
    PAGE.write_text(written(), encoding="utf-8")


if __name__ == "__main__":
    main()
