// Detects WebGL without a graphics card, which is slower than the DOM renderer.

/** Names of software drivers. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Checks with a temporary context. */
export function hasSoftwareGl(): boolean {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (gl === null) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = info === null ? "" : gl.getParameter(info.UNMASKED_RENDERER_WEBGL);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return typeof name === "string" && SOFTWARE.test(name);
}
