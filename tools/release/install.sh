#!/bin/sh
# Installs agent-gateway on Linux or macOS:
#
#     curl -fsSL https://github.com/agent-gateway/agent-gateway/releases/latest/download/install.sh | sh
#
# It downloads one file, compares it with the published SHA-256 sum (and with the
# attestation, if the GitHub CLI is logged in), and moves it into place. It never
# asks for more rights. --uninstall removes the program. It replaces and removes
# nothing but this program.
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
    --from FILE       a binary that was downloaded before, plain or as .gz
    --uninstall       removes the program from that folder
    --help, -h        this text
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
      --version) version=${2-} && needs_value "$@" && shift 2 ;;
      --to) folder=${2-} && needs_value "$@" && shift 2 ;;
      --from) from=${2-} && needs_value "$@" && shift 2 ;;
      --uninstall) uninstall=yes && shift ;;
      --help | -h) usage && exit ;;
      *) fail "unknown argument '$1': see --help" ;;
    esac
  done
  version=${version#v} from=${from%/}
  case $version in
    *[!0-9A-Za-z.-]*) fail "'$version' is not a version such as 1.2.3" ;;
  esac
  case $from in
    https://*) download=yes ;;
    # What is before an @ is no host: http://localhost:1@host.example
    http://*@*) fail "--from needs an https: URL or a file" ;;
    http://localhost[:/]* | http://127.0.0.1[:/]*) download=yes ;;
    *://*) fail "--from needs an https: URL or a file" ;;
    *)
      download=''
      [ -f "$from" ] || fail "--from needs an https: URL or a file, and there is no file '$from'"
      [ -z "$version" ] || fail "--version cannot choose the version of a file"
      ;;
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
  folder=${folder%/} file=${folder%/}/$program
  has mktemp || fail "mktemp is needed"
  if [ -n "$uninstall" ]; then
    uninstall_program
  else
    has sha256sum shasum || fail "sha256sum or shasum is needed to check the download"
    if [ -n "$download" ]; then
      find_target
      has curl wget || fail "curl or wget is needed to download"
      case $from in https:*) require_certificates ;; esac
    fi
    install_program
  fi
}

# Removes what this run has made and does not need: its files, and empty folders.
clean_up() {
  [ -z "$work" ] || rm -rf "$work"
  while [ -n "$made" ] && [ "$made" != "$existing" ]; do
    rmdir "$made" 2>/dev/null || :
    made=${made%/*}
  done
}

needs_value() {
  [ -n "${2-}" ] || fail "$1 needs a value"
}

with_deno="with Deno 2.6 or later, the program runs from its one file: see docs/install.md in https://github.com/$repository"

# Sets $target to the name of this system's build.
find_target() {
  case $(uname -m) in
    x86_64 | amd64) architecture=x86_64 ;;
    aarch64 | arm64) architecture=aarch64 ;;
    *) fail "there is no build for $(uname -m); $with_deno" ;;
  esac
  case $(uname -s) in
    Linux) target=$architecture-unknown-linux-gnu ;;
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

# BusyBox's wget takes any certificate, so whoever answers could send another program,
# and sums that fit it. An attestation would show that.
require_certificates() {
  has curl || is_gnu_wget || can_attest ||
    fail "curl or GNU wget is needed: this wget does not check certificates; or log in to the GitHub CLI (gh), which checks the attestation"
}

is_gnu_wget() {
  wget --version >/dev/null 2>&1
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

# download URL FILE: sets $http to the status of the answer, if there was one. If
# it fails, the downloader has said why.
download() {
  if has curl; then download_by_curl "$@"; else download_by_wget "$@"; fi
}

require_download() {
  download "$@" || fail_download "$1"
}

fail_download() {
  case $http in
    404) fail "there is no $1: no such release, or no such file in it; nothing was installed" ;;
    [45]??) fail "the server did not send $1 (HTTP $http), perhaps because of a limit or a proxy: try again later; nothing was installed" ;;
    *) fail "cannot download $1; nothing was installed" ;;
  esac
}

download_by_curl() {
  if [ -t 2 ]; then show=--progress-bar; else show=--silent; fi
  # A redirect from https: must not lead to http:. Less than 1 kB/s for 30 s is a
  # download that stalls. A server may ask for a pause of an hour before the retry.
  http=$(curl --fail --location --show-error $show --proto "=${1%%:*}" \
    --connect-timeout 30 --speed-limit 1000 --speed-time 30 \
    --retry 1 --retry-max-time 120 --write-out '%{http_code}' --output "$2" "$1")
}

download_by_wget() {
  address=$1
  set -- -S -o "$work/log" -O "$2"
  if is_gnu_wget; then
    set -- "$@" --tries=2 --timeout=30
    [ ! -t 2 ] || set -- "$@" --show-progress
  fi
  code=0
  wget "$@" "$address" || code=$?
  [ $code = 0 ] || sed '/^ /d' "$work/log" >&2
  http=$(sed -n 's/.*HTTP\/[0-9.]* \([0-9]*\).*/\1/p' "$work/log" | sed '$!d')
  case $address:$(sed -n 's/^ *[Ll]ocation: *\(http:\).*/\1/p' "$work/log") in
    https:*http:) fail "a redirect leads to http:" ;;
  esac
  return $code
}

# Asks the GitHub CLI whether the release workflow built a file of this version,
# or of any if none was named: wherever the file comes from, a mirror included.
check_attestation() {
  if ! can_attest; then
    say "Not attested: an attestation needs the GitHub CLI (gh), logged in"
    return
  fi
  gh attestation verify "$1" --repo "$repository" --cert-identity-regex \
    "^https://github\.com/$repository/\.github/workflows/release\.yml@refs/tags/v${version:-[0-9]+\.[0-9]+\.[0-9]+}\$" >/dev/null ||
    fail "the GitHub CLI does not find an attestation of this file: it is not installed"
  say "Attestation verified: built by the release workflow of $repository"
}

