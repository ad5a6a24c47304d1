#!/bin/sh
# sbx-download PATH…: asks the page that shows this terminal to save files, or folders as archives. Once the person has agreed, the page
# fetches them over another session.

if [ $# -eq 0 ]; then
  echo "usage: sbx-download PATH..." >&2
  exit 2
fi
# A pipe or a file would keep the sequence, and show it somewhere else later.
if ! [ -t 1 ]; then
  echo "sbx-download: standard output is not a terminal" >&2
  exit 1
fi
status=0
for path; do
  case $path in
    /*) whole=$path ;;
    *) whole=$(pwd)/$path ;;
  esac
  if ! [ -r "$whole" ] || ! { [ -f "$whole" ] || [ -d "$whole" ]; }; then
    echo "sbx-download: not a readable file or folder: $path" >&2
    status=1
    continue
  fi
  coded=$(printf %s "$whole" | base64 | tr -d '\n')
  printf '\033]633;P;SbxDownload=%s\a' "$coded"
  # A tmux that draws for itself keeps that, and passes this on where `allow-passthrough` is set.
  if [ -n "${TMUX-}" ]; then printf '\033Ptmux;\033\033]633;P;SbxDownload=%s\a\033\\' "$coded"; fi
  printf 'The page asks whether to save %s\n' "$path"
done
exit $status
