# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# To be sourced where a function fail is defined. until_true COMMAND...: waits for an event, not for a time. It
# gives up only after a time that nothing but a fault takes, so that a slow machine decides nothing.
until_true() {
    local end=$((SECONDS + ${patience:-240}))
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "waited ${patience:-240} s in vain: $*"
        sleep 0.05
    done
}
