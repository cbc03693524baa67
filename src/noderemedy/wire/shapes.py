"""The fields that we read, in the shape in which the API sends them. Decoded straight from bytes or trees."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field


class Owner(Struct, rename="camel"):
    """An owner reference."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None


class Metadata(Struct, rename="camel"):
    """Object metadata. `resourceVersion` goes to the cache entry, not into the object."""

    name: str
    uid: str = ""
    resource_version: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None
    deletion_timestamp: datetime | None = None


class DatedMetadata(Metadata, rename="camel"):
    """The same with its birthday, for kinds of which there are few events."""

    creation_timestamp: datetime | None = None
    generation: int = 0
    finalizers: list[str] | None = None


class NodeMetadata(Metadata, rename="camel"):
    """The same of a Node: what is told of its predecessor of that name is not about it."""

    creation_timestamp: datetime | None = None


class ManagedFieldsShape(Struct):
    """Who wrote which part of an object, and when."""

    manager: str = ""
    subresource: str = ""
    time: datetime | None = None


class ManagedMetadata(DatedMetadata, rename="camel"):
    """The same with its writers, for kinds that another controller may look after."""

    managed_fields: list[ManagedFieldsShape] | None = None


class FinalizedMetadata(DatedMetadata, rename="camel"):
    """The same with its finalizers, for kinds that carry ours."""

    finalizers: list[str] | None = None


class TaintShape(Struct):
    """A taint of a Node."""

    key: str
    effect: str = ""
    value: str = ""


class ConditionShape(Struct, rename="camel", frozen=True):
    """A condition; its heartbeat is left out on purpose. Frozen: what was read of it before is found again by it."""

    type: str
    status: str = "Unknown"
    last_transition_time: datetime | None = None
    reason: str = ""


class NodeCondition(ConditionShape, rename="camel", frozen=True):
    """The same of a Node: in the message of our own one we say which devices are not the node's."""

    message: str = ""


class NodeSpec(Struct, rename="camel"):
    """What somebody wants of a Node."""

    provider_id: str = field(default="", name="providerID")
    unschedulable: bool = False
    taints: list[TaintShape] | None = None


class NodeInfo(Struct, rename="camel"):
    """What kubelet tells about the system."""

    boot_id: str = field(default="", name="bootID")
    kubelet_version: str = ""
    system_uuid: str = field(default="", name="systemUUID")


class AddressShape(Struct):
    """One way to reach a Node."""

    address: str = ""


class NodeStatus(Struct, rename="camel"):
    """What kubelet and the node lifecycle controller say."""

    conditions: list[NodeCondition] | None = None
    addresses: list[AddressShape] | None = None
    node_info: NodeInfo | None = None


class NodeShape(Struct):
    """A Node."""

    metadata: NodeMetadata
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class NameShape(Struct):
    """A reference that matters by its name only."""

    name: str = ""


class MachineSpec(Struct, rename="camel"):
    """What somebody wants of a Machine."""

    provider_id: str | None = field(default=None, name="providerID")
    cluster_name: str | None = None
    failure_domain: Any = None  # only a text names one; nothing else of a Machine is refused for it


class Conditions(Struct):
    """Conditions of another generation than the object's own."""

    conditions: list[ConditionShape] | None = None


class Deprecated(Struct):
    """Where v1beta2 keeps the conditions of v1beta1."""

    v1beta1: Conditions | None = None


class ConditionedStatus(Struct, rename="camel"):
    """Conditions as Cluster API has them, in one or two generations: v1beta1 keeps the newer ones aside."""

    conditions: list[ConditionShape] | None = None
    v1beta2: Conditions | None = None
    deprecated: Deprecated | None = None


class RawConditions(Struct):
    """Conditions that are judged, and written back as they came."""

    conditions: list[Any] | None = None


class RawDeprecated(Struct):
    """Where v1beta2 keeps the conditions of v1beta1, as they came."""

    v1beta1: RawConditions | None = None


class MachineStatus(Struct, rename="camel"):
    """What is known of a Machine."""

    conditions: list[Any] | None = None
    v1beta2: RawConditions | None = None
    deprecated: RawDeprecated | None = None
    node_ref: NameShape | None = None
    phase: str | None = None
    last_updated: datetime | None = None


