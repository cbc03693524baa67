"""Ring 7: the commands `node-remedy` and `kubectl-remedy`."""
