// Which seeds the simulations run: the same 150 each time, which show what a change breaks, and 100 that are new each time.
// `SIM_SEED=N SIM_RUNS=M` runs M from N instead.

const FIXED = 150;
const FRESH = 100;

const { SIM_SEED, SIM_RUNS, TEST_SEED } = process.env;
const isGiven = SIM_SEED !== undefined || SIM_RUNS !== undefined;
// The ledger of whole runs names the seed that it gives.
const fresh = TEST_SEED === undefined ? 1 + Math.floor(Math.random() * 2 ** 31) : Number(TEST_SEED);
const first = isGiven ? Number(SIM_SEED ?? 1) : fresh;

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

export const SEEDS: readonly number[] = isGiven
  ? range(first, Number(SIM_RUNS ?? FIXED + FRESH))
  : [...range(1, FIXED), ...range(first, FRESH)];

/** How to run the same seeds once more. */
export const SEEDS_TEXT = isGiven
  ? `${SEEDS.length} seeds from ${first}`
  : `seeds 1 to ${FIXED}, and ${FRESH} from ${first} (SIM_SEED=${first} SIM_RUNS=${FRESH})`;
