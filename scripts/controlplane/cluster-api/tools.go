//go:build tools

// Package controlplane names Cluster API's core manager, which the end-to-end tests run as a real owner of machines,
// so that go.mod and go.sum pin exactly what it is built from. Nothing here is compiled into node-remedy.
package controlplane

import (
	_ "sigs.k8s.io/cluster-api"
)
