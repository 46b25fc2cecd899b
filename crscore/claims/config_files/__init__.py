"""Claims about configuration, markup, documents, scripts and unknown languages.

Such files are read as entries: a key with its value, a rule, a heading, a command. The
entries of both sides are compared, and each difference is described in one sentence.
"""

from crscore.claims.config_files.claims import claims_of

__all__ = ["claims_of"]
