"""From a diff to what a language model is asked, and from its answers to claims."""
