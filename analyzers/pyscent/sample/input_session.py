"""A session of a shop's client."""

import smtplib
import time

import requests

from shop import audit, pricing


class Session:
    """Talks to the shop, keeps a cart and writes mails."""

    def __init__(self, url, user, token):
        self.url = url
        self.user = user
        self.token = token
        self.cart = []
        self.started = time.time()
        self.language = "en"
        self.retries = 0
        self.mailbox = None

    def login(self):
        answer = requests.post(self.url, json={"user": self.user})
        self.token = answer.json()["token"]
        audit.record("login", self.user)

    def logout(self):
        requests.delete(self.url, headers={"token": self.token})
        audit.record("logout", self.user)

    def add(self, item):
        self.cart.append(item)

    def remove(self, item):
        self.cart.remove(item)

    def empty(self):
        self.cart.clear()

    def size(self):
        return len(self.cart)

    def price(self):
        return pricing.total(self.cart)

    def age(self):
        return time.time() - self.started

    def expired(self):
        return self.age() > 3600

    def greet(self):
        return "Hallo" if self.language == "de" else "Hello"

    def speak(self, language):
        self.language = language

    def retry(self):
        self.retries += 1

    def settle(self):
        self.retries = 0

    def tired(self):
        return self.retries > 3

    def open_mailbox(self, host):
        self.mailbox = smtplib.SMTP(host)

    def close_mailbox(self):
        self.mailbox.quit()

    def mail(self, to, text):
        self.mailbox.sendmail(self.user, to, text)

    def remind(self, to):
        self.mail(to, "Your cart is waiting.")

    def thank(self, to):
        self.mail(to, "Thank you.")

    def apologize(self, to):
        self.mail(to, "Something went wrong.")

    def describe(self):
        return f"{self.user} at {self.url}"
