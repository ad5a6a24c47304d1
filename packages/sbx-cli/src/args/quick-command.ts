// A commander Command that finds options by maps. commander searches all options for each added one, and keeps a listener for each,
// which is enough work at the start to wake the runtimes' optimizing compilers. Knows no option by name.

import { EventEmitter } from "node:events";
import { Command, type Option } from "commander";

type Listener = Parameters<Command["on"]>[1];

/** Prefix of commander's events for options. */
const OPTION = "option:";

export class QuickCommand extends Command {
  readonly #byFlag = new Map<string, Option>();
  readonly #readers = new Map<string, Listener[]>();
  #known = 0;

  override createCommand(name?: string): QuickCommand {
    return new QuickCommand(name);
  }

  override on(event: string | symbol, listener: Listener): this {
    if (typeof event !== "string" || !event.startsWith(OPTION)) return super.on(event, listener);
    this.#readers.set(event, [...(this.#readers.get(event) ?? []), listener]);
    return this;
  }

  /** commander's types leave out that a command is an emitter. */
  emit(event: string | symbol, ...values: unknown[]): boolean {
    const readers = typeof event === "string" ? this.#readers.get(event) : undefined;
    if (readers === undefined) return EventEmitter.prototype.emit.call(this, event, ...values);
    for (const read of readers) read(...values);
    return true;
  }

  /** Overrides commander's private method. Options are only added, and never two with one flag. */
  _findOption(flag: string): Option | undefined {
    for (; this.#known < this.options.length; this.#known += 1) {
      const option = this.options[this.#known];
      if (option?.short !== undefined) this.#byFlag.set(option.short, option);
      if (option?.long !== undefined) this.#byFlag.set(option.long, option);
    }
    return this.#byFlag.get(flag);
  }
}
