#!/bin/sh
# Installs agent-gateway on Linux or macOS:
#
#     curl -fsSL https://github.com/agent-gateway/agent-gateway/releases/latest/download/install.sh | sh
#
# It downloads one file, compares it with the published SHA-256 sum (and with the
# attestation, if the GitHub CLI is logged in), and moves it into place. It never
# asks for more rights. --uninstall removes the program.
set -eu

program=agent-gateway
repository=agent-gateway/agent-gateway
releases=https://github.com/$repository/releases

usage() {
  cat <<END
Installs agent-gateway on Linux or macOS. Options, after "sh -s --":

    --version X.Y.Z   that version instead of the latest one
    --to DIR          the folder for the program (default: ~/.local/bin)
    --from URL        a mirror of the releases, with the same paths below URL:
                      latest/download/FILE and download/vX.Y.Z/FILE
    --uninstall       removes the program from that folder
    --help            this text
END
}

say() {
  printf '%s\n' "$*"
}

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

# Prints a text as one word of the shell.
quote() {
  case $1 in
    *[!0-9A-Za-z/._-]*) printf "'%s'\n" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) say "$1" ;;
  esac
}

# Everything is in functions, so that a script that was cut off does nothing.
main() {
  version='' folder='' from=$releases uninstall=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version=* | --to=* | --from=*)
        argument=$1
        shift
        set -- "${argument%%=*}" "${argument#*=}" "$@"
        ;;
    esac
    case $1 in
      --version) version=${2-} && needs_value "$@" && shift 2 ;;
      --to) folder=${2-} && needs_value "$@" && shift 2 ;;
      --from) from=${2-} && needs_value "$@" && shift 2 ;;
      --uninstall) uninstall=yes && shift ;;
      --help) usage && exit ;;
      *) fail "unknown argument '$1': see --help" ;;
    esac
  done
  version=${version#v} from=${from%/}
  case $version in
    *[!0-9A-Za-z.-]*) fail "'$version' is not a version such as 1.2.3" ;;
  esac
  case $from in
    https://* | http://localhost[:/]* | http://127.0.0.1[:/]*) ;;
    *) fail "--from needs an https: URL" ;;
  esac
  if [ -z "$folder" ]; then
    [ "$(id -u)" != 0 ] ||
      fail "as root, it needs --to DIR; for all users: --to /usr/local/bin"
    [ -n "${HOME-}" ] || fail "HOME is not set: use --to DIR"
    folder=$HOME/.local/bin
  fi
  case $folder in
    /*) ;;
    *) folder=$(pwd)/$folder ;;
  esac
  folder=${folder%/}
  if [ -n "$uninstall" ]; then
    uninstall_program
  else
    find_target
    has curl wget || fail "curl or wget is needed to download"
    has sha256sum shasum || fail "sha256sum or shasum is needed to check the download"
    install_program
  fi
}

needs_value() {
  [ -n "${2-}" ] || fail "$1 needs a value"
}

# Sets $target to the name of this system's build.
find_target() {
  case $(uname -m) in
    x86_64 | amd64) architecture=x86_64 ;;
    aarch64 | arm64) architecture=aarch64 ;;
    *) fail "there is no build for $(uname -m); $with_deno" ;;
  esac
  case $(uname -s) in
    Linux)
      check_libc
      target=$architecture-unknown-linux-gnu
      ;;
    Darwin)
      # A shell under Rosetta reports the wrong architecture.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" != 1 ] ||
        architecture=aarch64
      target=$architecture-apple-darwin
      ;;
    MINGW* | MSYS* | CYGWIN*) fail "on Windows, use install.ps1 in PowerShell" ;;
    *) fail "there is no build for $(uname -s); $with_deno" ;;
  esac
}

with_deno="with Deno 2.6 or later, the program runs from its one file: see docs/install.md in https://github.com/$repository"

# The builds need glibc 2.27 or later. Where getconf is missing, glibc's loader
# shows that there is glibc, and whether it is new enough shows at the first start.
check_libc() {
  loader=/lib64/ld-linux-x86-64.so.2
  [ "$architecture" = x86_64 ] || loader=/lib/ld-linux-aarch64.so.1
  libc=''
  if has getconf; then
    libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || loader=''
  fi
  [ -e "$loader" ] ||
    fail "the builds need glibc, which this system (musl, as on Alpine?) does not have; $with_deno"
  [ -n "$libc" ] || return 0
  libc=${libc#glibc }
  major=${libc%%.*} minor=${libc#*.}
  minor=${minor%%.*}
  [ "$major" -gt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -ge 27 ]; } ||
    fail "the builds need glibc 2.27 or later, and this system has $libc; $with_deno"
}

# has COMMAND...: whether there is one of them.
has() {
  for command; do
    ! command -v "$command" >/dev/null || return 0
  done
  return 1
}

# Prints the SHA-256 sum of a file.
sum_of() {
  if has sha256sum; then sum=$(sha256sum <"$1"); else sum=$(shasum -a 256 <"$1"); fi
  say "${sum%% *}"
}

# download URL FILE: says why if it fails.
download() {
  reason=''
  if has curl; then download_by_curl "$@"; else download_by_wget "$@"; fi
  case $reason in
    '') return ;;
    redirect) fail "cannot download $1: a redirect leads to http:" ;;
    missing) fail "cannot download $1: there is no such release, or it lacks this file" ;;
    disk) fail "cannot download $1 completely: is there room on the disk?" ;;
    stalls) fail "cannot download $1: the connection stalls$(through_proxy)" ;;
    connect) fail "cannot connect to download $1$(through_proxy)" ;;
    *) fail "cannot download $1 completely: the connection broke$(through_proxy)" ;;
  esac
}

# Sets $reason if it fails, as the next one does.
download_by_curl() {
  protocols="=${1%%:*}" # a redirect from https: must not lead to http:
  if [ -t 2 ]; then show=--progress-bar; else show=--silent; fi
  code=0
  # Less than 1 kB/s for 30 s is a download that stalls.
  curl --fail --location --show-error $show --proto "$protocols" \
    --connect-timeout 30 --speed-limit 1000 --speed-time 30 \
    --retry 1 --output "$2" "$1" || code=$?
  case $code in
    0) ;;
    1) reason=redirect ;;
    22) reason=missing ;;
    23) reason=disk ;;
    28) reason=stalls ;;
    5 | 6 | 7 | 35 | 60 | 97) reason=connect ;;
    *) reason=broke ;;
  esac
}

download_by_wget() {
  address=$1
  set -- -S -o "$work/log" -O "$2"
  if wget --version >/dev/null 2>&1; then # GNU's
    set -- "$@" --tries=2 --timeout=30
    [ ! -t 2 ] || set -- "$@" --show-progress
  elif wget --help 2>&1 | grep -q '^[[:blank:]]*-T[ ,]'; then
    set -- "$@" -T30 # BusyBox's, which not always has it
  fi
  code=0
  wget "$@" "$address" || code=$?
  case $address:$(sed -n 's/^ *[Ll]ocation: *\(http:\).*/\1/p' "$work/log") in
    https:*http:) reason=redirect && return ;;
  esac
  [ $code != 0 ] || return 0
  sed '/^ /d' "$work/log" >&2
  case $code:$(cat "$work/log") in
    8:* | *'server returned error'*) reason=missing ;;
    3:* | *'No space left'* | *'short write'* | *'File too large'*) reason=disk ;;
    5:* | *'onnection refused'* | *'unable to resolve'* | *'bad address'* | *"can't connect"*)
      reason=connect
      ;;
    *'timed out'*) reason=stalls ;;
    *) reason=broke ;;
  esac
}

