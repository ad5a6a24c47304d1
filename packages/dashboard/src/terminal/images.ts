// Draws images in the output (sixel and iTerm2's) by xterm.js's addon, which is loaded for the first image while parsing waits. The addon
// must not answer queries, since only the page decides who answers.

import type { ImageAddon } from "@xterm/addon-image";
import type { IDisposable, Terminal } from "@xterm/xterm";

/** Limit of an image's sequence, in characters: the output log holds no more bytes. */
export const MAX_IMAGE_LENGTH = 1_048_576;
/** Limit of an image, at four bytes each. */
const MAX_PIXELS = 4_194_304;
/** Limit of a terminal's images, in MB; the oldest are dropped. */
const MAX_KEPT_MB = 32;
const PALETTE = 256;
const ITERM_OSC = 1337;
/** Polling of the addon's decoder until it is ready. */
const READY_POLL_MS = 5;
const READY_POLLS = 400;
/** VT220 with sixel, character sets and colours. */
const DEVICE_ATTRIBUTES = "\x1b[?62;4;9;22c";

type Handler = { put(data: Uint32Array, start: number, end: number): void };
type SixelHandler = Handler & {
  readonly _dec: object | undefined;
  hook(params: { readonly params: readonly (number | number[])[] }): void;
  unhook(isWhole: boolean): boolean | Promise<boolean>;
};
type ItermHandler = Handler & { start(): void; end(isWhole: boolean): boolean | Promise<boolean> };
type Decoders = { readonly sixel: SixelHandler; readonly iterm: ItermHandler };

/** Has the terminal draw images and report that in its attributes. */
export function drawImages(terminal: Terminal): IDisposable {
  const images = new Images(terminal);
  return { dispose: () => images.dispose() };
}

class Images {
  readonly #terminal: Terminal;
  #decoders: Promise<Decoders | undefined> | undefined;
  #handlers: IDisposable[] = [];
  readonly #answers: readonly IDisposable[];
  #isDisposed = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    // Programs need these sizes to scale images.
    terminal.options.windowOptions = { getWinSizePixels: true, getCellSizePixels: true, getWinSizeChars: true };
    const answer = (text: string) => {
      terminal.input(text, false);
      return true;
    };
    this.#answers = [
      terminal.parser.registerCsiHandler({ final: "c" }, ([of]) => (of ? true : answer(DEVICE_ATTRIBUTES))),
      terminal.parser.registerCsiHandler({ prefix: "?", final: "S" }, ([item = 0, action = 0]) => {
        const text = this.#graphicsAttribute(Number(item), Number(action));
        return text === undefined || answer(text);
      }),
    ];
    this.#takeSequences();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const each of [...this.#handlers, ...this.#answers]) each.dispose();
  }

  #takeSequences(): void {
    const { parser } = this.#terminal;
    for (const each of this.#handlers) each.dispose();
    // The newest handler runs first: before the addon's own, which would throw on a broken image.
    this.#handlers = [
      parser.registerDcsHandler({ final: "q" }, (data, params) =>
        this.#draw(({ sixel }) => {
          sixel.hook({ params });
          return feed(sixel, data, () => sixel.unhook(true));
        }),
      ),
      parser.registerOscHandler(ITERM_OSC, (data) =>
        this.#draw(({ iterm }) => {
          iterm.start();
          return feed(iterm, data, () => iterm.end(true));
        }),
      ),
    ];
  }

  /** Resolves when the image is drawn or has failed; later output waits for that. */
  async #draw(act: (decoders: Decoders) => boolean | Promise<boolean>): Promise<boolean> {
    try {
      this.#decoders ??= this.#load();
      const decoders = await this.#decoders;
      if (decoders !== undefined && !this.#isDisposed) await act(decoders);
    } catch {
      // Invalid image, or the addon can't run here.
    }
    return true;
  }

  async #load(): Promise<Decoders | undefined> {
    const { ImageAddon } = await import("@xterm/addon-image");
    if (this.#isDisposed) return undefined;
    const addon = new ImageAddon({
      enableSizeReports: false,
      kittySupport: false,
      pixelLimit: MAX_PIXELS,
      storageLimit: MAX_KEPT_MB,
      sixelPaletteLimit: PALETTE,
      sixelSizeLimit: MAX_IMAGE_LENGTH,
      iipSizeLimit: MAX_IMAGE_LENGTH,
    });
    withoutAnswers(this.#terminal, () => this.#terminal.loadAddon(addon));
    this.#takeSequences();
    const decoders = decodersOf(addon);
    for (let poll = 0; poll < READY_POLLS && decoders.sixel._dec === undefined; poll += 1) {
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
    return decoders;
  }

  /** The answer to XTSMGRAPHICS, where nothing can be set; undefined for other items. */
  #graphicsAttribute(item: number, action: number): string | undefined {
    const isRead = action === 1 || action === 4;
    if (item === 1) return isRead ? `\x1b[?1;0;${PALETTE}S` : "\x1b[?1;2S";
    if (item !== 2) return undefined;
    const screen = this.#terminal.element?.querySelector<HTMLElement>(".xterm-screen");
    const most = Math.floor(Math.sqrt(MAX_PIXELS));
    const [width = most, height = most] = action === 1 ? [screen?.offsetWidth, screen?.offsetHeight] : [];
    return isRead ? `\x1b[?2;0;${Math.min(width, most)};${Math.min(height, most)}S` : "\x1b[?2;2S";
  }
}

/** Runs `act` without letting it register handlers of the queries answered here. */
function withoutAnswers({ parser }: Terminal, act: () => void): void {
  const register = parser.registerCsiHandler;
  parser.registerCsiHandler = (id, handler) =>
    id.final === "c" || id.final === "S" ? { dispose: () => undefined } : register.call(parser, id, handler);
  try {
    act();
  } finally {
    parser.registerCsiHandler = register;
  }
}

function feed<T>(handler: Handler, text: string, end: () => T): T {
  const data = new Uint32Array(text.length);
  for (let at = 0; at < text.length; at += 1) data[at] = text.charCodeAt(at);
  handler.put(data, 0, data.length);
  return end();
}

/** @throws {Error} If the addon has another version. */
function decodersOf(addon: ImageAddon): Decoders {
  const { _handlers: handlers } = addon as unknown as { readonly _handlers?: ReadonlyMap<string, unknown> };
  const [sixel, iterm] = [handlers?.get("sixel"), handlers?.get("iip")];
  if (sixel === undefined || iterm === undefined)
    throw new Error("Cannot find the decoders: need addon-image 0.10.0-beta.300");
  return { sixel: sixel as SixelHandler, iterm: iterm as ItermHandler };
}
