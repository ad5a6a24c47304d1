// A hop under the chaos kit's faults: its bytes are delayed, limited, cut into pieces and stalled as a seed says, and its connections
// break when the test says so. Before the kit's proxy stands one that can hold things back without breaking anything.
import { type Break, type BreakKind, DEFAULT_PROFILE, planConnection } from "../../../packages/chaos/src/faults.ts";
import { ChaosProxy } from "../../../packages/chaos/src/proxy.ts";
import { Random } from "../../../packages/local/src/base/random.ts";
import { BridgeProxy } from "../../e2e/support/system/bridge-proxy.ts";

/** A session here moves little: so stalls and limits must meet few bytes, and more of its connections than in a long run.
 * No handshake is played twice: the twin answers no close, and the runtime then takes no object out of memory on order. */
const PROFILE = { ...DEFAULT_PROFILE, bytes: 4_000, shaped: 0.4 };

export class KitHop {
  readonly gate: BridgeProxy;
  readonly #proxy: ChaosProxy;
  /** Connections of sessions that there have been. */
  connections = 0;
  /** How often what was done to them. */
  readonly broken = new Map<BreakKind, number>();
  #next: Break | undefined;

  static async listen(name: string, seed: number, port: number): Promise<KitHop> {
    let hop: KitHop | undefined;
    const proxy = await ChaosProxy.listen({
      target: { host: "127.0.0.1", port },
      seed,
      plan: (label) => {
        const n = hop?.connections ?? 0;
        const { up, down } = planConnection(new Random(seed, `${name} ${n}`), PROFILE);
        return { up, down, hasTwin: false, ...hop?.planned(label) };
      },
      // What names no session is a page's, or a question by HTTP.
      mayBreak: (kind, label) => label !== "" && hop !== undefined && hop.breaks(kind),
    });
    hop = new KitHop(await BridgeProxy.listen(proxy.port), proxy);
    return hop;
  }

  private constructor(gate: BridgeProxy, proxy: ChaosProxy) {
    this.gate = gate;
    this.#proxy = proxy;
  }

  get brokenCount(): number {
    return [...this.broken.values()].reduce((sum, times) => sum + times, 0);
  }

  /** Breaks so each connection of a session that there is: bytes and age count from now. */
  break(planned: Break): void {
    this.#proxy.breakFromNow(planned);
  }

  /** The next connection of a session breaks so. */
  breakNext(planned: Break): void {
    this.#next = planned;
  }

  /** Half-open connections end at last. */
  endBroken(): void {
    this.#proxy.endBroken();
  }

  async close(): Promise<void> {
    await this.gate.close();
    await this.#proxy.close();
  }

  private planned(label: string): { break?: Break } {
    if (label === "") return {};
    this.connections += 1;
    const next = this.#next;
    this.#next = undefined;
    return next === undefined ? {} : { break: next };
  }

  private breaks(kind: BreakKind): boolean {
    this.broken.set(kind, (this.broken.get(kind) ?? 0) + 1);
    return true;
  }
}

/** Where and when a session's few bytes meet a break of this kind. */
export function drawBreak(random: Random, kind: BreakKind): Break {
  return {
    kind,
    direction: random.pick(["up", "down"]),
    bytes: random.scale(0, 1_500),
    orAfterMs: random.scale(1, 1_500),
    gatherMs: random.int(2, 60),
    lateMs: random.int(0, 400),
  };
}
