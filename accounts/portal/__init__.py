"""The portal: pages where people sign in, authorize apps and manage their devices."""
