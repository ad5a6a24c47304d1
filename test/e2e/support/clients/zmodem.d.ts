/** What the tests use of zmodem.js, which has no types of its own. */
declare module "zmodem.js" {
  export interface Transfer {
    send(bytes: ArrayLike<number>): void;
    end(bytes?: ArrayLike<number>): Promise<void>;
  }
  export interface Offer {
    accept(): Promise<readonly Uint8Array[]>;
  }
  export interface Session {
    readonly type: "send" | "receive";
    /** @returns undefined if the other end skips the file. */
    send_offer(file: { readonly name: string; readonly size: number }): Promise<Transfer | undefined>;
    on(event: "offer", heard: (offer: Offer) => void): this;
    start(): void;
    close(): Promise<void>;
  }
  export class Sentry {
    constructor(options: {
      readonly to_terminal: (bytes: ArrayLike<number>) => void;
      readonly on_detect: (detection: { confirm(): Session }) => void;
      readonly on_retract: () => void;
      readonly sender: (bytes: ArrayLike<number>) => void;
    });
    consume(bytes: Uint8Array): void;
  }
  const zmodem: { readonly Sentry: typeof Sentry };
  export default zmodem;
}
