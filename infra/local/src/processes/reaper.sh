# Ends the stack's programs when the supervisor is gone, even by kill -9, which it cannot catch.
# Reads "+ PID SIGNAL" and "- PID" lines from the supervisor; the end of the input means that the supervisor is gone.
trap '' INT TERM HUP
children=''
while read -r sign pid signal; do
  others=''
  for child in $children; do
    [ "${child%:*}" = "$pid" ] || others="$others $child"
  done
  children=$others
  [ "$sign" = + ] && children="$children $pid:$signal"
done

for child in $children; do kill -s "${child#*:}" "${child%:*}" 2>/dev/null; done
tries=0
while [ "$tries" -lt 100 ]; do
  alive=''
  for child in $children; do kill -0 "${child%:*}" 2>/dev/null && alive=1; done
  [ -z "$alive" ] && exit 0
  sleep 0.1
  tries=$((tries + 1))
done
# Each is the leader of a process group of its own.
for child in $children; do kill -s KILL -- "-${child%:*}" 2>/dev/null; done
exit 0
