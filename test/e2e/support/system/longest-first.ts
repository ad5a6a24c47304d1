// The order of test files: those that take longest, mostly by waiting, come first, so that none of them is left alone at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Ends of their paths; the first takes longest. */
const LONGEST = [
  ...["packages/packed", "access/matrix", "stream/parking", "stream/quick-clock", "serve/serve", "stream/unwatched"],
  ...["attacks/hostile-bridge", "serve/serve-attacks", "access/quotas", "programs/recordings", "programs/mcp-hosts"],
  ...["browser/accessibility", "browser/parked", "browser/firefox", "browser/tmux-panes", "browser/tabs"],
].map((name) => `/${name}.test.ts`);

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((end) => moduleId.endsWith(end));
  return place === -1 ? LONGEST.length : place;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
