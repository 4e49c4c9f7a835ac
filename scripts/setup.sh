#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the named groups need; does nothing, quickly, where it is there already.
#
#   scripts/setup.sh [system] [clang] [base] [models] [lint]
#   scripts/setup.sh print-clang     says which clang++ `clang` installed
#
# system, clang   packages of the distribution (Debian and Ubuntu; elsewhere only checked)
# base, models, lint   requirements/GROUP.txt, into the virtual environment .venv
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SYSTEM_PACKAGES=(
  g++ cmake ninja-build ccache git python3-venv python3-dev
  libsimdjson-dev libfmt-dev libcli11-dev robin-map-dev libgtest-dev libgmock-dev libbenchmark-dev
  libdeflate-dev libxxhash-dev
)
readonly TORCH_PYTHON_MINOR=11 # transformers needs Python 3.11

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

is_debian() {
  [[ -r /etc/os-release ]] && command -v apt-get dpkg-query >/dev/null &&
    grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release
}

# Those of the packages that are not installed, one a line.
missing_packages() {
  local present package
  # dpkg-query fails where it knows nothing of one of them, which is what is asked.
  present=$({ dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } | sed -n 's/ installed$//p')
  for package in "$@"; do
    grep -qxF "$package" <<<"$present" || printf '%s\n' "$package"
  done
}

# The command prefix that gives root's rights, or failure where there is none.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

can_be_root() { [[ $EUID -eq 0 ]] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }

# Installs those of the packages that are missing; the package lists are fetched only when they do
# not know one of them, or are out of date.
install_packages() {
  local missing log
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if ! can_be_root; then
    fail "these packages are missing and only root may install them. Run this, then try again:
  sudo apt-get update && sudo apt-get install -y ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  log=$(mktemp)
  if ! apt_get install -y "${missing[@]}" >"$log" 2>&1; then
    if ! apt_get update >"$log" 2>&1 || ! apt_get install -y "${missing[@]}" >"$log" 2>&1; then
      cat "$log" >&2
      rm -f "$log"
      fail "apt-get could not install ${missing[*]}"
    fi
  fi
  rm -f "$log"
}

# Elsewhere than on Debian and Ubuntu: names what is missing, installs nothing.
check_tools() {
  local tool missing=()
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [[ ${#missing[@]} -eq 0 ]] ||
    fail "not a Debian or Ubuntu system, so nothing was installed. Missing: ${missing[*]}.
  Also needed, with their headers: fmt, simdjson, CLI11, tsl-robin-map, GoogleTest, Google Benchmark,
  libdeflate, xxHash. Install them with the package manager of this system, then try again."
}

setup_system() {
  if ! is_debian; then
    check_tools g++ cmake ninja git python3
    return
  fi
  install_packages "${SYSTEM_PACKAGES[@]}"
  find_python >/dev/null || install_packages "python3.$TORCH_PYTHON_MINOR-venv"
}

# Versions of clang that go with the C++20 library of current distributions, best first: clang 15 and
# older cannot read the ranges of libstdc++ 12.
readonly CLANG_MAJORS=(19 18 20 21 17 16)

# The major version of clang to use: one that is installed with its runtime, else the best that the
# distribution has.
clang_major() {
  local major
  for major in "${CLANG_MAJORS[@]}"; do
    if [[ -z $(missing_packages "clang-$major" "libclang-rt-$major-dev") ]]; then
      printf '%s\n' "$major"
      return 0
    fi
  done
  for major in "${CLANG_MAJORS[@]}"; do
    if apt-cache show "clang-$major" "libclang-rt-$major-dev" >/dev/null 2>&1; then
      printf '%s\n' "$major"
      return 0
    fi
  done
  return 1
}

setup_clang() {
  local major
  if ! is_debian; then
    check_tools clang clang++
    return
  fi
  # A new machine's package lists may be empty.
  if ! major=$(clang_major); then
    can_be_root && apt_get update >/dev/null 2>&1
    major=$(clang_major) || fail "the distribution has none of clang ${CLANG_MAJORS[*]}, one of which sanitize and fuzz need"
  fi
  install_packages "clang-$major" "libclang-rt-$major-dev"
}

# The clang++ that setup_clang installed, for the Makefile.
print_clang() {
  local major
  if is_debian && major=$(clang_major) && command -v "clang++-$major" >/dev/null; then
    printf 'clang++-%s\n' "$major"
  else
    printf 'clang++\n'
  fi
}

# The newest suitable Python that can make virtual environments; PYTHON names another.
find_python() {
  local python
  for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if command -v "$python" >/dev/null &&
      "$python" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, $TORCH_PYTHON_MINOR))" 2>/dev/null; then
      printf '%s\n' "$python"
      return 0
    fi
  done
  return 1
}

setup_venv() {
  local python
  if ! [[ -x .venv/bin/python ]] || ! .venv/bin/python -c '' 2>/dev/null; then
    python=$(find_python) || fail "no Python 3.$TORCH_PYTHON_MINOR or newer with venv was found. Set PYTHON to one."
    say "making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
  fi
}

# Installs requirements/GROUP.txt unless the stamp says that this very list is installed.
setup_requirements() {
  local group=$1 file="requirements/$1.txt" stamp=".venv/.winze-$1" log
  setup_venv
  cmp -s "$file" "$stamp" && return 0
  say "installing the Python packages of $file"
  log=$(mktemp)
  # Python compiles what it imports when it does; pip would compile all, which takes longer.
  if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
    --requirement "$file" >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    fail "pip could not install $file"
  fi
  rm -f "$log"
  cp "$file" "$stamp"
}

for group in "$@"; do
  case $group in
    system) setup_system ;;
    clang) setup_clang ;;
    print-clang) print_clang ;;
    base | models | lint) setup_requirements "$group" ;;
    *) fail "'$group' is not a group. There are: system clang base models lint" ;;
  esac
done
