// Whether WebGL here is drawn by the processor: then every frame takes longer than all that there is to do between two.

/** The names of such drivers. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Asks the browser with a context of its own, which it gives up at once. */
export function hasSoftwareGl(): boolean {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (gl === null) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = info === null ? "" : gl.getParameter(info.UNMASKED_RENDERER_WEBGL);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return typeof name === "string" && SOFTWARE.test(name);
}
