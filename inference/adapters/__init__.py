"""What vendors share: exchanges over HTTP, streams, errors, vectors, images by URL. How each is asked is in `inference.vendors`."""
