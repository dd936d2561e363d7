"""A bare Debian in a folder, made with debootstrap and kept for the next run: what is booted, and what images are built on.

Needs root, `debootstrap`, and Debian's packages and PyPI within reach, both only for the first run.
"""

import hashlib
import os
import shutil
import ssl
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from gateway.run.options import PROJECT_DIR
from tests.support.pages import Page

RELEASE = "bookworm"
PACKAGES = (
    *("ca-certificates", "curl", "iproute2", "procps", "systemd-sysv"),
    *("bubblewrap", "nginx-light", "postgresql", "python3-pip", "python3-venv", "redis-server"),
)
ENGINE = ("docker.io", "docker-compose", "iptables")
CHECKOUT = Path("/srv/account-gateway")
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
KEPT = Path("/var/tmp/account-gateway-deploy")
GUIDE = Page("docs/guides/production.md")


def must(command: Sequence[str | Path], **options: object) -> str:
    """Run a command and return what it prints. Raises RuntimeError with all that it said if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return str(done.stdout)


def debian(kept: Path = KEPT) -> Path:
    """Return the folder of a Debian with PACKAGES; make it if there is none."""
    return _once(kept / f"debian-{_digest(*PACKAGES)}", _bootstrap)


def machine(kept: Path = KEPT) -> Path:
    """Return the folder of a Debian in which step 1 of the guide was done, with what requirements.txt names today."""
    bare = debian(kept)

    def install(folder: Path) -> None:
        must(["cp", "--archive", f"{bare}/.", folder])
        _follow_step_1(folder, wheels(kept))

    return _once(kept / f"machine-{_digest(bare.name, (PROJECT_DIR / 'requirements.txt').read_text())}", install)


def engine(kept: Path = KEPT) -> Path:
    """Return the folder of a Debian with Docker."""
    bare = debian(kept)

    def install(folder: Path) -> None:
        must(["cp", "--archive", f"{bare}/.", folder])
        _install(folder, *ENGINE)

    return _once(kept / f"engine-{_digest(bare.name, *ENGINE)}", install)


def wheels(kept: Path = KEPT) -> Path:
    """Return a folder with what requirements.txt names today for the Debian's Python, from where this machine's pip has it."""
    bare, wanted = debian(kept), (PROJECT_DIR / "requirements.txt").read_text()

    def download(folder: Path) -> None:
        inside = bare / "wheels"
        inside.mkdir(exist_ok=True)
        (inside / "requirements.txt").write_text(wanted)
        shutil.copy(ssl.get_default_verify_paths().cafile or AUTHORITIES, inside / "authorities.pem")
        given = {name: value for name, value in os.environ.items() if name in ("PIP_INDEX_URL", "PIP_PROXY")}
        pip = ("python3", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes")
        _chroot(
            bare,
            *pip,
            "--dest=/wheels",
            "--requirement=/wheels/requirements.txt",
            PIP_CERT="/wheels/authorities.pem",
            **given,
        )
        shutil.copytree(inside, folder, dirs_exist_ok=True)
        shutil.rmtree(inside)

    return _once(kept / f"wheels-{_digest(bare.name, wanted)}", download)


def copy_checkout(root: Path) -> None:
    """Put the project where the guide has it, as `git clone` does, with what is not committed yet."""
    target = root / CHECKOUT.relative_to("/")
    target.mkdir(parents=True, exist_ok=True)
    listed = must(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=PROJECT_DIR)
    names = [name for name in listed.split("\0") if name and (PROJECT_DIR / name).is_file()]
    copied = subprocess.run(
        ["tar", "--create", "--null", "--files-from=-"],
        input="\0".join(names).encode(),
        cwd=PROJECT_DIR,
        stdout=subprocess.PIPE,
        check=True,
    )
    subprocess.run(["tar", "--extract", "--no-same-owner", "--directory", target], input=copied.stdout, check=True)
    must(["chmod", "--recursive", "a+rX", target])


def _once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Make a folder if it is not there; one that was made halfway is not taken for a whole one."""
    if not folder.exists():
        halfway = folder.with_name(f"{folder.name}.halfway")
        shutil.rmtree(halfway, ignore_errors=True)
        halfway.mkdir(parents=True)
        make(halfway)
        halfway.rename(folder)
    return folder


def _bootstrap(folder: Path) -> None:
    must(["debootstrap", "--variant=minbase", RELEASE, folder])
    _chroot(folder, "apt-get", "update")
    _install(folder, *PACKAGES)


def _install(folder: Path, *packages: str) -> None:
    refuse = folder / "usr/sbin/policy-rc.d"  # or the packages' servers would start here
    refuse.write_text("#!/bin/sh\nexit 101\n")
    refuse.chmod(0o755)
    _chroot(folder, "apt-get", "install", "-y", "--no-install-recommends", *packages)
    _chroot(folder, "apt-get", "clean")
    refuse.unlink()


def _follow_step_1(folder: Path, downloaded: Path) -> None:
    """Run the guide's commands."""
    copy_checkout(folder)
    shutil.copytree(downloaded, folder / "wheels")
    _chroot(
        folder, "bash", "-euc", GUIDE.code("sh", after="## 1. The program"), PIP_NO_INDEX="1", PIP_FIND_LINKS="/wheels"
    )
    shutil.rmtree(folder / "wheels")


def _chroot(folder: Path, *command: str, **environment: str) -> None:
    standard = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    must(["chroot", folder, *command], env=standard | environment)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
