"""Headers and address labels of the export."""


def write_headers(sheet):
    sheet.write(0, 0, "number")
    sheet.width(0, 8)
    sheet.write(0, 1, "ordered")
    sheet.width(1, 10)
    sheet.write(0, 2, "paid")
    sheet.width(2, 10)
    sheet.write(0, 3, "sent")
    sheet.width(3, 10)
    sheet.write(0, 4, "returned")
    sheet.width(4, 10)
    sheet.write(0, 5, "name")
    sheet.width(5, 30)
    sheet.write(0, 6, "street")
    sheet.width(6, 30)
    sheet.write(0, 7, "city")
    sheet.width(7, 20)
    sheet.write(0, 8, "zip")
    sheet.width(8, 8)
    sheet.write(0, 9, "country")
    sheet.width(9, 4)
    sheet.write(0, 10, "phone")
    sheet.width(10, 16)
    sheet.write(0, 11, "mail")
    sheet.width(11, 24)
    sheet.write(0, 12, "items")
    sheet.width(12, 5)
    sheet.write(0, 13, "weight")
    sheet.width(13, 6)
    sheet.write(0, 14, "volume")
    sheet.width(14, 6)
    sheet.write(0, 15, "net")
    sheet.width(15, 9)
    sheet.write(0, 16, "tax")
    sheet.width(16, 7)
    sheet.write(0, 17, "gross")
    sheet.width(17, 9)
    sheet.write(0, 18, "currency")
    sheet.width(18, 3)
    sheet.write(0, 19, "rate")
    sheet.width(19, 6)
    sheet.write(0, 20, "voucher")
    sheet.width(20, 8)
    sheet.write(0, 21, "points")
    sheet.width(21, 5)
    sheet.write(0, 22, "note")
    sheet.width(22, 40)
    sheet.write(0, 23, "gift")
    sheet.width(23, 3)
    sheet.write(0, 24, "express")
    sheet.width(24, 3)
    sheet.freeze(1)


def label(customer):
    if customer.title:
        name = f"{customer.title} {customer.name}"
    else:
        name = customer.name
    if customer.company:
        first = f"{customer.company}, {name}"
    else:
        first = name
    if customer.box:
        street = f"P.O. box {customer.box}"
    else:
        street = customer.street
    if customer.country == "UK":
        town = f"{customer.city}  {customer.zip}"
    else:
        town = f"{customer.zip} {customer.city}"
    if customer.country == "DE":
        country = ""
    else:
        country = customer.country.upper()
    if customer.floor:
        door = f"floor {customer.floor}"
    else:
        door = ""
    if customer.phone:
        phone = f"tel. {customer.phone}"
    else:
        phone = ""
    return [first, street, door, town, country, phone]
