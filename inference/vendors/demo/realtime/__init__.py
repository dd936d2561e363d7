"""The demo's side of a session: has no model and says so, but is metered like one."""
