"""How each controller is started: its custom resources, its webhooks, its process."""
