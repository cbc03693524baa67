//go:build tools

// Package controlplane names the etcd server that the end-to-end tests run, so that go.mod and go.sum pin exactly
// what it is built from. Nothing here is compiled into node-remedy.
package controlplane

import (
	_ "go.etcd.io/etcd/server/v3"
)
