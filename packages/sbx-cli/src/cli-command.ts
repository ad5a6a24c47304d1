// The meaning of the command line's words: one of a few commands, each with all that it needs. Types alone.

import type { CreateRequest, ReadQuery, RunRequest, ScreenQuery, Until, WriteRequest } from "sandbox-stdio/client";
import type { AttachOptions } from "sandbox-stdio/core";
import type { Endpoint } from "./endpoint.ts";
import type { ShareCommand } from "./sharing.ts";
import type { TicketSource } from "./ticket.ts";

/** Which sandbox of which server, and by whose right. */
export type Place = {
  readonly endpoint: Endpoint;
  readonly sandbox: string;
  readonly token: string | undefined;
  /** A shell's line that prints the token; absent where the context's is for another server. */
  readonly tokenCommand?: string | undefined;
  readonly tokenCommandFrom?: TokenCommandFrom;
  /** The origin that the line is for, where that is another: then there is no line here. */
  readonly tokenCommandElsewhere?: string;
  /** Whether it is the server that is asked where no address is given: the person's own choice, also where a link names it. */
  readonly isOwnServer?: boolean;
};

/** Who said the line: the first two are said for this one command. */
export type TokenCommandFrom = "--token-command" | "--context" | "SBX_TOKEN_COMMAND" | "the context";

/** One session in it. */
export type SessionPlace = Place & { readonly session: string };

export type AttachWish = Place &
  AttachOptions & {
    /** Absent: a name of our own making, which no other client knows. */
    readonly session: string | undefined;
    /** Whether a process of this name that has ended is read, and not replaced: it was not seen to have ended before. */
    readonly readsEnded?: boolean;
    readonly cmd: string | undefined;
    readonly args: readonly string[];
    readonly env: readonly (readonly [string, string])[];
    readonly cwd: string | undefined;
    /** Absent: a PTY where standard input and output are both terminals. */
    readonly tty: boolean | undefined;
    /** For how many seconds it tries to come back to a server that is gone. */
    readonly giveUp?: number | undefined;
    /** The ticket with which another person shared a session. */
    readonly ticket: string | undefined;
    /** Where that stands instead of here. */
    readonly ticketFrom: TicketSource | undefined;
    readonly resumeFile: string | undefined;
    /** Whether it is told who comes and goes, and who types. */
    readonly hasStatus: boolean;
    readonly isVerbose: boolean;
    /** Whether only the end of the run is told. */
    readonly isQuiet?: boolean;
    /** Whether standard input is left alone, and the process gets none. */
    readonly hasNoInput?: boolean;
    /** Whether keys that are typed while the connection is down are sent when it is back. */
    readonly keepsKeys?: boolean;
    /** Which keys end or open something here, instead of going to the process. */
    readonly escapes?: Escapes;
  };

export type Escapes = {
  /** Ctrl+] and Ctrl+^. */
  readonly control: boolean;
  /** `~.`, `~?` and `~^Z` at a line's start. */
  readonly tilde: boolean;
};

export type ProgramCommand = SessionPlace & { readonly isJson: boolean } & (
    | { readonly kind: "read"; readonly query: ReadQuery; readonly follows: boolean }
    | { readonly kind: "write"; readonly request: WriteRequest }
    | {
        readonly kind: "wait";
        readonly until: Until;
        readonly more: { from?: number; timeoutMs?: number; maxBytes?: number; incarnation?: string };
      }
    | { readonly kind: "screen"; readonly query: ScreenQuery }
    | { readonly kind: "commands"; readonly incarnation: string | undefined }
    | {
        readonly kind: "signal";
        readonly signal: string;
        readonly writer: string | undefined;
        readonly incarnation: string | undefined;
      }
  );

export type RunCommand = Place & {
  readonly kind: "run";
  readonly request: RunRequest;
  /** Whether `stdin` is to be read from standard input. */
  readonly readsInput: boolean;
  /** Only started, and named. */
  readonly isDetached: boolean;
  readonly isJson: boolean;
};

/** Where a log is read from: an offset, a time in ISO 8601, or so many ms ago by the server's clock. */
export type Since = { readonly offset: number } | { readonly since: string } | { readonly agoMs: number };

export type LogsCommand = SessionPlace & {
  readonly kind: "logs";
  readonly follows: boolean;
  /** Lines. */
  readonly tail: number | undefined;
  readonly since: Since | undefined;
  readonly isJson: boolean;
};

