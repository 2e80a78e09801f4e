"""Controllers: the networks that drive robots."""
