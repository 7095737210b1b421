# Stands in for a coding agent: it is given a prompt, changes files, and says TASK_COMPLETE
# when it believes that it is done. Its first try at task 1.2 is wrong, on purpose.

prompt=$(cat)

case $REGREEN_TASK_ID in
1.1)
    cat > hello.sh <<'END'
echo "Hello, world!"
END
    echo "hello.sh greets the world."
    ;;
1.2)
    # After a failure, the prompt has what Verify printed.
    failure=$(printf '%s\n' "$prompt" | grep "^expected '")
    if [ -z "$failure" ]; then
        cat > hello.sh <<'END'
name=$1
echo "Hello, world!"
END
        echo "hello.sh takes a name now."
    else
        cat > hello.sh <<'END'
name=${1:-world}
echo "Hello, $name!"
END
        echo "The prompt tells me why the last attempt failed: $failure"
        echo "I had forgotten to print the name. Now hello.sh does."
    fi
    ;;
1.3)
    cat > README.md <<'END'
`sh hello.sh` greets the world, `sh hello.sh Ann` greets Ann.
END
    echo "README.md says how to use it."
    ;;
esac

echo TASK_COMPLETE
