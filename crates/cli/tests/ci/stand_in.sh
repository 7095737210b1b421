#!/usr/bin/env bash
# What `regreen ci` uses of gh: `gh api`, over the port of the fake. `cargo xtask sweep ci` runs the
# same tests with the real program.
export LC_ALL=C
port=@PORT@
[ "$1" = api ] || { echo "unknown command $1" >&2; exit 2; }
shift
method=GET body=
while [ $# -gt 1 ]; do
  case $1 in
    --method) method=$2 ;;
    --header) ;;
    --input) body=$(cat) ;;
    *) echo "unknown flag $1" >&2; exit 2 ;;
  esac
  shift 2
done

# Sends a request, and leaves the connection at the body of the answer.
request() {
  exec 3<>"/dev/tcp/127.0.0.1/$port" || { echo "error connecting to api.github.com" >&2; exit 1; }
  printf '%s %s HTTP/1.1\r\nHost: api.github.com\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
    "$1" "$2" "${#body}" "$body" >&3
  IFS=' ' read -r _ status _ <&3
  location=
  while IFS= read -r line <&3; do
    line=${line%$'\r'}
    [ -n "$line" ] || break
    case $line in Location:\ *) location=${line#Location: } ;; esac
  done
}

request "$method" "/$1"
if [ "$status" = 302 ]; then
  request GET "/${location#https://*/}"
fi
if [ "$status" -ge 400 ]; then
  answer=$(cat <&3)
  message=${answer#*\"message\":\"}
  printf '%s' "$answer"
  printf 'gh: %s (HTTP %s)\n' "${message%%\"*}" "$status" >&2
  exit 1
fi
cat <&3
