"""Settings from the environment. `GATEWAY_ENV` selects `development` (the default) or `production`."""

import os

if os.environ.get("GATEWAY_ENV", "development") == "production":
    from gateway.settings.production import *  # noqa: F403
else:
    from gateway.settings.development import *  # noqa: F403
