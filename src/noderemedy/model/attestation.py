"""A person's word that a node is off: `node-remedy.dev/attested-off` on a NodeFence or a Metal3Remediation.

Read and written by `wire/attestations.py`. Who may give it is the admission policy's business
(`deploy/admission/fence-attestations.yaml`).
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.time import Wall


class Attestation(Struct, frozen=True):
    """A person says that this boot of this node is off. It counts for the silence of that time, not for a later one."""

    by: str
    at: Wall
    node_uid: str
    boot_id: str
