# Stands in for a coding agent: it is given a prompt, changes files, and says TASK_COMPLETE
# when it believes that it is done, or reports what keeps it from it. Its first try at task
# 1.2 is wrong on purpose, and so is a file of the project that is in the way of task 1.3.

cat > /dev/null # The prompt: this script knows its tasks by heart.

failed() {
    echo "Task $REGREEN_TASK_ID: FAILED"
    echo "- Error: $1"
    echo "- Attempted fix: $2"
    exit 1
}

case $REGREEN_TASK_ID in
1.1)
    cat > hello.sh <<'END'
echo "Hello, world!"
END
    echo "hello.sh greets the world."
    ;;
1.2)
    cat > hello.sh <<'END'
name=$1
echo "Hello, world!"
END
    echo "hello.sh takes a name now."
    ;;
1.2.1)
    cat > hello.sh <<'END'
name=${1:-world}
echo "Hello, $name!"
END
    echo "hello.sh took the name and did not print it. Now it does."
    ;;
1.3)
    cat > all.sh <<'END'
cat team/names.txt 2> /dev/null | while read -r name; do sh hello.sh "$name"; done
END
    [ -f team/names.txt ] || failed "team/names.txt does not exist" "wrote all.sh, which needs it"
    echo "all.sh greets everybody in team/names.txt."
    ;;
1.3.1)
    [ -f team ] && failed "no folder team: a file has that name" "looked into it: it has the names"
    mkdir team
    mv names.txt team/names.txt
    echo "The names are where they belong."
    ;;
1.3.1.1)
    mv team names.txt
    echo "The file is called names.txt now, and not in the way any more."
    ;;
esac

echo TASK_COMPLETE
