"""The kinds that only the simulated controllers deal with."""

from __future__ import annotations

from noderemedy.model.ids import Kind
from noderemedy.model.workload import ATTACHMENT as ATTACHMENT
from noderemedy.model.workload import POD as POD

NAMESPACE = Kind("", "Namespace")
CLAIM = Kind("", "PersistentVolumeClaim")
VOLUME = Kind("", "PersistentVolume")
DISRUPTION_BUDGET = Kind("policy", "PodDisruptionBudget")
STATEFUL_SET = Kind("apps", "StatefulSet")
CUSTOM_RESOURCE = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
