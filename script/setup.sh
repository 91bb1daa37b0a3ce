#!/bin/sh
# Brings a fresh checkout to where `bin/reeve` runs: packages (a current Node
# among them), tmux, and the build. Quick when all of that is there. With
# --for-tests also what only the tests need.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$1" >&2; }

wants_tests=no
if [ "${1:-}" = --for-tests ]; then wants_tests=yes; fi

# Installs the npm packages of directory $1, once for each state of its lock file; $2 is the copy that says for which
# they were installed, the rest are options.
install_npm_packages() {
  directory=$1 stamp=$2
  shift 2
  cmp -s "$directory/package-lock.json" "$directory/node_modules/$stamp" && return
  # Not `npm ci`: it refuses a registry that lacks other platforms' optional binaries, which nothing here needs.
  if ! (cd "$directory" && npm install --no-save --no-audit --no-fund --loglevel=error "$@" >&2); then
    say "npm could not install the packages (it says why above): check the network and npm's registry, and run this again."
    exit 69
  fi
  cp "$directory/package-lock.json" "$directory/node_modules/$stamp"
}

# The tools of the tests (test/tools) are left out until somebody needs them. Once they are there they stay: npm would
# remove them if it were told to leave them out.
if [ $wants_tests = yes ] || [ -e node_modules/vitest ]; then
  cmp -s package-lock.json node_modules/.reeve-lock || say "installing npm packages"
  install_npm_packages . .reeve-lock
else
  cmp -s package-lock.json node_modules/.reeve-lock-start || say "installing the npm packages that the build needs"
  install_npm_packages . .reeve-lock-start --workspaces=false
fi
# The real agents, nearly a gigabyte. Before the path changes: on another Node, npm would look for the machine's own
# settings (its registry, its certificates) elsewhere.
if [ $wants_tests = yes ]; then
  cmp -s test/agent-programs/package-lock.json test/agent-programs/node_modules/.reeve-lock ||
    say "installing the real agents, for the tests"
  install_npm_packages test/agent-programs .reeve-lock
fi
PATH="$PWD/node_modules/.bin:$PATH"
export PATH

if [ "$(node -p 'const [a, b] = process.versions.node.split("."); +a > 22 || (+a === 22 && +b >= 18)' 2>/dev/null)" != true ]; then
  say "this needs Node 22.18 or newer, and finds $(node --version 2>/dev/null || echo none): install a current Node and run this again."
  exit 69
fi

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else return 1; fi
}

install_package() {
  if command -v apt-get >/dev/null 2>&1; then
    # Another setup may be installing at the same time: wait for its lock.
    as_root apt-get update -qq -o DPkg::Lock::Timeout=300 >&2 && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -o DPkg::Lock::Timeout=300 -y -qq --no-install-recommends "$1" >&2
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

if [ $wants_tests = yes ]; then
  # Without these two the test of desktop notifications is skipped. Their packages are called so on Debian and Ubuntu.
  for package in libnotify-bin dbus-daemon; do
    case $package in libnotify-bin) program=notify-send ;; *) program=$package ;; esac
    if ! command -v apt-get >/dev/null 2>&1 || command -v "$program" >/dev/null 2>&1; then continue; fi
    say "installing $program, for the tests"
    install_package "$package" || say "$program cannot be installed here; its test will be skipped."
  done
  # Without it the tests of the report are skipped. Debian's package; elsewhere it may have another name.
  if command -v apt-get >/dev/null 2>&1 && ! command -v chromium >/dev/null 2>&1; then
    say "installing chromium, for the tests"
    install_package chromium || say "chromium cannot be installed here; the tests of the report will be skipped."
  fi
  # Without it the tests of sessions in containers are skipped. The tests start an engine of their own from it.
  if command -v apt-get >/dev/null 2>&1 && ! PATH="$PATH:/usr/sbin:/sbin" command -v dockerd >/dev/null 2>&1; then
    say "installing docker.io, for the tests"
    install_package docker.io || say "docker.io cannot be installed here; the tests of sessions in containers will be skipped."
  fi
  # Without it the tests over Podman are skipped.
  if command -v apt-get >/dev/null 2>&1 && ! command -v podman >/dev/null 2>&1; then
    say "installing podman, for the tests"
    install_package podman || say "podman cannot be installed here; the tests over it will be skipped."
  fi
  # Without these the tests of shell completion, and of recordings, fail, and say so.
  for program in bash zsh fish asciinema; do
    command -v "$program" >/dev/null 2>&1 && continue
    say "installing $program, for the tests"
    install_package "$program" || say "$program is missing and cannot be installed here; its tests will fail."
  done
fi

# Only the tests look at the client's types, which need TypeScript.
is_built() {
  [ -e dist/.built ] || return 1
  if [ $wants_tests = yes ] && [ ! -e dist/types ]; then return 1; fi
  [ -z "$(find src test/scripted-model script/build.ts package.json tsconfig.json -newer dist/.built -print -quit)" ]
}

if ! is_built; then
  say "building"
  node script/build.ts
fi
