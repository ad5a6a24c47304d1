// The shape of a token, checked before the token is verified.

const JWT_SHAPE = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** The opaque tokens of id.org.ai. No other text is worth a question to the issuer, which any stranger could cause. */
export const OPAQUE_SHAPE = /^at_[\w-]{16,512}$/;
/** Longer ones are refused unread; a session cookie has to hold one within 4 KiB anyway. */
export const MAX_TOKEN_CHARACTERS = 8192;

/** Whether a text may be a token of either kind. Says nothing of its truth. */
export function isTokenShaped(text: string): boolean {
  return text.length <= MAX_TOKEN_CHARACTERS && (isJwtShaped(text) || OPAQUE_SHAPE.test(text));
}

/** Whether a text has the three parts of a JWT. Says nothing of its truth. */
export function isJwtShaped(token: string): boolean {
  return JWT_SHAPE.test(token);
}
