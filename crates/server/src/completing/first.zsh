# Appended to what clap writes for zsh. The first Tab of a shell loads this file as a function, which then has to complete:
# otherwise that Tab would do nothing.
if [[ $funcstack[1] == _lapidary ]]; then
    _clap_dynamic_completer_lapidary "$@"
fi
