"""A machine of its own in QEMU: a distribution's kernel, this machine's file system, read only, and a layer above it.

Pure emulation, so that it needs nothing of the host; its disks and modules are its own, and nothing of it reaches ours.
The kernel is unpacked from the distribution's package into the project's cache, and installed nowhere.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.devices.device import needs

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "node-remedy" / "kernel"
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /host /upper /whole
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
for module in $(/bin/busybox cat /modules.order); do /bin/busybox insmod /modules/$module || echo "no $module"; done
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144 host /host
/bin/busybox mount -t tmpfs tmpfs /upper
/bin/busybox mkdir -p /upper/up /upper/work
/bin/busybox mount -t overlay overlay -o lowerdir=/host,upperdir=/upper/up,workdir=/upper/work /whole
for place in proc sys dev; do /bin/busybox mount --move /$place /whole/$place; done
/bin/busybox mount -t tmpfs tmpfs /whole/run
/bin/busybox mkdir -p /whole/dev/shm
echo GUEST-BEGINS
/bin/busybox chroot /whole /bin/sh {script}
echo GUEST-ENDS
/bin/busybox poweroff -f
"""


def kernel() -> Path:
    """The folder of an unpacked kernel package; a skip where there is none to be had."""
    if platform.machine() != "x86_64":
        pytest.skip("missing: a kernel for this architecture")
    needs("qemu-system-x86_64", "busybox", "cpio", "modprobe", "depmod", "dpkg-deb", "apt-get")
    if not list(CACHE.glob("boot/vmlinuz-*")):
        CACHE.mkdir(parents=True, exist_ok=True)
        shown = subprocess.run(
            ["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True, check=False
        )
        names = [word for word in shown.stdout.split() if word.startswith("linux-image-")]
        fetched = (
            subprocess.run(["apt-get", "download", names[-1]], cwd=CACHE, capture_output=True, check=False)
            if names
            else None
        )
        packages = list(CACHE.glob("linux-image-*.deb"))
        if not packages or fetched is None or fetched.returncode:
            pytest.skip("missing: linux-image-amd64 (apt-get download)")
        subprocess.run(["dpkg-deb", "-x", packages[0], CACHE], check=True)
        packages[0].unlink()
    return CACHE


class Guest:
    """One machine that boots, runs a script of this machine, and switches itself off."""

    def __init__(self, folder: Path, modules: tuple[str, ...]) -> None:
        self._folder = folder
        self._kernel = kernel()
        self._version = next(self._kernel.glob("boot/vmlinuz-*")).name.removeprefix("vmlinuz-")
        self._modules = (*MODULES, *modules)

    def run(self, script: str, seconds: float) -> str:
        """What it printed on its console."""
        (self._folder / "script").write_text(script)
        image = self._first_files()
        command = [
            "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", "1024", "-smp", "2",
            "-nic", "none",
            "-kernel", str(next(self._kernel.glob("boot/vmlinuz-*"))), "-initrd", str(image),
            "-append", "console=ttyS0 quiet panic=1", "-no-reboot", "-nographic",
            "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
        ]  # fmt: skip
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
        return done.stdout.decode(errors="replace")

    def _first_files(self) -> Path:
        """The initramfs: busybox, the modules in the order of their needs, and a first program."""
        root = self._folder / "initramfs"
        (root / "modules").mkdir(parents=True)
        (root / "bin").mkdir()
        shutil.copy(shutil.which("busybox") or "/bin/busybox", root / "bin" / "busybox")
        paths = self._in_order()
        for path in paths:
            shutil.copy(path, root / "modules")
        (root / "modules.order").write_text("\n".join(path.name for path in paths))
        (root / "init").write_text(INIT.format(script=self._folder / "script"))
        (root / "init").chmod(0o755)
        image = self._folder / "initramfs.cpio"
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        with image.open("wb") as file:
            subprocess.run(
                ["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=file, check=True
            )
        return image

    def _in_order(self) -> list[Path]:
        depmod = shutil.which("depmod", path="/sbin:/usr/sbin") or "depmod"
        modprobe = shutil.which("modprobe", path="/sbin:/usr/sbin") or "modprobe"
        subprocess.run([depmod, "-b", str(self._kernel), self._version], check=True)
        found: dict[Path, None] = {}
        for name in self._modules:
            command = [modprobe, "-d", str(self._kernel), "-S", self._version, "--show-depends", name]
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for line in shown.splitlines():
                if line.startswith("insmod "):
                    found[Path(line.split()[1])] = None
        return list(found)
