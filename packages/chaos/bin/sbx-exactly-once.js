#!/usr/bin/env node
// The exactly-once suite against any server of the programs' interface. Node 24 runs its TypeScript as it is.
import { exactlyOnce, main } from "../src/programs/main.ts";

process.exitCode = await main(process.argv.slice(2), (settings) => exactlyOnce(settings));
