"""The annotations of the Kubernetes API that we read or write. One place for every name."""

from __future__ import annotations

from noderemedy.model.host import MarkName

NEEDS_REMEDIATION = "host.metal3.io/external-remediation"  # seed 001: on the Machine
MARKED_BY = "node-remedy: MachineHealthCheck "  # the value of ours, followed by the name of the check
ASKED_AT = "remediation.metal3.io/asked-at"  # ours, on the Machine: when a health check marked it last
MACHINE_HOST = "metal3.io/BareMetalHost"  # on the Machine, or on its Metal3Machine: namespace/name
REBOOT = "reboot.metal3.io/machine-remediation"  # seed 001: on the host, the baremetal operator's interface
REBOOT_VALUE = '{"mode":"hard"}'
HOLD = "remediation.metal3.io/hold"  # ours, beside REBOOT: for whom, since when, by which leader
REBOOT_FOR = "reboot.metal3.io/metal3-remediation-"  # the same for a Metal3Remediation, with its uid
HOLD_FOR = "remediation.metal3.io/hold-"  # ours, beside REBOOT_FOR
FENCE_REBOOT_FOR = "reboot.metal3.io/node-fence-"  # the same for a NodeFence
FENCE_HOLD_FOR = "remediation.metal3.io/fence-hold-"  # ours, beside FENCE_REBOOT_FOR
ANY_REBOOT = "reboot.metal3.io"  # the operator's own, alone or with a key of whoever asks behind a slash
OUR_REBOOTS = (REBOOT, REBOOT_FOR, FENCE_REBOOT_FOR)
UNHEALTHY = "capm3.metal3.io/unhealthy"  # on a host: not to be chosen for another machine
UNHEALTHY_BEFORE = "capi.metal3.io/unhealthy"  # the same, and the only one that providers until early 2026 read
MARKS = {MarkName.CURRENT: UNHEALTHY, MarkName.BEFORE: UNHEALTHY_BEFORE}
NODE_BACKUP = "remediation.metal3.io/node-backup"  # ours, on the Machine
NODE_DELETED_AT = "remediation.metal3.io/node-deleted-at"  # ours, on the Machine
CLUSTER_PAUSED = "cluster.x-k8s.io/paused"
PAUSED = "node-remedy.dev/paused"
MODE = "node-remedy.dev/mode"  # on a policy: observe
CONFIGURATION = "node-remedy.dev/configuration"  # a label, on a ConfigMap that we read whatever its name is
APPROVAL = "node-remedy.dev/approval"  # on a policy: required
LEADERSHIP = "node-remedy.dev/leadership"  # on a claim: the number of the one that wrote it
GOVERN = "node-remedy.dev/govern"  # on a check that another controller looks after as well
DIALECT = "node-remedy.dev/dialect"  # on a check: by whose rules it is read, if not by its apiVersion's
REPAIR = "node-remedy.dev/repair"  # on a Node or Machine: do not wait for the timeouts
REMEDIATE = "cluster.x-k8s.io/remediate-machine"  # on a Machine: it is unhealthy, whatever its state
SKIP_REMEDIATION = "cluster.x-k8s.io/skip-remediation"  # on a Machine: it is nobody's target
STRATEGY = "machine.openshift.io/remediation-strategy"  # on a check: external-baremetal is the annotation mode
CONFIGURATION = "node-remedy.dev/configuration"  # a label: this ConfigMap is for us, whatever its name
LAST_GOOD_OF = "node-remedy.dev/last-good-of"  # on a ConfigMap of ours: the uid of the one that it was read from
REMEDY = "node-remedy.dev/remedy"  # on a Node: how far its remedies are, our record
REMEDY_NAME = "node-remedy.dev/remedy-name"  # on a Job: which remedy it runs
NODE = "node-remedy.dev/node"  # on a Job: the node that it is for
EPISODE = "node-remedy.dev/episode"  # on a Job: the episode that it belongs to
VOUCHES_FOR = "node-remedy.dev/vouches-for"  # on a Job: the boot that its success makes safe, by clean-resource
JOB_FOR = "node-remedy.dev/job"  # a label of our Jobs: remedy or fence
MANAGED_BY = "app.kubernetes.io/managed-by"  # a label
PREFIX = "node-remedy.dev/"
REMEDIATION_TIMESTAMP = "node-remedy.dev/remediation-timestamp"  # seed 002, on a Node: when its remedy was ordered
REMEDIED_AT = "node-remedy.dev/remedied-at"  # on a Node: what happened to it until then calls for no remedy any more
REMEDIATION_PODNAME = "node-remedy.dev/remediation-podname"  # seed 002, on a Node: the Job that runs its pod
OWNER = "node-remedy.dev/owner"  # on a Machine without a controller: who replaces it when it is sick
OURS = "node-remedy"  # the value by which we do
OWNER_FINALIZER = "node-remedy.dev/owner"  # keeps the old Machine until its successor was seen
REPLACEMENT = "node-remedy.dev/replacement"  # on a Machine that is being replaced: our record
REPLACES = "node-remedy.dev/replaces"  # on its successor: the uid of the former one
ATTESTED_OFF = "node-remedy.dev/attested-off"  # on a NodeFence or Metal3Remediation: this boot is over
REQUESTED_BY = "node-remedy.dev/requested-by"  # on a NodeFence: the object that asked for it
OUT_OF_SERVICE_BY = "node-remedy.dev/out-of-service-by"  # on a Node that we tainted: for which request, of which boot
CORDONED = "node-remedy.dev/cordoned"  # on a Node that we cordoned: for whom
EXCLUDE_DRAIN = "machine.cluster.x-k8s.io/exclude-node-draining"  # of Cluster API, on a Machine
HOST_PAUSED = "baremetalhost.metal3.io/paused"
HOST_DETACHED = "baremetalhost.metal3.io/detached"
CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"  # a label, on whatever belongs to a Cluster
CLONED_FROM = "cluster.x-k8s.io/cloned-from-name"  # on a request: the template it was made from
CLONED_FROM_KIND = "cluster.x-k8s.io/cloned-from-groupkind"
