// `npm run chaos`: see packages/chaos.
import { chaos } from "../packages/chaos/src/main.ts";
import { stopSignal } from "./local/stop-signals.ts";

process.exitCode = await chaos(process.argv.slice(2), stopSignal());
