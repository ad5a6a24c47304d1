// Builds the page into dist/, as static files for the Worker. Vite's own transform knows React's JSX.
// Nothing is inlined into the HTML, so that a policy without inline scripts fits (worker/src/page.ts).
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const noModalMenus = fileURLToPath(new URL("src/ui/no-modal-menus.ts", import.meta.url));

/** Radix names each of its functions for debuggers by a call. Those calls would keep unused functions in the page. */
const withoutNames = {
  name: "without-names",
  transform: (code: string, id: string) =>
    id.includes("/@radix-ui/")
      ? code.replaceAll(/^ *__name\(\w+, "\w+"\);$|static \{\s*__name\(this, "\w+"\);\s*\}/gm, "")
      : null,
};

export default defineConfig({
  base: "/",
  resolve: { alias: { "react-remove-scroll": noModalMenus, "aria-hidden": noModalMenus } },
  plugins: [withoutNames],
  oxc: { jsx: { runtime: "automatic", importSource: "react" } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // "use client" is for servers that render; no news for a page.
      onLog: (level, log, report) => log.code === "MODULE_LEVEL_DIRECTIVE" || report(level, log),
      input: { index: "index.html", "service-worker": "src/service-worker.ts" },
      // A service worker is known by its address, and has a say only about what is below it.
      output: {
        entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js"),
        // The terminal's code stays in the browser's cache where only ours has changed. Addons that come later stay apart.
        codeSplitting: {
          groups: [{ name: "xterm", test: /@xterm\/(?:xterm|addon-fit|addon-unicode11|addon-web-links)\/.*js$/ }],
        },
      },
    },
  },
  server: {
    // `vite` beside a Worker on its usual port: the page from here, everything else from there.
    proxy: Object.fromEntries(
      ["/attach", "/api", "/login", "/callback", "/logout"].map((path) => [
        path,
        { target: "http://localhost:8787", ws: path === "/attach" },
      ]),
    ),
  },
});
