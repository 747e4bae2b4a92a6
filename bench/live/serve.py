"""Serve a model, where xllamacpp is installed: `python serve.py MODEL WINDOW` prints the address once it listens."""

import sys
import time

import xllamacpp  # type: ignore[import-not-found]  # installed in an environment of its own

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = int(sys.argv[2])
parameters.n_parallel = 1
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
