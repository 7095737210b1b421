#!/bin/sh
cp hello.sh dist/hello.sh