class RawStatusShape(Struct):
    """A status as it came, below its name: so that a mistake in it is told with its whole path."""

    status: MachineStatus


class StatusShape(Struct):
    """The same, with conditions to judge by."""

    status: ConditionedStatus


class MachineSpecShape(Struct):
    """The part of a Machine that is read a second time, field by field: what is wrong is told with its path."""

    spec: MachineSpec | None = None


class MachineShape(Struct, rename="camel"):
    """A Machine of Cluster API or OpenShift: alike in all that we read here."""

    metadata: DatedMetadata
    api_version: str = ""
    spec: Any = None  # as it came: a successor takes it over
    status: MachineStatus | None = None


class ClusterSpec(Struct):
    """What somebody wants of a Cluster."""

    paused: bool | None = None


class ClusterShape(Struct):
    """A Cluster of Cluster API."""

    metadata: Metadata
    spec: ClusterSpec | None = None
    status: ConditionedStatus | None = None


class HealthCheckShape(Struct, rename="camel"):
    """A MachineHealthCheck. Its spec is read field by field: garbage in it must be told, not refused."""

    metadata: ManagedMetadata
    api_version: str = ""
    spec: Any = None
    status: Any = None


class RemediationShape(Struct):
    """A Metal3Remediation. Its spec is read field by field, as that of a check."""

    metadata: FinalizedMetadata
    spec: Any = None
    status: Any = None


class MetadataShape(Struct):
    """Any object of which the metadata is enough."""

    metadata: Metadata


class DatedShape(Struct):
    """The same with its birthday: a request of a kind that we know nothing about."""

    metadata: DatedMetadata


class TemplateShape(Struct):
    """A `…Template` of any group. Its spec is read field by field: garbage in it must be told, not refused."""

    metadata: Metadata
    spec: Any = None


class ConsumerShape(Struct, rename="camel"):
    """`spec.consumerRef` of a host."""

    kind: str = ""
    name: str = ""
    namespace: str = ""
    api_version: str = ""


class BmcShape(Struct, rename="camel"):
    """How the operator reaches the BMC of a host; only what names its Secret."""

    credentials_name: str = ""


class CredentialsShape(Struct, rename="camel"):
    """A Secret in the version that was tried or accepted."""

    credentials: NameShape | None = None
    credentials_version: str = ""


class HostSpec(Struct, rename="camel"):
    """What somebody wants of a host."""

    online: bool = False
    bmc: BmcShape | None = None
    consumer_ref: ConsumerShape | None = None
    disable_power_off: bool = False
    externally_provisioned: bool = False


class ProvisioningShape(Struct):
    """Where in its life a host is."""

    state: str = ""


class HostStatus(Struct, rename="camel"):
    """What the baremetal operator says of a host."""

    powered_on: bool | UnsetType | None = UNSET
    operational_status: str = ""
    good_credentials: CredentialsShape | None = None
    tried_credentials: CredentialsShape | None = None
    provisioning: ProvisioningShape | None = None
    error_type: str = ""
    error_message: str = ""


class HostShape(Struct):
    """A BareMetalHost."""

    metadata: Metadata
    spec: HostSpec | None = None
    status: HostStatus | None = None


class RebootShape(Struct):
    """The value of a reboot annotation."""

    mode: str = ""


class HoldShape(Struct, rename="camel"):
    """The JSON of our hold record."""

    machine_uid: str
    since: datetime
    node_uid: str = ""
    boot_id: str = field(default="", name="bootID")
    token: int = 0
    remediation: str = ""
    powered_on: bool | UnsetType = UNSET
    off_at: datetime | None = None
    contradicted_at: datetime | None = None
    on_at: datetime | None = None


class BackupShape(Struct, rename="camel"):
    """The JSON of a node's backup. Without a uid it is of whichever Node of that name was there."""

    labels: dict[str, str]
    node_uid: str = ""
    annotations: dict[str, str] = {}
    taints: list[TaintShape] = []
    unschedulable: bool = False
