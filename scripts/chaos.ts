// `npm run chaos`: see packages/chaos.
import { chaos } from "../packages/chaos/src/main.ts";
import { stopSignal } from "../packages/local/src/stop-signals.ts";

process.exitCode = await chaos(process.argv.slice(2), stopSignal());
