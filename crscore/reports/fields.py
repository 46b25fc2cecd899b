"""Types of fields that the JSON documents of all commands share."""

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
