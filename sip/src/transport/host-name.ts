/** Names as they may stand in a URI; anything else would be a question nobody should ask the DNS. */
const HOST_NAME = /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?$/i

export function isHostName(text: string): boolean {
  return HOST_NAME.test(text)
}

/** RFC 6761 section 6.3: these names are this machine's own and never asked of the DNS. */
export function isLocalhost(name: string): boolean {
  return /(^|\.)localhost\.?$/i.test(name)
}
