"""Language models: engines, prompts and the escaping of untrusted text in them."""
