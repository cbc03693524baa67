"""Which proxy, if any, stands between us and an API server.

`proxy-url` of the cluster entry wins; else HTTPS_PROXY / HTTP_PROXY and NO_PROXY of the environment are
honoured as by kubectl, never for loopback addresses. Only http:// proxies (CONNECT) are spoken to.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from noderemedy.drivers.kube.addresses import is_address
from noderemedy.drivers.kube.errors import BadConfig
from noderemedy.drivers.kube.secret import NOTHING, Secret


def proxy_for(server: str, proxy_url: str, origin: str, environ: Mapping[str, str]) -> Secret:
    """The proxy's address (it may hold a password), or nothing."""
    if proxy_url:
        return _checked(proxy_url, f"{origin}: proxy-url")
    parts = urlsplit(server)
    host = parts.hostname or ""
    if _is_loopback(host) or _is_excluded(host, parts.port, _variable(environ, "no_proxy")):
        return NOTHING
    name = f"{parts.scheme}_proxy"
    found = _variable(environ, name)
    return _checked(found, f"${name.upper()}") if found else NOTHING


def _checked(url: str, what: str) -> Secret:
    full = url if "://" in url else f"http://{url}"
    if not is_address(full, ("http",)):
        raise BadConfig(f"{what}: only http://HOST:PORT proxies are supported; correct it")
    return Secret(full)


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name.upper()) or environ.get(name) or ""


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_excluded(host: str, port: int | None, no_proxy: str) -> bool:
    """NO_PROXY: names, .suffixes, addresses, networks, HOST:PORT, or * for everything."""
    return any(_matches(host, port, rule.strip()) for rule in no_proxy.split(",") if rule.strip())


def _matches(host: str, port: int | None, rule: str) -> bool:
    if rule == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(rule, strict=False)
    except ValueError:
        pass
    name, _, rule_port = rule.partition(":")
    if rule_port and rule_port != str(port):
        return False
    name = name.lower().removeprefix("*").removeprefix(".")
    return host == name or host.endswith(f".{name}")
