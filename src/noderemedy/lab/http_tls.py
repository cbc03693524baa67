"""A certificate authority for one lab: made in memory, trusted by one kubeconfig, forgotten with the process.

`lab/http.py` uses it to serve TLS on loopback; tests of the Kubernetes driver use it to make client
certificates, whose common name is the user and whose organizations are the user's groups, as on a real cluster.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=7)
SKEW = timedelta(minutes=10)


class Pair(NamedTuple):
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs certificates. Its own key never leaves the process."""

    def __init__(self, name: str = "node-remedy lab") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name)
        builder = _builder(subject, subject, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        self._certificate = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())

    @property
    def certificate(self) -> bytes:
        """What a kubeconfig carries as certificate-authority-data, before base64."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def server(self, host: str = "127.0.0.1") -> Pair:
        """A certificate for a server on loopback."""
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(host))]
        return self._sign(_name(host), ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(names))

    def client(self, user: str, *groups: str) -> Pair:
        """A certificate that says who its holder is."""
        return self._sign(_name(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _sign(
        self, subject: x509.Name, usage: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._certificate.subject, key.public_key()).add_extension(
            x509.ExtendedKeyUsage([usage]), critical=False
        )
        # Recent Python verifies strictly: a certificate without an authority key identifier is refused.
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), secret)


def server_context(pair: Pair, client_ca: bytes | None) -> ssl.SSLContext:
    """TLS for a server; with a client CA, certificates are asked for but a token will do as well."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The library reads keys from files only: written for us alone, and gone before the first connection.
    with tempfile.NamedTemporaryFile(mode="wb", suffix=".pem") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(pair.certificate + pair.key)
        file.flush()
        context.load_cert_chain(file.name)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=client_ca.decode())
    return context


def _name(common: str, *organizations: str) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )
