"""The annotations of the Kubernetes API that we read or write. One place for every name."""

from __future__ import annotations

NEEDS_REMEDIATION = "host.metal3.io/external-remediation"  # seed 001: on the Machine
MARKED_BY = "node-remedy: MachineHealthCheck "  # the value of ours, followed by the name of the check
ASKED_AT = "remediation.metal3.io/asked-at"  # ours, on the Machine: when a health check marked it last
MACHINE_HOST = "metal3.io/BareMetalHost"  # on the Machine: namespace/name
REBOOT = "reboot.metal3.io/machine-remediation"  # seed 001: on the host, the baremetal operator's interface
REBOOT_VALUE = '{"mode":"hard"}'
HOLD = "remediation.metal3.io/hold"  # ours, beside REBOOT: for whom, since when, by which leader
REBOOT_FOR = "reboot.metal3.io/metal3-remediation-"  # the same for a Metal3Remediation, with its uid
HOLD_FOR = "remediation.metal3.io/hold-"  # ours, beside REBOOT_FOR
UNHEALTHY = "capi.metal3.io/unhealthy"  # on a host: not to be chosen for another machine
NODE_BACKUP = "remediation.metal3.io/node-backup"  # ours, on the Machine
NODE_DELETED_AT = "remediation.metal3.io/node-deleted-at"  # ours, on the Machine
CLUSTER_PAUSED = "cluster.x-k8s.io/paused"
PAUSED = "node-remedy.dev/paused"
MODE = "node-remedy.dev/mode"  # on a policy: observe
CONFIGURATION = "node-remedy.dev/configuration"  # a label, on a ConfigMap that we read whatever its name is
APPROVAL = "node-remedy.dev/approval"  # on a policy: required
LEADERSHIP = "node-remedy.dev/leadership"  # on a claim: the number of the one that wrote it
GOVERN = "node-remedy.dev/govern"  # on a check that another controller looks after as well
REPAIR = "node-remedy.dev/repair"  # on a Node or Machine: do not wait for the timeouts
REMEDIATE = "cluster.x-k8s.io/remediate-machine"  # on a Machine: it is unhealthy, whatever its state
SKIP_REMEDIATION = "cluster.x-k8s.io/skip-remediation"  # on a Machine: it is nobody's target
STRATEGY = "machine.openshift.io/remediation-strategy"  # on a check: external-baremetal is the annotation mode
OWNER = "node-remedy.dev/owner"  # on a Machine without a controller: who replaces it when it is sick
OURS = "node-remedy"  # the value by which we do
OWNER_FINALIZER = "node-remedy.dev/owner"  # keeps the old Machine until its successor was seen
REPLACEMENT = "node-remedy.dev/replacement"  # on a Machine that is being replaced: our record
REPLACES = "node-remedy.dev/replaces"  # on its successor: the uid of the former one
ATTESTED_OFF = "node-remedy.dev/attested-off"  # on a NodeFence: a person says that this boot is over
REQUESTED_BY = "node-remedy.dev/requested-by"  # on a NodeFence: the object that asked for it
OUT_OF_SERVICE_BY = "node-remedy.dev/out-of-service-by"  # on a Node that we tainted: for which request, of which boot
CORDONED = "node-remedy.dev/cordoned"  # on a Node that we cordoned: for whom
EXCLUDE_DRAIN = "machine.cluster.x-k8s.io/exclude-node-draining"  # of Cluster API, on a Machine
HOST_PAUSED = "baremetalhost.metal3.io/paused"
HOST_DETACHED = "baremetalhost.metal3.io/detached"
CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"  # a label, on whatever belongs to a Cluster
CLONED_FROM = "cluster.x-k8s.io/cloned-from-name"  # on a request: the template it was made from
CLONED_FROM_KIND = "cluster.x-k8s.io/cloned-from-groupkind"
