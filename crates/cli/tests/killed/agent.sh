#!/bin/bash
# A scripted agent: leaves children behind as real ones do, and some of its tasks fail the
# first attempt that it completes.
id=$REGREEN_TASK_ID
n=${id#1.}
note() { echo "$1 $id" >>"$NOTES/happened"; }

note begun
cat >/dev/null

# In a session of its own; an orphan; deaf to TERM; holding our output open; without our
# environment; and all of them.
case $n in 2 | 17) setsid sleep 300 >/dev/null 2>&1 & ;; esac
case $n in 5 | 17) (setsid sleep 300 >/dev/null 2>&1 &) & ;; esac
case $n in 9 | 17) (trap '' TERM && exec setsid sleep 300) >/dev/null 2>&1 & ;; esac
case $n in 12 | 17) sleep 300 & ;; esac
case $n in 14 | 17) env -i bash -c 'exec -a "$0" sleep 300' "$NOTES" >/dev/null 2>&1 & ;; esac
case $n in 2 | 5 | 9 | 12 | 14 | 17) note brooding ;; esac

note working
sleep 0.03
mkdir -p work
if [ ! -e "$NOTES/$id.tried" ]; then
    case $n in
    3 | 8 | 15)
        echo half >"work/$id.half"
        touch "$NOTES/$id.tried"
        note ended
        printf 'Task %s: FAILED\n- Error: the first time it always fails\n' "$id"
        exit 1
        ;;
    6 | 11 | 18)
        # Claims what is not so: Verify says.
        touch "$NOTES/$id.tried"
        note ended
        echo TASK_COMPLETE
        exit 0
        ;;
    esac
fi
echo "$id" >"work/$id.txt"
note ended
echo TASK_COMPLETE
