"""The study: evolve, break, recover, and tell how well that works."""
