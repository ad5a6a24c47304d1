// `npm run bench`: see packages/bench.
import "../packages/bench/src/main.ts";
