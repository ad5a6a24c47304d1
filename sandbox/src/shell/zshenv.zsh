# Read in place of the user's .zshenv, since ZDOTDIR led here: puts ZDOTDIR back, reads theirs, and lets zsh go on with the
# user's other files. The marks begin at the first prompt, when all of those have been read.

if [[ -n ${STDIO_ZDOTDIR+x} ]]; then
  export ZDOTDIR=$STDIO_ZDOTDIR
  unset STDIO_ZDOTDIR
else
  unset ZDOTDIR
fi

if [[ -o interactive ]]; then
  __stdio_escape() {
    emulate -L zsh
    setopt extended_glob no_multibyte
    local out= character
    if [[ $1 != *[\\\;[:cntrl:]]* ]]; then
      builtin print -rn -- "$1"
      return 0
    fi
    for character in ${(s::)1}; do
      case $character in
        \\) out+='\\' ;;
        \;|[[:cntrl:]]) builtin printf -v character '\\x%02x' "'$character"; out+=$character ;;
        *) out+=$character ;;
      esac
    done
    builtin print -rn -- "$out"
  }

  # The two hooks set an option of the user's for a while, so that they may not make options local.
  __stdio_precmd() {
    __stdio_ended $?
    if (( __stdio_spaced )); then setopt prompt_sp; fi
    __stdio_ran=0
    __stdio_spaced=0
    __stdio_prompt
    return 0
  }

  __stdio_preexec() {
    if [[ -o prompt_sp && -o prompt_cr && -z $PROMPT_EOL_MARK ]]; then
      __stdio_spaced=1
      setopt no_prompt_sp
    fi
    __stdio_ran=1
    __stdio_command "$1"
    return 0
  }

  __stdio_ended() {
    emulate -L zsh
    if (( __stdio_ran )); then builtin printf '\e]133;D;%s\a' $1; fi
    # What zsh shows behind output that ends no line: it would have been before D.
    if (( __stdio_spaced )); then
      builtin print -nP '%B%S%#%s%b'
      builtin printf '%*s\r \r' $(( COLUMNS - 1 )) ''
    fi
    return 0
  }

  __stdio_prompt() {
    emulate -L zsh
    # The last hook sees the prompt as the user's own have made it.
    if [[ $precmd_functions[-1] != __stdio_precmd ]]; then
      precmd_functions=(${precmd_functions:#__stdio_precmd} __stdio_precmd)
    fi
    builtin printf '\e]633;P;Shell=%s\a\e]633;P;Cwd=%s\a\e]133;A\a' "$HOST.$$" "$(__stdio_escape "$PWD")"
    local end=$'%{\e]133;B\a%}'
    if [[ $PS1 != *$end ]]; then PS1+=$end; fi
    return 0
  }

  __stdio_command() {
    emulate -L zsh
    # While a command runs the prompt is the user's own.
    local end=$'%{\e]133;B\a%}'
    PS1=${PS1%$end}
    builtin printf '\e]633;E;%s\a\e]133;C\a' "$(__stdio_escape "$1")"
    return 0
  }

  __stdio_start() {
    local code=$?
    emulate -L zsh
    precmd_functions=(${precmd_functions:#__stdio_start})
    unfunction __stdio_start
    # The shell has marks already, or another terminal's integration.
    [[ "$PS1" == *[16]33\;* || -n "$VSCODE_SHELL_INTEGRATION$ITERM_SHELL_INTEGRATION_INSTALLED$GHOSTTY_SHELL_FEATURES$KITTY_SHELL_INTEGRATION" ]] && return 0
    (( $+functions[__vsc_precmd] + $+functions[__wezterm_osc7] + $+functions[_ksi_precmd] + $+functions[_ghostty_precmd] )) && return 0
    typeset -g __stdio_ran=0 __stdio_spaced=0
    typeset -ga precmd_functions preexec_functions
    precmd_functions+=(__stdio_precmd)
    preexec_functions+=(__stdio_preexec)
    __stdio_precmd
    return 0
  }

  typeset -ga precmd_functions
  precmd_functions+=(__stdio_start)
fi

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
  builtin source ${ZDOTDIR-$HOME}/.zshenv
fi
