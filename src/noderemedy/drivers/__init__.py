"""Ring 4: real devices, thin and asynchronous."""
