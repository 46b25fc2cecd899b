"""Texts of the scene `audit`: small changes with a weakness each, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A change of one file, with comments on the line that holds its weakness."""

    title: str
    path: str
    """With `{area}` for the part of the product that a pull request changes."""
    before: str
    after: str
    weak: str
    """The weak line, without its indent; it stands in `after` once."""
    fixed: str
    """What it is replaced by; its lines are indented like the weak one."""
    good: str
    """A comment that names the weakness and its consequence."""
    person: str
    """The same as a colleague would put it."""
    nitpick: str
    praise: str
    restatement: str
    off_topic: str

    @property
    def line(self) -> int:
        """Number of the weak line in `after`, from 1."""
        lines = [one.strip() for one in self.after.splitlines()]
        return lines.index(self.weak) + 1

    @property
    def suggestion(self) -> str:
        """The fixed lines as a suggestion of GitHub puts them."""
        return f"```suggestion\n{self._indented()}\n```"

    @property
    def repaired(self) -> str:
        """`after` with the weak line replaced."""
        lines = self.after.splitlines()
        lines[self.line - 1] = self._indented()
        return "\n".join([*lines, ""])

    def _indented(self) -> str:
        line = self.after.splitlines()[self.line - 1]
        indent = line[: len(line) - len(line.lstrip())]
        return "\n".join(indent + one for one in self.fixed.splitlines())


