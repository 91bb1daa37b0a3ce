#compdef reeve
# zsh completion for reeve. In ~/.zshrc: eval "$(reeve completion zsh)"
#
# What was typed is passed on as arguments, without its quotes, and never evaluated. May be sourced again.

_reeve() {
  local -a answer values
  local line
  answer=("${(@f)$(@reeve@ complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${(@)answer[2,-1]}"; do
    [[ -n $line ]] && values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  case $answer[1] in
    file) compset -P '--*='; _files ;;
    directory) compset -P '--*='; _files -/ ;;
    *) (( $#values )) && _describe -V reeve values ;;
  esac
}

if [[ $funcstack[1] == _reeve ]]; then
  _reeve "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _reeve reeve
fi
