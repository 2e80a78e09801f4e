"""What exported programs are made of, and what runs them for a comparison."""
