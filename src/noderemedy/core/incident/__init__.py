"""Records of incidents: what happened to a target, and why; one object per episode, for people and for what-if."""
