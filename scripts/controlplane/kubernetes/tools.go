//go:build tools

// Package controlplane names the programs of the control plane that the end-to-end tests run, so that go.mod and
// go.sum pin exactly what they are built from. Nothing here is compiled into node-remedy.
package controlplane

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