export type AttachCommand = {
  readonly kind: "attach";
  readonly wish: AttachWish;
  /** The command line offers the sessions first. */
  readonly isOffered?: boolean;
  /** A session that doesn't run is not started. */
  readonly mustRun?: boolean;
  /** It is looked whether the process of that name has ended: only one that has is replaced. */
  readonly looksFirst?: boolean;
};

export type CliCommand =
  | AttachCommand
  | {
      readonly kind: "login";
      readonly endpoint: Endpoint | undefined;
      readonly issuer: string | undefined;
      readonly clientId: string | undefined;
      readonly mayOpenBrowser: boolean;
      readonly isForced: boolean;
    }
  /** Without a server: of every login. */
  | { readonly kind: "logout"; readonly endpoint: Endpoint | undefined }
  | ({ readonly kind: "whoami"; readonly isJson: boolean; readonly isVerbose: boolean } & Place)
  /** `isStarted`: the sandbox is started, where it is not. */
  | ({ readonly kind: "doctor"; readonly isJson: boolean; readonly isStarted: boolean } & Place)
  | ({
      readonly kind: "sessions";
      /** In all sandboxes of the person, not in one. */
      readonly isEverywhere: boolean;
      readonly isJson: boolean;
      readonly hasAll: boolean;
      /** Those of `cp` and `forward`, too. */
      readonly hasTransfers?: boolean;
      readonly isWatched: boolean;
    } & Place)
  | ({ readonly kind: "kill"; readonly sessions: readonly string[]; readonly isJson: boolean } & Place)
  | ContextCommand
  | LogsCommand
  | RunCommand
  | ProgramCommand
  | ShareCommand
  | ({ readonly kind: "ssh-proxy"; readonly cmd: string; readonly args: readonly string[] } & Place)
  | {
      readonly kind: "ssh-config";
      readonly endpoint: Endpoint;
      readonly words: readonly string[];
      readonly host: string;
      readonly user: string | undefined;
    }
  | CopyCommand
  | ForwardCommand
  /** `--help` or `--version`: text for standard output. */
  | { readonly kind: "show"; readonly text: string };

export type CopyCommand = Place & {
  readonly kind: "cp";
  /** One or several, all on the same side. */
  readonly from: readonly CopyEnd[];
  readonly to: CopyEnd;
  /** Whether files that are there already, with the same size and time, are left out. */
  readonly isResumed: boolean;
  /** Whether modes are kept as they are, whatever the umask. */
  readonly keepsModes?: boolean;
};
export type ForwardCommand = Place & {
  readonly kind: "forward";
  /** Where it listens here; port 0: any that is free. `isLocalhost`: on ::1 as well, to which that name may lead. */
  readonly local: { readonly address: string; readonly port: number; readonly isLocalhost?: true };
  /** Of the sandbox. */
  readonly port: number;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
};
/** A path here, or in the sandbox (`:PATH`); `isStream`: standard input or output (`-`). */
export type CopyEnd = { readonly isRemote: boolean; readonly path: string; readonly isStream?: true };

export type ContextCommand = {
  readonly kind: "context";
  readonly action:
    | { readonly do: "list"; readonly isJson: boolean }
    | { readonly do: "use" | "remove"; readonly name: string }
    | { readonly do: "set"; readonly name: string; readonly context: Context };
};

/** Words that a person need not type every time. */
export type Context = {
  readonly server?: string | undefined;
  readonly sandbox?: string | undefined;
  readonly session?: string | undefined;
  readonly tokenCommand?: string | undefined;
};

/** The context that holds now; `isServerFound`: the address stands in a file of the current folder or of one above it, which anybody may have made. */
export type Defaults = Context & {
  readonly isServerFound?: boolean;
  /** The file of the current folder, or of one above it, for a person. */
  readonly folderFile?: string;
  /** Of that file: fields that mean nothing there. */
  readonly unusedFields?: readonly string[];
  /** The context that they come from. */
  readonly contextName?: string;
  /** The address in that context: its token command is for that server alone. */
  readonly contextServer?: string;
  readonly tokenCommandFrom?: TokenCommandFrom;
  /** The address that SBX_TOKEN_ORIGIN names: what the environment gives is for that server alone. */
  readonly tokenOrigin?: string;
};

export type { CreateRequest };
