"""node-remedy: repairs Kubernetes nodes, frees their workload only on proof, never causes a storm."""
