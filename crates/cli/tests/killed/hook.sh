#!/bin/bash
# A commit hook that takes long enough to be killed meanwhile.
echo "committing $(basename "$0")" >>"$NOTES/happened"
sleep 0.02
