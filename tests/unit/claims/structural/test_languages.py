"""All sentences about one realistic small change in each language that has a grammar."""

import pytest

from crscore.syntax.grammars import languages_known
from tests.helpers.changes import change, texts
from tests.helpers.sources import LANGUAGES

# Dialects that another language's grammar reads: path, change (`-` is the old version, `+` the new
# one), sentences
CASES: dict[str, tuple[str, str, list[str]]] = {
    "cython": ("fast.pyx", """
 def total(values):
-    result = sum(values)
+    result = sum(values, start)
     return result
""", [
        "The call to `sum` in the function `total` in `fast.pyx` now also passes `start`.",
    ]),
    "jsx": ("Button.jsx", """
-export function Button({ label }) {
+export function Button({ label, onClick }) {
-  return <button className="plain">{label}</button>;
+  return <button className="plain" onClick={onClick}>{label}</button>;
 }
""", [
        "The function `Button` in `Button.jsx` now takes `{ label, onClick }` instead of `{ "
        "label }`.",
        'The function `Button` now returns `<button className="plain" '
        "onClick={onClick}>{label}</button>` instead of `<button "
        'className="plain">{label}</button>`.',
    ]),
    "cuda": ("sum.cu", """
-__global__ void add(float *a, float *b) {
+__global__ void add(float *a, float *b, int n) {
-  int i = threadIdx.x;
+  int i = blockIdx.x * blockDim.x + threadIdx.x;
+  if (i < n) {
-  a[i] += b[i];
+    a[i] += b[i];
+  }
 }
""", [
        "The function `add` in `sum.cu` takes the new parameter `n`.",
        "The function `add` now checks `i < n`.",
        "`i` in the function `add` is now `blockIdx.x * blockDim.x + threadIdx.x` instead of "
        "`threadIdx.x`.",
    ]),
}  # fmt: skip
CASES |= {
    name: (samples["change"]["path"], samples["change"]["text"], samples["change"]["sentences"])
    for name, samples in LANGUAGES.items()
}


def versions(marked: str) -> tuple[str, str]:
    lines = marked.strip("\n").split("\n")
    old, new = ([line[1:] for line in lines if line[:1] != sign] for sign in "+-")
    return "\n".join(old) + "\n", "\n".join(new) + "\n"


@pytest.mark.parametrize("language", CASES)
def test_change_is_described_in_every_language(language: str) -> None:
    path, marked, sentences = CASES[language]
    for sources in (True, False):
        written = texts(change(path, *versions(marked), sources=sources))
        assert sorted(written) == sorted(sentences)


def test_every_language_with_a_grammar_is_tested() -> None:
    assert {language.name for language in languages_known()} == set(LANGUAGES)
