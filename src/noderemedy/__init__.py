"""node-remedy: repairs Kubernetes nodes, frees their workload only on proof, never causes a storm."""

__version__ = "0.1.0.dev0"
