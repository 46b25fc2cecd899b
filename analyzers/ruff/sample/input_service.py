"""A service that waits for the wrong things."""

import asyncio
import subprocess
import time
from os.path import *
from pathlib import Path

import httpx
import requests


async def poll(state):
    asyncio.create_task(state.refresh())
    while not state.ready:
        await asyncio.sleep(1)
    time.sleep(5)
    answer = input("Go on?")
    page = requests.get("https://example.org", timeout=5)
    httpx.Client().get("https://example.org")
    subprocess.run(["sync"], check=True)
    with open("state.json", encoding="utf-8") as file:
        state.text = file.read()
    return answer, page, Path("state.json").exists()
