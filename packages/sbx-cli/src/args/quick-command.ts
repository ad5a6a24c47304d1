// A command that finds options, and whoever reads them, by maps. commander looks through all options for each one that is added, and
// has a listener for each: enough work at a start for the runtimes to wake their optimizing compilers. Knows no option by name.

import { EventEmitter } from "node:events";
import { Command, type Option } from "commander";

type Listener = Parameters<Command["on"]>[1];

/** How commander's events of an option begin. */
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

  /** A command is an emitter, which commander's types leave out. */
  emit(event: string | symbol, ...values: unknown[]): boolean {
    const readers = typeof event === "string" ? this.#readers.get(event) : undefined;
    if (readers === undefined) return EventEmitter.prototype.emit.call(this, event, ...values);
    for (const read of readers) read(...values);
    return true;
  }

  /** Commander's own name for it. Options are only ever added, and commander refuses two with one flag. */
  _findOption(flag: string): Option | undefined {
    for (; this.#known < this.options.length; this.#known += 1) {
      const option = this.options[this.#known];
      if (option?.short !== undefined) this.#byFlag.set(option.short, option);
      if (option?.long !== undefined) this.#byFlag.set(option.long, option);
    }
    return this.#byFlag.get(flag);
  }
}
