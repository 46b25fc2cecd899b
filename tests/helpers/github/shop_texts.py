"""Files and longer texts of the scene `shop`."""

from __future__ import annotations

CART = '''"""The shopping cart."""

from shop.stock import price_of


class Cart:
    """What a customer wants to buy."""

    def __init__(self, customer):
        self.customer = customer
        self.items = {}

    def total(self):
        return sum(price_of(name) * n for name, n in self.items.items()) + self.shipping()

    def shipping(self):
        return 0 if len(self.items) > 5 else 4.9

    def add(self, name, count=1):
        self.items[name] = self.items.get(name, 0) + count
'''

CART_NEW = '''"""The shopping cart."""

from shop.pricing import apply_discount
from shop.stock import price_of


class Cart:
    """What a customer wants to buy."""
    def __init__(self, customer, codes=[]):
        self.customer = customer
        self.items = {}
        self.codes = codes

    def total(self):
        prices = sum(price_of(name) * n for name, n in self.items.items())
        for code in self.codes:
            prices = apply_discount(prices, code)
        return prices

    def enter(self, code):
        self.codes.append(code)

    def shipping(self):
        return 0 if len(self.items) > 5 else 4.9

    def add(self, name, count=1):
        self.items[name] = self.items.get(name, 0) + count
'''

PRICING = '''"""Discounts."""

import json

CODES = json.load(open("codes.json"))


def rate_of(code):
    """The discount of a code, as a fraction."""
    try:
        return CODES[code]["rate"]
    except:
        return 0


def apply_discount(price, code):
    return price * (1 - rate_of(code))


def is_valid(code):
    if code in CODES:
        return True
    return False
'''

PRICING_NEW = PRICING.replace(
    "    return price * (1 - rate_of(code))\n",
    "    reduced = price * (1 - rate_of(code))\n    return round(reduced, 2)\n",
)

TEST = '''"""Tests of the cart."""

from shop.cart import Cart


def test_an_empty_cart_costs_the_shipping():
    assert Cart("ada").total() == 4.9
'''

TEST_NEW = '''"""Tests of the cart."""

from shop.cart import Cart


def test_an_empty_cart_costs_nothing():
    assert Cart("ada").total() == 0


def test_a_code_makes_it_cheaper():
    cart = Cart("ada")
    cart.add("mug", 2)
    before = cart.total()
    cart.enter("SPRING")
    assert cart.total() < before
'''

WEB = """import { format } from "./utils.js";

export function showTotal(total) {
  document.querySelector("#total").textContent = format(total);
}
"""

WEB_NEW = """import { format } from "./format.js";

export function showTotal(total) {
  document.querySelector("#total").textContent = format(total);
}

export async function enterCode(code) {
  const answer = fetch(`/cart/codes/${code}`, { method: "POST" });
  if (answer.status == 200) showDiscount(code);
}

export function showDiscount(code) {
  document.querySelector("#code").innerHTML = "Code " + code + " was applied";
}
"""

UTILS = """export function format(amount) {
  return amount.toFixed(2) + " €";
}

export function parse(text) {
  return Number(text.replace(" €", ""));
}
"""

BASE = {
    "README.md": "# Shop\n\nSells mugs.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n',
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/stock.py": 'def price_of(name):\n    return {"mug": 9.5}[name]\n',
    "tests/test_cart.py": TEST,
    "web/cart.js": WEB,
    "web/utils.js": UTILS,
}
FIRST = {
    "shop/cart.py": CART_NEW,
    "shop/pricing.py": PRICING,
    "tests/test_cart.py": TEST_NEW,
    "web/cart.js": WEB_NEW.replace("./format.js", "./utils.js"),
}
SECOND = {
    "shop/pricing.py": PRICING_NEW,
    "web/cart.js": WEB_NEW,
    "web/format.js": UTILS.replace("amount.toFixed(2)", "Number(amount).toFixed(2)"),
}

WALKTHROUGH = """<!-- This is an auto-generated comment: summarize by coderabbit.ai -->
<!-- walkthrough_start -->

## Walkthrough

The cart takes discount codes. A new module knows the rates, and the page shows the code.

## Changes

| File(s) | Change |
|---|---|
| `shop/pricing.py` | New: rates and `apply_discount` |
| `shop/cart.py` | `Cart` keeps codes and uses them in `total` |

<!-- walkthrough_end -->

<details>
<summary>🪧 Tips</summary>

Answer to a comment of mine and I will have another look.

</details>
"""

RABBIT_REVIEW = """**Actionable comments posted: 2**

<details>
<summary>🧹 Nitpick comments (1)</summary><blockquote>

<details>
<summary>shop/pricing.py (1)</summary><blockquote>

`12-12`: **Do not swallow every error.**

The bare `except` also hides a broken `codes.json`; catch `KeyError` only.

</blockquote></details>

</blockquote></details>

<details>
<summary>📜 Review details</summary>

**Configuration used**: defaults

</details>

<!-- This is an auto-generated comment by CodeRabbit for review status -->
"""

SUGGESTION = """This can be one line, and `in` already gives a truth value.

```suggestion
def is_valid(code):
    return code in CODES
```
"""

LINT_REPORT = """<!-- lint-report -->
### Lint

- `shop/pricing.py:5` the file opened here is never closed
- `web/cart.js:9` `==` where `===` is meant, and the answer of `fetch` is not awaited
"""
