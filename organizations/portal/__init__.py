"""The portal's part of organizations: session authentication, pages, and texts for errors."""
