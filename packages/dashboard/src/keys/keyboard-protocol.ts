// Kitty's keyboard protocol on a terminal of the page: which flags a program has set, on which screen, and the keys as it wants them.
// xterm.js 6.1 loses flags: where a pop leaves flags that were set without a push, and where a screen is switched to that is shown.

import type { IDisposable, IFunctionIdentifier, Terminal } from "@xterm/xterm";
import { defined, KeyboardStack } from "sandbox-stdio/core";
import { ALL_KEYS, DISAMBIGUATE, EVENT_TYPES, encodeKey, type Key, PRESS, RELEASE } from "./kitty-keys.ts";

type Encoder = {
  evaluate(event: Key, flags: number, type: number, isAltMeta: boolean): { type: 0; cancel: boolean; key?: string };
};
/** xterm.js's private members, which a change of version may take away. */
type Core = {
  readonly coreService: object;
  readonly _keyboardService: {
    _kittyKeyboard: Encoder | undefined;
    evaluateKeyDown(event: Key): ReturnType<Encoder["evaluate"]>;
  };
};

/** Command with a key is the browser's or the system's on a Mac. */
const IS_MAC = /^Mac|^iP/.test(globalThis.navigator?.platform ?? "");

const PROTOCOLS = new WeakMap<Terminal, KeyboardProtocol>();

export class KeyboardProtocol implements IDisposable {
  readonly #terminal: Terminal;
  readonly #stacks = { normal: new KeyboardStack(), alternate: new KeyboardStack() };
  readonly #handlers: IDisposable[];
  /** The places of the keys that a program was told of. It is told of no other's release. */
  readonly #down = new Set<string>();
  /** Whether xterm.js is asked for the key of the legacy protocol. */
  #isLegacy = false;

  /** Drops what a killed program has left on. */
  static dropOf(terminal: Terminal): void {
    PROTOCOLS.get(terminal)?.drop();
  }

  /** @throws {Error} If the terminal has another version. */
  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    PROTOCOLS.set(terminal, this);
    const { _core: core } = terminal as unknown as { readonly _core?: Core };
    const service = core?._keyboardService;
    if (core === undefined || service?.evaluateKeyDown === undefined || !("kittyKeyboard" in core.coreService))
      throw new Error("Cannot set the keyboard's protocol: need xterm.js 6.1.0-beta.303");
    // xterm.js keeps flags of its own, in an object that it replaces.
    const flags = () => (this.#isLegacy ? 0 : this.flags);
    const told = { get: () => ({ flags: flags(), mainStack: [], altStack: [] }), set: () => undefined };
    Object.defineProperty(core.coreService, "kittyKeyboard", told);
    service._kittyKeyboard = { evaluate: (event, _, type, isMeta) => this.#evaluate(service, event, type, isMeta) };
    const on = (id: IFunctionIdentifier, change: (stack: KeyboardStack, [first, how]: number[]) => void) =>
      terminal.parser.registerCsiHandler(id, (params) => {
        change(this.#stack, params.map(Number));
        return true;
      });
    this.#handlers = [
      on({ prefix: ">", final: "u" }, (stack, [flags = 0]) => stack.push(flags)),
      on({ prefix: "<", final: "u" }, (stack, [count = 1]) => stack.pop(count || 1)),
      on({ prefix: "=", final: "u" }, (stack, [flags = 0, how = 1]) => stack.change(flags, how || 1)),
      // The query has no number: with one it is none, and has no answer.
      terminal.parser.registerCsiHandler({ prefix: "?", final: "u" }, ([first]) => first !== 0),
      terminal.parser.registerEscHandler({ final: "c" }, () => {
        for (const stack of Object.values(this.#stacks)) stack.clear();
        return false;
      }),
    ];
  }

  /** The flags of the screen that is shown. */
  get flags(): number {
    return this.#stack.flags;
  }

  drop(): void {
    this.#stack.clear();
  }

  dispose(): void {
    for (const handler of this.#handlers) handler.dispose();
  }

  get #stack(): KeyboardStack {
    return this.#stacks[this.#terminal.buffer.active.type];
  }

  #evaluate(service: Core["_keyboardService"], event: Key, type: number, isAltMeta: boolean) {
    const isTold = type !== RELEASE || this.#down.delete(event.code);
    if (!isTold || (IS_MAC && event.metaKey && event.key !== "Meta")) return { type: 0, cancel: false } as const;
    if (type !== RELEASE) this.#down.add(event.code);
    // Else only what repeats or is released is told in another way.
    const isPlain = type === PRESS || (this.flags & EVENT_TYPES) === 0;
    if (isPlain && (this.flags & (DISAMBIGUATE | ALL_KEYS)) === 0) return this.#legacy(service, event);
    const key = encodeKey(event, this.flags, type, isAltMeta);
    return { type: 0, cancel: key?.startsWith("\x1b") === true, ...defined({ key }) } as const;
  }

  #legacy(service: Core["_keyboardService"], event: Key) {
    this.#isLegacy = true;
    try {
      return service.evaluateKeyDown(event);
    } finally {
      this.#isLegacy = false;
    }
  }
}
