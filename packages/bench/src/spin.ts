// A loop that does nothing, for so many seconds, or until whoever started it is gone.

const end = Date.now() + 1000 * Number(process.argv[2]);
const parent = process.ppid;
process.stdout.write("spinning\n");
while (Date.now() < end && process.ppid === parent); // No sleep and no pause: either would let the core go.
