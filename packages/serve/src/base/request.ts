// What `sbx-stdio serve` was asked to do. Types only: the command line reads the words.

/** What all of them say: which server of this machine is meant. */
export type ServerChoice = {
  readonly port: number;
  /** The folder of its state. Absent: below the user's own, one for each port. */
  readonly state: string | undefined;
};

/** Options of a server, as the command line names them. */
export type ServeOptions = {
  /** The address to listen at. */
  readonly bind: string;
  /** The address that people use, where it follows from nothing else. */
  readonly origin?: string;
  /** People can only view; only the server starts processes. */
  readonly readonly?: boolean;
  /** Ends once the program has. */
  readonly once?: boolean;
  /** Files in PEM. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** Addresses of proxies whose word on a caller's address counts. */
  readonly trustProxy?: readonly string[];
  readonly insecure?: boolean;
  /** Another issuer, whose people may come that are on the list, and what this server is there. */
  readonly issuer?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  /** Of root: a cgroup in which each user gets one. */
  readonly cgroup?: string;
  /** A file with variables of the Worker. */
  readonly settings?: string;
  /** Where the link is written, for its owner alone, if standard output is no terminal. */
  readonly linkFile?: string;
};

export type ServeRequest = ServerChoice &
  ServeOptions & {
    readonly kind: "serve";
    /** Where processes start. */
    readonly dir: string;
    /** The one program that is served. Absent: shells, and whatever people start. */
    readonly program?: { readonly cmd: string; readonly args: readonly string[] } | undefined;
    /** The words behind which all programs run. Absent: they run here. */
    readonly exec?: readonly string[] | undefined;
    /** What is written into files of each user's cgroup. */
    readonly limits?: Readonly<Record<string, string>>;
    /** A checkout's own run, `npm start`: anybody may be anybody, each sandbox has a folder in the state, and nothing outlives it. */
    readonly local?: LocalRun;
  };

export type LocalRun = {
  /** Of the issuer's key, and what logins rest on: several runs share it. */
  readonly keysDir: string;
  readonly accessTokens: "jwt" | "opaque";
  /** What is said in place of a link. */
  readonly welcome: (origin: string) => string;
};

export type Role = "viewer" | "driver" | "admin";

export type ServeCommand =
  | ServeRequest
  /** Its program and words, whose relative paths begin at `dir`. */
  | (ServerChoice & { readonly kind: "install"; readonly dir: string; readonly command: readonly string[] })
  /** `name`: whose link. Absent: the owner's. */
  | (ServerChoice & { readonly kind: "link"; readonly linkFile: string | undefined; readonly name: string | undefined })
  | (ServerChoice & { readonly kind: "status" })
  | (ServerChoice & { readonly kind: "token"; readonly role: Role })
  | (ServerChoice & { readonly kind: "stop"; readonly isNow: boolean })
  /** Sets an account, or with no role takes it away. */
  | (ServerChoice & {
      readonly kind: "user";
      readonly name: string;
      readonly role: Role | undefined;
      /** The user of this machine as whom its sessions run. */
      readonly as: string | undefined;
      /** Without one it opens by links, and by another issuer's logins. */
      readonly hasPassword: boolean;
    });
