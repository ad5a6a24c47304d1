// The parsed commands, each with all that it needs. Types only.

import type { ServeCommand } from "@sbx/serve/request";
import type {
  CreateRequest,
  KeyboardRequest,
  ReadQuery,
  RunRequest,
  ScreenQuery,
  Until,
  WriteRequest,
} from "sandbox-stdio/client";
import type { AttachOptions, PredictionMode, Role } from "sandbox-stdio/core";
import type { Endpoint } from "../base/endpoint.ts";
import type { TicketSource } from "./ticket.ts";

/** A sandbox of a server, and the credentials. */
export type Target = {
  readonly endpoint: Endpoint;
  readonly sandbox: string;
  readonly token: string | undefined;
  /** Shell command that prints the token; absent if the context's is for another server. */
  readonly tokenCommand?: string | undefined;
  readonly tokenCommandFrom?: TokenCommandFrom;
  /** The origin that the token command is for, if it is another one. */
  readonly tokenCommandElsewhere?: string;
  /** Whether the person chose this server as default: a link to it is trusted. */
  readonly isOwnServer?: boolean;
};

/** The source of the token command. The first two apply to this command only. */
export type TokenCommandFrom = "--token-command" | "--context" | "SBX_TOKEN_COMMAND" | "the context";

/** A session of a sandbox. */
export type SessionTarget = Target & { readonly session: string };

export type AttachRequest = Target &
  AttachOptions & {
    /** Absent: a generated name, which no other client knows. */
    readonly session: string | undefined;
    /** Reads an ended process of this name instead of replacing it: it was running when last seen. */
    readonly readsEnded?: boolean;
    readonly cmd: string | undefined;
    readonly args: readonly string[];
    readonly env: readonly (readonly [string, string])[];
    readonly cwd: string | undefined;
    /** Absent: a PTY if standard input and output are both terminals. */
    readonly tty: boolean | undefined;
    /** Seconds of retrying an unreachable server. */
    readonly giveUp?: number | undefined;
    /** Share ticket. */
    readonly ticket: string | undefined;
    /** Where to read the ticket instead. */
    readonly ticketFrom: TicketSource | undefined;
    readonly resumeFile: string | undefined;
    /** Shows who joins, leaves and types. */
    readonly hasStatus: boolean;
    readonly isVerbose: boolean;
    /** Prints only the final notice. */
    readonly isQuiet?: boolean;
    /** Does not read standard input; the process gets none. */
    readonly hasNoInput?: boolean;
    /** Keeps keys typed while disconnected, and sends them on reconnect. */
    readonly keepsKeys?: boolean;
    /** Keys that this program handles instead of the process. */
    readonly escapes?: Escapes;
    /** When typed characters are shown before their echo. Default: `auto`. */
    readonly prediction?: PredictionMode;
  };

export type Escapes = {
  /** Ctrl+] and Ctrl+^. */
  readonly control: boolean;
  /** `~.`, `~?` and `~^Z` at the start of a line. */
  readonly tilde: boolean;
};

export type ProgramCommand = SessionTarget & { readonly isJson: boolean } & (
    | { readonly kind: "read"; readonly query: ReadQuery; readonly follows: boolean }
    | { readonly kind: "write"; readonly request: WriteRequest }
    | {
        readonly kind: "wait";
        readonly until: Until;
        readonly more: { from?: number; timeoutMs?: number; maxBytes?: number; incarnation?: string };
      }
    | { readonly kind: "ask"; readonly request: Omit<KeyboardRequest, "do"> }
    | { readonly kind: "screen"; readonly query: ScreenQuery }
    | { readonly kind: "commands"; readonly incarnation: string | undefined }
    | {
        readonly kind: "signal";
        readonly signal: string;
        readonly writer: string | undefined;
        readonly incarnation: string | undefined;
      }
  );

export type RunCommand = Target & {
  readonly kind: "run";
  readonly request: RunRequest;
  /** Whether `stdin` is read from standard input. */
  readonly readsInput: boolean;
  /** Only starts the process and prints its session. */
  readonly isDetached: boolean;
  readonly isJson: boolean;
};

/** Start of a log: an offset, an ISO 8601 time, or milliseconds ago by the server's clock. */
export type Since = { readonly offset: number } | { readonly since: string } | { readonly agoMs: number };

export type LogsCommand = SessionTarget & {
  readonly kind: "logs";
  readonly follows: boolean;
  /** Lines. */
  readonly tail: number | undefined;
  readonly since: Since | undefined;
  readonly isJson: boolean;
};

/** A session's recording: by a token, or by the ticket of a share link. */
type RecordingTarget = SessionTarget & { readonly ticket?: string };

export type RecordCommand = RecordingTarget & {
  readonly kind: "record";
  /** The file; absent: standard output. */
  readonly output?: string;
  readonly idleLimitSeconds?: number;
  /** Saves the server's recording, by this query; absent: watches the session. */
  readonly stored?: Readonly<Record<string, string>>;
};

/** @property speed Infinity: without pauses. */
export type ReplayCommand = {
  readonly kind: "replay";
  readonly speed: number;
  readonly idleLimitSeconds?: number;
} & ({ readonly file: string } | (RecordingTarget & { readonly query: Readonly<Record<string, string>> }));

