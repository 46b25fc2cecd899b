"""Changes of a made-up company, and what reviewers say of them, for the demonstration of audits."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A change with one real weakness, and comments of several kinds on it.

    In all texts NAME is the name of a pull request's own part of the code.
    """

    repository: str
    title: str
    path: str
    before: str
    after: str
    fixed: str
    """`after` with the weakness mended."""
    edited: str = ""
    """`after` with an edit of other code that no comment asked for; empty without one."""
    at: str
    """Start of the line that the comments are on."""
    sharp: str
    """Names the weakness, and what to do."""
    also: str
    """The same in other words, as no bot says it in the same ones each time."""
    person: str
    """The same, as a colleague writes it."""
    small: str
    """A matter of taste."""
    praise: str
    restates: str
    """Says only what the change does."""
    elsewhere: str
    """Is about something else."""
    suggestion: str = ""
    """Code in place of the line of the comments, with `sharp`."""

    def line(self) -> int:
        """Line of the comments in `after`, from 1."""
        lines = self.after.splitlines()
        return 1 + next(at for at, one in enumerate(lines) if one.strip().startswith(self.at))


def _code(text: str) -> str:
    return dedent(text).lstrip("\n")


SAMPLES = (
    Sample(
        repository="acme/shop",
        title="Find orders by customer in NAME",
        path="shop/NAME_orders.py",
        before=_code("""
            \"\"\"Orders of NAME.\"\"\"


            def load_order(connection, order_id):
                row = connection.execute("SELECT * FROM orders WHERE id = ?", (order_id,))
                return row.fetchone()
        """),
        after=_code("""
            \"\"\"Orders of NAME.\"\"\"


            def load_order(connection, order_id):
                row = connection.execute("SELECT * FROM orders WHERE id = ?", (order_id,))
                return row.fetchone()


            def find_orders(connection, customer, limit=50):
                query = f"SELECT * FROM orders WHERE customer = '{customer}' LIMIT {limit}"
                rows = connection.execute(query)
                return [dict(row) for row in rows]
        """),
        fixed=_code("""
            \"\"\"Orders of NAME.\"\"\"


            def load_order(connection, order_id):
                row = connection.execute("SELECT * FROM orders WHERE id = ?", (order_id,))
                return row.fetchone()


            def find_orders(connection, customer, limit=50):
                query = "SELECT * FROM orders WHERE customer = ? LIMIT ?"
                rows = connection.execute(query, (customer, limit))
                return [dict(row) for row in rows]
        """),
        at="query =",
        sharp="A `customer` with a quote breaks `find_orders`, and a prepared one reads the orders "
        "of others, as it is put into the SQL text (SQL injection). Pass a parameter, as "
        "`load_order` does.",
        also="A customer named `O'Brien` breaks this query, and a prepared name reads all "
        "orders: that is an SQL injection. Use `?` placeholders.",
        person="This is an SQL injection: `customer` comes from the request. Please use `?` here.",
        small="Nit: I would call this `sql` rather than `query`.",
        praise="Nice, `find_orders` reads really well!",
        restates="This adds `find_orders`, which selects a customer's orders, at most 50.",
        elsewhere="We should move the release notes to the new page before Friday.",
    ),
    Sample(
        repository="acme/shop",
        title="Read the NAME price list from a file",
        path="shop/NAME_prices.py",
        before=_code("""
            import json

            DEFAULTS = {"tea": 300}


            def prices():
                return dict(DEFAULTS)
        """),
        after=_code("""
            import json

            DEFAULTS = {"tea": 300}


            def prices(path=None):
                if path is None:
                    return dict(DEFAULTS)
                file = open(path)
                found = json.load(file)
                return {**DEFAULTS, **{name: int(price * 100) for name, price in found.items()}}
        """),
        fixed=_code("""
            import json

            DEFAULTS = {"tea": 300}


            def prices(path=None):
                if path is None:
                    return dict(DEFAULTS)
                with open(path, encoding="utf-8") as file:
                    found = json.load(file)
                return {**DEFAULTS, **{name: round(price * 100) for name, price in found.items()}}
        """),
        at="file =",
        sharp="The file is never closed: `prices` is called for every request, so the process runs "
        'out of file descriptors. Use `with open(path, encoding="utf-8") as file`.',
        also="`open` without `close` leaks a file descriptor on each call of `prices`; after "
        "some thousand requests the server fails. Open it in a `with` block.",
        person="`int(price * 100)` cuts 19.99 to 1998 cents. Can you round instead?",
        small="Could we name `found` something like `price_list`?",
        praise="Great idea to keep the `DEFAULTS`.",
        restates="`prices` now takes a path and reads the prices from a JSON file if it is given.",
        elsewhere="Has anybody looked at the slow build on the other branch?",
    ),
    Sample(
        repository="acme/shop",
        title="Retry the NAME payment",
        path="shop/NAME_payment.py",
        before=_code("""
            def charge(gateway, order):
                return gateway.charge(order.id, order.total)
        """),
        after=_code("""
            import time


            def charge(gateway, order, attempts=3):
                for attempt in range(attempts):
                    try:
                        return gateway.charge(order.id, order.total)
                    except Exception:
                        time.sleep(2**attempt)
        """),
        fixed=_code("""
            import time


            def charge(gateway, order, attempts=3):
                for attempt in range(attempts):
                    try:
                        return gateway.charge(order.id, order.total, key=order.id)
                    except ConnectionError:
                        if attempt == attempts - 1:
                            raise
                        time.sleep(2**attempt)
        """),
        at="except Exception",
        sharp="`charge` returns `None` when all attempts fail, so an unpaid order counts as paid. "
        "Raise the last error instead, and catch only `ConnectionError`, or a declined card is "
        "charged again.",
        also="If every attempt fails, nothing is raised and `charge` returns `None`, so the "
        "shop ships unpaid orders. Raise the last error after the loop.",
        person="A time-out after the gateway booked the money charges the customer twice here. We "
        "need an idempotency key before we retry.",
        small="`attempts` could be a constant at the top of the file.",
        praise="Exponential back-off, very elegant!",
        restates="The `charge` function now tries up to three times and sleeps between attempts.",
        elsewhere="Please remember to book the meeting room.",
    ),
    Sample(
        repository="acme/shop",
        title="Show the NAME discount on the page",
        path="web/NAME_discount.js",
        before=_code("""
            export function showTotal(element, total) {
              element.textContent = `${total} EUR`;
            }
        """),
        after=_code("""
            export function showTotal(element, total) {
              element.textContent = `${total} EUR`;
            }

            export function showDiscount(element, code, rate) {
              const percent = rate * 100;
              element.innerHTML = `<b>${code}</b>: ${percent} % off`;
              element.hidden = rate == 0;
            }
        """),
        fixed=_code("""
            export function showTotal(element, total) {
              element.textContent = `${total} EUR`;
            }

            export function showDiscount(element, code, rate) {
              const percent = Math.round(rate * 100);
              element.textContent = `${code}: ${percent} % off`;
              element.hidden = rate === 0;
            }
        """),
        at="element.innerHTML",
        sharp="`innerHTML` runs what the customer typed into `code`, so `<img onerror=...>` "
        "executes a script in our page. Use `textContent` instead.",
        also="An attacker can run a script in a customer's session, as `innerHTML` takes the typed "
        "`code`. Use `textContent`.",
        person="Please do not use `innerHTML` for the code, it is user input (XSS).",
        small="Use `===` instead of `==`.",
        praise="Love the percent sign!",
        restates="`showDiscount` sets the HTML of the element to the code and the percentage.",
        elsewhere="The logo on the start page looks blurred on my phone.",
    ),
    Sample(
        repository="acme/shop",
        title="Page through the NAME catalogue",
        path="web/NAME_pages.js",
        before=_code("""
            export function firstPage(items, size) {
              return items.slice(0, size);
            }
        """),
        after=_code("""
            export function firstPage(items, size) {
              return items.slice(0, size);
            }

            export function pageOf(items, number, size) {
              const start = number * size;
              return items.slice(start, start + size);
            }

            export function pageCount(items, size) {
              return Math.floor(items.length / size);
            }
        """),
        fixed=_code("""
            export function firstPage(items, size) {
              return items.slice(0, size);
            }

            export function pageOf(items, number, size) {
              const start = (number - 1) * size;
              return items.slice(start, start + size);
            }

            export function pageCount(items, size) {
              return Math.ceil(items.length / size);
            }
        """),
        at="return Math.floor",
        sharp="`Math.floor` loses the last page: 21 items of 20 a page are two pages, and "
        "`pageCount` says one. Use `Math.ceil`, and add a test with a page that is not full.",
        also="With 21 items and 20 a page, `pageCount` is 1 and the last item can never be "
        "seen. Round up with `Math.ceil`.",
        person="Pages are counted from 1 in the router, so `pageOf(items, 1, 20)` skips the first "
        "20 items, doesn't it?",
        small="I'd prefer `index` over `number`.",
        praise="Clean and simple, thanks.",
        restates="Two functions are added: `pageOf` returns a page, `pageCount` their number.",
        elsewhere="Our style guide should say something about semicolons.",
        suggestion="  return Math.ceil(items.length / size);",
    ),
    Sample(
        repository="acme/billing",
        title="Cache NAME invoices",
        path="src/main/java/acme/NAMECache.java",
        before=_code("""
            package acme;

            class NAMECache {
                private final InvoiceStore store;

                NAMECache(InvoiceStore store) {
                    this.store = store;
                }
            }
        """),
        after=_code("""
            package acme;

            import java.util.HashMap;
            import java.util.Map;

            class NAMECache {
                private final InvoiceStore store;
                private final Map<String, Invoice> cached = new HashMap<>();

                NAMECache(InvoiceStore store) {
                    this.store = store;
                }

                Invoice find(String id) {
                    if (!cached.containsKey(id)) {
                        cached.put(id, store.load(id));
                    }
                    return cached.get(id);
                }
            }
        """),
        fixed=_code("""
            package acme;

            import java.util.Map;
            import java.util.concurrent.ConcurrentHashMap;

            class NAMECache {
                private final InvoiceStore store;
                private final Map<String, Invoice> cached = new ConcurrentHashMap<>();

                NAMECache(InvoiceStore store) {
                    this.store = store;
                }

                Invoice find(String id) {
                    return cached.computeIfAbsent(id, store::load);
                }
            }
        """),
        at="cached.put",
        sharp="`find` is called by several threads, and a `HashMap` that two of them fill at once "
        "loses entries or loops. Use a `ConcurrentHashMap` with `computeIfAbsent`.",
        also="This `HashMap` is shared by request threads without a lock, which corrupts it "
        "under load. Use `ConcurrentHashMap`.",
        person="Two threads that miss at the same time both call `store.load(id)`. Is that meant?",
        small="Could we name the field `cache`?",
        praise="Caching here is a great improvement!",
        restates="`NAMECache` gets a map in which `find` keeps the invoices that were loaded.",
        elsewhere="The licence header is missing in the file next door.",
    ),
    Sample(
        repository="acme/billing",
        title="Sum up NAME positions",
        path="src/main/java/acme/NAMETotals.java",
        before=_code("""
            package acme;

            import java.util.List;

            class NAMETotals {
            }
        """),
        after=_code("""
            package acme;

            import java.util.List;

            class NAMETotals {
                static double total(List<Position> positions, Customer customer) {
                    double sum = 0;
                    for (Position one : positions) {
                        sum += one.price() * one.count();
                    }
                    return sum * (1 - customer.discount().rate());
                }
            }
        """),
        fixed=_code("""
            package acme;

            import java.math.BigDecimal;
            import java.util.List;

            class NAMETotals {
                static BigDecimal total(List<Position> positions, Customer customer) {
                    BigDecimal sum = BigDecimal.ZERO;
                    for (Position one : positions) {
                        sum = sum.add(one.price().multiply(BigDecimal.valueOf(one.count())));
                    }
                    Discount own = customer.discount();
                    BigDecimal rate = own == null ? BigDecimal.ZERO : own.rate();
                    return sum.multiply(BigDecimal.ONE.subtract(rate));
                }
            }
        """),
        at="return sum",
        sharp="`customer.discount()` is null for customers without a contract, so `total` throws a "
        "`NullPointerException` for them. Treat a missing discount as a rate of 0.",
        also="`total` throws a `NullPointerException` when a customer has no discount. Check "
        "for null first.",
        person="Money as `double` gives 0.30000000000000004 here; the ledger rejects that. "
        "`BigDecimal`, please.",
        small="A stream would be shorter than this loop.",
        praise="Good use of `List`!",
        restates="The method adds price times count of all positions and applies the discount.",
        elsewhere="Can someone update the wiki page about deployments?",
    ),
    Sample(
        repository="acme/billing",
        title="Send NAME reminders in parallel",
        path="reminders/NAME_send.go",
        before=_code("""
            package reminders

            func Send(mails []Mail, post func(Mail) error) error {
            \tfor _, mail := range mails {
            \t\tif err := post(mail); err != nil {
            \t\t\treturn err
            \t\t}
            \t}
            \treturn nil
            }
        """),
        after=_code("""
            package reminders

            import "sync"

            func Send(mails []Mail, post func(Mail) error) error {
            \tvar group sync.WaitGroup
            \tvar failed error
            \tfor _, mail := range mails {
            \t\tgroup.Add(1)
            \t\tgo func(mail Mail) {
            \t\t\tdefer group.Done()
            \t\t\tif err := post(mail); err != nil {
            \t\t\t\tfailed = err
            \t\t\t}
            \t\t}(mail)
            \t}
            \tgroup.Wait()
            \treturn failed
            }
        """),
        fixed=_code("""
            package reminders

            import "sync"

            func Send(mails []Mail, post func(Mail) error) error {
            \tvar group sync.WaitGroup
            \tvar once sync.Once
            \tvar failed error
            \tslots := make(chan struct{}, 8)
            \tfor _, mail := range mails {
            \t\tgroup.Add(1)
            \t\tslots <- struct{}{}
            \t\tgo func(mail Mail) {
            \t\t\tdefer func() { <-slots; group.Done() }()
            \t\t\tif err := post(mail); err != nil {
            \t\t\t\tonce.Do(func() { failed = err })
            \t\t\t}
            \t\t}(mail)
            \t}
            \tgroup.Wait()
            \treturn failed
            }
        """),
        at="failed = err",
        sharp="Several goroutines write `failed` without a lock: that is a data race. Guard it "
        "with a `sync.Once` or send the errors through a channel.",
        also="`failed` is written by many goroutines at once, so errors get lost: a data "
        "race. Protect it with a mutex.",
        person="With 50,000 mails this starts 50,000 goroutines at once and the mail server drops "
        "us. Please limit them.",
        small="Nit: I would name `group` simply `wg`.",
        praise="Goroutines are the right tool for this.",
        restates="`Send` now starts a goroutine for each mail and waits for all of them.",
        elsewhere="The changelog of the last version has a typo.",
    ),
    Sample(
        repository="acme/billing",
        title="Limit NAME exports",
        path="export/NAME_limit.go",
        before=_code("""
            package export

            func Rows(all []Row) []Row {
            \treturn all
            }
        """),
        after=_code("""
            package export

            func Rows(all []Row, limit int) []Row {
            \treturn all[:limit]
            }

            func Pages(all []Row, size int) int {
            \treturn len(all) / size
            }
        """),
        fixed=_code("""
            package export

            func Rows(all []Row, limit int) []Row {
            \tif limit > len(all) {
            \t\tlimit = len(all)
            \t}
            \treturn all[:limit]
            }

            func Pages(all []Row, size int) int {
            \treturn (len(all) + size - 1) / size
            }
        """),
        at="return all[:limit]",
        sharp="`all[:limit]` panics when there are fewer rows than `limit`: the export crashes for "
        "every small customer. Take the smaller of `limit` and `len(all)`.",
        also="`all[:limit]` fails with slice bounds out of range if `all` is shorter than "
        "`limit`. Use `min(limit, len(all))`.",
        person="What happens with `size == 0`? `Pages` would panic with a division by zero.",
        small="I would swap the order of these two functions.",
        praise="Short and sweet!",
        restates="`Rows` takes a limit now and returns the first rows; `Pages` counts the pages.",
        elsewhere="We use a different linter in the other team.",
    ),
)
"""Changes with a weakness each."""

