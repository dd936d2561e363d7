"""Prints the table of routes and behaviours, or with --write writes it to docs/misbehaviour.md."""

import argparse
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings.test")
django.setup()

from tests.inference.misbehaviour.table import PAGE_PATH, page  # noqa: E402


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE_PATH.name}")
    if parser.parse_args().write:
        PAGE_PATH.write_text(page())
    else:
        sys.stdout.write(page())


if __name__ == "__main__":
    main()
