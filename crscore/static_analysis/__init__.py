"""Static analysis with tools described by manifests, run on untrusted code."""
