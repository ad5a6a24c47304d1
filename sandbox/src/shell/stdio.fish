# Marks of command boundaries (OSC 133 and 633), run by --init-command after the user's configuration. fish 4 has OSC 133 of its
# own. fish sets the title after its event, so that these sequences come behind mark C; they draw nothing.

if status is-interactive; and string match -qr '^3\.' -- $version; and not set -q VSCODE_SHELL_INTEGRATION; and not functions -q __vsc_esc __ksi_mark_prompt_start
    function __stdio_escape
        string replace -a \\ \\\\ -- $argv | string replace -a ';' '\\x3b' | string replace -a \e '\\x1b' | string replace -a \a '\\x07' | string join '\\x0a'
    end

    function __stdio_prompt_start --on-event fish_prompt
        printf '\e]633;P;Shell=%s\a\e]633;P;Cwd=%s\a\e]133;A\a' $hostname.$fish_pid (__stdio_escape $PWD)
    end

    function __stdio_command_start --on-event fish_preexec
        printf '\e]633;E;%s\a\e]133;C\a' (__stdio_escape $argv[1] | string collect)
    end

    function __stdio_command_end --on-event fish_postexec
        printf '\e]133;D;%s\a' $status
    end

    functions -q fish_prompt
    and functions -c fish_prompt __stdio_user_prompt
    and function fish_prompt
        __stdio_user_prompt
        printf '\e]133;B\a'
    end
end