# Prints the proxy that the environment names, if any, without its password.
through_proxy() {
  proxy=${https_proxy-${HTTPS_PROXY-${ALL_PROXY-${all_proxy-}}}}
  [ -z "$proxy" ] || say "; is the proxy ${proxy##*@} of the environment right?"
}

# Asks the GitHub CLI whether the release workflow built a file of this version,
# or of any if none was named. An old CLI and one that is not logged in cannot tell.
check_attestation() {
  [ "$from" = "$releases" ] && has gh && gh auth status >/dev/null 2>&1 &&
    gh attestation verify --help >/dev/null 2>&1 || return 0
  gh attestation verify "$1" --repo "$repository" --cert-identity-regex \
    "^https://github\.com/$repository/\.github/workflows/release\.yml@refs/tags/v${version:-[0-9]+\.[0-9]+\.[0-9]+}\$" >/dev/null ||
    fail "the GitHub CLI does not find an attestation of this file: it is not installed"
  say "Attestation verified: built by the release workflow of $repository"
}

install_program() {
  name=$program-$target
  if [ -n "$version" ]; then
    url=$from/download/v$version
  else
    url=$from/latest/download
  fi
  mkdir -p "$folder" 2>/dev/null || fail "cannot make the folder $folder: use --to DIR"
  [ ! -d "$folder/$program" ] ||
    fail "$folder/$program is a folder: remove it, or use --to DIR"
  # In that folder: the last step is then a rename, which cannot be half done.
  work=$(mktemp -d "$folder/.$program.XXXXXX" 2>/dev/null) ||
    fail "cannot write to $folder: use --to DIR"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 141' PIPE
  trap 'exit 143' TERM HUP
  printf '#!/bin/sh\n' >"$work/try"
  chmod 755 "$work/try"
  "$work/try" 2>/dev/null ||
    fail "programs in $folder cannot be started (is it mounted noexec?): use --to DIR"

  download "$url/SHA256SUMS" "$work/SHA256SUMS"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS of this release has no sum for $name"
  if has gzip; then # two fifths of the size
    say "Downloading $url/$name.gz"
    download "$url/$name.gz" "$work/$program.gz"
    gzip -d "$work/$program.gz" ||
      fail "the download is damaged, or there is no room on the disk; nothing was installed"
  else
    say "Downloading $url/$name"
    download "$url/$name" "$work/$program"
  fi
  actual=$(sum_of "$work/$program")
  [ "$actual" = "$expected" ] ||
    fail "the download is damaged: its SHA-256 sum is $actual instead of $expected; nothing was installed"
  check_attestation "$work/$program"

  chmod 755 "$work/$program"
  installed=$("$work/$program" --version) ||
    fail "the program does not start on this system; nothing was installed"
  replaced=''
  if [ -x "$folder/$program" ]; then
    replaced=$("$folder/$program" --version 2>/dev/null) || replaced=''
  fi
  mv -f "$work/$program" "$folder/$program" || fail "cannot write $folder/$program"
  say "Installed $folder/$program: $installed"
  [ -z "$replaced" ] || say "It replaced $replaced"
  check_path
  say "To uninstall: rm $(quote "$folder/$program")"
}

uninstall_program() {
  [ -f "$folder/$program" ] || fail "there is no $folder/$program: use --to DIR"
  rm -f "$folder/$program" || fail "cannot remove $folder/$program"
  say "Removed $folder/$program"
}

# Says how to put the folder on PATH, unless it is the one that counts already.
check_path() {
  found=$(command -v "$program") || found=''
  case :$PATH: in
    *:"$folder":*)
      [ "$found" = "$folder/$program" ] || say "Note: $found comes first on your PATH"
      ;;
    *)
      say "$folder is not on your PATH. Add this line to your shell's start file:"
      say "  export PATH=$(quote "$folder"):\"\$PATH\""
      ;;
  esac
}

main "$@"
