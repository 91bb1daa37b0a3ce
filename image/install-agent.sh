#!/bin/sh
# install-agent.sh PROGRAM NPM-PACKAGE VERSION: installs an agent for all users, checks that it starts, and writes its
# version into /usr/local/share/reeve/versions. Without a version it does nothing.
set -eu

program="$1" package="$2" version="$3"
if [ -z "$version" ]; then
  echo "$program is not asked for."
  exit 0
fi

# A home that goes away: nothing of npm or of the first start of the agent stays in the image.
HOME="$(mktemp -d)"
TMPDIR="$HOME"
export HOME TMPDIR
# By default npm would wait more than a minute before it says that it cannot reach or trust the registry.
npm install --global --no-audit --no-fund --no-update-notifier --cache "$HOME/npm" \
  --fetch-retry-mintimeout 1000 --fetch-retry-maxtimeout 5000 "$package@$version"
if ! "$program" --version; then
  echo "$package@$version was installed, but $program does not start." >&2
  exit 1
fi
installed="$(node --print 'require(process.argv[1]).version' "$(npm root --global)/$package/package.json")"
echo "$program $installed" >> /usr/local/share/reeve/versions
rm -rf "$HOME"
