"""What of the manager's surroundings goes where: into Jobs, which many may read, nothing that could be a secret."""

from __future__ import annotations

import pytest

from noderemedy.drivers.fence.agents import handed_on, withheld

HARMLESS = {
    "HTTPS_PROXY": "http://proxy.example.com:3128",
    "http_proxy": "proxy:3128/",
    "ALL_PROXY": "socks5h://[2001:db8::1]:1080",
    "NO_PROXY": "localhost, .cluster.local,10.0.0.0/8,[::1],*.example.com",
    "AWS_REGION": "eu-central-1",
    "AWS_DEFAULT_REGION": "us-gov-west-1",
}
SECRETS = {
    "HTTPS_PROXY": "http://jo:letmein@proxy:3128",
    "http_proxy": "jo:letmein@proxy:3128",
    "ALL_PROXY": "http://proxy:3128/?token=letmein",
    "no_proxy": "jo@letmein",
    "AWS_REGION": "AKIAIOSFODNN7EXAMPLE",
}
OTHERS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION_TOKEN",
    "OS_PASSWORD",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "MY_PROXY",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "PATH",
    "HOME",
)


def test_what_can_hold_no_secret_is_handed_on() -> None:
    """Proxies without a user, what goes past them, and the region of a cloud."""
    assert (HARMLESS, ()) == (handed_on(HARMLESS), withheld(HARMLESS))
    assert ({}, ()) == (handed_on({"http_proxy": ""}), withheld({"http_proxy": ""}))


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_in_a_value_is_withheld(name: str) -> None:
    """A user in a URL, a question behind it, or a value that is no region: the name is told, the value is nowhere."""
    environ = {**HARMLESS, name: SECRETS[name]}

    assert {key: value for key, value in HARMLESS.items() if key != name} == handed_on(environ)
    assert (name,) == withheld(environ)


@pytest.mark.parametrize("name", OTHERS)
def test_all_else_stays_here(name: str) -> None:
    """Whatever it holds: credentials, files that the image of a Job may not have, proxies of other people's making."""
    assert ({}, ()) == (handed_on({name: "eu-central-1"}), withheld({name: "eu-central-1"}))
