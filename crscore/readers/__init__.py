"""Language models that read review comments: their requests, answers and recordings."""
