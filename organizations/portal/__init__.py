"""The portal's side of organizations: its session, its pages, and what errors are in plain words."""
