#!/bin/sh
# Installs the Debian packages that are named, except those that are installed already: if that is all of them, no network
# is needed.
set -eu

missing=""
for package in "$@"; do
  status="$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)"
  if [ "$status" != installed ]; then missing="$missing $package"; fi
done
if [ -z "$missing" ]; then
  echo "All packages are installed already."
  exit 0
fi

apt-get update
# shellcheck disable=SC2086 # names of packages have no spaces
apt-get install --yes --no-install-recommends $missing
rm -rf /var/lib/apt/lists/*
