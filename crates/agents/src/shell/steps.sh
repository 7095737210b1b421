# Runs a task's own commands, each in a shell of its own, and stops at the first that fails.
# Arguments: the task's id, its title, why it fails if there are no steps, the steps.
id=$1
title=$2
no_steps=$3
shift 3
newline='
'

report_failure() {
    printf 'Task %s: %s FAILED\n- Error: %s\n- Attempted fix: No fix attempted\n- Status: %s\n' \
        "$id" "$title" "$1" "$2"
    exit 1
}

if [ $# -eq 0 ]; then
    report_failure "$no_steps" 'Blocked, nothing was run'
fi

total=$#
number=0
for step do
    number=$((number + 1))
    first_line=${step%%"$newline"*}
    printf '[step %s/%s] $ %s\n' "$number" "$total" "$first_line"
    run_step "$step" </dev/null 2>&1
    code=$?
    # The step's last line may have no ending.
    printf '\n[step %s/%s] exit code %s\n' "$number" "$total" "$code"
    if [ "$code" -ne 0 ]; then
        # The reader of the output knows best which of its lines explains the failure.
        IFS= read -r error || error="step $number of $total ended with exit code $code"
        report_failure "$error" "Blocked at step $number of $total (exit code $code): $first_line"
    fi
done
printf 'TASK_COMPLETE\n'
