"""The annotations of the Kubernetes API that we read or write. One place for every name."""

from __future__ import annotations

NEEDS_REMEDIATION = "host.metal3.io/external-remediation"  # seed 001: on the Machine
MACHINE_HOST = "metal3.io/BareMetalHost"  # on the Machine: namespace/name
REBOOT = "reboot.metal3.io/machine-remediation"  # seed 001: on the host, the baremetal operator's interface
REBOOT_VALUE = '{"mode":"hard"}'
HOLD = "remediation.metal3.io/hold"  # ours, beside REBOOT: for whom, since when, by which leader
NODE_BACKUP = "remediation.metal3.io/node-backup"  # ours, on the Machine
NODE_DELETED_AT = "remediation.metal3.io/node-deleted-at"  # ours, on the Machine
CLUSTER_PAUSED = "cluster.x-k8s.io/paused"
PAUSED = "node-remedy.dev/paused"
HOST_PAUSED = "baremetalhost.metal3.io/paused"
HOST_DETACHED = "baremetalhost.metal3.io/detached"
