"""Sends messages and gives up in every way there is."""

import copy
import gettext
import logging
import os
import re
import threading
import unittest
from contextvars import ContextVar
from unittest import mock

import numpy as np
from fastapi import FastAPI

_ = gettext.gettext
app = FastAPI()
log = logging.getLogger(__name__)
waiting = ContextVar("waiting", default=[])


class Closed(OSError):
    pass


def send(message):
    try:
        message.send()
    except:
        log.error("not sent")
    try:
        message.close()
    except Exception:
        log.error("not closed")
    try:
        message.reopen()
    except ValueError as exc:
        raise Closed("closed")
    except (KeyError, KeyError):
        log.info("no receiver")
    except KeyError:
        log.info("no connection")


def retry(message):
    for _attempt in range(3):
        try:
            return message.send()
        finally:
            break
    try:
        return message.close()
    except ValueError:
        log.exception("not closed", exc_info=False)
    finally:
        return None


def forward(message):
    try:
        message.forward()
    except OSError:
        raise
    try:
        message.forward()
    except ValueError as exc:
        log.info("not forwarded")
        raise exc
    try:
        message.forward()
    except ():
        log.info("nothing is caught")
    try:
        message.forward()
    except "OSError":
        log.info("a text is caught")
    try:
        message.forward()
    except OSError or ValueError:
        log.info("one is caught")


def refuse(message):
    if message is None:
        ValueError("no message")
    if not message:
        raise "empty message"
    if message == "stop":
        raise Exception("stopped")
    if message == "later":
        raise NotImplemented
    log.error("refused", exc_info=True)
    raise


def numbered(messages):
    for message in messages:
        yield message
    raise StopIteration


def guarded(message):
    with threading.Lock():
        message.send()
    return copy.copy(os.environ)


def texts(name, count):
    print("%s has %d messages" % (name,))
    print("{} has {} messages".format(name))
    print("%d messages" % "two")
    print("\d messages")
    log.info("%s has %s messages", name)
    log.info("%s has messages", name, count)
    log.info("sent", extra={"message": name})
    print(_(f"{name} has messages"))
    name.count: count + 1
    print("%(count)d messages" % {"count": count, "name": name})
    return name.strip("https://"), re.sub("a", "b", name, 1, re.I)


def documented(name):
    f"""Greets {name}."""
    role = "user‮ ⁦# admin⁩ ⁦"
    if hasattr(name, "__call__"):
        return role
    return np.product([1, 2]), np.trapz([1, 2])


@app.get("/messages/{message_id}")
def read_message(user: str):
    return user


def wait():
    await log.info("waited")


class Test(unittest.TestCase):
    def test_send(self):
        with self.assertRaises(Exception):
            send(None)
        sender = mock.Mock()
        sender.assert_called_once
        assert sender.called, print("not called")
