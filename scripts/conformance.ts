// `npm run conformance`: see packages/chaos/src/conformance.
import { conformance } from "../packages/chaos/src/conformance/main.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";

process.exitCode = await conformance(process.argv.slice(2), stopSignal());
