"""The part of SARIF 2.1.0 that crscore reads and pyscent writes.

Absent texts are "", absent numbers None. Where tools are known to write numbers as texts, or a
number that is none, the type is open and the reader decides.

Source:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, section 3.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

VERSION: Final = "2.1.0"


class _Object(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False
):
    """An object of the format; unknown keys are ignored."""


class Message(_Object, frozen=True):
    """3.11, also a multiformat string (3.12)."""

    text: str = ""
    markdown: str = ""
    id: str = ""
    arguments: tuple[Any, ...] = ()


class ArtifactLocation(_Object, frozen=True):
    """3.4."""

    uri: str = ""
    uri_base_id: str = ""
    index: Any = None


class Region(_Object, frozen=True):
    """3.30."""

    start_line: Any = None
    end_line: Any = None


NO_REGION: Final = Region()
"""Left out when it is written, which takes a default for absent if it is the same object."""


class PhysicalLocation(_Object, frozen=True):
    """3.29."""

    artifact_location: ArtifactLocation = ArtifactLocation()
    region: Region = NO_REGION


class Location(_Object, frozen=True):
    """3.28."""

    physical_location: PhysicalLocation = PhysicalLocation()


class Reference(_Object, frozen=True):
    """A reference to a rule, a notification's descriptor or a part of the tool (3.52, 3.54)."""

    id: str = ""
    index: Any = None
    guid: str = ""
    name: str = ""
    tool_component: Reference | None = None


class Suppression(_Object, frozen=True):
    """3.35."""

    status: str = ""


class Result(_Object, frozen=True):
    """3.27."""

    rule_id: str = ""
    rule_index: Any = None
    rule: Reference = Reference()
    kind: str = ""
    level: str = ""
    message: Message = Message()
    locations: tuple[Location, ...] = ()
    analysis_target: ArtifactLocation = ArtifactLocation()
    baseline_state: str = ""
    suppressions: tuple[Suppression, ...] = ()
    properties: dict[str, Any] = {}


class Configuration(_Object, frozen=True):
    """3.50."""

    level: str = ""


NO_CONFIGURATION: Final = Configuration()
"""Left out when it is written."""


class Rule(_Object, frozen=True):
    """A reporting descriptor: a rule or a kind of notification (3.49)."""

    id: str = ""
    name: str = ""
    short_description: Message = Message()
    full_description: Message = Message()
    message_strings: dict[str, Message] = {}
    default_configuration: Configuration = NO_CONFIGURATION
    properties: dict[str, Any] = {}


class Component(_Object, frozen=True):
    """The driver or an extension of a tool (3.19)."""

    name: str = ""
    guid: str = ""
    version: str = ""
    semantic_version: str = ""
    rules: tuple[Rule, ...] = ()
    notifications: tuple[Rule, ...] = ()
    global_message_strings: dict[str, Message] = {}


class Tool(_Object, frozen=True):
    """3.18."""

    driver: Component = Component()
    extensions: tuple[Component, ...] = ()


class Notification(_Object, frozen=True):
    """3.58."""

    descriptor: Reference = Reference()
    level: str = ""
    message: Message = Message()
    locations: tuple[Location, ...] = ()
    exception: Any = None


class Invocation(_Object, frozen=True):
    """3.20."""

    execution_successful: bool | None = None
    tool_execution_notifications: tuple[Notification, ...] | None = None
    tool_configuration_notifications: tuple[Notification, ...] | None = None
    exit_code_description: str = ""

    @property
    def notifications(self) -> tuple[Notification, ...]:
        """Both kinds of notifications."""
        configuration = self.tool_configuration_notifications or ()
        return (*(self.tool_execution_notifications or ()), *configuration)


class Artifact(_Object, frozen=True):
    """3.24."""

    location: ArtifactLocation = ArtifactLocation()


class Run(_Object, frozen=True):
    """3.14."""

    tool: Tool = Tool()
    invocations: tuple[Invocation, ...] = ()
    original_uri_base_ids: dict[str, ArtifactLocation] = {}
    artifacts: tuple[Artifact, ...] = ()
    external_property_file_references: dict[str, Any] = {}
    column_kind: str = ""
    results: tuple[Result, ...] | None = None


class Log(_Object, frozen=True, kw_only=True):
    """3.13."""

    schema: str = msgspec.field(default="", name="$schema")
    version: str
    runs: tuple[Run, ...]
