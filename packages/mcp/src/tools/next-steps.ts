// Advice after a refusal, in one sentence for a model. The server's message names the fault; this names the remedy.

const STEPS: Readonly<Record<string, string>> = {
  not_found: "Use list to see the sandbox's sessions, or run to start one.",
  other_incarnation: "The name has another process now: leave out incarnation, and read from the start.",
  other_command: "Choose another session name, end that session first, or call run with the same process as before.",
  cmd_not_found: "Check the command's name and PATH: run `command -v NAME`.",
  bad_cwd: "Make the directory first, or leave out cwd.",
  cmd_too_long: "Write the input to a file by several writes, or pass it as stdin.",
  cmd_forbidden: "This command is not allowed here: use another, or ask the person in charge.",
  bad_offset: 'The output ends before that: read from "end" of this answer, or leave out from.',
  input_gap: 'Some of this writer\'s input is missing: write again with "at" set to "expected".',
  not_stdin_holder: 'Call keyboard with "request"; where "mine" is false then, wait with {"keyboard":true}.',
  ask_open: 'Wait with {"ask":ID} for the answer to the one that is open.',
  too_many_asks: "Go on without a person, or ask again later.",
  secret_entry: 'Wait with {"ask":ID}: nothing is shown until that is over.',
  secret_off: 'Ask without "secret", or do without the secret.',
  no_such_ask: "Ask again with keyboard.",
  other_input: "Choose another session name, or give the same stdin as the first time, or none.",
  unknown_field: "Use the name that the message tells, or leave the field out.",
  exited: "The process has ended: read its output, or start a new one with run.",
  lost: "The process is lost with its container: read what it said, and start a new one with run.",
  stdin_closed: "Its input was closed: start a new session, with stdin null to keep it open.",
  no_marks: 'The shell shows no marks of its commands: wait with {"match":"…"} for its prompt instead.',
  no_screen: "It runs on pipes: use read, or run it with tty true.",
  no_screen_yet: "Call screen again.",
  no_terminal: "It runs on pipes: use text or base64 instead of keys.",
  bad_pattern: "Use RE2 syntax: no lookaround, no backreferences, at most 1000 characters.",
  bad_key: "Use names as tmux writes them: C-c, M-x, Enter, Escape, Up, F5, or single characters.",
  bad_paste: "A paste has no control characters: use text or keys.",
  input_too_long: "Write it in pieces of at most 64 KiB.",
  too_much_input: "The process does not read its input: read its output, or wait, and write again.",
  too_many_writers: 'Leave out "writer", or use one that has written before.',
  too_many_waits: "End waits that are open, or call again later.",
  too_many_calls: "Call less often: wait instead of reading again and again.",
  insufficient_scope:
    "This login may not do that: use the tools that only read, or ask for the scope that the message names.",
  unavailable: "Call again in a second: nothing was done twice.",
  no_token: "Log in again.",
  expired: "Log in again.",
  revoked: "Access was taken away: ask the person in charge.",
};

export function nextStep(error: string, status: number): string {
  const known = STEPS[error];
  if (known !== undefined) return known;
  if (status === 401) return "Log in again.";
  if (status === 429 || status >= 500) return "Call again later.";
  return "Correct the arguments as the message says, and call again.";
}