# Whether there is a GitHub CLI that knows attestations, and is logged in.
can_attest() {
  has gh && gh auth status >/dev/null 2>&1 &&
    gh attestation verify --help >/dev/null 2>&1
}

install_program() {
  existing=$folder # as much of it as there is
  while [ ! -d "${existing:-/}" ]; do existing=${existing%/*}; done
  made=$folder
  mkdir -p "$folder" 2>/dev/null || fail "cannot make the folder $folder: use --to DIR"
  make_work
  if [ -e "$file" ] || [ -L "$file" ]; then require_own; fi
  if [ -n "$download" ]; then download_program; else copy_program; fi

  chmod 755 "$work/$program"
  installed=$("$work/$program" --version) ||
    fail "the program does not start: it needs glibc 2.27 or later, and a folder that is not mounted noexec; nothing was installed; $with_deno"
  is_version "$installed" ||
    fail "$from is not $program: it says '$installed' to --version; nothing was installed"
  mv -f "$work/$program" "$file" || fail "cannot write $file"
  say "Installed $file: $installed"
  check_path
  say "To uninstall: rm $(quote "$file")"
}

# In the program's folder: the last step is then a rename, which cannot be half done.
make_work() {
  work=$(mktemp -d "$folder/.$program.XXXXXX" 2>/dev/null) ||
    fail "cannot write to $folder: use --to DIR"
}

download_program() {
  name=$program-$target
  if [ -n "$version" ]; then
    url=$from/download/v$version
  else
    url=$from/latest/download
  fi
  require_download "$url/SHA256SUMS" "$work/SHA256SUMS"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS of this release has no sum for $name"
  packed=''
  if has gzip; then # two fifths of the size
    say "Downloading $url/$name.gz"
    if download "$url/$name.gz" "$work/$program.gz"; then
      packed=yes
    elif [ "$http" != 404 ]; then
      fail_download "$url/$name.gz"
    fi
  fi
  if [ -n "$packed" ]; then
    unpack "$work/$program.gz"
  else
    say "Downloading $url/$name"
    require_download "$url/$name" "$work/$program"
  fi
  actual=$(sum_of "$work/$program")
  [ "$actual" = "$expected" ] ||
    fail "the download is damaged: its SHA-256 sum is $actual instead of $expected; nothing was installed"
  check_attestation "$work/$program"
}

# Takes the file of --from. A sum that came with the file would prove nothing.
copy_program() {
  case $from in
    *.gz) unpack "$from" ;;
    *) cat <"$from" >"$work/$program" || fail "cannot copy $from; nothing was installed" ;;
  esac
  check_attestation "$work/$program"
  can_attest ||
    say "Compare its SHA-256 sum with SHA256SUMS of the release: $(sum_of "$work/$program")"
}

unpack() {
  has gzip || fail "gzip is needed to unpack $1"
  gzip -dc <"$1" >"$work/$program" ||
    fail "the file is damaged, or there is no room on the disk; nothing was installed"
}

uninstall_program() {
  [ -e "$file" ] || [ -L "$file" ] || fail "there is no $file: use --to DIR"
  make_work
  require_own
  rm -f "$file" || fail "cannot remove $file"
  say "Removed $file"
}

# Fails unless the file in the folder is this program. A script is not: it may be
# somebody's wrapper of the program, with a key in it.
require_own() {
  left="it is left as it is: remove it yourself, or use --to DIR"
  if [ -L "$file" ]; then
    link=$(readlink "$file") || link=elsewhere
    case $link in
      *node_modules/*) fail "$file belongs to npm: npm uninstall -g $program" ;;
      *) fail "$file is a link to $link; $left" ;;
    esac
  fi
  [ ! -d "$file" ] || fail "$file is a folder; $left"
  start=$(sed -n '1s/^\(#!\).*/\1/p;q' <"$file")
  [ "$start" != '#!' ] || fail "$file is a script, not the program of a release; $left"
  says_version || fail "$file does not say within 5 s that it is $program; $left"
}

# Whether the file says its version within 5 s. It writes to a file, because a
# pipe would stay open in what it has started. (macOS has no "timeout".)
says_version() (
  "$file" --version </dev/null >"$work/answer" &
  asked=$!
  (
    for _ in 1 2 3 4 5; do sleep 1; done
    kill -KILL "$asked"
  ) >/dev/null &
  wait "$asked" || :
  kill "$!" || :
  IFS= read -r answer <"$work/answer" || :
  is_version "$answer"
) 2>/dev/null

is_version() {
  case $1 in
    "$program "[0-9]*.[0-9]*.[0-9]*) ;;
    *) return 1 ;;
  esac
}

# Says how to put the folder on PATH, unless it is the one that counts already.
check_path() {
  found=$(command -v "$program") || found=''
  case :$PATH: in
    *:"$folder":* | *:"$folder/":*)
      [ "$found" = "$file" ] || [ "$found" = "$folder//$program" ] ||
        say "Note: $found comes first on your PATH"
      ;;
    *)
      say "$folder is not on your PATH. Add this line to your shell's start file:"
      say "  export PATH=$(quote "$folder"):\"\$PATH\""
      ;;
  esac
}

# Not in a function: zsh runs an EXIT trap of a function when the function returns.
work='' made='' existing=''
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM HUP
main "$@"
