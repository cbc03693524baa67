"""Which addresses of servers are used at all. Called by `config.py` for every kubeconfig, and by `proxy.py`.

The address of an API server is shown in messages, so it holds no password; and it is not shown where it is refused.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from yarl import URL

from noderemedy.drivers.kube.errors import BadConfig


def demand_plain(server: str, origin: str) -> None:
    """An http(s) address of a host, perhaps with a port and a path. Raises BadConfig."""
    if not is_address(server, ("http", "https")) or any(sign in server for sign in "@?#"):
        remedy = "write https://HOST:PORT without a user name or a password"
        raise BadConfig(f"{origin}: server is no plain http(s) address; {remedy}")


def is_address(text: str, schemes: tuple[str, ...]) -> bool:
    """Whether those who use it later can read it: one of them leaves out what the other stumbles over."""
    if not text.isprintable() or " " in text:
        return False
    try:
        parts, _ = urlsplit(text), URL(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