OTHERS = {
    ".py": "\n" * 2
    + _code("""
        def export_rows(records, columns):
            \"\"\"Return the records as lines of the monthly export.\"\"\"
            lines = [";".join(columns)]
            for record in records:
                cells = []
                for column in columns:
                    cell = record.get(column)
                    cells.append("" if cell is None else str(cell))
                lines.append(";".join(cells))
            return lines
    """),
    ".js": "\n"
    + _code("""
        export function showRows(table, records, columns) {
          table.replaceChildren();
          for (const record of records) {
            const row = table.insertRow();
            for (const column of columns) {
              const cell = row.insertCell();
              cell.textContent = record[column] ?? "";
            }
          }
          table.hidden = records.length === 0;
        }
    """),
    ".java": "\n"
    + _code("""
        class NAMELines {
            private final StringBuilder text = new StringBuilder();

            void add(String name, long cents) {
                if (text.length() > 0) {
                    text.append(System.lineSeparator());
                }
                text.append(name).append(';').append(cents);
            }

            String text() {
                return text.toString();
            }
        }
    """),
    ".go": "\n"
    + _code("""
        // Names returns the names in their order, each once.
        func Names(all []string) []string {
        \tseen := make(map[string]bool, len(all))
        \tnames := make([]string, 0, len(all))
        \tfor _, name := range all {
        \t\tif seen[name] {
        \t\t\tcontinue
        \t\t}
        \t\tseen[name] = true
        \t\tnames = append(names, name)
        \t}
        \treturn names
        }
    """),
}
"""Code by the ending of a file that a change also brings, and that nobody comments on: real changes
have lines beside the comments, and how often these change is the chance of a fix."""
EDITS = (
    ("cell = record.get(column)", "cell = record[column]"),
    ('record[column] ?? ""', 'String(record[column] ?? "-")'),
    ("append(';').append(cents)", "append('\\t').append(cents)"),
    ("make([]string, 0, len(all))", "[]string{}"),
)
"""Changes that the author makes in this code after some reviews, without having been asked."""
