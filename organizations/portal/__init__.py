"""The portal's side of organizations: its session and its pages."""
