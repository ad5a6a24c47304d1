// The terms by which messages describe a client's rights and the delivery of its output.

/** A viewer only watches. A driver may type, resize, signal and end the session, as far as the keyboard allows. */
export type Role = "driver" | "viewer";

/** Whether every driver may type, or only the holder of the keyboard. */
export type Mode = "collaborative" | "exclusive";

/** `lossless`: the process waits for this client. `live`: the client may fall behind and gets a `gap`. */
export type Delivery = "live" | "lossless";
