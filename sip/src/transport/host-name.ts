/** Whether `name` is a syntactically valid host name; other names are never looked up in the DNS. */
const HOST_NAME = /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?$/i

export function isHostName(text: string): boolean {
  return HOST_NAME.test(text)
}

/** RFC 6761 section 6.3: these names denote this machine and are never looked up in the DNS. */
export function isLocalhost(name: string): boolean {
  return /(^|\.)localhost\.?$/i.test(name)
}
