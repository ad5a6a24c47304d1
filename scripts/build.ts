// `npm run build`: the page and the command line.
import { buildAll } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";

try {
  await buildAll();
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
