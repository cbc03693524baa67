"""What changes when node-remedy takes over health checks that another controller looked after. `node-remedy import`."""
