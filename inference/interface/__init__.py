"""What routes, upstreams and the metering core share: models, requests, attempts and answers, as values."""
