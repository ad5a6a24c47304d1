# Marks of command boundaries (OSC 133 and 633) for an interactive bash 4.4 or newer. Read in place of ~/.bashrc (--rcfile), or by a
# login shell as $ENV in POSIX mode, in which bash reads no other file: then this script reads the files of a login shell.

if [[ -n ${STDIO_SHELL_LOGIN-} ]]; then
  set +o posix
  unset ENV STDIO_SHELL_LOGIN POSIXLY_CORRECT
  [[ ${HISTFILE-} == "$HOME/.sh_history" ]] && HISTFILE=$HOME/.bash_history
  if [[ -r /etc/profile ]]; then . /etc/profile; fi
  # Which may have set it anew.
  [[ :$PATH: == *:"${BASH_SOURCE%/*}/bin":* ]] || PATH+=:${BASH_SOURCE%/*}/bin
  if [[ -r ~/.bash_profile ]]; then . ~/.bash_profile
  elif [[ -r ~/.bash_login ]]; then . ~/.bash_login
  elif [[ -r ~/.profile ]]; then . ~/.profile
  fi
elif [[ -r ~/.bashrc ]]; then
  . ~/.bashrc
fi

# Escapes as OSC 633 wants it: backslash, semicolon and control characters.
__stdio_escape() {
  local LC_ALL=C text=$1 out= character code
  if [[ $text != *[\\\;[:cntrl:]]* ]]; then
    builtin printf %s "$text"
    return 0
  fi
  while [[ -n $text ]]; do
    character=${text:0:1}
    text=${text:1}
    case $character in
      \\) out+=\\\\ ;;
      \; | [[:cntrl:]])
        builtin printf -v code '\\x%02x' "'$character"
        out+=$code
        ;;
      *) out+=$character ;;
    esac
  done
  builtin printf %s "$out"
}

# Before anything else of the prompt, readline's own sequences included: the output ends exactly here. Its status is that of
# the last command; as a condition it sets off neither `set -e` nor a trap of ERR.
__stdio_ended() {
  local code=$?
  if [[ $__stdio_ran == 1 ]]; then builtin printf '\e]133;D;%s\a' "$code"; fi
  __stdio_ran=0
  return "$code"
}

# In a subshell of the prompt: $1 is the status of the last command, if the hook before this is gone.
__stdio_prompt() {
  if [[ $__stdio_ran == 1 ]]; then builtin printf '\e]133;D;%s\a' "$1"; fi
  builtin printf '\e]633;P;Shell=%s\a\e]633;P;Cwd=%s\a\e]133;A\a' "${HOSTNAME-}.$$" "$(__stdio_escape "$PWD")"
}

# In a subshell, when a command has been read. The line is not told if the history did not take it.
__stdio_command() {
  local line
  if [[ $1 != "$__stdio_number" && -o history ]]; then
    line=$(HISTTIMEFORMAT= builtin history 1)
    line=${line#*[0-9][* ] }
    builtin printf '\e]633;E;%s\a' "$(__stdio_escape "$line")"
  fi
  builtin printf '\e]133;C\a'
}

# Puts the marks around a prompt that has none: the user, or what makes the prompt, may have set a new one. What the user puts
# into PROMPT_COMMAND replaces its first element, so that theirs must stand there.
__stdio_wrap() {
  if [[ $PS1 != *__stdio_prompt* ]]; then
    PS1='\[$(__stdio_prompt "$?" 2>/dev/null)${BASH_VERSION:$((__stdio_ran=0,__stdio_number=HISTCMD)):0}\]'$PS1'\[${__stdio_end-}\]'
  fi
  if [[ ${PS0-} != *__stdio_command* ]]; then
    PS0=${PS0-}'$(__stdio_command "$((HISTCMD))" 2>/dev/null)${BASH_VERSION:$((__stdio_ran=1)):0}'
  fi
  local own=${PROMPT_COMMAND-}
  if [[ $own != *__stdio_ended* ]]; then
    [[ -n $own ]] || own=:
    PROMPT_COMMAND=$'if __stdio_ended; then\n'$own$'\nelse\n'$own$'\nfi'
  fi
  return 0
}

__stdio_start() {
  ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || return 0
  shopt -q promptvars || return 0
  # The shell has marks already, or another terminal's integration.
  [[ ${PS1-}${PS0-}${PROMPT_COMMAND[*]-} == *[16]33\;* ]] && return 0
  [[ -n ${VSCODE_SHELL_INTEGRATION-}${ITERM_SHELL_INTEGRATION_INSTALLED-}${GHOSTTY_SHELL_FEATURES-}${KITTY_SHELL_INTEGRATION-} ]] && return 0
  local other
  for other in __vsc_precmd __wezterm_osc7 _ksi_prompt_command __ghostty_precmd __vte_prompt_command; do
    declare -F "$other" >/dev/null && return 0
  done
  __stdio_ran=0
  __stdio_number=-1
  __stdio_end=$'\e]133;B\a'
  __stdio_wrap
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then PROMPT_COMMAND+=(__stdio_wrap)
  else PROMPT_COMMAND+=$'\n'__stdio_wrap
  fi
}

__stdio_start
unset -f __stdio_start