export type AttachCommand = {
  readonly kind: "attach";
  readonly request: AttachRequest;
  /** Lets the person choose a running session first. */
  readonly offersSessions?: boolean;
  /** Fails if the session is not running. */
  readonly mustRun?: boolean;
  /** Checks first whether the process has ended: only then is it replaced. */
  readonly checksFirst?: boolean;
};

export type ShareCommand =
  | ({
      readonly kind: "share";
      readonly role: Role;
      /** Absent: the server's default. */
      readonly seconds: number | undefined;
      readonly guests: boolean;
      /** Clients that may use the link at one time. Absent: the server's default. */
      readonly maxClients: number | undefined;
      readonly isJson: boolean;
    } & SessionTarget)
  | ({ readonly kind: "tickets"; readonly isJson: boolean } & SessionTarget)
  | ({ readonly kind: "revoke"; readonly id: string } & SessionTarget);

/** @property session Absent: `person` has all recordings removed that are that person's. */
export type RecordingsCommand = Target & {
  readonly kind: "recordings";
  readonly action: "list" | "hold" | "release" | "remove";
  readonly session?: string;
  readonly options: { readonly incarnation?: string; reason?: string; all?: boolean; of?: string; json?: boolean };
};

export type CliCommand =
  | RecordingsCommand
  | AttachCommand
  | { readonly kind: "serve"; readonly command: ServeCommand }
  | {
      readonly kind: "login";
      readonly endpoint: Endpoint | undefined;
      readonly issuer: string | undefined;
      readonly clientId: string | undefined;
      readonly mayOpenBrowser: boolean;
      readonly isForced: boolean;
    }
  /** Without a server: every login. */
  | { readonly kind: "logout"; readonly endpoint: Endpoint | undefined }
  | ({ readonly kind: "whoami"; readonly isJson: boolean; readonly isVerbose: boolean } & Target)
  /** `isStarted`: starts the sandbox if necessary. */
  | ({ readonly kind: "doctor"; readonly isJson: boolean; readonly isStarted: boolean } & Target)
  | ({
      readonly kind: "sessions";
      /** In all of the person's sandboxes. */
      readonly isEverywhere: boolean;
      readonly isJson: boolean;
      readonly hasAll: boolean;
      /** Includes sessions of `cp` and `forward`. */
      readonly hasTransfers?: boolean;
      readonly isWatched: boolean;
    } & Target)
  | ({ readonly kind: "kill"; readonly sessions: readonly string[]; readonly isJson: boolean } & Target)
  | ContextCommand
  | LogsCommand
  | RecordCommand
  | ReplayCommand
  | RunCommand
  | ProgramCommand
  | ShareCommand
  | ({ readonly kind: "ssh-proxy"; readonly cmd: string; readonly args: readonly string[] } & Target)
  | {
      readonly kind: "ssh-config";
      readonly endpoint: Endpoint;
      readonly words: readonly string[];
      readonly host: string;
      readonly user: string | undefined;
    }
  | CopyCommand
  | CodexCommand
  | ForwardCommand
  /** `--help` or `--version`: text for standard output. */
  | { readonly kind: "show"; readonly text: string };

export type CopyCommand = Target & {
  readonly kind: "cp";
  /** One or more, all on the same side. */
  readonly from: readonly CopyEnd[];
  readonly to: CopyEnd;
  /** Skips files that exist with the same size and time. */
  readonly isResumed: boolean;
  /** Keeps modes regardless of the umask. */
  readonly keepsModes?: boolean;
};
export type CodexCommand = Target & {
  readonly kind: "codex";
  /** The ticket of an address that the server made. */
  readonly ticket: string | undefined;
  /** Prints codex' configuration for one of the two ways instead. */
  readonly printsConfig: "url" | "program" | undefined;
};
export type ForwardCommand = Target & {
  readonly kind: "forward";
  /** The local address; port 0: any free one. `isLocalhost`: also listens on ::1, which the name may resolve to. */
  readonly local: { readonly address: string; readonly port: number; readonly isLocalhost?: true };
  /** The sandbox's port. */
  readonly port: number;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
};
/** A local path, or one in the sandbox (`:PATH`); `isStream`: standard input or output (`-`). */
export type CopyEnd = { readonly isRemote: boolean; readonly path: string; readonly isStream?: true };

export type ContextCommand = {
  readonly kind: "context";
  readonly action:
    | { readonly do: "list"; readonly isJson: boolean }
    | { readonly do: "use" | "remove"; readonly name: string }
    | { readonly do: "set"; readonly name: string; readonly context: Context };
};

/** Named defaults. */
export type Context = {
  readonly server?: string | undefined;
  readonly sandbox?: string | undefined;
  readonly session?: string | undefined;
  readonly tokenCommand?: string | undefined;
};

/** Defaults of this run; `isServerFound`: the address comes from a `.sbx.json`, which anybody may have written. */
export type Defaults = Context & {
  readonly isServerFound?: boolean;
  /** The `.sbx.json`, as messages name it. */
  readonly folderFile?: string;
  /** Ignored fields of that file. */
  readonly unusedFields?: readonly string[];
  /** The context's name. */
  readonly contextName?: string;
  /** The context's address: its token command is only for that server. */
  readonly contextServer?: string;
  readonly tokenCommandFrom?: TokenCommandFrom;
  /** SBX_TOKEN_ORIGIN: credentials of the environment are only for that server. */
  readonly tokenOrigin?: string;
};

export type { CreateRequest };
