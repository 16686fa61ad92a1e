# Runs the command if a line of Markdown cites a file that the commit changes; the command finds out which line.
git -c core.quotePath=false diff --name-only --no-renames --no-ext-diff HEAD^ HEAD 2>/dev/null |
  sed 's/%/%25/g;s/ /%20/g;s/@/%40/g;s/#/%23/g;s/~/%7E/g;s/--/-%2D/g;s/^/ code=/;s/$/#/' |
  git -c core.fsmonitor=false grep -qF -f - -- '*.md' 2>/dev/null && gitmem hook @hook@ --cited </dev/null || :
