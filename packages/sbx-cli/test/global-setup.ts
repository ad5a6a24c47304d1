// Bundles the command line once, for all files of these tests: it is what ships, and it starts with a sixth of the sources' work.
import { buildCli } from "../../local/src/build/builds.ts";

export default buildCli;
