// Absolute paths of the sandbox. Pure.

export const childPath = (folder: string, name: string): string => `${folder === "/" ? "" : folder}/${name}`;

export const parentPath = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
