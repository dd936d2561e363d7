"""The demo's side of a session: no model, but honest about it, and metered like one."""
