/** The text of `dist/parley-web.js`; also written there unless `write` is false. */
export function buildWeb(options?: { readonly write?: boolean }): Promise<string>
