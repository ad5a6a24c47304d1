// A program that waits for the end of one child, whose stderr it remembers, and ends, for children.test.ts:
// `rememberer.ts CODE`, where CODE is run by `sh -c`.
import { ChildKeeper, ending } from "../src/processes/children.ts";

const args = ["-c", process.argv[2] ?? ""];
const keeper = new ChildKeeper();
const options = { name: "child", command: "/bin/sh", args, env: process.env, cwd: process.cwd() };
await ending(await keeper.start({ ...options, remembersStderr: true }));
keeper.close();
