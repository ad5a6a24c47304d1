// What somebody may do with one session, and for how long: made of a token or a ticket by the Worker, kept by the session's
// Durable Object for as long as the connection lives.

export type Grant = {
  /** Whose connection it is: a person, or what stands for the guests of one ticket. A `resume` is bound to it. */
  readonly subject: string;
  /** Shown to others; "" for a guest, who is given one. */
  readonly name: string;
  readonly mayExec: boolean;
  readonly isAdmin: boolean;
  /** Whether a session that is not there may be made. A share ticket opens only what is. */
  readonly mayCreate: boolean;
  /** Milliseconds since 1970: then the connection ends. */
  readonly expiresAtMs: number;
  /** The persons by whose right it is: the bearer, and the maker of the ticket. If one is revoked, it ends. */
  readonly persons: readonly string[];
  /** The ids of the tokens and the ticket that it rests on. If one is revoked, it ends. */
  readonly tokenIds: readonly string[];
  /** A ticket that is shown here for the only time. */
  readonly attachTicket?: { readonly id: string; readonly expiresAtMs: number };
  /** A share ticket's id. */
  readonly shareTicket?: string;
};
