"""Settings for several machines behind a proxy that terminates TLS. Refuses to start until all required settings are
set, and lists all that are missing."""

from gateway.settings.base import *  # noqa: F403
from gateway.settings.hosts import named_hosts, origin
from gateway.settings.secret_keys import check_field_keys, check_secret_key

with env.noting():
    check_secret_key(SECRET_KEY, DEFAULT_SECRET_KEY)
with env.noting():
    check_field_keys(FIELD_ENCRYPTION_KEYS)
if not os.environ.get("DATABASE_URL"):
    env.note("Set DATABASE_URL to your PostgreSQL database, such as postgresql://user:password@host:5432/name.")
# A request for another host is refused before a page or mail is generated for it.
ALLOWED_HOSTS = named_hosts(
    env, env.list("ALLOWED_HOSTS", default=[]), GATEWAY_BASE_URL=GATEWAY_BASE_URL, PORTAL_URL=PORTAL_URL
)

# Bound to this very host: no subdomain can set or read them (RFC 6265bis, cookie prefixes).
SESSION_COOKIE_NAME = "__Host-session"
CSRF_COOKIE_NAME = "__Host-csrftoken"
KNOWN_DEVICE_COOKIE_NAME = "__Host-known-device"
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_HSTS_SECONDS = 31_536_000
# Forms work, and links are https, even if TRUSTED_PROXIES does not name the proxy that terminates TLS.
CSRF_TRUSTED_ORIGINS = list(dict.fromkeys([origin(GATEWAY_BASE_URL), origin(PORTAL_URL)]))
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https"
DEMO_ADAPTER = False
STAFF_SECOND_FACTOR = env.bool("STAFF_SECOND_FACTOR", default=True)
GATEWAY_CONFIG = env("GATEWAY_CONFIG", default="")  # the demo is never served here
env.finish()
