# The lines after our block read the same standard input.
gitmem_refs=$(cat)
printf '%s\n' "$gitmem_refs" | gitmem hook @hook@ "$@" || gitmem_refuse
if [ -n "$gitmem_refs" ]; then exec <<GITMEM
$gitmem_refs
GITMEM
else exec </dev/null; fi
