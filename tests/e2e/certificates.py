"""A certificate authority for one test run: serving certificate of the API server, key of its service accounts.

Made once per session and shared by all control planes of it: making keys is slow, and no test is about keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True)
class Certificates:
    """Files for the API server and for whoever talks to it."""

    authority: Path
    serving: Path
    serving_key: Path
    service_account_key: Path


def make_certificates(folder: Path) -> Certificates:
    """Writes all files into the folder."""
    files = Certificates(folder / "ca.crt", folder / "server.crt", folder / "server.key", folder / "accounts.key")
    authority_key, serving_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "node-remedy end-to-end tests")])
    authority = signed(authority_name, authority_name, authority_key, authority_key, is_authority=True)
    server_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    serving = signed(server_name, authority_name, serving_key, authority_key, is_authority=False)

    files.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    files.serving.write_bytes(serving.public_bytes(serialization.Encoding.PEM))
    write_key(files.serving_key, serving_key)
    write_key(files.service_account_key, rsa.generate_private_key(65537, 2048))
    return files


def signed(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    by: ec.EllipticCurvePrivateKey,
    is_authority: bool,
) -> x509.Certificate:
    """A certificate for loopback, valid for a day."""
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .add_extension(usage(is_authority), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), critical=False)
    )
    if not is_authority:
        names = [x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(by, hashes.SHA256())


def usage(is_authority: bool) -> x509.KeyUsage:
    """An authority signs certificates, a server signs handshakes."""
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def write_key(path: Path, key: PrivateKey) -> None:
    """Readable by its owner only."""
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
