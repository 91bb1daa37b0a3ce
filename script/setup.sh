#!/bin/sh
# Brings a fresh checkout to where `bin/reeve` runs: packages (a current Node
# among them), tmux, and the build. Quick when all of that is there. With
# --for-tests also what only the tests need.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$1" >&2; }

# Installs the npm packages of directory $1. Does nothing if its lock file did not change since the last time.
install_npm_packages() {
  cmp -s "$1/package-lock.json" "$1/node_modules/.reeve-lock" && return
  say "$2"
  # Not `npm ci`: it refuses a registry that lacks other platforms' optional binaries, which nothing here needs.
  (cd "$1" && npm install --no-save --no-audit --no-fund --loglevel=error >&2)
  cp "$1/package-lock.json" "$1/node_modules/.reeve-lock"
}

install_npm_packages . "installing npm packages"
PATH="$PWD/node_modules/.bin:$PATH"
export PATH

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else return 1; fi
}

install_package() {
  if command -v apt-get >/dev/null 2>&1; then
    as_root apt-get update -qq >&2 && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >&2
  elif command -v dnf >/dev/null 2>&1; then as_root dnf install -y -q "$1" >&2
  elif command -v apk >/dev/null 2>&1; then as_root apk add --quiet "$1" >&2
  elif command -v pacman >/dev/null 2>&1; then as_root pacman -S --noconfirm --quiet "$1" >&2
  elif command -v brew >/dev/null 2>&1; then brew install --quiet "$1" >&2
  else return 1
  fi
}

for program in tmux git; do
  command -v "$program" >/dev/null 2>&1 && continue
  say "installing $program"
  if ! install_package "$program"; then
    say "$program is missing: install it with your package manager (for example: sudo apt-get install $program) and run this again."
    exit 69
  fi
done

# The real agents, more than a gigabyte; and the shells, without which the tests of completion fail, and say so.
if [ "${1:-}" = --for-tests ]; then
  install_npm_packages test/agent-programs "installing the real agents, for the tests"
  for program in bash zsh fish; do
    command -v "$program" >/dev/null 2>&1 && continue
    say "installing $program, for the tests"
    install_package "$program" || say "$program is missing and cannot be installed here; its tests will fail."
  done
fi

if [ ! -e dist/.built ] || [ -n "$(find src test/scripted-model script/build.ts package.json tsconfig.json -newer dist/.built -print -quit)" ]; then
  say "building"
  node script/build.ts
fi
