// As the Worker names it.

declare module "@xterm/headless/lib-headless/xterm-headless.mjs" {
  export { Terminal } from "@xterm/headless";
}
