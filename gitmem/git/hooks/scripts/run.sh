gitmem_python=@python@
# Start the interpreter that installed the hooks. With -P and -E (PYTHONPATH may name the repository) it imports
# nothing from the repository.
gitmem() { if [ -x "$gitmem_python" ]; then "$gitmem_python" -E -P -m gitmem "$@"; else git-mem "$@"; fi; }
