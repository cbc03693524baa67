"""The Kubernetes driver: kubeconfig, one client per cluster, lists, watches, discovery, events, leases."""
