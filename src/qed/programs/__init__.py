"""Programs for robots: exported controllers, teams and kits, compared with the simulator."""
