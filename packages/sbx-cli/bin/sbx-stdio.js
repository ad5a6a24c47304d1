#!/bin/sh
":" //; while read -r k v; do [ "$k" = SigIgn: ] && export SBX_SIGIGN="$v"; done </proc/self/status 2>/dev/null; command -v node >/dev/null && exec node "$0" "$@"; exec bun --config=/dev/null --env-file=/dev/null "$0" -- "$@"
// The line above, to a shell: notes which signals are ignored, as by nohup, since node forgets that; then runs this file, by Bun where there is no Node.
// Bun would run what the current folder's bunfig.toml names, take its .env for the environment, and drop a first "--".
require("../dist/sbx-stdio.js");
