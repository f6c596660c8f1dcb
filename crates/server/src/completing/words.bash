# Appended to what clap writes for bash, which leaves two things to the shell that bash does not do: words are cut at = and :,
# so that --vault=Notes would be three, and a completed name with blanks would become several.
_lapidary_complete() {
    local words=() rest=$COMP_LINE head='' current=0 at word before quote=${COMP_WORDS[COMP_CWORD]:0:1}
    # What is cut without a blank in between is one word.
    for at in "${!COMP_WORDS[@]}"; do
        word=${COMP_WORDS[at]}
        before=${rest%%"$word"*}
        [[ -n $word ]] || before=$rest
        rest=${rest#*"$word"}
        # The word up to the cursor; the cut itself is no part of that for bash.
        if ((at == COMP_CWORD)) && [[ $word != [=:] ]]; then word=$2; fi
        if ((at > 0)) && [[ -z $before ]]; then
            ((at < COMP_CWORD)) || head=${words[${#words[@]} - 1]}
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        if ((at == COMP_CWORD)); then
            current=$((${#words[@]} - 1))
            [[ $word != [=:] ]] || head+=$word
            break
        fi
    done
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$current
    _clap_complete_lapidary "$1" "${words[current]}" "$3"
    for at in "${!COMPREPLY[@]}"; do
        # Bash replaces only what follows the last cut.
        word=${COMPREPLY[at]#"$head"}
        case $quote in
            \') word=${word//\'/\'\\\'\'} ;;
            \") word=$(printf %s "$word" | sed 's/[\\"$`]/\\&/g') ;;
            *)
                case $word in
                    *[[:space:]\'\"\\\`\$\&\;\|\<\>\(\)\*\?\[\]\!]*) printf -v word %q "$word" ;;
                esac
                ;;
        esac
        COMPREPLY[at]=$word
    done
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _lapidary_complete lapidary
else
    complete -o nospace -o bashdefault -F _lapidary_complete lapidary
fi
