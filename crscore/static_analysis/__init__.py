"""Static analysis: any tool that a manifest describes, run on untrusted code."""
