"""What readies `.venv` before anything is installed."""

import contextlib
import hashlib
import io
import shutil
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gateway.run import bootstrap
from tests.support.concurrency import eventually


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(bootstrap, "PAUSES_SECONDS", (0,))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Make an environment from a file without packages, which takes seconds; return it and what was printed."""
    folder = tmp_path_factory.mktemp("bootstrap")
    (folder / "requirements.txt").write_text("# nothing\n")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert bootstrap.main([str(folder / "requirements.txt"), str(folder / "venv")]) == 0
    return folder / "venv", printed.getvalue()


@pytest.fixture
def environment(made: tuple[Path, str], tmp_path: Path) -> Path:
    """Copy it for a test."""
    return Path(shutil.copytree(made[0], tmp_path / "venv", symlinks=True))


@pytest.fixture
def copied_pip(made: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy pip into what is created from now on, from an environment that was made before: to install it takes seconds."""
    [packages] = made[0].glob("lib/python*/site-packages")

    class Builder(venv.EnvBuilder):
        def __init__(self, *, with_pip: bool, **options: Any) -> None:
            super().__init__(**options)
            self.copies_pip = with_pip

        def post_setup(self, context: Any) -> None:
            if self.copies_pip:
                to = Path(context.env_dir) / packages.relative_to(made[0])
                shutil.copytree(packages, to, dirs_exist_ok=True)

    monkeypatch.setattr(venv, "EnvBuilder", Builder)


