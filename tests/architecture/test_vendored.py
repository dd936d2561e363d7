"""What others wrote and we serve ourselves is as they published it, with their licence beside it."""

from hashlib import sha256

from gateway.run.options import PROJECT_DIR
from gateway.settings.packages import folder_of

VENDORED = PROJECT_DIR / "billing/static/billing/vendor"
# Of the file with the line that names its source map, which would have to be served too.
PUBLISHED = "87364cc2b2a76a6684929e7d6b80b18a897794db38400caff1fcf1791c6925d2"
# `dist/browser/standalone.js` of @scalar/api-reference 1.76.0, as it is published on npm.
PUBLISHED_REFERENCE = "dcb027152bf20bf2f6dcd66e8f9fb073c1a9e274cf0b94b939a7d99ab8947060"


def test_the_chart_library_is_the_published_one() -> None:
    served = (VENDORED / "chart.umd.min.js").read_bytes()
    assert b"sourceMappingURL" not in served
    assert sha256(served + b"//# sourceMappingURL=chart.umd.min.js.map\n").hexdigest() == PUBLISHED
    assert "The MIT License" in (VENDORED / "chart.LICENSE.md").read_text(encoding="utf-8")


def test_the_script_of_the_reference_is_the_published_one() -> None:
    script = folder_of("flask_openapi_scalar") / "templates/scalar/js/scalar.standalone.js"
    assert sha256(script.read_bytes()).hexdigest() == PUBLISHED_REFERENCE
