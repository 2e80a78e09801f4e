"""Pictures of what came out."""
