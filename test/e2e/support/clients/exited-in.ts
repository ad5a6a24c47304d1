// A session of a program's once its process has ended.

import { until } from "../system/wait.ts";
import type { Description, Programs } from "./programs.ts";

export function exitedIn(at: Programs, name: string): Promise<Description> {
  return until(`the exit of ${name}`, async () => {
    const { body } = await at.describe(name);
    return body.state === "exited" && body;
  });
}