def test_it_installs_once_and_again_when_the_file_changes(
    made: tuple[Path, str], environment: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# nothing\n")
    arguments = [str(requirements), str(environment)]
    making, installing, ready = (line for line in made[1].splitlines() if not line.startswith("  "))
    assert making.startswith("creating the environment venv with Python 3.")
    assert installing == "installing requirements.txt into venv (only once; takes about a minute) ..."
    assert ready == "venv is ready."
    assert bootstrap.main(arguments) == 0
    assert capfd.readouterr().out == ""
    (tmp_path / "local").mkdir()
    requirements.write_text(f"local @ file://{tmp_path}/local\n")
    assert bootstrap.main(arguments) == 1, "a file without a recorded hash must not be installed"
    assert capfd.readouterr().err.startswith("gateway: Installing requirements.txt failed: ERROR: ")


def test_it_tries_again_when_the_network_was_away(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("# nothing else\n")
    answers = iter([bootstrap.UNREACHABLE, ""])
    monkeypatch.setattr(bootstrap, "install", lambda *arguments: next(answers))
    assert bootstrap.main([str(tmp_path / "requirements.txt"), str(environment)]) == 0
    assert capfd.readouterr().out.splitlines()[1:] == [
        f"that failed; trying again in 0 s ... ({bootstrap.UNREACHABLE})",
        "venv is ready.",
    ]


def test_a_full_disk_is_not_tried_again(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("# nothing else\n")
    answers = iter([bootstrap.FULL])
    monkeypatch.setattr(bootstrap, "install", lambda *arguments: next(answers))
    assert bootstrap.main([str(tmp_path / "requirements.txt"), str(environment)]) == 1
    assert capfd.readouterr().err == "gateway: Installing requirements.txt failed: the disk is full.\n"


@pytest.mark.parametrize(
    ("complaints", "reason"),
    [
        (["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"], bootstrap.FULL),
        (
            [
                "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<pip…>: Failed')': /x/",
                "ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)",
            ],
            bootstrap.UNREACHABLE,
        ),
        (
            ["WARNING: Retrying (…) after connection broken by 'ProxyError('Cannot connect to proxy.', …)': /simple/x/"],
            bootstrap.NOT_PROXIED,
        ),
        (
            ["WARNING: Retrying (…) after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] …"],
            bootstrap.UNTRUSTED,
        ),
        (["WARNING: odd", "ERROR: No matching distribution found for x==1", "ERROR: No matching distribution found for x==1"],
         "ERROR: No matching distribution found for x==1"),
        ([], "pip was killed."),
    ],
)  # fmt: skip
def test_it_says_what_to_do_about_a_failure(complaints: list[str], reason: str) -> None:
    assert bootstrap.reason_of(complaints) == reason


def test_it_names_each_package_as_pip_turns_to_it(
    environment: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pins = [
        f"{name}==1.0 \\\n    --hash=sha256:{_make_wheel(tmp_path, name)}\n    # via nobody\n"
        for name in ("little-thing", "other-thing", "third-thing", "fourth-thing")
    ]
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("".join([f"--no-index\n--find-links {tmp_path}\n", *pins]))
    assert bootstrap.main([str(requirements), str(environment)]) == 0
    first, *named, last = capfd.readouterr().out.splitlines()
    assert first == "installing requirements.txt into venv (only once; takes about a minute) ..."
    assert [line.partition(":")[0] for line in named if "unpacked" not in line] == [f"  {n} of 4" for n in range(1, 5)]
    assert last == "venv is ready."
    installed = {path.name.partition("-")[0] for path in bootstrap.packages(environment)}
    assert installed >= {"little_thing", "other_thing", "third_thing", "fourth_thing"}


def _make_wheel(folder: Path, name: str) -> str:
    """Write a wheel of an empty module; return its digest."""
    module = name.replace("-", "_")
    wheel, info = folder / f"{module}-1.0-py3-none-any.whl", f"{module}-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{module}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_it_installs_again_what_pip_was_unpacking_when_it_was_killed(
    environment: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    requirements = tmp_path / "requirements.txt"
    digest = _make_wheel(tmp_path, "little-thing")
    requirements.write_text(f"--no-index\n--find-links {tmp_path}\nlittle-thing==1.0 --hash=sha256:{digest}\n")
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "little_thing-1.0.dist-info").mkdir()
    (site / "little_thing-1.0.dist-info" / "METADATA").write_text("Name: little-thing\nVersion: 1.0\n")
    assert bootstrap.main([str(requirements), str(environment)]) == 0
    assert (site / "little_thing.py").exists()


def test_it_counts_what_this_platform_needs_once(capsys: pytest.CaptureFixture[str]) -> None:
    counted = bootstrap.Count(3)
    for line in (
        "Ignoring pywin32: markers 'sys_platform == \"win32\"' don't match your environment",
        "Collecting django-allauth==65.1 (from -r requirements.txt (line 1))",
        "  Downloading django_allauth-65.1-py3-none-any.whl (1 kB)",
        "Requirement already satisfied: attrs==25.1 in ./.venv/lib (from -r requirements.txt (line 2)) (25.1)",
        "Requirement already satisfied: attrs in ./.venv/lib (from aiohttp==3.1)",
        "Installing collected packages: django-allauth",
        "Successfully installed django-allauth-65.1",
    ):
        counted.hear(line)
    assert capsys.readouterr().out.splitlines() == ["  1 of 2: django-allauth", "  2 of 2: attrs"]


def test_every_wait_is_spoken_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bootstrap, "QUIET_SECONDS", 0.01)
    with bootstrap.speaking("  still creating it"):
        eventually(lambda: "  still creating it ...\n" in capsys.readouterr().out)


def test_it_waits_for_another_that_installs_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def wait() -> None:
        with bootstrap.locked(tmp_path):
            pass

    with ThreadPoolExecutor() as pool:
        with bootstrap.locked(tmp_path):
            second = pool.submit(wait)
            eventually(lambda: "waiting for it" in capsys.readouterr().out)
            assert not second.done()
        second.result()


@pytest.mark.usefixtures("copied_pip")
def test_it_mends_an_environment_that_was_half_made(tmp_path: Path) -> None:
    requirements, environment = tmp_path / "requirements.txt", tmp_path / "venv"
    requirements.write_text("# nothing\n")
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to("/nonexistent/python")
    assert bootstrap.main([str(requirements), str(environment)]) == 0
    assert bootstrap.runs(environment / "bin" / "python", "-m", "pip", "--version")


@pytest.mark.usefixtures("copied_pip")
def test_it_makes_an_environment_of_another_python_again(
    environment: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An upgraded system has another Python under the same name, which does not find what is installed."""
    (tmp_path / "requirements.txt").write_text("# nothing\n")
    arguments = [str(tmp_path / "requirements.txt"), str(environment)]
    assert bootstrap.main(arguments) == 0
    (packages,) = environment.glob("lib/python*")
    packages.rename(packages.with_name("python3.9"))
    capfd.readouterr()
    assert bootstrap.main(arguments) == 0
    assert capfd.readouterr().out.startswith("creating the environment venv with Python 3.")
    assert bootstrap.has_pip(environment / "bin" / "python")


def test_it_says_that_it_was_stopped(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*arguments: object) -> str:
        raise KeyboardInterrupt

    (tmp_path / "requirements.txt").write_text("# nothing else\n")
    monkeypatch.setattr(bootstrap, "install", interrupt)
    assert bootstrap.main([str(tmp_path / "requirements.txt"), str(environment)]) == 130
    assert capsys.readouterr().err == "gateway: Stopped; the next start goes on from here.\n"


def test_it_says_which_python_is_needed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 4))
    assert bootstrap.main(["requirements.txt"]) == 1
    assert capsys.readouterr().err == "gateway: Python 3.11 or later is needed, but this is 3.10; set PYTHON=...\n"