SHOP = (
    Sample(
        title="Search by name and by category",
        path="shop/{area}/search.py",
        before="""\
import sqlite3


def search(db: sqlite3.Connection, name: str) -> list[tuple]:
    query = "SELECT id, name, price FROM items WHERE name = ?"
    return db.execute(query, (name,)).fetchall()
""",
        after="""\
import sqlite3


def search(db: sqlite3.Connection, name: str, category: str | None = None) -> list[tuple]:
    query = "SELECT id, name, price FROM items WHERE name = ?"
    values = [name]
    if category:
        query += f" AND category = '{category}'"
    query += " ORDER BY price"
    return db.execute(query, values).fetchall()


def cheapest(db: sqlite3.Connection, name: str) -> tuple | None:
    found = search(db, name)
    return found[0] if found else None
""",
        weak="query += f\" AND category = '{category}'\"",
        fixed='query += " AND category = ?"\nvalues.append(category)',
        good="`category` comes from the request and is put into the SQL text, so a value such as "
        "`x' OR '1'='1` returns every item. Bind it as a parameter like `name`.",
        person="This is open to SQL injection: pass `category` as a parameter of `execute`.",
        nitpick="`query` could be called `sql`.",
        praise="Great work, the search reads very well now!",
        restatement="Adds an optional `category` to `search` and sorts the result by price.",
        off_topic="Has anybody thought about moving the issue tracker to the new board?",
    ),
    Sample(
        title="Import prices from a file",
        path="shop/{area}/prices.py",
        before="""\
def parse(line: str) -> tuple[str, int]:
    name, cents = line.split(";")
    return name, int(cents)
""",
        after="""\
from pathlib import Path


def parse(line: str) -> tuple[str, int]:
    name, cents = line.split(";")
    return name.strip(), int(cents)


def load(path: str) -> dict[str, int]:
    prices = {}
    for line in Path(path).open(encoding="utf-8"):
        if not line.startswith("#"):
            name, cents = parse(line)
            prices[name] = cents
    return prices


def changed(old: dict[str, int], new: dict[str, int]) -> list[str]:
    return sorted(name for name in new if old.get(name) != new[name])
""",
        weak='for line in Path(path).open(encoding="utf-8"):',
        fixed='for line in Path(path).read_text(encoding="utf-8").splitlines():',
        good="The file that `open` returns is never closed when `parse` raises on a bad line, so a "
        "long import job runs out of file handles. Use `with open(...)` or `read_text`.",
        person="`load` leaks the open file when a line does not parse. Please close it by `with`.",
        nitpick="A blank line before `return prices` would be nicer.",
        praise="Nice and short, I like `changed` a lot.",
        restatement="`load` reads the file line by line, skips comments and fills `prices`.",
        off_topic="We should order new chairs for the meeting room.",
    ),
    Sample(
        title="Show the cart in pages",
        path="shop/{area}/pages.py",
        before="""\
def page(items: list[str], number: int, size: int = 20) -> list[str]:
    return items[:size]
""",
        after="""\
def page(items: list[str], number: int, size: int = 20) -> list[str]:
    if number < 1:
        raise ValueError("pages are counted from 1")
    start = number * size
    return items[start : start + size]


def pages(items: list[str], size: int = 20) -> int:
    return -(-len(items) // size)


def last(items: list[str], size: int = 20) -> list[str]:
    return page(items, pages(items, size), size)
""",
        weak="start = number * size",
        fixed="start = (number - 1) * size",
        good="Pages are counted from 1, but `start` is `number * size`: page 1 skips the first 20 "
        "items and `last` is always empty. It has to be `(number - 1) * size`.",
        person="Off by one: the first page starts at item 20. Subtract 1 from `number` here.",
        nitpick="Maybe `size` should be a constant in upper case.",
        praise="Lovely, the error message for bad page numbers is very clear.",
        restatement="Computes the start of the page and returns a slice of `items`.",
        off_topic="The deployment on Friday was slow again, does anybody know why?",
    ),
    Sample(
        title="Send a mail when an order is shipped",
        path="shop/{area}/mail.py",
        before="""\
def subject(order: dict) -> str:
    return f"Your order {order['id']}"
""",
        after="""\
import logging

log = logging.getLogger(__name__)


def subject(order: dict) -> str:
    return f"Your order {order['id']} is on its way"


def send(server, order: dict) -> bool:
    text = f"Hello {order['name']}, your parcel has the number {order['parcel']}."
    try:
        server.send(order["mail"], subject(order), text)
    except Exception:
        return False
    log.info("mail sent for order %s", order["id"])
    return True
""",
        weak="except Exception:",
        fixed='except OSError:\n    log.exception("no mail for order %s", order["id"])',
        good="`except Exception` hides every error, even a missing key of `order`, and nothing is "
        "logged: customers get no mail and nobody notices. Catch `OSError` and log it.",
        person="Please do not swallow every exception in `send`; log the error at least.",
        nitpick="`log` is usually called `logger`.",
        praise="Customers will love this mail!",
        restatement="`send` builds the text, sends it by the server and returns True on success.",
        off_topic="Reminder: the summer party is in two weeks.",
    ),
    Sample(
        title="Show what others say about an item",
        path="web/{area}/reviews.js",
        before="""\
export function title(review) {
  return review.title.trim();
}
""",
        after="""\
export function title(review) {
  return review.title.trim();
}

export function show(list, reviews) {
  list.textContent = "";
  for (const review of reviews) {
    const item = document.createElement("li");
    item.innerHTML = `<b>${title(review)}</b> ${review.text}`;
    list.append(item);
  }
  list.hidden = reviews.length === 0;
}
""",
        weak="item.innerHTML = `<b>${title(review)}</b> ${review.text}`;",
        fixed="item.textContent = `${title(review)}: ${review.text}`;",
        good="`review.text` is written by customers and reaches `innerHTML` unescaped, so a review "
        "with a script tag runs in every visitor's browser. Use `textContent`.",
        person="That is stored cross-site scripting: `innerHTML` with the text of a customer.",
        nitpick="`list` is a rather general name.",
        praise="Very clean use of `createElement`, well done.",
        restatement="For each review an `li` with the title in bold is appended to the list.",
        off_topic="Can somebody restart the printer on the second floor?",
    ),
    Sample(
        title="Keep the cart in the browser",
        path="web/{area}/storage.js",
        before="""\
export function save(cart) {
  localStorage.setItem("cart", JSON.stringify(cart));
}
""",
        after="""\
const KEY = "cart";

export function save(cart) {
  localStorage.setItem(KEY, JSON.stringify(cart));
}

export function load() {
  const cart = JSON.parse(localStorage.getItem(KEY));
  return cart.items.filter((item) => item.count > 0);
}

export function clear() {
  localStorage.removeItem(KEY);
}
""",
        weak="const cart = JSON.parse(localStorage.getItem(KEY));",
        fixed="const cart = JSON.parse(localStorage.getItem(KEY)) ?? { items: [] };",
        good="For a new visitor `getItem` returns null, `JSON.parse(null)` is null, and "
        "`cart.items` throws a TypeError: `load` needs an empty cart as the default.",
        person="`load` fails on the first visit, nothing is stored yet: check `cart` for null.",
        nitpick="`KEY` might be `CART_KEY`.",
        praise="Good idea to put the key into a constant.",
        restatement="`load` parses the stored cart and drops items with a count of zero.",
        off_topic="Which of you has the key of the bicycle room?",
    ),
)

