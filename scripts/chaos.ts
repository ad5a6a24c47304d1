// `npm run chaos`: see packages/chaos. `npm run chaos -- programs` is the exactly-once suite of the programs' interface.
import { chaos } from "../packages/chaos/src/main.ts";
import { localExactlyOnce } from "../packages/chaos/src/programs/local.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";

const [mode, ...rest] = process.argv.slice(2);
process.exitCode =
  mode === "programs" ? await localExactlyOnce(rest, stopSignal()) : await chaos(process.argv.slice(2), stopSignal());
