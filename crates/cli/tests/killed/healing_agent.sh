#!/bin/bash
# A scripted agent whose tasks need fixes, fixes of fixes, and other rows. What it does
# depends on nothing but the files, so that interrupted at any moment it does the same again.
id=$REGREEN_TASK_ID
note() { echo "$1 $id" >>"$NOTES/happened"; }

failed() {
    note ended
    printf 'Task %s: FAILED\n- Error: %s\n' "$id" "$1"
    exit 1
}

# Asks for rows of these titles, unless the first of them is there already.
wants() {
    grep -q "\] $id\.1 " specs/k/tasks.md && return
    local type=$1 rows='' n=0
    shift
    for title in "$@"; do
        n=$((n + 1))
        rows+=${rows:+,}"{\"title\":\"$title\",\"verify\":\"\\\"\$NOTES/verify\\\" $id.$n\"}"
    done
    note ended
    printf 'TASK_MODIFICATION_REQUEST\n'
    printf '{"type":"%s","originalTaskId":"%s","reasoning":"so","proposedTasks":[%s]}\n' \
        "$type" "$id" "$rows"
    exit 0
}

done_already() { [ -e "work/$1.txt" ]; }

note begun
cat >/dev/null
case $id in
1.2 | 1.3.1.1 | 1.4.2 | 1.5.2)
    setsid sleep 300 >/dev/null 2>&1 &
    (trap '' TERM && exec setsid sleep 300) >/dev/null 2>&1 &
    note brooding
    ;;
esac
note working
sleep 0.02
mkdir -p work
case $id in
1.2)
    # Claims what is not so: Verify says.
    note ended
    echo TASK_COMPLETE
    exit 0
    ;;
1.2.1) echo 1.2 >work/1.2.txt ;;
1.3) done_already 1.3.1 || failed "it lacks the first fix" ;;
1.3.1) done_already 1.3.1.1 || failed "the fix lacks a fix" ;;
1.4) done_already 1.4.2 || failed "one fix is not enough" ;;
1.5) wants SPLIT_TASK "One half" "The other half" ;;
1.5.1) done_already 1.5.1.1 || failed "the half lacks a fix" ;;
1.6) wants ADD_PREREQUISITE "What comes first" ;;
1.7) wants ADD_FOLLOWUP "What comes next" "What comes last" ;;
esac
echo "$id" >"work/$id.txt"
note ended
echo TASK_COMPLETE
