# Shared by the scripts of this folder. Source it: . "$(dirname "$0")/common.sh"
# shellcheck shell=bash

# The Deno that the project pins; the scripts start in the project's folder.
deno_version=$(<.ci/deno-version)

# The folder for the scripts' downloads.
# shellcheck disable=SC2034 # They use it.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/agent-gateway

# As many files of tests at once as there are cores: with more, each waits longer for its
# processes.
DENO_JOBS=$(nproc)
export DENO_JOBS

# A registry may not answer at first. (It is asked for packages alone.)
export NPM_CONFIG_FETCH_RETRIES=5 NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false

# npm_install FOLDER PACKAGE...: installs packages there, unless it has done so before.
npm_install() {
  [[ -e $1/node_modules/.package-lock.json ]] ||
    npm install --loglevel=error --no-save --ignore-scripts \
      --prefix "$1" "${@:2}"
}

# copy_sources FOLDER: copies the working tree, uncommitted changes included.
copy_sources() {
  mkdir -p "$1"
  git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -rd '' file; do
      if [[ -e $file ]]; then printf '%s\0' "$file"; fi
    done | tar --null --files-from=- --create | tar --extract --directory="$1"
}

# use_pinned_deno: puts the pinned Deno on PATH, from npm if need be.
use_pinned_deno() {
  local installed prefix=$cache/deno-$deno_version
  installed=$(deno --version 2>/dev/null | head -n 1 || true)
  if [[ $installed != "deno $deno_version "* ]]; then
    npm install --loglevel=error --no-save --prefix "$prefix" "deno@$deno_version"
    PATH=$prefix/node_modules/.bin:$PATH
  fi
}

# npm_executable PACKAGE FILE FOLDER: takes an executable out of the newest
# release of an npm package up to the pinned Deno, and prints its path.
npm_executable() {
  local package=$1 file=$2 folder=$3
  mkdir -p "$folder"
  if [[ ! -e $folder/$file ]]; then
    (
      cd "$folder" || exit
      archive=$(npm pack --silent "$package@<=$deno_version")
      tar --extract --gzip --strip-components=1 --file="$archive" "package/$file"
      chmod +x "$file"
      rm "$archive"
    )
  fi
  echo "$folder/$file"
}

# summarize LOG STATUS: adds up Deno's summaries, such as
# "ok | 12 passed | 0 failed | 1 ignored", and prints one line:
# "N passed, N failed, N skipped".
summarize() {
  tr -d '\r' <"$1" | sed $'s/\e\\[[0-9;]*m//g' | awk -v status="$2" '
    /^(ok|FAILED) \| / {
      for (i = 2; i <= NF; i++) count[$i] += $(i - 1)
    }
    END {
      if (status != 0 && count["failed"] == 0) count["failed"] = 1
      printf "%d passed, %d failed, %d skipped\n",
        count["passed"], count["failed"], count["ignored"]
    }'
}
