// `npm run bench`: see packages/bench.

await import("../packages/bench/src/main.ts");
