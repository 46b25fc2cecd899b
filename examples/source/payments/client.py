"""Talks to the payment gateway."""

import logging
import time

import requests

log = logging.getLogger(__name__)


class GatewayError(Exception):
    """The gateway refused."""


class GatewayClient:
    """A thin client of the gateway's HTTP interface."""

    def __init__(self, base_url, api_key, timeout, max_attempts=3):
        self.base_url = base_url
        self.api_key = api_key
        self.timeout = timeout
        self.max_attempts = max_attempts

    def charge(self, order_id, amount_cents):
        """Charge an order, trying again when the gateway does not answer."""
        for attempt in range(self.max_attempts):
            try:
                response = requests.post(
                    f"{self.base_url}/charges",
                    json={"order": order_id, "amount": amount_cents},
                    headers={"Authorization": f"Bearer {self.api_key}"},
                    timeout=self.timeout,
                )
            except Exception:
                log.warning("charge of %s failed, attempt %d", order_id, attempt)
                time.sleep(2**attempt)
                continue
            if response.status_code != 200:
                raise GatewayError(response.text)
            return response.json()["id"]
        return None

    def refund(self, charge_id):
        """Refund a charge."""
        response = requests.post(
            f"{self.base_url}/refunds",
            json={"charge": charge_id},
            headers={"Authorization": f"Bearer {self.api_key}"},
            timeout=10,
        )
        return response.json()["id"]
