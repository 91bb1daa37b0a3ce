# bash completion for reeve. In ~/.bashrc: eval "$(reeve completion bash)"
#
# What was typed is passed on as arguments and never evaluated. Needs no other package; may be sourced again.

_reeve() {
  local index word piece current prefix line paths='' is_glued=''
  local -a typed
  typed=()
  # Bash splits words at = and : too: put them together again.
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if [[ ${#typed[@]} -gt 0 && (-n $is_glued || $word == [=:]*) ]]; then
      typed[${#typed[@]}-1]+=$word
    else
      typed+=("$word")
    fi
    is_glued=''
    [[ $word == [=:]* ]] && is_glued=1
  done
  current=${typed[${#typed[@]}-1]}
  # Of an answer, bash wants only what follows the last = or :.
  piece=${COMP_WORDS[COMP_CWORD]}
  [[ $piece == [=:]* ]] && piece=''
  prefix=${current%"$piece"}
  [[ $current == [\"\']* ]] && typed[${#typed[@]}-1]=${current:1}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $paths ]]; then
      paths=$line
    elif [[ -n $line ]]; then
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$prefix"}")
    fi
  done <<<"$(@reeve@ complete -- "${typed[@]}" 2>/dev/null)"
  # Paths are left to bash, which knows about quotes, blanks and ~.
  case $paths in
    file) compopt -o default ;;
    directory) compopt +o default -o dirnames ;;
    *) compopt +o default ;;
  esac
}

complete -o default -F _reeve reeve
