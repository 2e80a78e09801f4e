"""The simulated world: robots, environments, faults, tasks, and the laws they obey."""
