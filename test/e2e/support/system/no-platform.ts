// In place of the platform's own modules where the Worker's code is only read: its routing table, say. Nothing here runs.

export class DurableObject {}
export class Sandbox {}
export class ContainerProxy {}

export function getSandbox(): never {
  throw new Error("Cannot reach a container: the platform is not here");
}
