"""Monthly reports from a list of orders."""

import json
import logging

log = logging.getLogger(__name__)

by_customer = lambda order: (order["customer"]["country"].lower(), order["customer"]["name"])


def read_orders(path):
    try:
        with open(path) as handle:
            return json.load(handle)
    except Exception:
        log.warning("no orders in %s", path)
    return []


def drop_cache(cache):
    try:
        cache.clear()
    except:
        pass
    try:
        del cache.folder
    except AttributeError:
        pass


def large_orders(orders, limit):
    return [order for order in orders if order["total"] > limit and not order["cancelled"]]


def write_report(orders, path, title, currency, locale, footer):
    lines = []
    total = 0
    count = 0
    skipped = 0
    lines.append(title)
    lines.append("=" * len(title))
    for order in sorted(orders, key=by_customer):
        number = order.get("number")
        customer = order.get("customer")
        if number is None:
            skipped += 1
            continue
        if customer is None:
            skipped += 1
            continue
        amount = order.get("total", 0)
        state = order.get("state")
        if state == "new":
            mark = " "
        elif state == "paid":
            mark = "+"
        elif state == "sent":
            mark = ">"
        elif state == "returned":
            mark = "<"
            amount = -amount
        else:
            mark = "?"
        if order.get("currency") != currency:
            rate = order.get("rate")
            if rate is None or rate <= 0:
                log.error("no rate for order %s", number)
                skipped += 1
                continue
            amount = amount * rate
        if locale == "de":
            text = f"{amount:.2f}".replace(".", ",")
        elif locale == "fr":
            text = f"{amount:.2f}".replace(".", ",") + " "
        else:
            text = f"{amount:.2f}"
        name = customer.get("name", "")
        if len(name) > 30:
            name = name[:27] + "..."
        line = f"{mark} {number:>8} {name:<30} {text:>12}"
        if order.get("note"):
            line += " *"
        if (order.get("express") or order.get("gift")) and state != "returned":
            line += " !"
        lines.append(line)
        total += amount
        count += 1
    if count:
        mean = total / count
        lines.append(f"mean {mean:.2f}")
    if total < 0:
        log.error("more returned than sold in %s", path)
    if skipped:
        lines.append(f"skipped {skipped}")
    lines.append(f"total {total:.2f} {currency}")
    lines.append(footer)
    with open(path, "w") as handle:
        handle.write("\n".join(lines))
    return total


def shipping_cost(weight, country):
    if weight <= 0:
        raise ValueError("weight must be positive")
    if country == "DE":
        return 4 if weight < 2 else 6 if weight < 5 else 9
    if country in ("FR", "NL", "BE") and weight < 10:
        return 9 if weight < 5 else 14
    if country in ("UK", "CH") or country.startswith("X"):
        return 19
    return 29