BILLING = (
    Sample(
        title="Address of a customer on the invoice",
        path="src/{area}/Address.java",
        before="""\
class Address {
    static String line(Customer customer) {
        return customer.name();
    }
}
""",
        after="""\
class Address {
    static String line(Customer customer) {
        return customer.name() + ", " + city(customer);
    }

    static String city(Customer customer) {
        Place place = customer.place();
        String code = place.code().trim();
        return code + " " + place.city();
    }

    static boolean complete(Customer customer) {
        return customer.name() != null && !customer.name().isBlank();
    }
}
""",
        weak="String code = place.code().trim();",
        fixed='if (place == null) {\n    return "";\n}\nString code = place.code().trim();',
        good="`customer.place()` is null for customers who only buy downloads, and `place.code()` "
        "then throws a NullPointerException while the invoice is printed. Check it first.",
        person="`place` can be null here, customers without an address have none.",
        nitpick="`code` could be named `postalCode`.",
        praise="Splitting off `city` makes this very readable.",
        restatement="`line` now appends the city, which is the trimmed code and the city's name.",
        off_topic="Are we still on the old version of the wiki?",
    ),
    Sample(
        title="Number invoices without gaps",
        path="src/{area}/Numbers.java",
        before="""\
class Numbers {
    private int last;
}
""",
        after="""\
class Numbers {
    private int last;

    Numbers(int last) {
        this.last = last;
    }

    String next(int year) {
        last = last + 1;
        return String.format("%d-%06d", year, last);
    }

    int used() {
        return last;
    }
}
""",
        weak="String next(int year) {",
        fixed="synchronized String next(int year) {",
        good="`next` is called by all worker threads and `last = last + 1` is not atomic: two "
        "invoices can get the same number. Make it synchronized or use an AtomicInteger.",
        person="Race: two threads in `next` get the same invoice number. This needs a lock.",
        nitpick="The format could be a constant.",
        praise="Six digits, that will last for a while. Nice!",
        restatement="`next` increments `last` and formats the year and the number.",
        off_topic="Lunch at the Italian place today?",
    ),
    Sample(
        title="Split a sum into instalments",
        path="src/{area}/Instalments.java",
        before="""\
class Instalments {
    static long total(long[] parts) {
        return java.util.Arrays.stream(parts).sum();
    }
}
""",
        after="""\
class Instalments {
    static long total(long[] parts) {
        return java.util.Arrays.stream(parts).sum();
    }

    static long[] split(long cents, int months) {
        long[] parts = new long[months];
        long part = cents / months;
        for (int i = 0; i < months; i++) {
            parts[i] = part;
        }
        return parts;
    }

    static long first(long cents, int months) {
        return split(cents, months)[0];
    }
}
""",
        weak="parts[i] = part;",
        fixed="parts[i] = part + (i < cents % months ? 1 : 0);",
        good="The integer division loses the rest: 1000 cents in 3 months give 999, so `total` of "
        "the parts is not the sum of the invoice. Spread `cents % months` over the first parts.",
        person="The remainder of `cents / months` gets lost; the customer pays too little.",
        nitpick="`i` could be `month`.",
        praise="Simple and clear, thank you for this!",
        restatement="Fills an array with the sum divided by the number of months.",
        off_topic="The build server will be down on Sunday.",
    ),
    Sample(
        title="Fetch exchange rates",
        path="rates/{area}/fetch.go",
        before="""\
package rates

const address = "https://rates.example.org/daily"
""",
        after="""\
package rates

import (
	"encoding/json"
	"net/http"
)

const address = "https://rates.example.org/daily"

func Fetch(client *http.Client) (map[string]float64, error) {
	answer, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	err = json.NewDecoder(answer.Body).Decode(&found)
	return found, err
}
""",
        weak="found := map[string]float64{}",
        fixed="defer answer.Body.Close()\nfound := map[string]float64{}",
        good="`answer.Body` is never closed, so the connection is not used again and each call of "
        "`Fetch` leaks one. Add `defer answer.Body.Close()` after the check of `err`.",
        person="Missing `defer answer.Body.Close()`, this leaks connections.",
        nitpick="`found` might be `rates`, but that is the package.",
        praise="Well done, the error is returned right away.",
        restatement="`Fetch` gets the address and decodes the JSON into a map.",
        off_topic="Who is on call over the holidays?",
    ),
    Sample(
        title="Read the ledger from a file",
        path="ledger/{area}/read.go",
        before="""\
package ledger

type Entry struct {
	Account string
	Cents   int
}
""",
        after="""\
package ledger

import (
	"strconv"
	"strings"
)

type Entry struct {
	Account string
	Cents   int
}

func Parse(line string) (Entry, error) {
	fields := strings.Split(line, ";")
	cents, _ := strconv.Atoi(fields[1])
	return Entry{Account: fields[0], Cents: cents}, nil
}
""",
        weak="cents, _ := strconv.Atoi(fields[1])",
        fixed="cents, err := strconv.Atoi(fields[1])\nif err != nil {\n\treturn Entry{}, err\n}",
        good="The error of `strconv.Atoi` is dropped: a broken amount becomes 0 cents in the "
        "ledger without a word. Return the error, `Parse` already has one in its result.",
        person="Do not ignore the error of `Atoi`, a typo would be booked as 0.",
        nitpick="The separator could be a constant.",
        praise="Good that `Parse` is a function of its own.",
        restatement="Splits the line at semicolons and converts the second field into cents.",
        off_topic="Please fill in your time sheets until tonight.",
    ),
    Sample(
        title="Remember the rates for a day",
        path="rates/{area}/cache.go",
        before="""\
package rates

type Cache struct {
	rates map[string]float64
}
""",
        after="""\
package rates

import "sync"

type Cache struct {
	lock  sync.Mutex
	rates map[string]float64
}

func (c *Cache) Rate(currency string) (float64, bool) {
	rate, ok := c.rates[currency]
	return rate, ok
}

func (c *Cache) Set(currency string, rate float64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.rates[currency] = rate
}
""",
        weak="rate, ok := c.rates[currency]",
        fixed="c.lock.Lock()\ndefer c.lock.Unlock()\nrate, ok := c.rates[currency]",
        good="`Rate` reads the map without the lock that `Set` takes: a concurrent read and write "
        "of a Go map ends the program. Lock here too, or use an RWMutex.",
        person="`Rate` has to take the lock as well, this is a data race with `Set`.",
        nitpick="`c` could be `cache`.",
        praise="Nice use of `defer` for the unlock.",
        restatement="`Rate` looks the currency up in the map and `Set` writes it under the lock.",
        off_topic="The coffee machine is broken again.",
    ),
)
