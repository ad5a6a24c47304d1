// Which way to containers these tests go: SBX_CONTAINERS, `sdk` unless it says otherwise.
import { CONTAINER_WAYS, type ContainerWay } from "../../packages/local/src/build/container-ways.ts";

/** @throws {Error} If SBX_CONTAINERS names no way. */
export function containerWay(): ContainerWay {
  const given = process.env.SBX_CONTAINERS ?? "sdk";
  const way = CONTAINER_WAYS.find((one) => one === given);
  if (way === undefined) throw new Error(`SBX_CONTAINERS must be one of ${CONTAINER_WAYS.join(", ")}, not ${given}`);
  return way;
}
