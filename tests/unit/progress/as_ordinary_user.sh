#!/bin/sh
# Runs a program as an ordinary user: as user `nobody` if the caller is root, else as the caller.
set -eu
if [ "$(id -u)" -ne 0 ]; then exec "$@"; fi
exec setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
