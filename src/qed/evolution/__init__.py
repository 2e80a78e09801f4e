"""Evolution: MAP-Elites with environments or behaviours as cells."""
