"""Statistics of audits, studies and comparisons of code.

`bootstrap` draws bootstrap samples ("draws") and computes intervals and tests from them;
`resampled` computes a statistic in all draws at once; `paired` compares two sides; `intervals` and
`ranks` need no draws. The functions that use scipy import it, so the modules load without scipy.
"""
