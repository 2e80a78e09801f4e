"""Recovery: search an archive for a controller that works when robots break."""
