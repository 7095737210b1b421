# What task 1.2 is verified with.
got=$(sh hello.sh Ann)
if [ "$got" != "Hello, Ann!" ]; then
    echo "expected 'Hello, Ann!', got '$got'"
    exit 1
fi
