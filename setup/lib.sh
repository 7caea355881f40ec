# SPDX-License-Identifier: MIT
# Shared by ./demo and ./check: packages, build, words. Sourced by bash, from the repository's root.

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$1" >&2; exit "${2:-1}"; }

# as_root COMMAND...: as it is for root, through sudo otherwise.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else die "needs root or sudo to run: $*"; fi
}

# packages_of USE...: names from setup/packages that this distribution has or does not know yet.
packages_of() {
    local uses=" $* " name use rest
    while read -r name use rest; do
        case "$name" in ''|'#'*) continue ;; esac
        case "$uses" in *" $use "*) printf '%s\n' "$name" ;; esac
    done < setup/packages
}

package_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages USE...: installs what is missing; says what it is about to do.
install_packages() {
    local missing=() name
    command -v dpkg-query >/dev/null || {
        echo "This is not Debian or Ubuntu: install what setup/packages lists by hand." >&2
        return 0
    }
    for name in $(packages_of "$@"); do
        # a program of that name from elsewhere will do: NodeSource's nodejs brings its npm, and refuses Debian's
        package_installed "$name" || command -v "$name" >/dev/null || missing+=("$name")
    done
    [ ${#missing[@]} = 0 ] && return 0
    say "installing ${#missing[@]} packages: ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >/dev/null || die "apt-get update failed"
    # A package of one distribution's version (libclang-rt-14-dev) need not exist on another.
    local known=()
    for name in "${missing[@]}"; do
        if apt-cache show "$name" >/dev/null 2>&1; then known+=("$name"); else echo "not in this distribution: $name"; fi
    done
    # No package starts a service here, nor with the machine: tests start prometheus and victoria-metrics themselves, sshd and munged run
    # inside tests alone. Units that were here before stay as they are: slurmd may be without slurm-wlm.
    local unit units=()
    for unit in prometheus.service victoria-metrics.service ssh.service ssh.socket munge.service slurmctld.service slurmd.service slurmdbd.service mariadb.service sysstat.service; do
        [ -e "/lib/systemd/system/$unit" ] || units+=("$unit")
    done
    local installed=0
    as_root env DEBIAN_FRONTEND=noninteractive bash -c 'policy=/usr/sbin/policy-rc.d
        if [ ! -e $policy ] || grep -qs "of chokepoint" $policy; then # that of one who was killed, too
            trap "rm -f $policy" EXIT
            printf "#!/bin/sh\nexit 101 # of chokepoint\n" >$policy && chmod 755 $policy
        fi
        apt-get -q -y --no-install-recommends install "$@"' install "${known[@]}" >"${TMPDIR:-/tmp}/chokepoint-apt.log" 2>&1 || installed=$?
    for unit in "${units[@]}"; do
        [ ! -e "/lib/systemd/system/$unit" ] || ! command -v systemctl >/dev/null || as_root systemctl -q disable "$unit" ||
            echo "$unit would start with the machine: systemctl disable $unit" >&2
    done
    [ $installed = 0 ] || { tail -5 "${TMPDIR:-/tmp}/chokepoint-apt.log" >&2; die "apt-get install failed"; }
}

# built COMMAND...: the command, quiet unless it fails; then what it said of errors.
built() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ $status = 0 ] || grep -E -A 3 'error|Error|FAILED|warning' "$log" | head -40 >&2 || tail -40 "$log" >&2
    rm -f "$log"
    return $status
}

# A source that was compiled before need not be again, wherever the folder lies. A build folder keeps what it was made with.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi

# build_preset NAME[/PART] [CMAKE OPTIONS...]: configures build/NAME, and builds it or a part of it, which is a build preset
# of its own.
build_preset() {
    local preset=${1%/*} part=${1#*/}
    shift
    built cmake --preset "$preset" "$@" && built cmake --build --preset "$part" ||
        die "the build of preset $preset failed (again by hand: cmake --preset $preset${*:+ $*} && cmake --build --preset $part)"
}

# build_targets BUILD TARGET...
build_targets() {
    [ $# = 1 ] || built cmake --build "$1" --target "${@:2}" || die "the build failed (again by hand: cmake --build $1 --target ${*:2})"
}
