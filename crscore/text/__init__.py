"""Words, stems and names, shared by all modules that read prose or code."""
