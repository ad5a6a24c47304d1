// The words of a push notice: the service worker's, which is one file and has no others.

export const PUSH_TEXTS = {
  title: (session: string) => `${session} asks for you`,
  body: "A program waits for a person at the keyboard",
};
