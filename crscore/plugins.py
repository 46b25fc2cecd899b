"""Plugins by name: a plugin is a module that defines `create`, and its name is that of the file.

The options of a plugin are the keyword parameters of its `create`, each with its type, its limits
(`Annotated[int, Meta(ge=1)]`) and its default. If several functions of the plugin need all options,
`create(options: ...)` takes a `msgspec.Struct` that forbids unknown fields instead.
"""

import importlib
import importlib.resources
import inspect
import pkgutil
import re
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any, Final

import msgspec

from crscore.errors import ConfigError, UnknownPluginError
from crscore.version import entry_points

# No list of plugins is kept anywhere: a file in one of these folders is enough (docs/flow.md).
KINDS: Final = {
    "claims": "claims",
    "encoders": "encoders",
    "engines": "llm",
    "languages": "code/execution",
    "matchers": "matchers",
    "metrics": "code/metrics",
    "reports": "reports",
}
"""Kind of plugin -> folder in this package."""
_OPEN_KINDS: Final = frozenset({"languages"})
"""Kinds that other distributions may extend, by entry points of the group `crscore.KIND`."""
# An error of msgspec names the option only in its text, which ends with "- at `$.dim`" or "unknown
# field `colour`".
_OPTION: Final = re.compile(r"(?: - at `\$\.|field `)(\w+)")


def names(kind: str) -> tuple[str, ...]:
    """List the plugins of a kind, sorted, without importing any of them.

    Args:
        kind: One of `KINDS`.

    Returns:
        Names of the folder's modules that define `create`, of its packages that have a
        `plugin.py`, and, for a kind that others may extend, of installed entry points.
    """
    folder = importlib.resources.files("crscore") / KINDS[kind]
    plugin_names = set(_entry_points(kind))
    for entry in folder.iterdir():
        if entry.is_dir():
            is_plugin = entry.joinpath("plugin.py").is_file()
        else:
            # Only the text is searched, because importing every plugin would load its packages.
            is_plugin = entry.name.endswith(".py") and "\ndef create(" in entry.read_text("utf-8")
        if is_plugin:
            plugin_names.add(entry.name.removesuffix(".py"))
    return tuple(sorted(plugin_names))


def _entry_points(kind: str) -> dict[str, str]:
    return entry_points(f"crscore.{kind}") if kind in _OPEN_KINDS else {}


def load(kind: str, name: str) -> ModuleType:
    """Import one plugin.

    Args:
        kind: One of `KINDS`.
        name: A name that `names(kind)` lists.

    Returns:
        The module.

    Raises:
        UnknownPluginError: No plugin has that name; the error lists the existing ones.
    """
    available = names(kind)
    if name not in available:
        raise UnknownPluginError(kind, name, available)
    if name in (points := _entry_points(kind)):
        module_of_point: ModuleType = pkgutil.resolve_name(points[name])
        return module_of_point
    folder = KINDS[kind]
    module = f"crscore.{folder.replace('/', '.')}.{name}"
    is_package = (importlib.resources.files("crscore") / folder / name).is_dir()
    return importlib.import_module(f"{module}.plugin" if is_package else module)


def options_class(module: ModuleType) -> type[msgspec.Struct]:
    """Return the class of the options of a plugin's `create`."""
    parameters = inspect.signature(module.create).parameters
    if "options" in parameters:
        annotation = parameters["options"].annotation
        declared: type[msgspec.Struct] = (
            getattr(module, annotation) if isinstance(annotation, str) else annotation
        )
        return declared
    no_default = {inspect.Parameter.empty: msgspec.NODEFAULT}
    return msgspec.defstruct(
        "Options",
        [
            (name, item.annotation, no_default.get(item.default, item.default))
            for name, item in parameters.items()
        ],
        module=module.__name__,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def create(
    kind: str,
    name: str,
    values: Mapping[str, object] = MappingProxyType({}),
    *,
    offered: Mapping[str, object] = MappingProxyType({}),
) -> Any:
    """Make a plugin from the values of its options.

    Args:
        kind: One of `KINDS`.
        name: A name that `names(kind)` lists.
        values: Values by option; texts are converted to the option's type.
        offered: Further values; a value is ignored if the plugin has no option for it.

    Returns:
        The result of the module's `create`.

    Raises:
        ConfigError: An option is unknown or missing, or has a wrong value.
        UnknownPluginError: No plugin has that name.
    """
    module = load(kind, name)
    options_type = options_class(module)
    option_names = options_type.__struct_fields__
    # `values` override `offered`. It is no error if the plugin has no option for an offered value:
    # `--offline` has no meaning for an encoder without a model.
    merged = {key: value for key, value in offered.items() if key in option_names} | dict(values)
    try:
        options = msgspec.convert(merged, options_type, strict=False)
    except msgspec.ValidationError as exc:
        message = str(exc)
        expected = message.partition(" - at ")[0]
        if "unknown field" in message:
            expected = f"is not an option; available: {', '.join(option_names) or 'none'}"
        option_match = _OPTION.search(message)
        origin = f"{kind.removesuffix('s')} {name}"
        raise ConfigError(option_match[1] if option_match else "options", origin, expected) from exc
    if "options" in inspect.signature(module.create).parameters:
        return module.create(options)
    return module.create(**msgspec.structs.asdict(options))
