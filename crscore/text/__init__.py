"""Words, stems and names: what every part that reads prose or code shares."""
