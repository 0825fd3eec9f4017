# A comment behind a member or an enumerator is its documentation.
s@^( *[^/ ].*[;,]) +// (.*)$@\1 ///< \2@
s@^( +[a-z_]+ = [^,;]*|  +[a-z_]+) +// (.*)$@\1 ///< \2@
