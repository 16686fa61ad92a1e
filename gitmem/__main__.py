"""`python -m gitmem`. Git's hooks go past the command line's library: every commit waits for them."""

import sys

if sys.argv[1:2] == ["hook"]:
    from gitmem.commands._hook import main as hook

    hook(sys.argv[2:])
else:
    from gitmem.cli import main

    main()
