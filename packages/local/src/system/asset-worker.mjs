// Serves the page's files inside workerd, whose own directory service gives no types. Runs in workerd, never imported.

const TYPES = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  webmanifest: "application/manifest+json",
};

export default {
  async fetch(request, { FILES }) {
    const { pathname } = new URL(request.url);
    const path = pathname === "/" ? "/index.html" : pathname;
    const type = TYPES[path.slice(path.lastIndexOf(".") + 1)];
    // The directory service would list a folder.
    if (type === undefined) return new Response(null, { status: 404 });
    const file = await FILES.fetch(`http://files${path}`, { method: request.method });
    const response = new Response(file.body, file);
    if (file.ok) response.headers.set("Content-Type", type);
    return response;
  },
};
